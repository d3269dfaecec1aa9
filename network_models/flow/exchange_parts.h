// Parts of an exchange: sets of its messages that share no link with each other, so that what other flows do to one
// part changes nothing in the others. Messages within a rack are one part, those from one rack to another are another.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/ring_shape.h"
#include "core/ports/router.h"

namespace ringwright::network_models {

// By message, the number of its part; parts are numbered by their first messages. Messages without links are one part.
[[nodiscard]] std::vector<std::uint32_t> parts_by_links(std::span<const std::vector<Hop>> hops);

// The messages of one part, and the members of the exchange that send or await them.
struct ExchangePart {
  std::vector<std::uint32_t> edges;                // of the exchange, ascending
  std::vector<std::uint32_t> senders;              // ascending
  std::vector<std::uint32_t> waiting;              // ascending
  std::vector<std::uint32_t> sender_of;            // by edge of the part, a position in `senders`
  std::vector<std::vector<std::uint32_t>> awaits;  // by member in `waiting`, edges of the part
};

[[nodiscard]] std::vector<ExchangePart> parts_of(const RingShape& shape, std::span<const std::uint32_t> part_of_edge);

}  // namespace ringwright::network_models
