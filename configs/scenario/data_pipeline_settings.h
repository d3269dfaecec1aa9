// The block `data_pipeline` of a scenario: workers that prepare the samples of every training step.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "core/base/error_code.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "workload/input/data_pipeline.h"

namespace ringwright::configs {

struct Scenario;  // configs/scenario/scenario.h
struct JobReading;

// Of the document's root, for a scenario whose cluster, job and `simulate` are read. Empty: data are always ready.
// Recorded steps ignore it, as do several jobs on one machine.
[[nodiscard]] std::optional<workload::DataPipeline> read_data_pipeline(ConfigMap root, const Scenario& scenario,
                                                                       const JobReading& reading);

// Of a step: sequences of a transformer. 0 of a recorded one.
[[nodiscard]] std::int64_t samples_per_step(const Scenario& scenario);
// That train, and have data workers: dedicated parameter servers do not.
[[nodiscard]] std::int64_t training_hosts(const Scenario& scenario);

[[nodiscard]] std::span<const ErrorCode> data_pipeline_error_codes();

}  // namespace ringwright::configs
