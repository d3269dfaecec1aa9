// The table of recovery policies.
#pragma once

#include <span>
#include <string_view>

#include "planning/operation/recovery_policy.h"

namespace ringwright::planning {

[[nodiscard]] std::span<const PolicyEntry> recovery_policies();
[[nodiscard]] const PolicyEntry* find_policy(std::string_view name);

// In files of the same names.
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_restart(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_hot_spare(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_shrink(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_replica_drop(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_redundant(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_templates(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_commit(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_shrink_collective(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_reshard(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_shards(ConfigMap map, const Operation& job);
[[nodiscard]] std::unique_ptr<RecoveryPolicy> make_logging(ConfigMap map, const Operation& job);

}  // namespace ringwright::planning
