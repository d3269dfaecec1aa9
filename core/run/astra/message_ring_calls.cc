#include "core/run/astra/message_ring_calls.h"

#include <algorithm>

namespace ringwright {

// Where several chunks of a member are in flight, the order of messages that come over different links at one tick
// decides which chunk goes on first. With remote memory that ranks share, the order of their requests of one tick
// decides who is served first.
MessageRingCalls::MessageRingCalls(const NodeJob& job, const JobRules& rules, MessageNetwork& network,
                                   RankEvents& events)
    : job_(job),
      rules_(rules.streams),
      network_(network),
      events_(events),
      is_used_(rules.shortcuts == Shortcuts::kYes && rules.rings == Shortcuts::kYes && !rules_.rendezvous &&
               rules_.queues.queues_per_dimension == 1 &&
               (rules.memory.sharing == RemoteMemorySharing::kNone ||
                rules.memory.sharing == RemoteMemorySharing::kPerRank)),
      in_step_(job.groups.size(), true) {
  const auto is_one_chunk = [](const ChunkedCollective& plan) { return plan.chunks <= 1; };
  is_used_ = is_used_ && (rules_.queues.running_per_queue == 1 || std::ranges::all_of(job.plans, is_one_chunk));
  const bool has_world = std::ranges::any_of(job.groups, [](const RankGroup& group) { return group.members.empty(); });
  for (std::uint32_t rank = 0; is_used_ && has_world && rank < job.ranks(); ++rank) ranks_.push_back(rank);
}

// Delay and reduction are an event each; without time, an event is part of the one before.
void MessageRingCalls::handle(const EndpointTime& time, RingPacket& packet) {
  for (const Tick part : {time.delay, time.reduction}) {
    packet.lasts = later(packet.lasts, part);
    if (part > 0) packet.scheduled_before = part;
  }
}

// One message of one chunk at a time, always to the next member.
MessageRingCalls::RingPlan MessageRingCalls::plan_of(const ChunkedCollective& collective) const {
  if (collective.phases.size() != 1) return {};
  const ChunkPhase& phase = collective.phases.front();
  if (phase.shape != PhaseShape::kWindow || phase.window != 1 || phase.gate != 0 || phase.stride != 1) return {};
  if (phase.steps.size() != 1 || phase.messages == 0) return {};
  const MessageStep& step = phase.steps.front();
  if (step.rule != PeerRule::kShift || step.distance != 1) return {};
  if (collective.chunks == 0) return {};
  const auto time_of = [&](std::uint32_t packet) {
    return endpoint_time(rules_, collective, packet_at(phase, packet));
  };
  RingPlan plan{.is_ring = true, .bytes = step.bytes, .last = time_of(phase.messages)};
  for (std::uint32_t chunk = 0; chunk < collective.chunks; ++chunk) {
    for (std::uint32_t message = 0; message < phase.messages; ++message) {
      RingPacket packet;
      if (chunk > 0 && message == 0) handle(plan.last, packet);
      handle(time_of(message), packet);
      plan.packets.push_back(packet);
    }
  }
  return plan;
}

std::optional<std::uint32_t> MessageRingCalls::open(const GraphCall& use, std::uint32_t execution) {
  if (!is_used_ || in_step_[use.group]) return std::nullopt;
  const RankGroup& group = job_.groups[use.group];
  const std::span<const std::uint32_t> members = group.members.empty() ? ranks_ : group.members;
  const auto [known, fresh] = plans_.try_emplace(use.plan);
  RingPlan& plan = known->second;
  if (fresh) plan = plan_of(job_.plans[use.plan]);
  if (!plan.is_ring || job_.plans[use.plan].phases.front().nodes != members.size()) return std::nullopt;
  const auto ring =
      network_.open_ring({.members = members, .bytes = plan.bytes, .packets = plan.packets, .moments = &events_});
  if (!ring) return std::nullopt;
  if (rings_.size() <= *ring) rings_.resize(*ring + 1);
  rings_[*ring] = {.execution = execution, .plan = &plan, .members = members};
  ++opened_;
  return ring;
}

void MessageRingCalls::on_received(const MessageRingMember& member) {
  const OpenRing& ring = rings_[member.ring];
  const EndpointTime& last = ring.plan->last;
  events_.after(ring.members[member.position], last.delay,
                {.kind = RankEventKind::kRingPacket, .index = ring.execution, .extra = last.reduction});
}

}  // namespace ringwright
