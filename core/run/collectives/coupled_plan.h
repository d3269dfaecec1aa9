// A collective whose members progress together: its steps as phases, each with the messages of all members.
//
// Steps with the same messages are one phase: a ring is one, a tree that carries chunks up and down has as many as
// steps. In a folded run the messages are those of the group of the first class: members of one class may send over
// different links, since folding only makes sure that groups do the same as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "core/ports/collective_algorithm.h"
#include "core/ports/network_model.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"

namespace ringwright {

struct CoupledPhase {
  std::vector<CoupledMessage> messages;  // none: the phase takes no time
  std::uint32_t steps = 1;
};

// What a member of the class does in one call.
struct CoupledMember {
  ClassId rank_class;
  Bytes sent;
  std::uint64_t messages = 0;
};

struct CoupledPlan {
  std::vector<CoupledPhase> phases;
  std::vector<CoupledMember> members;
};

// The number of phases of a call.
[[nodiscard]] int count_phases(const CollectiveAlgorithm& algorithm, const CollectiveCall& call);

// The plans of a job's calls, each made once.
class CoupledPlans {
 public:
  CoupledPlans(const PlayedJob& job, const CollectiveChooser& chooser) : job_(job), chooser_(chooser) {}

  // `classes`: of the members of the request's group. The plan stays where it is.
  const CoupledPlan& of(const CollectiveRequest& request, std::span<const ClassId> classes);
  [[nodiscard]] CollectiveCall call_of(const CollectiveRequest& request) const;

 private:
  using Steps = std::vector<std::vector<CollectiveSend>>;  // by phase

  const Steps& steps_of(const CollectiveCall& call, const CollectiveAlgorithm& algorithm, std::uint32_t spec,
                        int member);
  void add_members(const CollectiveRequest& request, CoupledPlan& plan);

  const PlayedJob& job_;
  const CollectiveChooser& chooser_;
  // By spec, dimension and first class of the group.
  std::map<std::tuple<std::uint32_t, DimensionId, ClassId>, CoupledPlan> plans_;
  // By spec, dimension, layout and member: groups of one layout send the same messages.
  std::map<std::tuple<std::uint32_t, DimensionId, const GroupLayout*, int>, Steps> steps_;
};

}  // namespace ringwright
