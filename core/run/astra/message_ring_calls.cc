#include "core/run/astra/message_ring_calls.h"

namespace ringwright {

// With remote memory that ranks share, the order of their requests of one tick decides who is served first.
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
      in_step_(job.groups.size(), true) {}

// One message of one chunk at a time, always to the next member.
MessageRingCalls::RingPlan MessageRingCalls::plan_of(const ChunkedCollective& collective) const {
  if (collective.phases.size() != 1) return {};
  const ChunkPhase& phase = collective.phases.front();
  if (phase.shape != PhaseShape::kWindow || phase.window != 1 || phase.gate != 0 || phase.stride != 1) return {};
  if (phase.steps.size() != 1 || phase.messages == 0) return {};
  const MessageStep& step = phase.steps.front();
  if (step.rule != PeerRule::kShift || step.distance != 1) return {};
  if (collective.chunks == 0 || (collective.chunks > 1 && rules_.queues.running_per_queue > 1)) return {};
  const auto ticks = [&](std::uint32_t packet) {
    const EndpointTime time = endpoint_time(rules_, collective, packet_at(phase, packet));
    return later(time.delay, time.reduction);
  };
  RingPlan plan{.is_ring = true, .bytes = step.bytes};
  for (std::uint32_t chunk = 0; chunk < collective.chunks; ++chunk) {
    plan.packets.push_back(chunk == 0 ? ticks(0) : later(ticks(phase.messages), ticks(0)));
    for (std::uint32_t message = 1; message < phase.messages; ++message) plan.packets.push_back(ticks(message));
  }
  plan.last = endpoint_time(rules_, collective, packet_at(phase, phase.messages));
  return plan;
}

std::optional<std::uint32_t> MessageRingCalls::open(const GraphCall& use, std::uint32_t execution) {
  if (!is_used_ || in_step_[use.group]) return std::nullopt;
  const std::span<const std::uint32_t> members = job_.groups[use.group].members;
  const auto [known, fresh] = plans_.try_emplace(use.plan);
  RingPlan& plan = known->second;
  if (fresh) plan = plan_of(job_.plans[use.plan]);
  if (!plan.is_ring || job_.plans[use.plan].phases.front().nodes != members.size()) return std::nullopt;
  const auto ring = network_.open_ring({.members = members, .bytes = plan.bytes, .packets = plan.packets});
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
