// The rings and trees that a library's search finds in the hosts of a group, for the rung of steps.
//
// The library's plan (NCCL, RCCL) sets how many kinds of channels there are and in which order each passes the GPUs of
// a host; kernels and steps then send over the same links. Algorithms made for one plan are pure functions of the call,
// like those of the table.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/collective_plan.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {

// One ring for each kind of the plan's channels, each with an equal share of the buffer. Every kind but all-to-all.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_library_rings(const CollectivePlan& plan);

// Two binary trees over hosts for each kind of the plan's channels, along its chain through every host: all-reduce.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_library_trees(const CollectivePlan& plan);

// Reduce-scatter along every side of a torus of hosts, all-gather back, by all links at once: `sides` of the box that
// the group's hosts fill, in their order, the first one counting fastest. All-reduce, all-gather, reduce-scatter.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_torus_rings(const std::vector<int>& sides);

// AdapCC's trees over hosts with these speeds of their NICs: all-reduce.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_adaptive_trees(const std::vector<double>& speed_of_host);

// R2CCL's all-reduce around the NICs that hosts of the call's layout have lost, planned once: for calls of this layout
// and size.
[[nodiscard]] std::unique_ptr<const CollectiveAlgorithm> make_around_lost_nics(const CollectiveCall& call);

// Each is built once and cached; thread-safe. Layouts outlive this: rings know one by its address.
class LibraryAlgorithms {
 public:
  [[nodiscard]] const CollectiveAlgorithm& rings(const CollectivePlan& plan, const GroupLayout& layout);
  [[nodiscard]] const CollectiveAlgorithm& trees(const CollectivePlan& plan, const GroupLayout& layout);
  // As kernels execute rings: with merged steps where pieces are short (steps/streamed_rings.h); else, and where the
  // algorithm is not rings, unchanged. The algorithm outlives this or is its own.
  [[nodiscard]] const CollectiveAlgorithm& streamed(const CollectiveAlgorithm& rings, const CollectiveCall& call);
  [[nodiscard]] const CollectiveAlgorithm& torus(const std::vector<int>& sides);
  [[nodiscard]] const CollectiveAlgorithm& adaptive(const std::vector<double>& speed_of_host);
  [[nodiscard]] const CollectiveAlgorithm& around_lost_nics(const CollectiveCall& call);

 private:
  // Everything that an algorithm uses of a plan: the number of channels, their paths.
  using Paths = std::vector<std::vector<int>>;

  std::mutex mutex_;
  std::map<std::tuple<const GroupLayout*, int, Paths>, std::unique_ptr<const CollectiveAlgorithm>> rings_;
  std::map<std::tuple<int, Paths>, std::unique_ptr<const CollectiveAlgorithm>> trees_;
  std::map<const CollectiveAlgorithm*, std::unique_ptr<const CollectiveAlgorithm>> streamed_;
  std::map<std::vector<int>, std::unique_ptr<const CollectiveAlgorithm>> on_torus_;
  std::map<std::vector<double>, std::unique_ptr<const CollectiveAlgorithm>> adaptive_;
  std::map<std::pair<const GroupLayout*, Bytes>, std::unique_ptr<const CollectiveAlgorithm>> around_lost_nics_;
};

// The plan with each path once, if all paths stand for equally many channels; else unchanged. No more channels than
// orders, so that plans with the same traffic are equal.
[[nodiscard]] CollectivePlan distinct_orders(const CollectivePlan& plan, const GroupLayout& layout);

}  // namespace ringwright::collectives
