#include "traces/goal/schedule.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::traces {

std::string_view to_string(GoalKind kind) {
  switch (kind) {
    case GoalKind::kSend: return "send";
    case GoalKind::kReceive: return "recv";
    case GoalKind::kCalc: return "calc";
  }
  return "?";
}

void put_in_order(GoalRank& rank) {
  for (std::vector<GoalDependency>* list : {&rank.requirements, &rank.start_requirements}) {
    std::ranges::sort(*list);
    const auto repeated = std::ranges::unique(*list);
    list->erase(repeated.begin(), repeated.end());
  }
}

std::string describe(const GoalSchedule& schedule, std::size_t rank, std::uint32_t operation) {
  const GoalOperation& entry = schedule.ranks[rank].operations[operation];
  const std::string place =
      entry.line > 0 ? fmt::format("line {}", entry.line) : fmt::format("operation {}", operation);
  return fmt::format("rank {}, {} ({})", rank, place, to_string(entry.kind));
}

}  // namespace ringwright::traces
