// Links that background traffic crosses on which nothing in the job depends: what the job sends over them is the same
// as over the other links of their class, and only what else they carry differs.
//
// Strict priority lets such traffic take what the job leaves (network_models/solver/priority_max_min.h), so that ranks
// fold as if there were none. Each link that it crosses becomes a class of its own. The job's paths over a class of
// links cross those as well: they are as full, so that shares stay what they are, and carry their part of the job.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/plan/task_graph.h"
#include "core/ports/router.h"
#include "core/symmetry/folding.h"

namespace ringwright {

// The links of all such transfers, in order; of twins the first. One router for each epoch of the network.
[[nodiscard]] std::vector<LinkId> links_behind_job(const TaskGraph& graph, std::span<const Router* const> routers,
                                                   bool first_of_twins);

// The colours of links, with one of its own for each of these and their twins.
[[nodiscard]] std::vector<std::uint64_t> with_links_apart(const std::vector<std::uint64_t>& colours,
                                                          std::span<const LinkId> apart, std::span<const LinkId> twins);

// By class: the first class of links of the same colour.
[[nodiscard]] std::vector<std::uint32_t> first_classes(std::span<const std::uint64_t> colours,
                                                       std::span<const LinkId> representative);

// Classes of links that carry the same of the job, as one.
class JobLinks {
 public:
  explicit JobLinks(const LinkClasses& links);

  [[nodiscard]] std::uint32_t first_of(std::uint32_t link_class) const {
    return of_job_.empty() ? link_class : of_job_[link_class];
  }
  // Of such a first class: how many links it and its others have that paths count.
  [[nodiscard]] std::uint32_t size(std::uint32_t first) const { return size_[first]; }
  // A path over first classes crosses their others as well.
  void add_others(std::vector<Hop>& hops) const;

 private:
  std::span<const std::uint32_t> of_job_;
  std::vector<std::uint32_t> size_;                 // by class
  std::vector<std::vector<std::uint32_t>> others_;  // by class; empty where there are none
};

}  // namespace ringwright
