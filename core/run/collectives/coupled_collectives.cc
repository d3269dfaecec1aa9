#include "core/run/collectives/coupled_collectives.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"

namespace ringwright {

std::uint32_t CoupledCollectives::free_slot() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(running_.size()));
    running_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void CoupledCollectives::start(const CollectiveRequest& request) {
  if (!calls_.join(request)) return;
  const CoupledPlan& plan = plans_.of(request, calls_.classes_of_group(request));
  const std::uint32_t slot = free_slot();
  Running& call = running_[slot];
  const auto members = calls_.begin(request);
  call.members.assign(members.begin(), members.end());
  call.plan = &plan;
  call.phase = 0;
  call.active = true;
  for (const CoupledMember& member : plan.members) {
    job_.sent[member.rank_class.index()][request.dimension.index()] += member.sent;
    job_.messages[member.rank_class.index()] += member.messages;
  }
  const Duration overhead = overhead_ != nullptr ? overhead_->of(plans_.call_of(request)) : Duration();
  call.begins = job_.engine.now() + overhead;
  if (overhead == Duration()) return enter_phases(slot);
  job_.engine.after(overhead, [this, slot] { enter_phases(slot); });
}

// Enters phases until one has messages, or the call ends.
void CoupledCollectives::enter_phases(std::uint32_t slot) {
  Running& call = running_[slot];
  for (; call.phase < call.plan->phases.size(); ++call.phase) {
    const CoupledPhase& phase = call.plan->phases[call.phase];
    if (phase.messages.empty()) continue;
    job_.network.start_coupled({.messages = phase.messages, .steps = phase.steps, .token = slot}, *this);
    return;
  }
  end(slot);
}

void CoupledCollectives::on_arrived(std::uint64_t token) {
  const auto slot = static_cast<std::uint32_t>(token);
  ++running_[slot].phase;
  enter_phases(slot);
}

// Its slot may be reused while its members are notified.
void CoupledCollectives::end(std::uint32_t slot) {
  const std::vector<std::uint32_t> members = std::move(running_[slot].members);
  running_[slot].active = false;
  free_.push_back(slot);
  for (const std::uint32_t member : members) calls_.end(member);
}

std::uint64_t CoupledCollectives::identity(std::uint64_t token) const {
  return calls_.identity(calls_.request(running_[token].members.front()));
}

std::uint64_t CoupledCollectives::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the slot of a call does not matter
  for (std::uint32_t slot = 0; slot < running_.size(); ++slot) {
    const Running& call = running_[slot];
    if (!call.active) continue;
    const Duration left = std::max(call.begins - job_.engine.now(), Duration());
    sum += mix(identity(slot), mix(call.phase, static_cast<std::uint64_t>(left.count())));
  }
  return mix(sum, calls_.digest([](std::uint32_t) { return std::uint64_t{1}; }));
}

}  // namespace ringwright
