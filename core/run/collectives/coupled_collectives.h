// Simulates collectives whose members progress together: a phase of a call is one flow over the links of all its
// messages, at one rate.
//
// Approximate, where `CollectivePlayer` lets each member go through its steps by itself: here a call begins when its
// last member has joined, every step pays the latency of its longest path, and all members end at once. In between, a
// link that several messages cross counts all of them, and shares with other calls and messages are max-min fair. A
// ring whose members join late or wait for a slow link is as long in both, since everyone's data pass that link; but
// members that could end earlier do not.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "core/ports/call_overhead.h"
#include "core/ports/network_model.h"
#include "core/run/collectives/coupled_plan.h"
#include "core/run/collectives/joint_calls.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class CoupledCollectives final : public CollectiveRunner, public TransferListener {
 public:
  // Without an overhead (null) a call's first phase begins when its last member has joined.
  CoupledCollectives(PlayedJob& job, const CollectiveChooser& chooser, const CallOverhead* overhead)
      : job_(job), overhead_(overhead), calls_(job), plans_(job, chooser) {}

  void start(const CollectiveRequest& request) override;
  void on_arrived(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override;
  [[nodiscard]] std::uint64_t state_digest() const override;
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override {
    return calls_.waits_for(rank_class, task);
  }

 private:
  // A call of a whole group.
  struct Running {
    const CoupledPlan* plan = nullptr;
    std::vector<std::uint32_t> members;  // slots of their calls
    std::size_t phase = 0;               // in the network; before the first: 0
    TimePoint begins;                    // its first phase
    bool active = false;
  };

  [[nodiscard]] std::uint32_t free_slot();
  void enter_phases(std::uint32_t slot);
  void end(std::uint32_t slot);

  PlayedJob& job_;
  const CallOverhead* overhead_;
  JointCalls calls_;
  CoupledPlans plans_;
  std::deque<Running> running_;  // slots, reused
  std::vector<std::uint32_t> free_;
};

}  // namespace ringwright
