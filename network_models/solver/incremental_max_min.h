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
// affects speed alone, never the result. Beyond half of all flows a full solve is cheaper and needs no proof.
//
// A new flow that uses all links of its route alone is as fast as the narrowest of them: it needs no solve and affects
// no other flow. Most steps of rings are of this kind.
//
// Flows that take the same route have the same rate. They are one *path* with their number as its weight, and the
// algorithm above works on paths: a connection that has eight messages in flight costs as much as one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/solver/block_pool.h"
#include "network_models/solver/max_min_solver.h"

namespace ringwright::network_models {

// A row in the tables of flows; rows are reused, so memory is bounded by the concurrent flows.
using FlowSlot = std::uint32_t;

struct LinkShare {
  std::uint32_t link = 0;
  std::uint32_t place = 0;  // of this flow among the link's members
  double share = 1.0;
};

class IncrementalMaxMin {
 public:
  explicit IncrementalMaxMin(std::span<const Bandwidth> capacities);

  // Sets the path of a flow, replacing the old one; it takes no bandwidth before it enters. Slots are numbered by the
  // caller, densely.
  void place(FlowSlot flow, std::span<const Hop> route);
  [[nodiscard]] std::span<const LinkShare> route(FlowSlot flow) const {
    return {hops_.at(flows_[flow].first_hop), flows_[flow].hops};
  }
  [[nodiscard]] bool is_route(FlowSlot flow, std::span<const Hop> route) const;
  void enter(FlowSlot flow);
  // Removes the flow; it may enter again.
  void leave(FlowSlot flow);
  // Whether no flow has entered any link of this one's path.
  [[nodiscard]] bool route_is_empty(FlowSlot flow) const;
  // The rate of a flow alone on its path.
  [[nodiscard]] double rate_alone(FlowSlot flow) const;
  // Discards the path of a flow that has not entered.
  void forget(FlowSlot flow);
  void set_capacity(LinkId link, Bandwidth capacity);

  [[nodiscard]] bool is_empty(LinkId link) const { return links_[link.index()].member_count == 0; }
  // Bytes per second that flows put on the link, as of the last solve.
  [[nodiscard]] double load(LinkId link) const;

  // Brings all rates up to date; returns the flows whose rate has changed.
  std::span<const FlowSlot> solve();
  // Bytes per second, as of the last solve.
  [[nodiscard]] double rate(FlowSlot flow) const {
    return flows_[flow].entered ? paths_[flows_[flow].path].rate : 0.0;
  }
  [[nodiscard]] std::size_t flow_count() const { return flow_count_; }

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
  using PathSlot = std::uint32_t;

  // Rows rather than columns: a flow or a link is always read as a whole, and a row never crosses a cache line.
  struct alignas(32) Flow {
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
    PathSlot path = 0;             // once it has entered
    std::uint32_t place = 0;       // among the flows of the path
    std::uint32_t reported_in = 0; // number of the solve that last returned it
    bool entered = false;
  };
  // The flows that have entered on one route.
  struct alignas(64) Path {
    double rate = 0.0;    // of each of its flows
    double weight = 0.0;  // number of flows
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
    std::uint32_t bottleneck = kNoBottleneck;
    std::uint32_t chosen_in = 0;  // number of the solve that last chose it
    std::uint32_t row = 0;        // in the problem of that solve
    std::vector<FlowSlot> flows;
  };
  struct alignas(32) Link {
    double capacity = 0.0;
    std::uint32_t members = 0;  // first of its block
    std::uint32_t member_count = 0;
    std::uint32_t bottleneck_of = 0;  // how many paths
    std::uint32_t visit = 0;          // its index among the visits of this solve: see is_visited()
    std::uint8_t members_order = 0;   // of its block; 0: none yet
    bool touched = false;
    bool resized = false;             // its capacity has changed
  };
  struct Member {
    PathSlot path = 0;
    std::uint32_t hop = 0;
    double share = 1.0;  // of each flow of the path
  };
  // The effect of the chosen paths on a visited link.
  struct Visit {
    std::uint32_t link = 0;
    std::uint32_t chosen = 0;   // how many of its members
    bool is_bottleneck = false;
    double level = 0.0;         // the rate of the chosen flows that have their bottleneck here
  };

  [[nodiscard]] std::span<const LinkShare> links_of(const Path& path) const {
    return {path_hops_.at(path.first_hop), path.hops};
  }
  [[nodiscard]] std::optional<PathSlot> find_path(FlowSlot flow) const;
  PathSlot make_path(FlowSlot flow);
  void remove_path(PathSlot path);
  void touch_links(PathSlot path);
  void add_member(LinkShare& hop, PathSlot path, std::uint32_t hop_index);
  void remove_member(const LinkShare& hop);
  void touch(std::uint32_t link);
  void choose(PathSlot path);
  bool settle_alone(PathSlot path);
  void choose_first();
  void choose_all();
  // A sparse set (Briggs and Torczon, 1993): no link needs to be reset before a solve.
  [[nodiscard]] bool is_visited(std::uint32_t link) const {
    const std::uint32_t visit = links_[link].visit;
    return visit < visits_.size() && visits_[visit].link == link;
  }
  void gather();
  [[nodiscard]] double fixed_load(const Link& link) const;
  void fill();
  void check_certificate();
  void check_link(const Visit& visit);
  void adopt();
  void report(FlowSlot flow);
  void report_entered();

  std::vector<Flow> flows_;
  std::vector<Path> paths_;
  std::vector<PathSlot> free_paths_;
  std::vector<Link> links_;
  BlockPool<LinkShare> hops_;       // of flows
  BlockPool<LinkShare> path_hops_;  // separate, so that a flow's route does not move while another enters
  BlockPool<Member> members_;
  std::size_t flow_count_ = 0;  // that have entered
  std::size_t path_count_ = 0;
  std::uint32_t solve_number_ = 0;
  Work work_;

  // Since the last solve.
  std::vector<FlowSlot> entered_;
  std::vector<std::uint32_t> touched_;

  // Scratch of a solve.
  std::vector<PathSlot> chosen_;
  std::size_t alone_ = 0;  // number settled without being chosen
  std::vector<PathSlot> broken_;
  std::vector<FlowSlot> changed_;
  std::vector<Visit> visits_;
  std::vector<std::uint32_t> problem_first_hop_;
  std::vector<std::uint32_t> problem_hop_link_;
  std::vector<double> problem_hop_share_;
  std::vector<double> problem_capacity_;
  MaxMinSolver solver_;
  MaxMinSolution solution_;
};

}  // namespace ringwright::network_models
