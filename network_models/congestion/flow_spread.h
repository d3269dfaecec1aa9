// How one flow spreads over the links of a fabric: which ports its bytes enter, and where each port hands them on.
//
// Junctions are the points between links, in the order of travel: at a junction the bytes that arrive are divided among
// the links that leave it, in constant fractions. In a fabric with tiers (leaf, spine, core) the hops of a tier stand
// side by side and whatever leaves one tier is divided over the next; there links of one class may stand for several.
// Elsewhere (dragonfly, torus, explicit graph) paths of one flow may have different lengths, and junctions are the
// switches themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "core/ports/router.h"
#include "network_models/congestion/link_kinds.h"

namespace ringwright::network_models {

class FlowSpread {
 public:
  static constexpr std::uint32_t kEnd = UINT32_MAX;

  struct Hop {
    std::uint32_t link = 0;
    std::uint32_t from = 0;  // junctions; `to` is kEnd where the bytes have arrived
    std::uint32_t to = kEnd;
    std::uint32_t after = 0;  // hops of the longest path from here to the end
    double weight = 1.0;      // bytes on the link for each byte of the flow
    double of_flow = 1.0;     // the flow's bytes that take it
    double fraction = 1.0;    // of the bytes at its junction
    double entered = 1.0;     // bytes that came over the link, for each byte at the junction behind it
    bool queues = true;       // false: the sender's own port, whose rate is shared and not queued for
  };

  FlowSpread() = default;
  // `route`: all hops of the flow, inside hosts, too. `kinds`: by link id; empty: every hop is a switch port.
  FlowSpread(std::span<const ringwright::Hop> route, std::span<const LinkKind> kinds);

  [[nodiscard]] bool empty() const { return hops_.empty(); }
  [[nodiscard]] std::span<const Hop> hops() const { return hops_; }
  [[nodiscard]] const Hop& operator[](std::uint32_t hop) const { return hops_[hop]; }
  // First of the hops that leave a junction; those of the next junction follow.
  [[nodiscard]] std::uint32_t first_from(std::uint32_t junction) const { return first_from_[junction]; }
  [[nodiscard]] std::uint32_t end_from(std::uint32_t junction) const { return first_from_[junction + 1]; }
  // Hops that lead to a junction.
  [[nodiscard]] std::span<const std::uint32_t> into(std::uint32_t junction) const {
    return std::span(into_).subspan(first_into_[junction], first_into_[junction + 1] - first_into_[junction]);
  }
  // The part of the flow's bytes that is marked, if `marked_at` is the probability at each hop.
  template <class MarkedAt>
  [[nodiscard]] double marked(MarkedAt&& marked_at) const;

 private:
  void join_by_tiers();
  void number_junctions(const std::vector<std::uint32_t>& after);
  void index(std::uint32_t junctions);

  std::vector<Hop> hops_;                  // by junction
  std::vector<std::uint32_t> first_from_;  // by junction, and one past the end
  std::vector<std::uint32_t> into_;
  std::vector<std::uint32_t> first_into_;
  mutable std::vector<double> marked_;  // scratch, by junction
};

template <class MarkedAt>
double FlowSpread::marked(MarkedAt&& marked_at) const {
  marked_.assign(first_from_.size(), 0.0);
  for (std::uint32_t h = static_cast<std::uint32_t>(hops_.size()); h-- > 0;) {
    const Hop& hop = hops_[h];
    const double later = hop.to == kEnd ? 0.0 : marked_[hop.to];
    const double here = hop.queues ? marked_at(h) : 0.0;
    marked_[hop.from] += hop.fraction * (1.0 - (1.0 - here) * (1.0 - later));
  }
  return std::min(marked_.front(), 1.0);
}

}  // namespace ringwright::network_models
