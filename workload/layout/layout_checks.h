// Checks of a parallel layout: every mistake is reported with both conflicting settings.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/config/config_map.h"
#include "workload/options/training_options.h"

namespace ringwright::workload {

// Sets options.dp from the key, or from the world size.
void derive_data_parallel(ConfigMap& parallel, std::optional<std::int64_t> given, const World& world,
                          ParallelOptions& options);

// Also fills options.layers_per_part.
void check_layout(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options);

// The most passes of microbatches through model chunks that a pipeline is laid out for: ten seconds and 1 GiB.
inline constexpr std::int64_t kMostPasses = 2'000'000;
[[nodiscard]] bool can_be_laid_out(const ParallelOptions& options, const TrainingOptions& training);

}  // namespace ringwright::workload
