// Calls that are computed at once: while no other transfer uses a call's links, its members' ends follow from the
// moments at which they start (lone_calls.h). A call whose links are in use when it starts is simulated in full, by
// another runner; so is one whose members do not start together, unless that takes long.
//
// The network watches the links of the others from their first start until their last transfer has arrived. Where
// another transfer uses one of them meanwhile, the run is void, and is repeated with that call in full.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "core/run/job/collective_runner.h"
#include "core/run/job/group_roster.h"
#include "core/run/job/link_traffic.h"
#include "core/run/job/played_job.h"
#include "core/run/alone/lone_calls.h"

namespace ringwright {

class CallsAtOnce final : public CollectiveRunner, public MessageCarrier {
 public:
  // kWithinHosts: of calls between hosts the network computes much at once itself. One that clashes once does so
  // wherever the job goes on, as traffic of others passes through its host, and is simulated in full from then on.
  enum class Which { kAll, kWithinHosts };
  // `each` simulates the other calls in full.
  CallsAtOnce(PlayedJob& job, std::unique_ptr<CollectiveRunner> each, LoneCalls& lone, Which which);

  void start(const CollectiveRequest& request) override;
  [[nodiscard]] MessageCarrier* carrier() override { return each_->carrier() != nullptr ? this : nullptr; }
  void carry(const MessageOrder& order, MessageEnds& ends) override;

  [[nodiscard]] bool awaits_members() const override { return awaiting_ > 0; }
  [[nodiscard]] bool is_disturbed() const override { return disturbed_ || job_.network.trespassed(); }
  void add_usage(std::vector<LinkUsage>& usage) const override { traffic_.add_to(usage); }
  void book_sent() override { each_->book_sent(); }
  [[nodiscard]] std::uint64_t state_digest() const override;
  // Of calls in full.
  [[nodiscard]] std::string waits_for(ClassId rank_class, std::uint32_t task) const override {
    return each_->waits_for(rank_class, task);
  }

 private:
  struct Member {
    CollectiveRequest request;
    TimePoint start;
    bool runs = false;  // it has started and not ended
  };
  // Members that start apart are awaited where a call alone has so many events.
  static constexpr std::uint64_t kWorthWaiting = 50'000;
  // In flight; null for `lone`: in full, or a free slot.
  struct Call {
    LoneCall* lone = nullptr;
    const LonePlay* play = nullptr;  // null: not all members have started
    std::vector<Member> members;     // of a collective, as in the lone call
    std::size_t to_start = 0;
    std::size_t to_end = 0;
    std::uint64_t number = 0;        // of the lone call's
    TimePoint first;                 // start
    MessageEnds* ends = nullptr;     // of a message
    std::uint64_t token = 0;
  };
  using Key = std::tuple<ClassId, DimensionId, std::uint64_t>;  // first class of the group, dimension, sequence

  [[nodiscard]] bool reserve(const LoneCall& lone, std::uint64_t number, TimePoint until);
  [[nodiscard]] std::uint64_t number_of_next(const LoneCall& lone) { return started_[&lone]++; }
  void look_who_started(std::uint32_t slot);
  void finish(std::uint32_t slot);
  [[nodiscard]] std::uint32_t free_slot();
  void release(std::uint32_t slot);
  void begin(std::uint32_t slot);
  void end_member(std::uint32_t slot, std::size_t member);
  void end_message(std::uint32_t slot, std::size_t end);
  void count(const Call& call);
  [[nodiscard]] std::uint64_t digest(const Call& call) const;

  PlayedJob& job_;
  std::unique_ptr<CollectiveRunner> each_;
  LoneCalls& lone_;
  Which which_;
  GroupRoster roster_;
  std::map<Key, std::uint32_t> starting_;  // calls that members are still to start: their slots
  std::deque<Call> calls_;                 // slots, reused
  std::vector<std::uint32_t> free_;
  std::size_t awaiting_ = 0;               // calls at once that members are still to start
  bool disturbed_ = false;
  LinkTraffic traffic_;
  std::unordered_map<const LoneCall*, std::uint64_t> started_;  // how often so far
};

}  // namespace ringwright
