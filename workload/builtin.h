// The tables of this wing: pipeline schedules, compute models, and the error codes that its readers use.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/error_code.h"
#include "core/config/config_map.h"
#include "core/ports/compute_model.h"
#include "workload/gpu/gpu_spec.h"
#include "workload/pipeline/schedule.h"
#include "workload/pipeline/weight_versions.h"

namespace ringwright::workload {

enum class ChunkSupport { kOne, kTwo, kMany };
// When full recomputation runs: after the gradient has arrived, or while it is in flight.
enum class RecomputeTime { kOnArrival, kAhead };

struct ScheduleEntry {
  std::string_view name;  // parallel.schedule
  std::string_view help;
  ScheduleRule order;
  ChunkSupport chunks;
  Placement placement = Placement::kLooped;
  int microbatches_per_stage = 0;                  // the fewest that it can run
  WeightVersions versions = WeightVersions::kOne;  // kOne: each training step empties the pipeline
  RecomputeTime recompute = RecomputeTime::kOnArrival;
};
[[nodiscard]] std::span<const ScheduleEntry> schedules();
// A name from the table.
[[nodiscard]] const ScheduleEntry& find_schedule(std::string_view name);

struct ComputeEntry {
  std::string_view name;  // compute.model
  std::string_view help;
  // Reads its own settings from the `compute` map; mistakes are recorded there. Never null.
  std::unique_ptr<ComputeModel> (*make)(ConfigMap& compute, const GpuSpec& gpu);
};
[[nodiscard]] std::span<const ComputeEntry> compute_models();
// Reads `compute.model` and creates that model.
[[nodiscard]] std::unique_ptr<ComputeModel> read_compute_model(ConfigMap& compute, const GpuSpec& gpu);

[[nodiscard]] std::span<const ErrorCode> workload_error_codes();

// The plug-ins, each in its own file.
[[nodiscard]] PipelineOrder gpipe_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder one_f_one_b_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder interleaved_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder zb_h1_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder zb_h2_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder zb_v_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder v_half_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder v_min_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder dualpipe_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder dualpipe_v_order(const ScheduleRequest& request);
[[nodiscard]] PipelineOrder varuna_order(const ScheduleRequest& request);
// Whether one of the roofline's own settings is set.
[[nodiscard]] bool sets_roofline(const ConfigMap& compute);
[[nodiscard]] std::unique_ptr<ComputeModel> make_roofline(ConfigMap& compute, const GpuSpec& gpu);
[[nodiscard]] std::unique_ptr<ComputeModel> make_calibrated(ConfigMap& compute, const GpuSpec& gpu);

}  // namespace ringwright::workload
