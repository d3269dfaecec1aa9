// How the executor has collectives played: a rung of the ladder fills this door (steps over a network, a formula, ...).
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/base/ids.h"

namespace ringwright {

// One class's call of a collective.
struct CollectiveRequest {
  ClassId rank_class;
  DimensionId dimension;
  std::uint32_t spec = 0;      // index into TaskGraph::collectives
  std::uint64_t sequence = 0;  // the n-th collective of this dimension
  int iteration = 0;           // that the task belongs to
  std::uint32_t task = 0;      // handed to the listener at the end
};

class CollectiveRunner {
 public:
  virtual ~CollectiveRunner() = default;
  // The job's CommunicationListener is told when the call has ended for the class, possibly within start().
  virtual void start(const CollectiveRequest& request) = 0;
  // A hash of where all started calls stand, relative to the job's reference iteration.
  [[nodiscard]] virtual std::uint64_t state_digest() const = 0;
  // "call 12 (all_gather, ring) in step 3 of 14 for ranks 4, 5": whom a started call of this task waits for.
  [[nodiscard]] virtual std::string waits_for(ClassId rank_class, std::uint32_t task) const = 0;
};

struct ExecutorInputs;
struct PlayedJob;
// The rung that the inputs ask for.
[[nodiscard]] std::unique_ptr<CollectiveRunner> make_collective_runner(PlayedJob& job, const ExecutorInputs& inputs);

}  // namespace ringwright
