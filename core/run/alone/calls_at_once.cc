#include "core/run/alone/calls_at_once.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"

namespace ringwright {

CallsAtOnce::CallsAtOnce(PlayedJob& job, std::unique_ptr<CollectiveRunner> each, LoneCalls& lone, Which which)
    : job_(job), each_(std::move(each)), lone_(lone), which_(which), roster_(job) {}

bool CallsAtOnce::reserve(const LoneCall& lone, std::uint64_t number, TimePoint until) {
  constexpr std::size_t kMostClashes = 256;
  const std::size_t most = which_ == Which::kAll ? kMostClashes : 0;
  if (!lone.known || lone.clashes.size() > most || lone.clashes.contains(number)) return false;
  return job_.network.set_aside(lone.links, until);
}

std::uint32_t CallsAtOnce::free_slot() {
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(calls_.size()));
    calls_.emplace_back();
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

void CallsAtOnce::release(std::uint32_t slot) {
  calls_[slot] = Call();
  free_.push_back(slot);
}

void CallsAtOnce::start(const CollectiveRequest& request) {
  if (which_ == Which::kWithinHosts) {
    const std::uint32_t layout = job_.layout_of(request.rank_class, request.dimension);
    if (job_.graph.layouts[layout].host_count() > 1) return each_->start(request);
  }
  const auto classes = roster_.classes_of_group(request.rank_class, request.dimension);
  const Key key(classes.front(), request.dimension, request.sequence);
  const auto [known, is_first] = starting_.try_emplace(key);
  if (is_first) {
    const std::uint32_t made = known->second = free_slot();
    LoneCall& lone = lone_.collective(request.rank_class, request.dimension, request.spec);
    const std::uint64_t number = number_of_next(lone);
    calls_[made].to_start = classes.size();
    if (reserve(lone, number, TimePoint(kClockEnd))) {
      calls_[made] = {.lone = &lone,
                      .members = std::vector<Member>(classes.size()),
                      .to_start = classes.size(),
                      .to_end = classes.size(),
                      .number = number,
                      .first = job_.engine.now()};
      ++awaiting_;
      if (classes.size() > 1) job_.engine.at_end_of_instant([this, made] { look_who_started(made); });
    }
  }
  const std::uint32_t slot = known->second;
  Call& call = calls_[slot];
  const bool all_started = --call.to_start == 0;
  if (all_started) starting_.erase(known);
  if (call.lone == nullptr) {
    if (all_started) release(slot);
    return each_->start(request);
  }
  const auto place = std::ranges::lower_bound(call.lone->order.members, request.rank_class);
  call.members[static_cast<std::size_t>(place - call.lone->order.members.begin())] = {
      .request = request, .start = job_.engine.now(), .runs = true};
  if (all_started) begin(slot);
}

// At the end of the instant in which the first member has started.
void CallsAtOnce::look_who_started(std::uint32_t slot) {
  Call& call = calls_[slot];
  if (call.lone == nullptr || call.to_start == 0 || call.lone->events >= kWorthWaiting) return;
  job_.network.end_aside(call.lone->links, job_.engine.now());
  call.lone = nullptr;
  --awaiting_;
  for (const Member& member : std::exchange(call.members, {})) {
    if (member.runs) each_->start(member.request);
  }
}

// All members have started.
void CallsAtOnce::begin(std::uint32_t slot) {
  Call& call = calls_[slot];
  --awaiting_;
  const TimePoint now = job_.engine.now();
  std::vector<Duration> starts;
  for (const Member& member : call.members) starts.push_back(member.start - call.first);
  call.play = lone_.play(*call.lone, starts);
  if (call.play == nullptr) {
    call.lone->clashes.insert(call.number);
    disturbed_ = true;
    return job_.engine.stop_after_instant();
  }
  job_.network.end_aside(call.lone->links, call.first + call.play->over);
  count(call);
  for (std::size_t member = 0; member < call.members.size(); ++member) {
    const TimePoint end = call.first + call.play->ends[member];
    // A member would have ended before all started, and not have waited for them.
    if (end <= now) {
      call.lone->clashes.insert(call.number);
      disturbed_ = true;
    }
    job_.ledger.begin_communication(call.members[member].request.rank_class, call.lone->order.dimension, now);
    job_.engine.at(std::max(end, now), [this, slot, member] { end_member(slot, member); });
  }
}

void CallsAtOnce::end_member(std::uint32_t slot, std::size_t number) {
  Call& call = calls_[slot];
  Member& member = call.members[number];
  member.runs = false;
  const CollectiveRequest request = member.request;
  if (--call.to_end == 0) finish(slot);
  job_.ledger.end_communication(request.rank_class, request.dimension, job_.engine.now());
  job_.listener.on_communication_ended(request.rank_class, request.task);
}

// All members have ended; the last transfer may still be in flight.
void CallsAtOnce::finish(std::uint32_t slot) {
  Call& call = calls_[slot];
  const TimePoint over = call.first + call.play->over;
  if (over > job_.engine.now()) {
    job_.engine.at(over, [this, slot] { finish(slot); });
    return;
  }
  if (job_.network.trespassed_on(call.lone->links, call.first)) call.lone->clashes.insert(call.number);
  release(slot);
}

void CallsAtOnce::count(const Call& call) {
  const LoneOrder& order = call.lone->order;
  for (std::size_t member = 0; member < order.members.size(); ++member) {
    const std::size_t c = order.members[member].index();
    job_.sent[c][order.dimension.index()] += call.play->sent[member];
    job_.messages[c] += call.play->messages[member];
  }
  traffic_.add(call.play->links);
}

void CallsAtOnce::carry(const MessageOrder& order, MessageEnds& ends) {
  LoneCall& lone = lone_.message(order);
  const LonePlay* play = lone_.play(lone, {Duration(), Duration()});
  const TimePoint now = job_.engine.now();
  const std::uint64_t number = number_of_next(lone);
  if (play == nullptr || !reserve(lone, number, now + play->over)) return each_->carrier()->carry(order, ends);
  const std::uint32_t slot = free_slot();
  Call& call = calls_[slot];
  call.lone = &lone;
  call.play = play;
  call.to_end = 2;
  call.number = number;
  call.first = now;
  call.ends = &ends;
  call.token = order.token;
  count(call);
  for (const std::size_t end : {std::size_t{0}, std::size_t{1}}) {
    job_.engine.at(now + play->ends[end], [this, slot, end] { end_message(slot, end); });
  }
}

// `end`: 0 at the sender, 1 at the receiver.
void CallsAtOnce::end_message(std::uint32_t slot, std::size_t end) {
  Call& call = calls_[slot];
  MessageEnds& ends = *call.ends;
  const std::uint64_t token = call.token;
  if (--call.to_end == 0) finish(slot);
  end == 0 ? ends.on_sent(token) : ends.on_received(token);
}

// A sum over calls: their slots do not matter.
std::uint64_t CallsAtOnce::state_digest() const {
  std::uint64_t sum = each_->state_digest();
  for (const Call& call : calls_) {
    if (call.lone != nullptr && call.to_end > 0) sum += digest(call);
  }
  return sum;
}

std::uint64_t CallsAtOnce::digest(const Call& call) const {
  const TimePoint now = job_.engine.now();
  const auto since = [now](TimePoint start) { return static_cast<std::uint64_t>((now - start).count()); };
  if (call.ends != nullptr) return mix(mix(call.ends->identity(call.token), call.to_end), since(call.first));
  std::uint64_t sum = 0;
  for (const Member& member : call.members) {
    if (!member.runs) continue;
    const CollectiveRequest& request = member.request;
    const auto iteration = static_cast<std::uint64_t>(request.iteration - job_.reference_iteration);
    const std::uint64_t identity = mix(mix(request.rank_class.value, request.dimension.value),
                                       mix(job_.relative_task(request.rank_class, request.task), iteration));
    sum += mix(mix(identity, since(member.start)), since(call.first));
  }
  return mix(sum, call.to_start);
}

}  // namespace ringwright
