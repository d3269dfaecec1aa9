#include "configs/simulation/machine_overheads.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace ringwright::configs {

std::string machine_of(const Scenario& scenario) {
  constexpr std::array<std::string_view, 5> kOfJob = {"name", "model.", "training.", "parallel.", "compute."};
  std::string machine;
  for (const ValueRead& value : scenario.document.log().values()) {
    if (std::ranges::any_of(kOfJob, [&](std::string_view key) { return value.path.starts_with(key); })) continue;
    machine += value.path + '=' + value.canonical + '\n';
  }
  return machine;
}

KnownOverheads* MachineOverheads::of(const Scenario& scenario) {
  std::string machine = machine_of(scenario);
  const std::scoped_lock lock(mutex_);
  if (const auto known = known_.find(machine); known != known_.end()) return &known->second;
  if (known_.size() >= most_) return nullptr;
  KnownOverheads& known = known_.try_emplace(machine).first->second;
  known.retain_in(store_, machine);
  return &known;
}

}  // namespace ringwright::configs
