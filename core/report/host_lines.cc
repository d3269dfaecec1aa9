#include "core/report/host_lines.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {

std::string print_gib(Bytes size) { return fmt::format("{:.2f}", static_cast<double>(size.count()) / 0x1p30); }

std::vector<std::string> host_lines(const std::vector<HostRow>& hosts) {
  std::vector<std::string> lines;
  for (const HostRow& row : hosts) {
    std::vector<std::string> items;
    for (const MemoryItem& item : row.items) items.push_back(fmt::format("{} {}", item.name, print_gib(item.size)));
    const std::string capacity = row.capacity > Bytes(0) ? "of " + print_gib(row.capacity) : "of an unknown capacity";
    lines.push_back(
        fmt::format("{} of host {}: {} {}: {}", row.what, row.host, print_gib(row.total), capacity, join(items, ", ")));
  }
  return lines;
}

std::vector<std::string> group_lines(const Report& report) {
  constexpr double kEqual = 1.01;  // longer computing than this makes others wait
  std::vector<std::string> lines;
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const TimeBreakdown& group = report.groups[g];
    const std::int64_t hosts = report.facts.groups[g].hosts;
    Duration communicating;
    for (const DimensionTime& dimension : group.dimensions) communicating += dimension.exposed;
    lines.push_back(fmt::format("{}: {} host{}; computes {} ({:.1f} %), communication {:.1f} %, waiting {:.1f} %",
                                group.of, hosts, hosts == 1 ? "" : "s", to_string(group.computing),
                                100.0 * group.share(group.computing), 100.0 * group.share(communicating),
                                100.0 * group.share(group.idle)));
  }
  if (lines.empty()) return lines;
  const auto slowest = std::ranges::max_element(report.groups, {}, &TimeBreakdown::computing);
  for (const TimeBreakdown& group : report.groups) {
    if (group.ranks == 0 || group.computing <= Duration()) continue;
    const double longer = ratio(slowest->computing, group.computing);
    if (longer <= kEqual) continue;
    lines.push_back(fmt::format("{} waits for {}, which computes {:.2f} times as long", group.of, slowest->of, longer));
  }
  return lines;
}

}  // namespace ringwright
