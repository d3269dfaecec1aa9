// Weighted max-min fair shares: arrays of flows and links in, one rate per flow out.
//
// Flow f crosses links with coefficients ("shares"): at rate r it loads link l with share(f, l) * r. An allocation is
// feasible when no link carries more than its capacity. It is max-min fair when no flow's rate can be raised without
// lowering the rate of a flow that is no faster. There is exactly one such allocation, and it has a certificate
// (Bertsekas and Gallager, Data Networks, section 6.5.2): every flow crosses a saturated link on which no flow is
// faster than itself, its bottleneck.
//
// Progressive filling finds it: raise all rates together until a link is full, freeze the flows on it, continue with
// the rest. The level of a link is the rate at which it would be full if all its still rising flows stopped there:
//
//     level(l) = (capacity(l) - load of frozen flows on l) / (sum of shares of rising flows on l)
//
// The solver does not freeze one link at a time but every *local* bottleneck of a round at once: a link at which all
// its rising flows have their lowest level. Freezing other flows, at lower levels than this link's, can only raise the
// levels of links, so no later round could lower the rates of these flows: the link is final. The link of lowest level
// is always final, so every round makes progress; the number of rounds is the depth of the dependence between
// bottlenecks (measured: 4 to 19 on fat trees with random traffic), not the number of distinct rates.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace ringwright::network_models {

inline constexpr std::uint32_t kNoBottleneck = std::numeric_limits<std::uint32_t>::max();

// Flow f's hops are first_hop[f] up to, not including, first_hop[f + 1].
struct MaxMinProblem {
  std::span<const std::uint32_t> first_hop;  // one more than the number of flows
  std::span<const std::uint32_t> hop_link;
  std::span<const double> hop_share;         // > 0
  std::span<const double> capacity;          // by link; a link below 0 (overbooked by others) counts as 0
};

struct MaxMinSolution {
  std::vector<double> rate;               // by flow; infinite for a flow without hops
  std::vector<std::uint32_t> bottleneck;  // by flow: a link that certifies its rate
};

// Holds only scratch memory, reused from call to call.
class MaxMinSolver {
 public:
  void solve(const MaxMinProblem& problem, MaxMinSolution& solution);

 private:
  struct Link {
    double remaining;     // capacity not taken by frozen flows
    double rising_share;  // sum of the shares of flows that are still rising
    double level;
    std::uint32_t rising;   // flows that are still rising
    std::uint32_t lowest_of;  // those with their lowest level here
  };

  void reset(const MaxMinProblem& problem, MaxMinSolution& solution);
  void find_lowest_levels(const MaxMinProblem& problem);
  void freeze_on_final_links(const MaxMinProblem& problem, MaxMinSolution& solution);
  void take_from_links(const MaxMinProblem& problem, const MaxMinSolution& solution);
  void sum_up_shares(const MaxMinProblem& problem);
  void raise_levels();

  std::vector<Link> links_;
  std::vector<std::uint32_t> rising_links_;
  std::vector<std::uint32_t> rising_;   // flows
  std::vector<std::uint32_t> frozen_;   // flows of this round
  std::vector<double> lowest_level_;    // by flow
  bool shares_cancel_ = false;          // a sum of shares has lost digits by subtraction
};

}  // namespace ringwright::network_models
