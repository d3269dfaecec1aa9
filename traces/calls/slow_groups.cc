#include "traces/calls/slow_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::size_t kLeastCompared = 3;

Duration middle(std::vector<Duration> times) {
  std::ranges::sort(times);
  return times[(times.size() - 1) / 2];
}

}  // namespace

std::vector<SlowGroup> slow_groups(const JoinedCalls& joined, double tolerance) {
  using Call = std::tuple<std::string, Bytes, int>;  // operation, bytes, ranks
  std::map<Call, std::map<std::uint32_t, std::vector<Duration>>> times;
  for (const JoinedCall& call : joined.calls) {
    if (!call.bytes) continue;
    times[{call.operation, *call.bytes, joined.groups[call.group].size}][call.group].push_back(call.shortest);
  }
  std::vector<SlowGroup> slow;
  for (const auto& [call, by_group] : times) {
    if (by_group.size() < kLeastCompared) continue;
    std::vector<Duration> medians;
    for (const auto& [group, own] : by_group) medians.push_back(middle(own));
    const Duration usual = middle(medians);
    for (const auto& [group, own] : by_group) {
      const Duration median = middle(own);
      if (ratio(median, usual) <= 1.0 + tolerance) continue;
      slow.push_back({.group = group,
                      .operation = std::get<0>(call),
                      .bytes = std::get<1>(call),
                      .calls = own.size(),
                      .median = median,
                      .usual = usual,
                      .compared = by_group.size()});
    }
  }
  std::ranges::stable_sort(slow, std::ranges::greater(), [](const SlowGroup& g) { return ratio(g.median, g.usual); });
  return slow;
}

std::string slow_groups_text(const JoinedCalls& joined, double tolerance) {
  constexpr std::size_t kShown = 10;
  const std::vector<SlowGroup> slow = slow_groups(joined, tolerance);
  std::string text;
  for (std::size_t i = 0; i < std::min(kShown, slow.size()); ++i) {
    const SlowGroup& group = slow[i];
    const CallGroup& named = joined.groups[group.group];
    text +=
        fmt::format("  {}{}: {} of {} B takes {:.1f} us, {:.0f} % more than the {:.1f} us usual in {} communicators\n",
                    named.id, named.description.empty() ? "" : " (" + named.description + ")", group.operation,
                    group.bytes.count(), to_seconds(group.median) * 1e6,
                    100.0 * (ratio(group.median, group.usual) - 1.0), to_seconds(group.usual) * 1e6, group.compared);
  }
  if (slow.size() > kShown) text += fmt::format("  and {} more\n", slow.size() - kShown);
  return text.empty() ? text : "Slow communicators\n" + text;
}

}  // namespace ringwright::traces
