#include "core/run/collectives/timed_collectives.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/random.h"

namespace ringwright {

TimedCollectives::TimedCollectives(PlayedJob& job, const CollectiveTime& times)
    : job_(job), times_(times), roster_(job), lanes_(job.classes.count() * job.graph.dimensions.size()) {}

std::uint32_t TimedCollectives::new_call(const CollectiveRequest& request) {
  std::uint32_t slot = 0;
  if (free_calls_.empty()) {
    slot = static_cast<std::uint32_t>(calls_.size());
    calls_.emplace_back();
  } else {
    slot = free_calls_.back();
    free_calls_.pop_back();
  }
  calls_[slot] = {.request = request, .ends_at = kNotYet, .active = true};
  lane(request, request.rank_class).push_back(slot);
  return slot;
}

const TimedCollectives::Cost& TimedCollectives::cost_of(const CollectiveRequest& request) {
  const std::uint32_t layout = job_.layout_of(request.rank_class, request.dimension);
  const auto key = std::tuple(request.spec, layout, request.dimension.value);
  const auto known = costs_.find(key);
  if (known != costs_.end()) return known->second;
  const CollectiveSpec& spec = job_.graph.collectives[request.spec];
  const CollectiveCall call{
      .kind = spec.kind, .bytes = spec.bytes, .layout = &job_.graph.layouts[layout], .dimension = request.dimension};
  return costs_.emplace(key, Cost{.time = times_.time(call), .sent = times_.sent(call)}).first->second;
}

void TimedCollectives::start(const CollectiveRequest& request) {
  new_call(request);
  if (roster_.come(request.rank_class, request.dimension, request.sequence, 0)) begin(request);
}

std::uint32_t TimedCollectives::find(const CollectiveRequest& request, ClassId c) {
  for (const std::uint32_t slot : lane(request, c)) {
    if (calls_[slot].request.sequence == request.sequence) return slot;
  }
  CHECK(false, "a member of a full group has no call");
  return 0;
}

// The last member has joined: from now on the call counts as communication for all of them.
void TimedCollectives::begin(const CollectiveRequest& last) {
  const Cost& cost = cost_of(last);
  for (const ClassId c : roster_.classes_of_group(last.rank_class, last.dimension)) {
    const std::uint32_t slot = find(last, c);
    calls_[slot].ends_at = job_.engine.now() + cost.time;
    job_.sent[c.index()][last.dimension.index()] += cost.sent;
    job_.ledger.begin_communication(c, last.dimension, job_.engine.now());
    if (job_.clocks == nullptr) {
      job_.engine.after(cost.time, [this, slot] { end(slot); });
    } else {
      calls_[slot].lag = job_.clocks->lag(c);
      job_.engine.after(cost.time, [this, slot] { make_up(slot); });
    }
  }
}

// Without contention the member would be done.
void TimedCollectives::make_up(std::uint32_t slot) {
  const Call& call = calls_[slot];
  if (job_.clocks->is_through(call.request.rank_class, call.lag, *this, slot)) await_slowest(slot);
}

void TimedCollectives::on_caught_up(std::uint64_t token) { await_slowest(static_cast<std::uint32_t>(token)); }

void TimedCollectives::await_slowest(std::uint32_t slot) {
  const CollectiveRequest request = calls_[slot].request;
  if (!roster_.come(request.rank_class, request.dimension, request.sequence, 1)) return;
  for (const ClassId c : roster_.classes_of_group(request.rank_class, request.dimension)) end(find(request, c));
}

void TimedCollectives::end(std::uint32_t slot) {
  Call& call = calls_[slot];
  const CollectiveRequest request = call.request;
  call.active = false;
  std::erase(lane(request, request.rank_class), slot);
  free_calls_.push_back(slot);
  job_.ledger.end_communication(request.rank_class, request.dimension, job_.engine.now());
  job_.listener.on_communication_ended(request.rank_class, request.task);
}

std::uint64_t TimedCollectives::state_digest() const {
  std::uint64_t sum = 0;  // a sum: the slot of a call does not matter
  for (const Call& call : calls_) {
    if (!call.active) continue;
    const auto relative = static_cast<std::uint64_t>(call.request.iteration - job_.reference_iteration);
    const Duration left = call.ends_at == kNotYet ? Duration(-1) : call.ends_at - job_.engine.now();
    sum += mix(mix(call.request.rank_class.value, call.request.dimension.value),
               mix(mix(job_.relative_task(call.request.rank_class, call.request.task), relative),
                   static_cast<std::uint64_t>(left.count())));
  }
  return sum;
}

std::string TimedCollectives::waits_for(ClassId rank_class, std::uint32_t task) const {
  for (const Call& call : calls_) {
    if (!call.active || call.request.rank_class != rank_class || call.request.task != task) continue;
    const CollectiveRequest& request = call.request;
    std::string ranks;
    for (const RankId rank : job_.group_of(rank_class, request.dimension)) {
      const ClassId c = job_.classes.class_of[rank.index()];
      const auto& slots = lanes_[c.index() * job_.graph.dimensions.size() + request.dimension.index()];
      const bool has_come = std::ranges::any_of(
          slots, [&](std::uint32_t slot) { return calls_[slot].request.sequence == request.sequence; });
      if (!has_come) ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank.value);
    }
    return fmt::format("call {} of '{}' ({}), which waits for rank{} {}", request.sequence,
                       job_.graph.dimensions[request.dimension.index()].name,
                       to_string(job_.graph.collectives[request.spec].kind),
                       ranks.find(',') == std::string::npos ? "" : "s", ranks.empty() ? "none" : ranks);
  }
  return {};
}

}  // namespace ringwright
