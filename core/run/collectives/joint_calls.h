// Calls that begin when their last member has joined and end for all members together: who has joined, and the booking
// of their time.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class JointCalls final : public CopyBlockListener {
 public:
  explicit JointCalls(PlayedJob& job);

  // A member calls; true: it was the last of its group.
  [[nodiscard]] bool join(const CollectiveRequest& request);
  // All have joined: from now on the call counts as communication for all of them. Returns their calls, valid until the
  // next one begins.
  std::span<const std::uint32_t> begin(const CollectiveRequest& last);
  // The call would be over for this member if nothing slowed its thread blocks.
  void end(std::uint32_t slot);
  void on_caught_up(std::uint64_t token) override { await_slowest(slot_of(token)); }

  [[nodiscard]] std::span<const ClassId> classes_of_group(const CollectiveRequest& request) {
    return roster_.classes_of_group(request.rank_class, request.dimension);
  }
  [[nodiscard]] std::uint64_t identity(const CollectiveRequest& request) const;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return identity(request(slot_of(token))); }
  [[nodiscard]] const CollectiveRequest& request(std::uint32_t slot) const { return calls_[slot].request; }
  // A hash of all calls; `state` returns that of one which has begun.
  template <class State>
  [[nodiscard]] std::uint64_t digest(State&& state) const {
    std::uint64_t sum = 0;  // a sum: the slot of a call does not matter
    for (std::uint32_t slot = 0; slot < calls_.size(); ++slot) {
      const Call& call = calls_[slot];
      if (!call.active) continue;
      const std::uint64_t of_call = mix(identity(call.request), call.begun ? state(slot) : ~std::uint64_t{0});
      const bool may_lag = call.begun && job_.clocks != nullptr;
      sum += may_lag ? mix(of_call, job_.clocks->digest_of_lag(call.request.rank_class, call.lag)) : of_call;
    }
    return sum;
  }
  // As CollectiveRunner::waits_for.
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const;

 private:
  struct Call {
    CollectiveRequest request;
    bool active = false;
    bool begun = false;  // no members are missing
    FineTime lag;        // of the member's thread blocks then
  };

  static constexpr std::uint32_t slot_of(std::uint64_t token) { return static_cast<std::uint32_t>(token); }
  [[nodiscard]] std::vector<std::uint32_t>& edge(const CollectiveRequest& request, ClassId c) {
    return edges_[c.index() * job_.graph.dimensions.size() + request.dimension.index()];
  }
  [[nodiscard]] std::uint32_t find(const CollectiveRequest& request, ClassId c);
  void finish(std::uint32_t slot);
  void await_slowest(std::uint32_t slot);

  PlayedJob& job_;
  GroupRoster roster_;
  std::deque<Call> calls_;  // slots, reused
  std::vector<std::uint32_t> free_calls_;
  std::vector<std::vector<std::uint32_t>> edges_;  // by class, by dimension: slots of its active calls
  std::vector<std::uint32_t> begun_;               // of the last begin()
};

}  // namespace ringwright
