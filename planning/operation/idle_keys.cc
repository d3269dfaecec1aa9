#include "planning/operation/idle_keys.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace ringwright::planning {
namespace {

void warn(ConfigMap& map, std::string_view key, const std::string& why, std::string hint = {}) {
  if (!map.has(key) || map.origin(key).starts_with("preset:")) return;
  map.warn(key, "W131", fmt::format("{} has no effect: {}", map.path_of(key), why), std::move(hint));
}

void check_component(const Operation& operation, const ComponentClass& part, ConfigMap map) {
  if (part.repair && operation.spares.unlimited) {
    warn(map, "repair", "with unlimited hosts none returns", "give spares.standby");
  }
  if (part.kind == FaultKind::kSlow && !part.evicts) {
    for (const std::string_view key : {"detect", "repair"}) {
      warn(map, key, "its host is not replaced (evicts: false)");
    }
  }
  if (!operation.length.duration) return;
  const auto late = std::ranges::count_if(part.times, [&](JobTime at) { return at >= *operation.length.duration; });
  if (late == 0) return;
  map.warn("times", "W131",
           fmt::format("{} of the {} recorded faults of {} have no effect: the job has ended before", late,
                       part.times.size(), map.path()));
}

void check_detection(const Operation& operation, ConfigMap detection) {
  for (const std::string_view name : kFaultKindNames) {
    const auto is_found = [&](const ComponentClass& part) {
      return name_of(part.kind) == name && !part.detect && (part.kind != FaultKind::kSlow || part.evicts);
    };
    if (std::ranges::any_of(operation.components, is_found)) continue;
    warn(detection, name, fmt::format("no component of kind {} is detected after that time", name));
  }
}

// A host that is not found comes back from no repair, and is as good as any other, unless it is slow.
void check_diagnosis(const Operation& operation, ConfigMap diagnosis) {
  const auto is_replaced = [](const ComponentClass& part) { return part.kind == FaultKind::kSlow && part.evicts; };
  const bool slow = std::ranges::any_of(operation.components, is_replaced);
  if (!operation.spares.unlimited || slow) return;
  for (const std::string_view key : {"finds", "blames_wrong"}) {
    warn(diagnosis, key, "with unlimited hosts it matters only which host is slow", "give spares.standby");
  }
}

}  // namespace

void warn_of_idle_keys(const Operation& operation, ConfigMap root) {
  ConfigMap components = root.map("components", "classes of equal parts that fail, by name");
  for (const ComponentClass& part : operation.components) {
    check_component(operation, part, components.map(part.name, "a class of parts"));
  }
  check_detection(operation, root.map("detection", "from a fault until it is noticed, by what the job notices"));
  check_diagnosis(operation, root.map("diagnosis", "which host it was"));
}

void warn_of_idle_policy(ConfigMap recovery, std::string_view policy) {
  warn(recovery, policy, "the policy is neither recovery.policy nor among recovery.compare");
}

}  // namespace ringwright::planning
