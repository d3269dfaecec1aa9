#include "core/run/shortcuts/steady_state_watch.h"

#include <algorithm>
#include <utility>

namespace ringwright {
namespace {

auto same_call(const CallTime& call) {
  return [&call](const CallTime& other) { return other.dimension == call.dimension && other.spec == call.spec; };
}

}  // namespace

void SteadyStateWatch::begin_step(TimePoint now) {
  seen_.clear();
  begin_.reset();
  proofs_.emplace_back();
  step_began_ = now;
}

// With a difference, what is nearly equal counts as equal.
bool SteadyStateWatch::host_keeps_up(ClassId c, const Moment& before, const Moment& now, Duration difference) const {
  const Position& earlier = before.places[c.index()];
  const Position& later = now.places[c.index()];
  const Duration host = later.host_behind - earlier.host_behind;
  const Duration receives = later.receives_behind - earlier.receives_behind;
  if (host > difference || receives > difference) return false;
  if (host < Duration(0) - difference && host_.late_at(c) >= before.at) return false;
  return receives >= Duration(0) - difference || host_.receive_late_at(c) < before.at;
}

std::optional<Duration> SteadyStateWatch::compare(const Moment& before, const Moment& now) const {
  const std::uint32_t cycles = now.places.front().cycle - before.places.front().cycle;
  if (cycles == 0 || cycles > left_out_) return std::nullopt;
  // Only the first step takes cycles in.
  if (proofs_.size() > 1 && left_out_ % cycles != 0) return std::nullopt;
  Duration difference;
  if (before.digest != now.digest) {
    if (!now.is_long || tolerance_ <= 0.0) return std::nullopt;
    for (std::size_t c = 0; c < now.places.size(); ++c) {
      if (now.places[c].done_beyond != before.places[c].done_beyond) return std::nullopt;
      const Duration change = now.places[c].since_begin - before.places[c].since_begin;
      difference = std::max({difference, change, Duration(0) - change});
    }
    if (!is_small(difference, before, now)) return std::nullopt;
  }
  for (std::size_t c = 0; c < now.places.size(); ++c) {
    if (now.places[c].cycle - before.places[c].cycle != cycles) return std::nullopt;
    if (!host_keeps_up(ClassId(c), before, now, difference)) return std::nullopt;
  }
  return difference;
}

// Of the time of the step, if each of the left-out periods changes it by as much.
bool SteadyStateWatch::is_small(Duration change, const Moment& before, const Moment& now) const {
  const double periods = static_cast<double>(left_out_) / (now.places.front().cycle - before.places.front().cycle);
  const double step = to_seconds(now.at - step_began_) + periods * to_seconds(now.at - before.at);
  return periods * to_seconds(change) <= tolerance_ * step;
}

SteadyStateWatch::Verdict SteadyStateWatch::observe(Moment moment) {
  const std::uint32_t cycle = moment.places.front().cycle;
  if (begin_ && cycle == begin_->places.front().cycle + period_) {
    if (const std::optional<Duration> difference = compare(*begin_, moment)) {
      const Duration longer = moment.at - begin_->at - period_time_;
      const Duration change =
          begin_->digest == moment.digest ? Duration(0) : std::max({*difference, longer, Duration(0) - longer});
      if (is_small(change, *begin_, moment)) {
        prove(moment, change);
        return Verdict::kProved;
      }
    }
  }
  if (seen_.size() == kLongest) seen_.erase(seen_.begin());
  seen_.push_back(std::move(moment));
  if (begin_ && cycle < begin_->places.front().cycle + period_) return Verdict::kGoOn;
  const Moment& now = seen_.back();
  const auto equal = std::find_if(seen_.rbegin() + 1, seen_.rend(),
                                  [&](const Moment& before) { return compare(before, now).has_value(); });
  period_ = equal == seen_.rend() ? 1 : cycle - equal->places.front().cycle;
  period_time_ = equal == seen_.rend() ? Duration(0) : now.at - equal->at;
  begin_ = now;
  return Verdict::kBegins;
}

void SteadyStateWatch::prove(const Moment& now, Duration change) {
  Proof& proof = proofs_.back();
  proof = {.holds = true, .since = begin_->at};
  for (std::size_t c = 0; c < now.places.size(); ++c) {
    const Position& before = begin_->places[c];
    proof.ahead.push_back({.host = now.places[c].host_behind < before.host_behind - change,
                           .receives = now.places[c].receives_behind < before.receives_behind - change});
  }
  most_change_ = most_change_ + change * std::int64_t{periods()};
}

bool SteadyStateWatch::held(ClassId c, int iteration) const {
  const Proof& proof = proofs_[static_cast<std::size_t>(iteration)];
  if (!proof.holds) return false;
  const Ahead& ahead = proof.ahead[c.index()];
  if (ahead.host && host_.late_at(c) >= proof.since) return false;
  return !ahead.receives || host_.receive_late_at(c) < proof.since;
}

LeftOutCycles::LeftOutCycles(std::size_t classes, std::size_t dimensions)
    : time_in_(classes),
      sent_(classes, std::vector<Bytes>(dimensions)) {}

void LeftOutCycles::add(const StepSnapshot& begin, const StepSnapshot& end, std::uint32_t times) {
  time_ += (end.at - begin.at) * std::int64_t{times};
  for (std::size_t c = 0; c < time_in_.size(); ++c) {
    time_in_[c].add_between(begin.time_in[c], end.time_in[c], times);
    for (std::size_t d = 0; d < sent_[c].size(); ++d) {
      sent_[c][d] += (end.sent[c][d] - begin.sent[c][d]) * std::int64_t{times};
    }
  }
  messages_ += (end.messages - begin.messages) * times;
  add_calls(begin.calls, end.calls, times);
  usage_.resize(end.usage.size());
  for (std::size_t link = 0; link < usage_.size(); ++link) {
    usage_[link].bytes += (end.usage[link].bytes - begin.usage[link].bytes) * static_cast<double>(times);
    usage_[link].busy += (end.usage[link].busy - begin.usage[link].busy) * std::int64_t{times};
  }
}

void LeftOutCycles::add_calls(const std::vector<CallTime>& before, const std::vector<CallTime>& after,
                            std::uint32_t times) {
  for (CallTime call : after) {
    if (const auto earlier = std::ranges::find_if(before, same_call(call)); earlier != before.end()) {
      call.count -= earlier->count;
      call.sum -= earlier->sum;
    }
    const auto known = std::ranges::find_if(calls_, same_call(call));
    CallTime& added = known != calls_.end()
                          ? *known
                          : calls_.emplace_back(CallTime{.dimension = call.dimension, .spec = call.spec});
    added.count += call.count * times;
    added.sum += call.sum * times;
  }
}

void LeftOutCycles::restart(ClassId c) {
  time_in_[c.index()].clear();
}

void LeftOutCycles::extend(std::vector<ActivityTimes>& time_in, std::vector<std::vector<Bytes>>& sent,
                         std::vector<LinkUsage>& usage) const {
  if (time_ == Duration(0)) return;
  for (std::size_t c = 0; c < time_in_.size(); ++c) {
    time_in[c].add(time_in_[c]);
    for (std::size_t d = 0; d < sent_[c].size(); ++d) sent[c][d] += sent_[c][d];
  }
  for (std::size_t link = 0; link < usage_.size(); ++link) {
    usage[link].bytes += usage_[link].bytes;
    usage[link].busy += usage_[link].busy;
  }
}

void LeftOutCycles::extend(StepSnapshot& snapshot) const {
  snapshot.at = snapshot.at + time_;
  snapshot.messages += messages_;
  extend(snapshot.time_in, snapshot.sent, snapshot.usage);
}

void LeftOutCycles::extend(RunRecord& record, std::vector<LinkUsage>& usage) const {
  record.messages += messages_;
  for (CallTime& call : record.calls) {
    const auto left_out = std::ranges::find_if(calls_, same_call(call));
    if (left_out == calls_.end()) continue;
    call.count += left_out->count;
    call.sum += left_out->sum;
  }
  extend(record.time_in, record.sent, usage);
}

}  // namespace ringwright
