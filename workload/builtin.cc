#include "workload/builtin.h"

#include <algorithm>
#include <array>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

constexpr std::array kSchedules{
    ScheduleEntry{"1f1b", "one forward, one backward alternately; holds at most pp microbatches", one_f_one_b_order,
                  ChunkSupport::kOne},
    ScheduleEntry{"interleaved-1f1b", "1f1b over virtual_stages chunks per stage: a smaller bubble, more messages",
                  interleaved_order, ChunkSupport::kMany},
    ScheduleEntry{"gpipe", "all forward passes, then all backward passes; holds every microbatch", gpipe_order,
                  ChunkSupport::kOne},
    ScheduleEntry{"dapple", "another name for 1f1b", one_f_one_b_order, ChunkSupport::kOne},
    ScheduleEntry{"zb-h1", "1f1b with separate, delayed weight gradients: a third of the bubble, the same memory",
                  zb_h1_order, ChunkSupport::kOne},
    ScheduleEntry{"zb-h2", "as zb-h1 with more forward passes ahead: almost no bubble, twice the memory", zb_h2_order,
                  ChunkSupport::kOne},
    ScheduleEntry{"zb-v", "two chunks per stage, V-shaped: almost no bubble, the memory of 1f1b", zb_v_order,
                  ChunkSupport::kTwo, Placement::kVee},
    ScheduleEntry{"v-half", "as zb-v with half of the memory and half of the bubble of 1f1b", v_half_order,
                  ChunkSupport::kTwo, Placement::kVee},
    ScheduleEntry{"v-min", "as zb-v with a third of the memory and two thirds of the bubble of 1f1b", v_min_order,
                  ChunkSupport::kTwo, Placement::kVee},
    ScheduleEntry{"dualpipe", "two copies of the model, microbatches enter from both ends (DeepSeek-V3); even pp",
                  dualpipe_order, ChunkSupport::kTwo, Placement::kBidirectional, 2},
    ScheduleEntry{"dualpipev", "DualPipe cut in half: two chunks per stage, V-shaped", dualpipe_v_order,
                  ChunkSupport::kTwo, Placement::kVee, 2},
    // The order of a finite run; in steady state stages run forward passes ahead (weight_versions.h).
    ScheduleEntry{"pipedream", "1f1b without pipeline flush: weights are updated per stage, older versions are stored",
                  one_f_one_b_order, ChunkSupport::kOne, Placement::kLooped, 0, WeightVersions::kStashed},
    ScheduleEntry{"pipedream-2bw", "as pipedream with two versions of the weights on every stage", one_f_one_b_order,
                  ChunkSupport::kOne, Placement::kLooped, 1, WeightVersions::kTwo},
    ScheduleEntry{"varuna", "forward passes as they arrive, recomputation while the gradient is in flight",
                  varuna_order, ChunkSupport::kOne, Placement::kLooped, 0, WeightVersions::kOne, RecomputeTime::kAhead},
};

constexpr std::array kComputeModels{
    ComputeEntry{"roofline", "the slower of arithmetic and memory at a share of their peaks, plus a launch",
                 make_roofline},
    ComputeEntry{"calibrated",
                 "each family of kernels by its own rule, with constants fitted to measurements of the GPU",
                 make_calibrated},
};

// Runs are validated with this model wherever it is available.
std::string usual_model(const ConfigMap& compute, const GpuSpec& gpu) {
  return gpu.kernels.name.empty() || sets_roofline(compute) ? "roofline" : "calibrated";
}

}  // namespace

std::span<const ScheduleEntry> schedules() {
  return kSchedules;
}

const ScheduleEntry& find_schedule(std::string_view name) {
  const auto* entry = std::ranges::find(kSchedules, name, &ScheduleEntry::name);
  CHECK(entry != kSchedules.end(), "schedules are named as in the table");
  return *entry;
}

std::span<const ComputeEntry> compute_models() {
  return kComputeModels;
}

std::unique_ptr<ComputeModel> read_compute_model(ConfigMap& compute, const GpuSpec& gpu) {
  std::vector<Option> options;
  for (const ComputeEntry& entry : kComputeModels) options.push_back({entry.name, entry.help});
  const std::string name = compute.choice(
      {.name = "model",
       .doc = "how long a kernel takes; calibrated where kernels of the GPU were measured, roofline elsewhere and "
              "where one of its efficiencies is set",
       .fallback = usual_model(compute, gpu)},
      options);
  if (compute.documenting()) {
    for (const ComputeEntry& entry : kComputeModels) static_cast<void>(entry.make(compute, gpu));
  }
  const auto* entry = std::ranges::find(kComputeModels, name, &ComputeEntry::name);
  return (entry == kComputeModels.end() ? kComputeModels.front() : *entry).make(compute, gpu);
}

}  // namespace ringwright::workload
