// Max-min fair shares of flows that come and go: re-solves only what a change can affect, and proves that it was
// enough.
//
// After some flows have entered or left, the flows that certainly need a new rate are the new ones and those whose
// bottleneck link was touched. These are *chosen*; all others keep their rates, and the chosen are filled on the
// capacity that the others leave (max_min_solver.h). The result is the one max-min allocation if the certificate holds
// for every flow. The filling certifies chosen flows, with one exception, and a flow that was not chosen keeps its
// certificate unless a link that chosen flows cross has changed. So only links crossed by chosen flows are checked:
//
//   1. a link that is now the bottleneck of chosen flows must carry no flow that is faster than these;
//   2. a link that is the bottleneck of a flow not chosen must still be full, and no chosen flow on it be faster.
//
// A flow that breaks a rule is chosen too, and the filling repeated, until no flow breaks a rule. The first choice thus
// affects speed alone, never the result. Beyond half of all flows a full solve is cheaper and needs no proof; below
// that many flows are filled in the order of their rates, so that each is filled once (local_fill.h).
//
// A new flow that uses all links of its route alone is as fast as the narrowest of them: it needs no solve and affects
// no other flow. Most steps of rings are of this kind.
//
// Flows that take the same route are one *path* (path_table.h), and the algorithm above works on paths.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/solver/chosen_paths.h"
#include "network_models/solver/local_fill.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

// A rate that moves by less than this part has not changed: rounding alone must not move a flow's end.
inline constexpr double kSameRate = 1e-12;

class IncrementalMaxMin {
 public:
  explicit IncrementalMaxMin(std::span<const Bandwidth> capacities)
      : table_(capacities), chosen_(table_), local_(table_) {}
  IncrementalMaxMin(const IncrementalMaxMin&) = delete;  // its parts refer to each other
  IncrementalMaxMin& operator=(const IncrementalMaxMin&) = delete;

  // Sets the path of a flow, replacing the old one; it takes no bandwidth before it enters. Slots are numbered by the
  // caller, densely.
  void place(FlowSlot flow, std::span<const Hop> route) { table_.place(flow, route); }
  [[nodiscard]] std::span<const LinkShare> route(FlowSlot flow) const { return table_.route(flow); }
  void prefetch(FlowSlot flow) const { __builtin_prefetch(&table_.flow(flow)); }
  [[nodiscard]] bool is_route(FlowSlot flow, std::span<const Hop> route) const;
  void enter(FlowSlot flow) {
    table_.enter(flow);
    entered_.push_back(flow);
  }
  // Removes the flow; it may enter again.
  void leave(FlowSlot flow) { table_.leave(flow); }
  // Whether no flow has entered any link of this one's path.
  [[nodiscard]] bool route_is_empty(FlowSlot flow) const;
  // Whether this flow, which has entered, is the only one on all links of its path.
  [[nodiscard]] bool is_alone(FlowSlot flow) const;
  // The rate of a flow alone on its path.
  [[nodiscard]] double rate_alone(FlowSlot flow) const;
  // Discards the path of a flow that has not entered.
  void forget(FlowSlot flow) { table_.forget(flow); }
  void set_capacity(LinkId link, Bandwidth capacity) { table_.set_capacity(link, capacity); }

  [[nodiscard]] bool is_empty(LinkId link) const { return table_.count_in_use(table_.link(link.value), 1) == 0; }
  // Bytes per second that flows put on the link, as of the last solve.
  [[nodiscard]] double load(LinkId link) const;

  // Brings all rates up to date; returns the flows whose rate has changed.
  std::span<const FlowSlot> solve();
  // Bytes per second, as of the last solve.
  [[nodiscard]] double rate(FlowSlot flow) const {
    const PathTable::Flow& row = table_.flow(flow);
    return row.entered ? table_.path(row.path).rate : 0.0;
  }
  [[nodiscard]] std::size_t flow_count() const { return table_.flow_count(); }

  // Solves all flows from scratch, separately from the stored state; returns the largest relative difference between
  // the rates.
  [[nodiscard]] double largest_error() const;

  struct Work {
    std::uint64_t solves = 0;
    std::uint64_t full_solves = 0;
    std::uint64_t flows_resolved = 0;
  };
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  bool settle_alone(PathSlot path);
  void choose_first();
  void choose_all();
  void check_certificate();
  void check_link(const ChosenPaths::Visit& visit);
  void fill_locally();
  template <class Filled>
  void adopt(const Filled& filled);
  void report(FlowSlot flow);
  void report_entered();

  PathTable table_;
  ChosenPaths chosen_;
  LocalFill local_;
  std::size_t alone_ = 0;          // paths that this solve settled without choosing them
  std::vector<FlowSlot> entered_;  // since the last solve
  std::vector<FlowSlot> changed_;  // in it
  std::vector<PathSlot> broken_;   // scratch of check_certificate
  Work work_;
};

}  // namespace ringwright::network_models
