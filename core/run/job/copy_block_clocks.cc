#include "core/run/job/copy_block_clocks.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/base/check.h"

namespace ringwright {
namespace {

constexpr double kNothing = 0.5;  // picoseconds: the resolution of the clock

}  // namespace

FineTime CopyBlockClocks::lag(ClassId rank_class) const { return lag(clocks_[rank_class.index()]); }

FineTime CopyBlockClocks::lag(const Clock& clock) const {
  if (clock.speed >= 1.0) return clock.lag;
  return clock.lag + FineTime(static_cast<double>((engine_.now() - clock.since).count()) * (1.0 - clock.speed));
}

FineTime CopyBlockClocks::own_time(const Clock& clock) const {
  return FineTime(engine_.now().since_start()) - lag(clock);
}

void CopyBlockClocks::set_speed(ClassId rank_class, double speed) {
  CHECK(speed > 0.0 && speed <= 1.0, "kernels never speed communication up, nor stop it");
  Clock& clock = clocks_[rank_class.index()];
  if (std::abs(speed - clock.speed) <= 0.0) return;
  clock.lag = lag(rank_class);
  clock.since = engine_.now();
  clock.speed = speed;
  for (Waiting& waiting : clock.waiting) {
    if (waiting.ends_at == engine_.now()) continue;  // whichever of the two comes first
    engine_.cancel(waiting.end);
    schedule(rank_class, waiting);
  }
}

bool CopyBlockClocks::is_through(ClassId rank_class, FineTime lag_at_begin, CopyBlockListener& listener,
                                 std::uint64_t token) {
  const FineTime behind = lag(rank_class) - lag_at_begin;
  if (behind.picoseconds() < kNothing) return true;
  Clock& clock = clocks_[rank_class.index()];
  clock.waiting.push_back({.until = own_time(clock) + behind,
                           .listener = &listener,
                           .token = token,
                           .number = ++waited_,
                           .end = {},
                           .ends_at = {}});
  schedule(rank_class, clock.waiting.back());
  return false;
}

void CopyBlockClocks::schedule(ClassId rank_class, Waiting& waiting) {
  const Clock& clock = clocks_[rank_class.index()];
  const double left = std::max((waiting.until - own_time(clock)).picoseconds(), 0.0);
  const std::uint64_t number = waiting.number;
  waiting.ends_at = engine_.now() + Duration(std::llround(left / clock.speed));
  waiting.end = engine_.at(waiting.ends_at, [this, rank_class, number] { end(rank_class, number); });
}

std::uint64_t CopyBlockClocks::digest(ClassId rank_class) const {
  const Clock& clock = clocks_[rank_class.index()];
  const TimePoint now = engine_.now();
  const FineTime own = own_time(clock);
  std::uint64_t sum = 0;  // their order does not matter
  for (const Waiting& waiting : clock.waiting) {
    const auto left = static_cast<std::uint64_t>((waiting.ends_at - now).count());
    sum += mix(waiting.listener->identity(waiting.token), mix((waiting.until - own).digest(), left));
  }
  // At full speed it does not matter since when.
  const auto since = static_cast<std::uint64_t>(clock.speed < 1.0 ? (now - clock.since).count() : 0);
  const std::uint64_t state = mix(std::bit_cast<std::uint64_t>(clock.speed), since);
  return mix(sum, state);
}

void CopyBlockClocks::end(ClassId rank_class, std::uint64_t number) {
  std::vector<Waiting>& waiting = clocks_[rank_class.index()].waiting;
  const auto ended = std::ranges::find(waiting, number, &Waiting::number);
  CHECK(ended != waiting.end(), "a wait ends once");
  CopyBlockListener& listener = *ended->listener;
  const std::uint64_t token = ended->token;
  waiting.erase(ended);
  listener.on_caught_up(token);
}

}  // namespace ringwright
