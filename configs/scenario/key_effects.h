// Which keys of a scenario have an effect under which settings: the tables of all wings, and the facts that their
// conditions ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/config/key_effect.h"

namespace ringwright::configs {

// What the keys may have an effect on: a job's step, or one collective alone, as nccl-tests run it.
enum class RunOf { kStep, kCollective };

// Lists keys that the scenario's file sets without effect on its run, in the log of its document.
void list_keys_without_effect(Scenario& scenario, RunOf run);

// For `explain`: when a key has no effect, one line each.
[[nodiscard]] std::vector<std::string> reasons_without_effect(std::string_view key);

}  // namespace ringwright::configs
