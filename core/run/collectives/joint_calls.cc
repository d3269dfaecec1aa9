#include "core/run/collectives/joint_calls.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace ringwright {

JointCalls::JointCalls(PlayedJob& job)
    : job_(job), roster_(job), edges_(job.classes.count() * job.graph.dimensions.size()) {}

bool JointCalls::join(const CollectiveRequest& request) {
  if (free_calls_.empty()) {
    free_calls_.push_back(static_cast<std::uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  const std::uint32_t slot = free_calls_.back();
  free_calls_.pop_back();
  calls_[slot] = {.request = request, .active = true};
  edge(request, request.rank_class).push_back(slot);
  return roster_.come(request.rank_class, request.dimension, request.sequence, 0);
}

std::uint32_t JointCalls::find(const CollectiveRequest& request, ClassId c) {
  for (const std::uint32_t slot : edge(request, c)) {
    if (calls_[slot].request.sequence == request.sequence) return slot;
  }
  CHECK(false, "a member of a full group has no call");
  return 0;
}

std::span<const std::uint32_t> JointCalls::begin(const CollectiveRequest& last) {
  begun_.clear();
  for (const ClassId c : classes_of_group(last)) {
    const std::uint32_t slot = find(last, c);
    calls_[slot].begun = true;
    job_.ledger.begin_communication(c, last.dimension, job_.engine.now());
    if (job_.clocks != nullptr) calls_[slot].lag = job_.clocks->lag(c);
    begun_.push_back(slot);
  }
  return begun_;
}

void JointCalls::end(std::uint32_t slot) {
  if (job_.clocks == nullptr) return finish(slot);
  const Call& call = calls_[slot];
  if (job_.clocks->is_through(call.request.rank_class, call.lag, *this, slot)) await_slowest(slot);
}

void JointCalls::await_slowest(std::uint32_t slot) {
  const CollectiveRequest request = calls_[slot].request;
  if (!roster_.come(request.rank_class, request.dimension, request.sequence, 1)) return;
  for (const ClassId c : classes_of_group(request)) finish(find(request, c));
}

void JointCalls::finish(std::uint32_t slot) {
  Call& call = calls_[slot];
  const CollectiveRequest request = call.request;
  call.active = false;
  std::erase(edge(request, request.rank_class), slot);
  free_calls_.push_back(slot);
  job_.ledger.end_communication(request.rank_class, request.dimension, job_.engine.now());
  job_.listener.on_communication_ended(request.rank_class, request.task);
}

std::uint64_t JointCalls::identity(const CollectiveRequest& request) const {
  const auto relative = static_cast<std::uint64_t>(request.iteration - job_.reference_iteration);
  return mix(mix(request.rank_class.value, request.dimension.value),
             mix(job_.relative_task(request.rank_class, request.task), relative));
}

std::string JointCalls::waits_for(ClassId rank_class, std::uint32_t task) const {
  for (const Call& call : calls_) {
    if (!call.active || call.request.rank_class != rank_class || call.request.task != task) continue;
    const CollectiveRequest& request = call.request;
    std::string ranks;
    for (const RankId rank : job_.group_of(rank_class, request.dimension)) {
      const ClassId c = job_.classes.class_of[rank.index()];
      const auto& slots = edges_[c.index() * job_.graph.dimensions.size() + request.dimension.index()];
      const bool has_come = std::ranges::any_of(
          slots, [&](std::uint32_t slot) { return calls_[slot].request.sequence == request.sequence; });
      if (!has_come) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.value);
    }
    return fmt::format("call {} of '{}' ({}), which waits for {}{}", request.sequence,
                       job_.graph.dimensions[request.dimension.index()].name,
                       to_string(job_.graph.collectives[request.spec].kind),
                       ranks.empty() ? "its messages" : ranks.find(',') == std::string::npos ? "rank " : "ranks ",
                       ranks);
  }
  return {};
}

}  // namespace ringwright
