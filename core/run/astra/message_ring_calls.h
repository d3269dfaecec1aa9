// Collectives that the network computes as rings of messages, where the members of a group do not call in step.
//
// The order of events of one tick decides nothing in a ring but the order of other events of the tick in which its
// members are done. It can matter where ranks are in step, so that many events share a tick: calls of a group whose
// members called at one tick the last time are simulated message by message.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/plan/node_job.h"
#include "core/ports/message_network.h"
#include "core/run/astra/chunk_streams.h"
#include "core/run/astra/job_run.h"

namespace ringwright {

class MessageRingCalls {
 public:
  MessageRingCalls(const NodeJob& job, const JobRules& rules, MessageNetwork& network, RankEvents& events);

  // The first member calls. Empty: by messages.
  [[nodiscard]] std::optional<std::uint32_t> open(const GraphCall& use, std::uint32_t execution);
  void enter(const MessageRingMember& member) { network_.enter_ring(member); }
  // The last member has called.
  void note_order(std::uint32_t group, bool at_one_tick) { in_step_[group] = at_one_tick; }

  // The last message of a member is there; RankEventKind::kRingPacket of its execution follows.
  void on_received(const MessageRingMember& member);

  [[nodiscard]] std::uint64_t opened() const { return opened_; }

 private:
  // What all rings of a plan have in common.
  struct RingPlan {
    bool is_ring = false;
    std::int64_t bytes = 0;
    std::vector<RingPacket> packets = {};  // before each message of each chunk
    EndpointTime last = {};                // the packet after the last message
  };

  struct OpenRing {
    std::uint32_t execution = 0;
    const RingPlan* plan = nullptr;
    std::span<const std::uint32_t> members = {};
  };

  static void handle(const EndpointTime& time, RingPacket& packet);
  [[nodiscard]] RingPlan plan_of(const ChunkedCollective& collective) const;

  const NodeJob& job_;
  const StreamRules& rules_;
  MessageNetwork& network_;
  RankEvents& events_;
  bool is_used_ = false;
  std::vector<std::uint32_t> ranks_;         // all, where a group has them as members
  std::vector<bool> in_step_;                // by group
  std::map<std::uint32_t, RingPlan> plans_;  // by plan; rings refer to their packets
  std::vector<OpenRing> rings_;              // by ring of the network
  std::uint64_t opened_ = 0;
};

}  // namespace ringwright
