#include "workload/options/pipeline_options.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

constexpr std::array kStageLayers{
    Option{"even", "the same number of layers in every model chunk"},
    Option{"filled", "all chunks like the fullest, the last one gets the remainder (DeepSpeed's type:transformer)"},
    Option{"balanced", "chunks of equal time: layers, embedding and logits as modelled by the compute model"},
    Option{"balanced-memory",
           "the fastest split that fits: with scarce memory, early stages, with more microbatches in flight, get "
           "fewer layers; if nothing fits, stages need equal memory (Yuan 2.0)"},
    Option{"trim-ends", "one layer less in the first and in the last chunk, which also hold embedding and logits"}};

std::string read_schedule(ConfigMap& parallel, const std::string& fallback) {
  std::vector<Option> options;
  for (const ScheduleEntry& entry : schedules()) options.push_back({entry.name, entry.help});
  return parallel.choice({.name = "schedule", .doc = "order of forward and backward passes", .fallback = fallback},
                         options);
}

// Only schedules of one chunk need the check: with several chunks sends overlap anyway.
bool splits_backward(const ParallelOptions& options) {
  const PipelineOrder order = options.listed ? options.listed->order
                                             : find_schedule(options.schedule).order({.stages = 2, .microbatches = 2});
  if (order.empty()) return false;
  return std::ranges::any_of(order.front(), [](const Slot& slot) { return slot.pass == Pass::kWeightGradient; });
}

int natural_chunks(const ScheduleEntry& schedule) {
  return schedule.chunks == ChunkSupport::kTwo ? 2 : 1;
}

// Megatron's layout string sets the layers of every chunk, and with them the number of chunks per stage.
int read_layout(ConfigMap& parallel, ParallelOptions& options) {
  constexpr std::string_view kKey = "pipeline_model_parallel_layout";
  const std::string text = parallel.text(
      {.name = kKey,
       .doc = "Megatron's layout: E embedding, t layer, m multi-token prediction, L loss, '|' ends a chunk, (..)*n "
              "repeats",
       .fallback = std::string()});
  if (text.empty()) return 1;
  LayerLayout layout = read_layer_layout(text);
  const auto parts = static_cast<int>(layout.layers.size());
  if (!layout.problem.empty()) {
    parallel.error(kKey, "E131", fmt::format("{}: {}", parallel.path_of(kKey), layout.problem),
                   fmt::format("character {} of '{}'", layout.at + 1, text));
    return 1;
  }
  options.stage_layers = StageLayers::kListed;
  options.layers_per_part = std::move(layout.layers);
  if (parts % options.pp == 0) return parts / options.pp;
  parallel.error(
      kKey, "E131",
      fmt::format("{} has {} chunks, which pp = {} does not divide", parallel.path_of(kKey), parts, options.pp));
  return 1;
}

void read_chunks(ConfigMap& parallel, int chunks_of_layout, ParallelOptions& options) {
  const ScheduleEntry& schedule = find_schedule(options.schedule);
  options.placement = schedule.placement;
  options.versions = schedule.versions;
  options.recompute_ahead = schedule.recompute == RecomputeTime::kAhead;
  options.virtual_stages = static_cast<int>(
      parallel.integer({.name = "virtual_stages",
                        .doc = "model chunks per pipeline stage (interleaved-1f1b; two in the V-shaped schedules)",
                        .fallback = std::max(natural_chunks(schedule), chunks_of_layout),
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

// A list of passes has its own placement and chunks.
void take_listed(ConfigMap& parallel, const ListedSchedule& listed, ParallelOptions& options) {
  for (const std::string_view key : {"schedule", "virtual_stages", "microbatch_group_size_per_vp_stage"}) {
    if (!parallel.has(key)) continue;
    parallel.warn(key, "W131", fmt::format("{} has no effect: schedule_file is given", parallel.path_of(key)));
  }
  options.listed = listed;
  options.placement = listed.placement;
  options.versions = WeightVersions::kOne;
  options.recompute_ahead = false;
  options.virtual_stages = listed.chunks;
}

void read_ends(ConfigMap& parallel, ParallelOptions& options) {
  const auto layers = [&](std::string_view name, std::string_view doc) {
    return parallel.integer({.name = name, .doc = doc, .fallback = 0, .min = 0, .max = 10'000});
  };
  options.end_layers.first = layers("decoder_first_pipeline_num_layers", "layers of the first stage; 0: as the others");
  options.end_layers.last = layers("decoder_last_pipeline_num_layers", "layers of the last stage; 0: as the others");
  options.embedding_counts = parallel.boolean({.name = "account_for_embedding_in_pipeline_split",
                                               .doc = "the embedding counts as a layer of the first chunk",
                                               .fallback = false}) ||
                             options.embedding_counts;
  options.loss_counts = parallel.boolean({.name = "account_for_loss_in_pipeline_split",
                                          .doc = "the logits count as a layer of the last chunk",
                                          .fallback = false}) ||
                        options.loss_counts;
  if (options.end_layers.first + options.end_layers.last > 0) options.stage_layers = StageLayers::kEnds;
}

// Only one rule for the split of layers: the others would have no effect.
void refuse_several(ConfigMap& parallel) {
  std::vector<std::string_view> given;
  for (const std::string_view key :
       {"layers_per_part", "pipeline_model_parallel_layout", "decoder_first_pipeline_num_layers",
        "decoder_last_pipeline_num_layers", "account_for_embedding_in_pipeline_split",
        "account_for_loss_in_pipeline_split", "stage_layers"}) {
    if (parallel.has(key)) given.push_back(key);
  }
  const auto pair = [&given](std::string_view prefix) {
    return std::ranges::all_of(given, [prefix](std::string_view key) { return key.starts_with(prefix); });
  };
  if (given.size() < 2 || pair("decoder_") || pair("account_for_")) return;
  if (given.size() == 2 && given.front() == "layers_per_part" && given.back() == "stage_layers") {
    parallel.warn("stage_layers", "W131",
                  fmt::format("{} has no effect: layers_per_part is given", parallel.path_of("stage_layers")));
    return;
  }
  parallel.error(given.front(), "E131", fmt::format("several keys set the split of layers: {}", fmt::join(given, ", ")),
                 "keep one of them");
}

void read_layers(ConfigMap& parallel, ParallelOptions& options) {
  const std::string rule = parallel.choice(
      {.name = "stage_layers", .doc = "the split of layers over model chunks", .fallback = "even"}, kStageLayers);
  if (rule == "balanced") options.stage_layers = StageLayers::kBalanced;
  if (rule == "balanced-memory") options.stage_layers = StageLayers::kBalancedMemory;
  if (rule == "filled") options.stage_layers = StageLayers::kFilled;
  if (rule == "trim-ends") options.embedding_counts = options.loss_counts = true;
  const std::vector<std::int64_t> listed = parallel.integers(
      {.name = "layers_per_part",
       .doc = "layers of each model chunk (pp x virtual_stages of them; dualpipe: pp) in model order, instead of "
              "stage_layers",
       .min = 0,
       .max = 10'000});
  if (parallel.has("layers_per_part") && listed.empty()) {
    parallel.error("layers_per_part", "E131", fmt::format("{} is empty", parallel.path_of("layers_per_part")),
                   "list the layers of every model chunk, or remove the key for even chunks");
  }
  read_ends(parallel, options);
  if (!listed.empty()) {
    options.stage_layers = StageLayers::kListed;
    options.layers_per_part = listed;
  }
  if (!parallel.documenting()) refuse_several(parallel);
}

}  // namespace

void read_pipeline_options(ConfigMap& parallel, const ListedSchedule* listed, ParallelOptions& options) {
  const int chunks_of_layout = read_layout(parallel, options);
  options.schedule = read_schedule(parallel, chunks_of_layout > 1 ? "interleaved-1f1b" : "1f1b");
  read_chunks(parallel, chunks_of_layout, options);
  if (listed != nullptr) take_listed(parallel, *listed, options);
  options.post_validation = parallel.boolean(
      {.name = "optimizer_post_validation",
       .doc = "a stage updates its weights without waiting for the gradient's norm over all stages, and checks it in "
              "the next training step (zero bubble)",
       .fallback = false});
  read_layers(parallel, options);
  options.overlap_p2p =
      parallel.boolean({.name = "overlap_p2p_comm",
                        .doc = "a send to the next stage does not block computation; Megatron: only when interleaved",
                        .fallback = options.virtual_stages > 1 || splits_backward(options) || !options.flushes()});
}

}  // namespace ringwright::workload
