// Simulates collectives over a network: each class of ranks goes through its algorithm's steps; a message sent by one
// is awaited by another.
//
// A member starts when its own rank calls, without waiting for the others (eager); it awaits their messages step by
// step. The ledger books a call as communication from the moment its last member has joined: the time before is waiting
// for a late rank, not for the network. Since equal ranks do equal things at equal times, a class checks its peer's
// class, so the same code simulates all ranks or one per class.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/inline_vector.h"
#include "core/plan/step_costs.h"
#include "core/ports/call_overhead.h"
#include "core/ports/collective_algorithm.h"
#include "core/ports/network_model.h"
#include "core/run/collectives/ring_calls.h"
#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/played_job.h"

namespace ringwright {

class CollectivePlayer final : public CollectiveRunner, public TransferListener {
 public:
  // Without an overhead (null) a call's first step begins when it is called.
  CollectivePlayer(PlayedJob& job, const CollectiveChooser& chooser, const StepCosts& costs,
                   const CallOverhead* overhead);

  using Request = CollectiveRequest;
  void start(const Request& request) override;
  void on_arrived(std::uint64_t token) override;
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override;

  void book_sent() override { rings_.book_sent(); }
  [[nodiscard]] std::uint64_t state_digest() const override;
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override;

 private:
  // What every end of a call reads comes first, in one cache line.
  struct alignas(64) Call {
    Request request;
    std::optional<RingCalls::Edges> ring;  // the network goes through the steps
    bool active = false;
    bool booked = false;  // the ledger counts it: all members have joined
    bool everyone_pending = false;
    bool reduces_pending = false;  // the data received in the step is still being added
    int step = 0;
    int steps = 0;
    int member = 0;
    const CollectiveAlgorithm* algorithm = nullptr;
    CollectiveCall call;
    TimePoint begins;  // its first step
    int sends_pending = 0;
    int awaits_pending = 0;
    // Of calls whose steps it goes through itself; empty before and after.
    std::vector<bool> arrived;  // by send of the current step
    CollectiveStep now;
  };
  // The calls of one class in one dimension, in one line of the cache.
  struct alignas(64) ActiveCalls {
    InlineVector<std::uint32_t, 2> active;  // slots of calls_
    SequenceSet done;
  };
  // The "step" under which members that join a call are counted, and the state of a call until its first step begins.
  static constexpr int kJoining = -1;
  struct Choice {
    std::uint32_t layout;
    const CollectiveAlgorithm* algorithm;
    int steps;
    std::optional<UniformSteps> uniform;
    std::optional<RingSteps> ring;
    bool repeats_edges;  // in all steps
    Duration overhead;
  };

  ActiveCalls& active_calls(ClassId c, DimensionId d) {
    return active_calls_[c.index() * job_.graph.dimensions.size() + d.index()];
  }
  [[nodiscard]] const ActiveCalls& active_calls(ClassId c, DimensionId d) const {
    return active_calls_[c.index() * job_.graph.dimensions.size() + d.index()];
  }
  [[nodiscard]] std::optional<std::uint32_t> find_active(ClassId c, DimensionId d, std::uint64_t sequence) const;
  const Choice& choose(const CollectiveCall& call, std::uint32_t spec, std::uint32_t layout);
  void begin_steps(std::uint32_t slot, const Choice& choice);
  void enter_steps(std::uint32_t slot);
  void start_sends(std::uint32_t slot);
  void start_send(std::uint32_t slot, std::size_t index);
  [[nodiscard]] Duration time_to_reduce(const Call& call) const;
  bool begin_reducing(std::uint32_t slot);
  void start_batch(std::uint32_t slot, const UniformSteps& uniform);
  bool start_ring(std::uint32_t slot, const Choice& choice);
  [[nodiscard]] bool among_equals(const Call& call, const UniformSteps& uniform) const;
  void try_advance(std::uint32_t slot);
  void finish(std::uint32_t slot);
  void notify_peer(const Call& sender, int send);
  [[nodiscard]] bool has_arrived(ClassId sender, const Call& receiver, int send) const;
  [[nodiscard]] std::uint64_t identity(const Call& call) const;
  [[nodiscard]] int arrived_over(const Call& call, int send) const;
  [[nodiscard]] Call in_steps(Call call) const;
  [[nodiscard]] std::string describe_wait(const Call& call) const;
  void join(std::uint32_t slot);
  void count_everyone(std::uint32_t slot);

  PlayedJob& job_;
  const CollectiveChooser& chooser_;
  StepCosts costs_;
  const CallOverhead* overhead_;
  std::vector<ActiveCalls> active_calls_;      // by class, by dimension
  std::deque<Call> calls_;       // slots, reused; a deque so that references stay
  std::vector<std::uint32_t> free_calls_;
  std::vector<std::vector<const Choice*>> choices_;  // by dimension and specification: those of different layouts
  std::deque<Choice> chosen_;
  GroupRoster roster_;
  RingCalls rings_;
};

}  // namespace ringwright
