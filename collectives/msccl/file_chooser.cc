#include "collectives/msccl/file_chooser.h"

#include <filesystem>
#include <set>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::collectives {
namespace {

std::string purpose(const std::string& file, std::string_view kind, int ranks, Bytes least, const std::string& most) {
  const std::string from = least > Bytes(1) ? " from " + to_string(least) : "";
  return fmt::format("{}: for {} among {} ranks{}{}", std::filesystem::path(file).filename().string(), kind, ranks,
                     from, most);
}

// "" for limits that no call reaches.
std::string limit(Bytes most, std::string_view word) {
  constexpr Bytes kNone(std::int64_t{1} << 40);
  return most < kNone ? fmt::format(" {} {}", word, to_string(most)) : "";
}

}  // namespace

ChannelChoice FileChooser::choose(const CollectiveCall& call) const {
  for (const MscclAlgorithm& algorithm : algorithms_) {
    if (algorithm.matches(call)) return {.algorithm = &algorithm, .plan = algorithm.plan()};
  }
  for (const PlanAlgorithm& plan : plans_) {
    if (plan.matches(call)) return {.algorithm = &plan, .plan = plan.plan()};
  }
  return rest_.choose(call);
}

std::vector<std::string> FileChooser::idle(std::span<const CollectiveCall> calls) const {
  std::set<const ChannelAlgorithm*> chosen;
  for (const CollectiveCall& call : calls) chosen.insert(choose(call).algorithm);
  std::vector<std::string> idle;
  for (const MscclAlgorithm& algorithm : algorithms_) {
    if (chosen.contains(&algorithm)) continue;
    const MscclProgram& file = algorithm.program();
    idle.push_back(purpose(file.file, file.kind ? to_string(*file.kind) : "a collective of its own", file.ranks(),
                           file.min_bytes, limit(file.max_bytes, "below")));
  }
  for (const PlanAlgorithm& plan : plans_) {
    if (chosen.contains(&plan)) continue;
    const ExecutionPlan& file = plan.file();
    idle.push_back(purpose(file.file, to_string(file.kind), file.ranks(), file.min_bytes, limit(file.max_bytes, "to")));
  }
  return idle;
}

}  // namespace ringwright::collectives
