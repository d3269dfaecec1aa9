#include "core/base/text.h"
#include "workload/layout/pipeline_checks.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "workload/builtin.h"
#include "workload/layout/known_layouts.h"
#include "workload/layout/pipeline_order.h"
#include "workload/layout/stage_chunks.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload {
namespace {

std::string layers_hint(std::int64_t layers, const ParallelOptions& options) {
  const std::int64_t v = options.parts() / options.pp;
  std::vector<std::string> even;
  for (std::int64_t p = 1; p * v <= layers; ++p) {
    if (layers % (p * v) == 0) even.push_back(std::to_string(p));
  }
  std::int64_t trimmed = 0;  // nearest to the requested size
  for (std::int64_t p = 2; p * v <= layers + 2; ++p) {
    if ((layers + 2) % (p * v) == 0 && std::abs(p - options.pp) <= std::abs(trimmed - options.pp)) trimmed = p;
  }
  std::string hint = even.empty() ? fmt::format("no value divides {} layers", layers)
                                  : fmt::format("valid values for {} layers: {}", layers, join(even, " "));
  hint += "; or set parallel.stage_layers: balanced";
  if (trimmed > 0) hint += fmt::format(", or trim-ends ({})", trimmed);
  return hint + "; or list them in parallel.layers_per_part";
}

void refuse_layers(ConfigMap& parallel, std::int64_t layers, const ParallelOptions& options) {
  // Both directions of 'dualpipe' share the chunks: as many as stages.
  const std::string parts = options.parts() == options.pp
                                ? fmt::format("{} = {}", parallel.path_of("pp"), options.pp)
                                : fmt::format("{} x virtual_stages = {} x {} = {}", parallel.path_of("pp"), options.pp,
                                              options.virtual_stages, options.parts());
  std::string more;
  if (options.embedding_counts && options.loss_counts) more = " + 2 (embedding and logits count)";
  if (options.embedding_counts != options.loss_counts) more = " + 1 (embedding or logits count)";
  parallel.error("pp", "E131", fmt::format("{} does not divide {} layers{}", parts, layers, more),
                 layers_hint(layers, options));
}

void check_listed(ConfigMap& parallel, std::int64_t layers, const ParallelOptions& options) {
  if (!options.meshes.empty()) return;  // read_stage_meshes has checked them
  const std::int64_t sum =
      std::accumulate(options.layers_per_part.begin(), options.layers_per_part.end(), std::int64_t{0});
  if (static_cast<int>(options.layers_per_part.size()) == options.parts() && sum == layers) return;
  const std::string_view key =
      parallel.has("layers_per_part") ? "layers_per_part" : "pipeline_model_parallel_layout";
  parallel.error(
      key, "E131",
      fmt::format("{} has {} entries that add up to {}, but there are {} model chunks (pp x virtual_stages) and {} "
                  "layers",
                  parallel.path_of(key), options.layers_per_part.size(), sum, options.parts(), layers));
}

std::vector<std::int64_t> spread_by_ends(ConfigMap& parallel, std::int64_t layers, const ParallelOptions& options) {
  const std::string_view key = options.end_layers.first > 0 ? "decoder_first_pipeline_num_layers"
                                                            : "decoder_last_pipeline_num_layers";
  std::vector<std::int64_t> parts;
  if (options.placement == Placement::kLooped) {
    parts = spread_with_ends(layers, options.end_layers, options.pp, options.virtual_stages);
  }
  if (parts.empty()) {
    parallel.error(
        key, "E131",
        fmt::format("{} layers with {} on the first and {} on the last of {} stages (0: as the others) do not divide "
                    "evenly over the other stages and their {} chunks",
                    layers, options.end_layers.first, options.end_layers.last, options.pp, options.virtual_stages),
        "set parallel.stage_layers: balanced, or list them in parallel.layers_per_part");
  }
  return parts;
}

std::vector<std::int64_t> fill_parts(ConfigMap& parallel, std::int64_t layers, std::int64_t parts) {
  const std::int64_t each = (layers + parts - 1) / parts;
  if (each * (parts - 1) >= layers && parts > 1) {
    parallel.error("stage_layers", "E131",
                   fmt::format("{} layers in {} chunks of up to {} leave none for the last chunk", layers, parts, each),
                   "set parallel.stage_layers: balanced, or list them in parallel.layers_per_part");
    return {};
  }
  std::vector<std::int64_t> filled(static_cast<std::size_t>(parts), each);
  filled.back() = layers - each * (parts - 1);
  return filled;
}

void spread_layers(ConfigMap& parallel, std::int64_t layers, ParallelOptions& options) {
  const auto parts = static_cast<std::int64_t>(options.parts());
  const auto count = static_cast<std::size_t>(parts);
  const std::int64_t counted = layers + (options.embedding_counts ? 1 : 0) + (options.loss_counts ? 1 : 0);
  switch (options.stage_layers) {
    case StageLayers::kListed: check_listed(parallel, layers, options); break;
    case StageLayers::kEnds: options.layers_per_part = spread_by_ends(parallel, layers, options); break;
    case StageLayers::kFilled: options.layers_per_part = fill_parts(parallel, layers, parts); break;
    case StageLayers::kBalancedMemory:
      if (options.virtual_stages != 1 || options.placement != Placement::kLooped) {
        parallel.error("stage_layers", "E131",
                       fmt::format("{}: balanced-memory needs stages with one model chunk each; those of '{}' hold {}",
                                   parallel.path_of("stage_layers"), options.schedule, options.virtual_stages),
                       "set parallel.stage_layers: balanced");
      }
      [[fallthrough]];
    case StageLayers::kBalanced:  // preliminary: balance_stages and balance_memory replace it
      options.layers_per_part.assign(count, layers / parts);
      for (std::int64_t part = 0; part < layers % parts; ++part)
        ++options.layers_per_part[static_cast<std::size_t>(part)];
      break;
    case StageLayers::kEven:
      if (counted % parts != 0 || (parts == 1 && counted > layers)) {
        refuse_layers(parallel, layers, options);
        break;
      }
      options.layers_per_part.assign(count, counted / parts);
      if (options.embedding_counts) --options.layers_per_part.front();
      if (options.loss_counts) --options.layers_per_part.back();
      break;
  }
  const std::int64_t sum =
      std::accumulate(options.layers_per_part.begin(), options.layers_per_part.end(), std::int64_t{0});
  if (options.layers_per_part.size() != count || sum != layers) options.layers_per_part.assign(count, 1);
}

}  // namespace

void check_pipeline(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  const ScheduleEntry& schedule = find_schedule(options.schedule);
  if (options.listed) return spread_layers(parallel, context.shape.layers, options);
  if (options.virtual_stages > 1 && schedule.chunks == ChunkSupport::kOne) {
    parallel.error("virtual_stages", "E137",
                   fmt::format("{} = {} needs a schedule with chunks, not '{}'", parallel.path_of("virtual_stages"),
                               options.virtual_stages, options.schedule),
                   "set parallel.schedule: interleaved-1f1b");
  }
  if (options.virtual_stages != 2 && schedule.chunks == ChunkSupport::kTwo) {
    parallel.error("virtual_stages", "E137",
                   fmt::format("{} = {}, but stages of '{}' hold two chunks", parallel.path_of("virtual_stages"),
                               options.virtual_stages, options.schedule),
                   "omit it, or set it to 2");
    options.virtual_stages = 2;
  }
  if (options.placement == Placement::kBidirectional && options.pp % 2 != 0) {
    parallel.error("pp", "E137", fmt::format("{} = {}, but '{}' needs an even number of stages",
                                             parallel.path_of("pp"), options.pp, options.schedule));
  }
  if (options.virtual_stages > 1 && options.pp == 1) {
    parallel.error("virtual_stages", "E137",
                   fmt::format("{} = {} needs more than one pipeline stage, but pp is 1",
                               parallel.path_of("virtual_stages"), options.virtual_stages));
  }
  if (options.virtual_stages == 1 && schedule.chunks == ChunkSupport::kMany) {
    // A single chunk is not interleaved; Megatron also runs the plain schedule then.
    parallel.warn("schedule", "W131",
                  fmt::format("{} has no effect: virtual_stages is 1, and 1f1b runs", parallel.path_of("schedule")));
    options.schedule = "1f1b";
  }
  if (options.pp > context.shape.layers + 2) {
    parallel.error(
        "pp", "E131",
        fmt::format("{} = {} is more than the {} layers", parallel.path_of("pp"), options.pp, context.shape.layers));
    options.layers_per_part.assign(static_cast<std::size_t>(options.parts()), 1);
    return;
  }
  spread_layers(parallel, context.shape.layers, options);
}

namespace {

// Every stage updates its own weights after its backward passes: nothing is gathered or summed across stages.
void check_versions(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  const auto refuse = [&](std::string_view what, const std::string& remedy) {
    parallel.error("schedule", "E137",
                   fmt::format("'{}' never empties the pipeline, which {} does not allow", options.schedule, what),
                   remedy);
  };
  if (options.zero_stage > 0) {
    refuse(fmt::format("state that is sharded over data-parallel ranks (zero.stage {}, fsdp)", options.zero_stage),
           "set zero.stage: 0, or a schedule that empties the pipeline");
  }
  if (options.offload.any()) refuse("offloading to the host", "set a schedule that empties the pipeline");
  if (shares_embedding(context.shape, options)) {
    refuse("an embedding that the first and last stage share",
           fmt::format("set {}: true", context.model_map.path_of("untie_embeddings_and_output_weights")));
  }
}

bool splits_passes(const PipelineOrder& order) {
  return std::ranges::any_of(order.front(), [](const Slot& slot) { return !is_whole(slot.pass); });
}

// Of a generated schedule; `own`: of a layout that is read alone.
const PipelineOrder& order_of(const ParallelContext& context, const ParallelOptions& options, LastOrder& own) {
  return (context.known != nullptr ? context.known->order : own).of(options, context.training);
}

std::string find_problem(const ParallelContext& context, const ParallelOptions& options) {
  const auto microbatches = static_cast<int>(options.microbatches(context.training));
  LastOrder own;
  return check_order(order_of(context, options, own), options.pipeline(), microbatches).problem;
}

// Of a generated order; empty: valid.
std::string problem_of_order(const ParallelContext& context, const ParallelOptions& options) {
  if (context.known == nullptr) return find_problem(context, options);
  const auto [entry, is_new] = context.known->problem_of_order.try_emplace(order_key(options, context.training));
  if (is_new) entry->second = find_problem(context, options);
  return entry->second;
}

}  // namespace

void check_microbatches(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (options.listed) return;  // check_listed_schedule reports it at the list's own lines
  const ScheduleEntry& schedule = find_schedule(options.schedule);
  const std::int64_t microbatches = options.microbatches(context.training);
  const auto refuse = [&](const std::string& why, const std::string& remedy = {}) {
    parallel.error(
        "schedule", "E137", why,
        remedy + fmt::format("microbatches = {} ({}) {} / (micro_batch {} x dp {})",
                              context.training_map.path_of("global_batch"), context.training_map.origin("global_batch"),
                              context.training.global_batch, context.training.micro_batch, options.dp));
  };
  const std::int64_t fewest = std::int64_t{schedule.microbatches_per_stage} * options.pp;
  if (microbatches < fewest) {
    return refuse(fmt::format("'{}' needs {} microbatches or more, {} for each of pp = {} stages, but there are {}",
                              options.schedule, fewest, schedule.microbatches_per_stage, options.pp, microbatches));
  }
  if (options.placement == Placement::kBidirectional && microbatches % 2 != 0) {
    return refuse(fmt::format("'{}' needs an even number of microbatches, but there are {}", options.schedule,
                              microbatches));
  }
  if (options.recompute_ahead && options.sharding.parameters) {
    return refuse(
        fmt::format("'{}' recomputes layers before their backward pass, which parameters that are gathered for each "
                    "pass (zero.stage 3) do not allow here",
                    options.schedule));
  }
  if (!options.flushes()) return check_versions(parallel, context, options);
  LastOrder own;
  if (options.sharding.parameters && splits_passes(order_of(context, options, own))) {
    return refuse(
        fmt::format("'{}' splits backward passes, which parameters that are gathered for each pass (zero.stage "
                    "3) do not allow here",
                    options.schedule));
  }
  // Generated schedules are valid; only interleaving depends on the grouping of microbatches.
  if (schedule.chunks != ChunkSupport::kMany || options.virtual_stages == 1) return;
  const std::int64_t group = options.microbatch_group > 0 ? options.microbatch_group : options.pp;
  if (microbatches % group == 0 && group >= options.pp) return;
  const std::string problem = problem_of_order(context, options);
  if (problem.empty()) return;
  std::int64_t whole = options.pp;  // the last of several groups must not be smaller than the pipeline
  while (whole < microbatches && microbatches % whole > 0 && microbatches % whole < options.pp) ++whole;
  refuse(fmt::format("'{}' with {} microbatches in groups of {} cannot run on pp = {} stages; {}", options.schedule,
                     microbatches, group, options.pp, problem),
         fmt::format("set {}: {}; ", parallel.path_of("microbatch_group_size_per_vp_stage"), whole));
}

}  // namespace ringwright::workload
