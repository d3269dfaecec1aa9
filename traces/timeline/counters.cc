#include "traces/timeline/counters.h"

#include <fmt/format.h>

#include "traces/timeline/timeline.h"

namespace ringwright::traces {
namespace {

void add(TimelineCounter& counter, TimePoint at, double value) {
  std::vector<CounterValue>& values = counter.values;
  if (values.empty() || values.back().value < value || values.back().value > value) {
    values.push_back({.at = at, .value = value});
  }
}

// A value for each interval, and zero when the last one is over.
TimelineCounter counter_of(std::string name, const std::vector<double>& shares, const LinkCurves& of) {
  TimelineCounter counter{.name = std::move(name), .unit = CounterUnit::kPercent, .rank = {}, .values = {}};
  TimePoint at = of.start;
  for (const double share : shares) {
    add(counter, at, 100.0 * share);
    at = at + of.interval;
  }
  add(counter, at, 0.0);
  return counter;
}

void add_links(const LinkCurves& curves, std::vector<TimelineCounter>& counters) {
  for (const LinkCurve& tier : curves.tiers) {
    counters.push_back(counter_of(fmt::format("{}, mean of {} links", tier.name, tier.links), tier.mean, curves));
    counters.push_back(counter_of(tier.name + ", fullest link", tier.highest, curves));
  }
  for (const LinkCurve& link : curves.links) {
    const std::string name = link.links > 1 ? fmt::format("{} ({} equal)", link.name, link.links) : link.name;
    counters.push_back(counter_of(name, link.mean, curves));
  }
}

}  // namespace

std::vector<TimelineCounter> counters_of(const Timeline& timeline) {
  std::vector<TimelineCounter> counters;
  if (timeline.links) add_links(*timeline.links, counters);
  for (const MemoryCurve& curve : timeline.memory.of_ranks) {
    TimelineCounter counter{.name = "device memory", .unit = CounterUnit::kBytes, .rank = curve.rank, .values = {}};
    for (const MemoryPoint& point : curve.points) {
      counter.values.push_back({.at = point.at, .value = static_cast<double>(point.held.count())});
    }
    counters.push_back(std::move(counter));
  }
  return counters;
}

std::size_t count_values(const std::vector<TimelineCounter>& counters) {
  std::size_t count = 0;
  for (const TimelineCounter& counter : counters) count += counter.values.size();
  return count;
}

}  // namespace ringwright::traces
