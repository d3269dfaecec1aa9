#include "workload/layout/stage_mesh_reader.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "workload/layout/stage_chunks.h"

namespace ringwright::workload {
namespace {

constexpr const char* kCode = "E593";
constexpr std::string_view kStages = "stages";

StageMesh read_mesh(ConfigMap& map) {
  const auto positive = [&map](std::string_view name, std::string_view doc, std::optional<std::int64_t> fallback) {
    return map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 1, .max = 1'000'000});
  };
  StageMesh mesh;
  mesh.layers = positive("layers", "layers of the stage, in model order", std::nullopt);
  mesh.tp = static_cast<int>(positive("tp", "tensor-parallel size of the stage", 1));
  mesh.dp = static_cast<int>(positive("dp", "data-parallel replicas of the stage, which share each microbatch", 1));
  return mesh;
}

// One rule for the layout: the others would have no effect.
void refuse_others(ConfigMap& parallel, std::string_view key) {
  for (const std::string_view other :
       {"tp", "pp", "dp", "layers_per_part", "pipeline_model_parallel_layout", "stage_layers",
        "decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers",
        "account_for_embedding_in_pipeline_split", "account_for_loss_in_pipeline_split"}) {
    if (!parallel.has(other)) continue;
    parallel.error(other, kCode,
                   fmt::format("{} and {} both set the layout", parallel.path_of(other), parallel.path_of(key)),
                   fmt::format("remove {}", parallel.path_of(other)));
  }
}

std::vector<ConfigMap> listed_stages(ConfigMap& parallel, const ParallelContext& context) {
  constexpr std::string_view kDoc =
      "the pipeline stages one by one, each with tp and dp of its own (Alpa), instead of tp, pp, dp and stage_layers";
  std::vector<ConfigMap> own = parallel.maps(kStages, kDoc);
  if (context.plan == nullptr) return own;
  if (!own.empty()) {
    parallel.error(
        kStages, kCode,
        fmt::format("{} and {} both list the stages", parallel.path_of(kStages), parallel.path_of("plan_file")),
        "keep one of them");
  }
  return context.plan->maps(kStages, kDoc);
}

void check_sums(ConfigMap& parallel, std::string_view key, const ParallelContext& context,
                const ParallelOptions& options) {
  std::int64_t ranks = 0;
  std::int64_t layers = 0;
  for (const StageMesh& mesh : options.meshes) {
    ranks += std::int64_t{mesh.tp} * mesh.dp;
    layers += mesh.layers;
  }
  if (ranks != context.world.ranks) {
    parallel.error(key, "E130",
                   fmt::format("{}: tp x dp of {} stages add up to {} ranks, but {} = {} ranks", parallel.path_of(key),
                               options.meshes.size(), ranks, context.world.described, context.world.ranks));
  }
  if (layers != context.shape.layers) {
    parallel.error(key, "E131",
                   fmt::format("{}: the stages have {} layers, but {} ({}) is {}", parallel.path_of(key), layers,
                               context.model_map.path_of("num_layers"), context.model_map.origin("num_layers"),
                               context.shape.layers));
  }
}

}  // namespace

std::string_view stages_key(const ParallelContext& context) {
  return context.plan != nullptr ? std::string_view("plan_file") : kStages;
}

bool read_stage_meshes(ConfigMap& parallel, const ParallelContext& context, ParallelOptions& options) {
  std::vector<ConfigMap> listed = listed_stages(parallel, context);
  for (ConfigMap& map : listed) options.meshes.push_back(read_mesh(map));
  if (parallel.documenting()) options.meshes.clear();
  if (options.meshes.empty()) {
    constexpr const char* kExample = "stages: [{layers: 8, tp: 2, dp: 2}, ...]";
    if (parallel.documenting()) return false;
    if (context.plan != nullptr) context.plan->error("", kCode, "the plan lists no stages", kExample);
    if (context.plan == nullptr && parallel.has(kStages)) {
      parallel.error(kStages, kCode, fmt::format("{} lists no stages", parallel.path_of(kStages)), kExample);
    }
    return false;
  }
  refuse_others(parallel, stages_key(context));
  check_sums(parallel, stages_key(context), context, options);
  options.tp = options.dp = 1;
  options.pp = static_cast<int>(options.meshes.size());
  options.stage_layers = StageLayers::kListed;
  options.layers_per_part.clear();
  for (const StageMesh& mesh : options.meshes) {
    options.tp = std::max(options.tp, mesh.tp);
    options.dp = std::max(options.dp, mesh.dp);
    options.layers_per_part.push_back(mesh.layers);
  }
  return true;
}

namespace {

// Why stages may not have meshes of their own with these options; empty if they may.
std::string why_not(const ParallelContext& context, const ParallelOptions& options) {
  if (options.cp > 1) return "context parallelism (cp > 1)";
  if (context.shape.experts) return "experts";
  if (options.virtual_stages > 1 || options.placement != Placement::kLooped) return "several model chunks per stage";
  if (!options.flushes()) return fmt::format("'{}', which never empties the pipeline", options.schedule);
  if (options.sharding.parameters) return "sharded parameters (zero.stage 3, fsdp)";
  if (options.offload.any() || context.training.full.on_host) return "offloading to the host";
  if (context.training.local_sgd.on()) return "local SGD";
  if (options.microbatch_split != MicrobatchSplit::kEven || !options.replica_microbatches.empty()) {
    return "replicas with different numbers of microbatches";
  }
  const bool whole = !options.scatter_gather_p2p || !options.scatter_gather_gradients;
  if (whole && !options.sequence_parallel) return "activations that travel whole (scatter_gather_p2p: false)";
  return {};
}

}  // namespace

void check_stage_meshes(ConfigMap& parallel, const ParallelContext& context, const ParallelOptions& options) {
  if (options.meshes.empty()) return;
  const std::string_view key = stages_key(context);
  const auto refuse = [&](const std::string& why, const std::string& remedy = {}) {
    parallel.error(key, kCode, fmt::format("{}: {}", parallel.path_of(key), why), remedy);
  };
  if (const std::string what = why_not(context, options); !what.empty()) {
    refuse(fmt::format("stages with different numbers of ranks do not support {}", what));
  }
  const StageMesh& first = options.meshes.front();
  const StageMesh& last = options.meshes.back();
  if (shares_embedding(context.shape, options) && (first.tp != last.tp || first.dp != last.dp)) {
    refuse(fmt::format("first and last stage share an embedding, but have tp {} x dp {} and tp {} x dp {}", first.tp,
                       first.dp, last.tp, last.dp),
           fmt::format("set {}: true", context.model_map.path_of("untie_embeddings_and_output_weights")));
  }
  const std::int64_t together = context.training.micro_batch * options.dp;
  for (std::size_t stage = 0; stage < options.meshes.size(); ++stage) {
    if (together % options.meshes[stage].dp == 0) continue;
    refuse(
        fmt::format("the {} sequences of a microbatch ({} = {} on each of {} replicas) do not divide over the {} "
                    "replicas of stage {}",
                    together, context.training_map.path_of("micro_batch"), context.training.micro_batch, options.dp,
                    options.meshes[stage].dp, stage));
  }
}

}  // namespace ringwright::workload
