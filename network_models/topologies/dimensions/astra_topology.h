// The networks of ASTRA-sim's analytical backends: a product of rings, switches and fully connected groups.
//
// A rank's address has one index per dimension; the first dimension varies fastest. Sizes of bandwidths follow
// ASTRA-sim: a GB/s is 2^30 bytes per 1e9 ns.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ticks.h"

namespace ringwright::network_models {

inline constexpr double kAstraGigabyte = 1073741824.0;

enum class AstraBlock : std::uint8_t { kRing, kFullyConnected, kSwitch };

[[nodiscard]] std::optional<AstraBlock> parse_astra_block(std::string_view name);
[[nodiscard]] std::string_view to_string(AstraBlock block);

// How long a message takes over links of one kind: both times are rounded down to a nanosecond.
struct AstraLink {
  double bytes_per_ns = 1.0;
  double latency_ns = 0.0;

  // While it crosses so many links, when each link passes it on as it comes (congestion unaware).
  [[nodiscard]] Tick delay(std::uint32_t hop_count, std::int64_t bytes) const;
  // Until a link that began to send a message can send the next one.
  [[nodiscard]] Tick occupancy(std::int64_t bytes) const;
};

struct AstraDimension {
  AstraBlock block = AstraBlock::kRing;
  std::uint32_t nodes = 2;
  double gigabytes_per_second = 1.0;
  double latency_ns = 0.0;

  [[nodiscard]] AstraLink link() const {
    return {.bytes_per_ns = gigabytes_per_second * kAstraGigabyte / 1e9, .latency_ns = latency_ns};
  }
  // Links that a message passes.
  [[nodiscard]] std::uint32_t hops(std::uint32_t from, std::uint32_t to) const;
};

struct AstraTopology {
  std::vector<AstraDimension> dimensions;

  [[nodiscard]] std::uint32_t ranks() const;
  [[nodiscard]] std::vector<std::uint32_t> nodes() const;
  // The first dimension in which two different ranks differ carries the message; ASTRA-sim leaves the others out.
  struct Hop {
    std::uint32_t dimension = 0;
    std::uint32_t from = 0;  // indices in it
    std::uint32_t to = 0;
  };
  [[nodiscard]] Hop hop(std::uint32_t from, std::uint32_t to) const;
  [[nodiscard]] Tick delay(std::uint32_t from, std::uint32_t to, std::int64_t bytes) const;
  // Whether members see each other at the same distances: those of the whole job (empty list) do.
  [[nodiscard]] bool all_equivalent(std::span<const std::uint32_t> members) const;
  // "Ring 8 x Switch 4".
  [[nodiscard]] std::string text() const;
  // Why ASTRA-sim's congestion-aware network cannot be built on it; empty: it can.
  [[nodiscard]] std::string problem_with_congestion() const;
};

}  // namespace ringwright::network_models
