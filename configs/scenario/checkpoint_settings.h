// The block `checkpoint` of a scenario: the transfers of one checkpoint in every simulated training step.
#pragma once

#include <optional>
#include <span>

#include "core/base/error_code.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "workload/checkpoint/checkpoint_traffic.h"
#include "workload/checkpoint/save_time.h"

namespace ringwright::configs {

struct Scenario;  // configs/scenario/scenario.h
struct JobReading;

struct CheckpointSettings {
  workload::CheckpointTraffic traffic;  // without sizes and times that follow from the job
  std::optional<Bytes> size;            // of one rank; empty: follows from the model
  workload::SavePath store;             // to: storage
  std::int64_t every = 0;               // steps; 0: not stated, one in every simulated step
  double share = 1.0;                   // of the state that a version saves; less: incremental
};

// Of the document's root, for a scenario whose cluster, job, collectives and network model are read. Empty: none is
// simulated. A network model without link sharing ignores it, as do several jobs on one machine.
[[nodiscard]] std::optional<CheckpointSettings> read_checkpoint(ConfigMap root, const Scenario& scenario,
                                                                const JobReading& reading);

// Of a scenario with a checkpoint, for its job.
[[nodiscard]] workload::SaveSize checkpoint_size(const Scenario& scenario);
[[nodiscard]] workload::CheckpointTraffic checkpoint_traffic(const Scenario& scenario);

[[nodiscard]] std::span<const ErrorCode> checkpoint_error_codes();

}  // namespace ringwright::configs
