#include "planning/operation/reshard.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace ringwright::planning {
namespace {

// In units of which both layouts are multiples.
struct Held {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

Held held_by(std::int64_t index, std::int64_t hosts, std::int64_t units) {
  const std::int64_t each = units / hosts;
  return {.begin = index * each, .end = (index + 1) * each};
}

std::int64_t in_both(const Held& a, const Held& b) {
  return std::max<std::int64_t>(0, std::min(a.end, b.end) - std::max(a.begin, b.begin));
}

}  // namespace

HostLayout layout_over(const JobShape& job, std::int64_t hosts, std::int64_t least) {
  const std::int64_t replicas = std::min({job.replicas, job.hosts(), hosts / std::max<std::int64_t>(1, least)});
  if (replicas < 1) return {.replicas = 0, .hosts_per_replica = least};
  return {.replicas = replicas, .hosts_per_replica = hosts / replicas};
}

Resharding reshard(const JobShape& job, std::span<const std::int64_t> empty, const HostLayout& to) {
  const std::int64_t from = job.hosts_per_replica(), units = std::lcm(from, to.hosts_per_replica);
  std::vector<bool> lost(static_cast<std::size_t>(job.hosts()), false);
  for (const std::int64_t slot : empty) lost[static_cast<std::size_t>(slot)] = true;
  std::vector<bool> is_there(static_cast<std::size_t>(from), false);
  Resharding result;
  std::int64_t next = 0;  // place in the new layout
  std::int64_t moved = 0, largest = 0;
  for (std::int64_t slot = 0; slot < job.hosts(); ++slot) {
    if (lost[static_cast<std::size_t>(slot)]) continue;
    is_there[static_cast<std::size_t>(slot % from)] = true;
    if (next == to.hosts()) continue;  // it is left over
    const Held held = held_by(slot % from, from, units);
    const Held needed = held_by(next % to.hosts_per_replica, to.hosts_per_replica, units);
    const std::int64_t fetched = needed.end - needed.begin - in_both(held, needed);
    moved += fetched;
    largest = std::max(largest, fetched);
    ++next;
  }
  // Hosts that were not there before hold nothing.
  for (; next < to.hosts(); ++next) {
    moved += units / to.hosts_per_replica;
    largest = std::max(largest, units / to.hosts_per_replica);
  }
  result.is_complete = std::ranges::all_of(is_there, [](bool there) { return there; });
  result.moved = static_cast<double>(moved) / static_cast<double>(units);
  result.largest = static_cast<double>(largest) / static_cast<double>(units);
  return result;
}

}  // namespace ringwright::planning
