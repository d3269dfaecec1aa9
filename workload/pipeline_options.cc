#include "workload/pipeline_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

constexpr std::array kStageLayers{
    Option{"even", "the same number of layers in every part"},
    Option{"trim-ends", "one layer less in the first and in the last part, which also hold embedding and logits"}};

std::string read_schedule(ConfigMap& parallel) {
  std::vector<Option> options;
  for (const ScheduleEntry& entry : schedules()) options.push_back({entry.name, entry.help});
  return parallel.choice({.name = "schedule", .doc = "order of forward and backward passes", .fallback = "1f1b"},
                         options);
}

// Only schedules of one chunk need to be looked at: where stages hold several, sends overlap anyway.
bool splits_backward(const ParallelOptions& options) {
  const PipelineOrder order = find_schedule(options.schedule).order({.stages = 2, .chunks = 1, .microbatches = 2});
  return std::ranges::any_of(order.front(), [](const Slot& slot) { return slot.pass == Pass::kWeightGradient; });
}

int natural_chunks(const ScheduleEntry& schedule) {
  return schedule.chunks == ChunkSupport::kTwo ? 2 : 1;
}

void read_chunks(ConfigMap& parallel, ParallelOptions& options) {
  const ScheduleEntry& schedule = find_schedule(options.schedule);
  options.placement = schedule.placement;
  options.virtual_stages = static_cast<int>(
      parallel.integer({.name = "virtual_stages",
                        .doc = "model parts per pipeline stage (interleaved-1f1b; two in the V-shaped schedules)",
                        .fallback = natural_chunks(schedule),
                        .min = 1,
                        .max = 1'000'000}));
  options.microbatch_group = static_cast<int>(
      parallel.integer({.name = "microbatch_group_size_per_vp_stage",
                        .doc = "microbatches that pass a chunk before the next one (interleaved-1f1b); 0: pp of them",
                        .fallback = 0,
                        .min = 0,
                        .max = 1'000'000}));
  if (options.microbatch_group > 0 && schedule.chunks != ChunkSupport::kMany) {
    parallel.warn("microbatch_group_size_per_vp_stage", "W131",
                  fmt::format("{} has no effect: the schedule is '{}'",
                              parallel.path_of("microbatch_group_size_per_vp_stage"), options.schedule));
  }
}

}  // namespace

void read_pipeline_options(ConfigMap& parallel, ParallelOptions& options) {
  options.schedule = read_schedule(parallel);
  read_chunks(parallel, options);
  options.post_validation = parallel.boolean(
      {.name = "optimizer_post_validation",
       .doc = "a stage updates its weights without waiting for the gradient's norm over all stages, and checks it in "
              "the next training step (zero bubble)",
       .fallback = false});
  const std::string rule = parallel.choice(
      {.name = "stage_layers", .doc = "how layers are spread over pipeline parts", .fallback = "even"}, kStageLayers);
  options.stage_layers = rule == "trim-ends" ? StageLayers::kTrimEnds : StageLayers::kEven;
  options.layers_per_part = parallel.integers(
      {.name = "layers_per_part",
       .doc = "layers of each part (pp x virtual_stages of them; dualpipe: pp) in model order, instead of stage_layers",
       .min = 0});
  if (!options.layers_per_part.empty()) {
    if (parallel.has("stage_layers")) {
      parallel.warn("stage_layers", "W131",
                    fmt::format("{} has no effect: layers_per_part is given", parallel.path_of("stage_layers")));
    }
    options.stage_layers = StageLayers::kListed;
  }
  options.overlap_p2p =
      parallel.boolean({.name = "overlap_p2p_comm",
                        .doc = "a send to the next stage does not hold up computing; Megatron: only when interleaved",
                        .fallback = options.virtual_stages > 1 || splits_backward(options)});
}

}  // namespace ringwright::workload
