// Symmetry folding: the coarsest equitable partition of ranks and links by colour refinement, so that one rank per
// class, on one link per class, stands for all.
//
// Colours start from the own properties of ranks and links (program, slowdown; capacity) and are refined until nothing
// splits: a rank by (own colour, for each edge: role, the peer's colour, the path's latency and link colours), a link
// by (own colour, the multiset of (role, hop, colour) of the flows that cross it). On an equitable partition the
// quotient's fair shares, lifted to all flows, satisfy the certificate of max-min fairness (every flow crosses a full
// link on which no flow is faster), which characterises the unique allocation; starts, sizes and dependencies are equal
// within a class by induction over events. So a folded run is exact. (1-dimensional Weisfeiler-Leman; lumping.)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/router.h"
#include "core/symmetry/footprint.h"

namespace ringwright {

struct LinkClasses {
  std::vector<std::uint32_t> class_of;  // by link
  std::vector<LinkId> representative;   // by class
  std::vector<std::uint32_t> size;      // by class
  // By class: its links that are the first of their twins, where paths have only these hops; empty: all links count.
  std::vector<std::uint32_t> firsts;
  // By class: the first class whose links carry the same of the job, and differ only in background traffic on which
  // nothing in the job depends. Empty: there is no such traffic.
  std::vector<std::uint32_t> of_job;
};

struct Folding {
  RankClasses ranks;
  LinkClasses links;
  // background_behind_job(): such transfers are by themselves, each of their links is a class.
  std::vector<bool> behind_job;
  int rounds = 0;
  // Classes that would remain if the paths of messages did not matter: those that programs and peers alone distinguish.
  // Only computed where little could be folded, to report why; otherwise 0.
  std::size_t role_classes = 0;
};

// Whether less than half of the ranks could be left out.
[[nodiscard]] bool folds_little(const Folding& folding);
// Why: "the routes of their messages differ ..."; empty when much could be folded.
[[nodiscard]] std::string why_little_folded(const Folding& folding);

// Changes of the network during a run. The partition is then equitable for the paths of every epoch, so that equal
// ranks and links stay equal through all of them.
struct NetworkChanges {
  std::vector<const Router*> epochs;        // the paths of the times when some links are down
  std::vector<std::uint64_t> link_colours;  // by link: its changes, and when; empty: nothing changes
};

[[nodiscard]] Folding fold(const TaskGraph& graph, const Choosers& choosers, const Router& router,
                           const NetworkChanges& changes = {});

// The same for a footprint that was made before.
[[nodiscard]] Folding fold_footprint(const TaskGraph& graph, const Footprint& footprint, const Router& router,
                                     const NetworkChanges& changes = {});

// The paths of representatives on link classes: link ids are those of Folding::links, and a hop's multiplicity counts
// how many of the flows that this one represents cross one link of the class. References must outlive it.
[[nodiscard]] std::unique_ptr<Router> make_folded_router(const Router& router, const Folding& folding);

}  // namespace ringwright
