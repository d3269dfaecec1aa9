// Flows that take the same route, as one path with their number as its weight; and each link's list of the paths that
// cross it.
//
// Flows of one route have the same max-min fair rate, so a connection that has eight messages in flight costs a solver
// as much as one. The table notes which links a change has touched; rates and bottlenecks are the solver's, in the same
// rows.
//
// A link is *loose* while every path over it also crosses one certain other link that is full first: it bounds no rate,
// and a solver need not look at it. Of the eight links between GPUs of two hosts, those inside the hosts mostly are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/base/units.h"
#include "core/ports/router.h"
#include "network_models/solver/block_pool.h"
#include "network_models/solver/max_min_solver.h"
#include "network_models/solver/probed_table.h"

namespace ringwright::network_models {

// A row in the tables of flows; rows are reused, so memory is bounded by the concurrent flows.
using FlowSlot = std::uint32_t;
using PathSlot = std::uint32_t;

struct LinkShare {
  std::uint32_t link = 0;
  std::uint32_t place = 0;  // of this flow among the link's members
  double share = 1.0;
};

class PathTable {
 public:
  // Rows rather than columns: a flow or a link is always read as a whole, and a row never crosses a cache line.
  struct alignas(32) Flow {
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;
    PathSlot path = 0;              // once it has entered
    std::uint32_t place = 0;        // among the flows of the path
    std::uint32_t reported_in = 0;  // number of the solve that last returned it
    bool entered = false;
  };
  // The flows that have entered on one route.
  struct alignas(64) Path {
    double rate = 0.0;    // of each of its flows
    double weight = 0.0;  // number of flows
    std::uint32_t first_hop = 0;
    std::uint32_t hops = 0;  // 0: a free slot
    std::uint32_t bottleneck = kNoBottleneck;
    std::uint32_t chosen_in = 0;      // number of the solve that last chose it
    std::uint32_t row = 0;            // in the problem of that solve
    std::uint32_t flows_before = 0;   // how many flows it had at the last solve
    InlineVector<FlowSlot, 2> flows;  // none: the last one has left since

    [[nodiscard]] bool has_changed() const { return flows.size() != flows_before; }
  };
  // A firm link stays so: a path over it does not cross the link that is tighter on others. Unknown: none has entered.
  enum class Tightness : std::uint8_t { kUnknown, kLoose, kFirm };
  struct alignas(32) Link {
    double capacity = 0.0;
    std::uint32_t members = 0;  // first of its block
    std::uint32_t member_count = 0;
    std::uint32_t bottleneck_of = 0;  // how many paths
    std::uint32_t visited_in = 0;     // number of the solve that last visited it
    std::uint32_t visit = 0;          // its index among the visits of that solve
    std::uint8_t members_order = 0;   // of its block; 0: none yet
    bool touched = false;
    bool resized = false;  // its capacity has changed
    Tightness tightness = Tightness::kUnknown;

    [[nodiscard]] bool is_loose() const { return tightness == Tightness::kLoose; }
  };
  struct Member {
    PathSlot path = 0;
    std::uint32_t hop = 0;
    double share = 1.0;  // of each flow of the path
  };

  explicit PathTable(std::span<const Bandwidth> capacities);

  // Sets the route of a flow that has not entered, replacing the old one.
  void place(FlowSlot flow, std::span<const Hop> route);
  // Discards the route of a flow that has not entered.
  void forget(FlowSlot flow);
  // The flow joins the path of its route.
  void enter(FlowSlot flow);
  void leave(FlowSlot flow);
  void set_capacity(LinkId link, Bandwidth capacity);
  // Paths keep their place after their last flow, until a solve begins: a connection whose messages follow each other
  // at once is the same path, with the same rate, and touches no link. Removes those that are empty.
  void remove_empty_paths();
  // What has changed is known from now on, and its links are touched.
  void take_changed_paths();
  // Hands each link that has changed since the last call to `visit`, once.
  template <class Visit>
  void take_touched(Visit&& visit) {
    for (const std::uint32_t l : touched_) {
      visit(l);
      links_[l].touched = false;
      links_[l].resized = false;
    }
    touched_.clear();
  }

  [[nodiscard]] Flow& flow(FlowSlot flow) { return flows_[flow]; }
  [[nodiscard]] const Flow& flow(FlowSlot flow) const { return flows_[flow]; }
  [[nodiscard]] Path& path(PathSlot path) { return paths_[path]; }
  [[nodiscard]] const Path& path(PathSlot path) const { return paths_[path]; }
  [[nodiscard]] Link& link(std::uint32_t link) { return links_[link]; }
  [[nodiscard]] const Link& link(std::uint32_t link) const { return links_[link]; }
  [[nodiscard]] std::span<const Link> links() const { return links_; }
  [[nodiscard]] std::span<const LinkShare> route(FlowSlot flow) const {
    return {hops_.at(flows_[flow].first_hop), flows_[flow].hops};
  }
  [[nodiscard]] std::span<const LinkShare> links_of(const Path& path) const {
    return {path_hops_.at(path.first_hop), path.hops};
  }
  // Asks for what is needed of a path soon: its row, then its links or the row of its first flow.
  void prefetch_path(PathSlot path) const { __builtin_prefetch(&paths_[path]); }
  void prefetch_links(PathSlot path) const {
    const auto* const hops = reinterpret_cast<const char*>(path_hops_.at(paths_[path].first_hop));
    __builtin_prefetch(hops);
    __builtin_prefetch(hops + 64);
  }
  void prefetch_flow(PathSlot path) const {
    if (!paths_[path].flows.empty()) __builtin_prefetch(&flows_[paths_[path].flows[0]]);
  }
  [[nodiscard]] std::span<const Member> members_of(const Link& link) const {
    return {members_.at(link.members), link.member_count};
  }
  // Paths with flows over the link, up to `most`.
  [[nodiscard]] std::size_t count_in_use(const Link& link, std::size_t most) const {
    std::size_t count = 0;
    for (const Member& member : members_of(link)) {
      if (!paths_[member.path].flows.empty() && ++count == most) break;
    }
    return count;
  }
  [[nodiscard]] std::size_t flow_count() const { return flow_count_; }  // that have entered
  [[nodiscard]] std::size_t path_count() const { return paths_.size() - free_paths_.size(); }
  // Slots of paths, free ones included.
  [[nodiscard]] PathSlot path_slots() const { return static_cast<PathSlot>(paths_.size()); }

 private:
  [[nodiscard]] std::optional<PathSlot> find_path(std::span<const LinkShare> route, std::uint32_t hash) const;
  PathSlot make_path(FlowSlot flow, std::uint32_t hash);
  void remove_path(PathSlot path);
  void touch_links(PathSlot path);
  void add_member(LinkShare& hop, PathSlot path, std::uint32_t hop_index);
  void remove_member(const LinkShare& hop);
  void touch(std::uint32_t link);
  void find_loose(const Path& path);
  [[nodiscard]] bool is_tighter(const LinkShare& hop, const LinkShare& than) const;
  [[nodiscard]] std::uint32_t nearest_tighter(std::span<const LinkShare> hops, std::size_t than) const;

  std::vector<Flow> flows_;
  std::vector<Path> paths_;
  std::vector<PathSlot> free_paths_;
  ProbedTable<std::uint32_t> known_;  // by hash of their links
  std::vector<Link> links_;
  std::vector<std::uint32_t> tighter_;  // by loose link: the other one on all its paths
  BlockPool<LinkShare> hops_;           // of flows
  BlockPool<LinkShare> path_hops_;      // separate, so that a flow's route does not move while another enters
  BlockPool<Member> members_;
  std::size_t flow_count_ = 0;
  std::vector<PathSlot> changed_;  // paths that flows have entered or left since the last solve, some twice
  std::vector<std::uint32_t> touched_;
};

}  // namespace ringwright::network_models
