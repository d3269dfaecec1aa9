#include "configs/scenario/imports/megatron/megatron_layout_rules.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "workload/options/recomputed_modules.h"

namespace ringwright::configs {
namespace {

void set_switch(const MegatronArguments& arguments, MegatronTree& tree, std::string_view flag, std::string_view key,
                std::string text) {
  if (arguments.has(flag)) tree.set(key, arguments.flag(flag).at, std::move(text));
}

void set_full_recompute(const MegatronArguments& arguments, MegatronTree& tree) {
  if (const auto method = arguments.value("recompute-method")) tree.set("training.recompute_method", *method);
  if (arguments.number("recompute-num-layers")) {
    tree.set("training.recompute_num_layers", *arguments.value("recompute-num-layers"));
  }
  set_switch(arguments, tree, "distribute-saved-activations", "training.distribute_saved_activations", "true");
}

// Of one word of the command line, or of a log's ['core_attn', 'moe_act'].
std::vector<std::string> names_in(std::string_view text) {
  std::vector<std::string> names;
  constexpr std::string_view kBetween = "[]', ";
  for (std::size_t begin = text.find_first_not_of(kBetween); begin < text.size();) {
    const std::size_t end = std::min(text.find_first_of(kBetween, begin), text.size());
    names.emplace_back(text.substr(begin, end - begin));
    begin = text.find_first_not_of(kBetween, end);
  }
  return names;
}

void set_recomputed_modules(const MegatronArguments& arguments, MegatronTree& tree) {
  std::vector<MegatronWord> known;
  for (const MegatronWord& given : arguments.flag("recompute-modules").values) {
    for (std::string& name : names_in(given.text)) {
      MegatronWord word = given;
      word.text = std::move(name);
      const auto& modules = workload::kNamedModules;
      if (std::ranges::find(modules, word.text, &workload::NamedModule::name) != modules.end()) {
        known.push_back(std::move(word));
      } else {
        arguments.warn(given, "W136",
                       fmt::format("--recompute-modules {} is not modelled: its activations are stored", word.text));
      }
    }
  }
  if (!known.empty()) tree.set_list("training.recompute_modules", known);
}

// Given with a format; without a recipe fp8 is scaled by the maxima of earlier steps, fp4 is NVFP4.
void set_narrow(const MegatronArguments& arguments, MegatronTree& tree) {
  for (const auto& [format, recipe, key, usual] :
       {std::array<std::string_view, 4>{"fp8-format", "fp8-recipe", "training.fp8_recipe", "delayed"},
        std::array<std::string_view, 4>{"fp4-format", "fp4-recipe", "training.fp4_recipe", "nvfp4"}}) {
    const auto given = arguments.value(format);
    if (!given) continue;
    if (const auto named = arguments.value(recipe)) {
      tree.set(key, *named);
    } else {
      tree.set(key, *given, std::string(usual));
    }
  }
}

// "fp8", or in a log "torch.uint8".
void set_state_types(const MegatronArguments& arguments, MegatronTree& tree) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kTorch{
      {{"torch.float32", "fp32"}, {"torch.float16", "fp16"}, {"torch.bfloat16", "bf16"}, {"torch.uint8", "fp8"}}};
  for (const auto& [flag, key] : {std::pair{"main-params-dtype", "training.main_params_dtype"},
                                  std::pair{"exp-avg-dtype", "training.exp_avg_dtype"},
                                  std::pair{"exp-avg-sq-dtype", "training.exp_avg_sq_dtype"}}) {
    const auto word = arguments.value(flag);
    if (!word) continue;
    const auto* torch = std::ranges::find(kTorch, word->text, [](const auto& names) { return names[0]; });
    tree.set(key, *word, torch == kTorch.end() ? word->text : std::string((*torch)[1]));
  }
}

// A log has it for every optimizer.
void set_momentum(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto optimizer = arguments.value("optimizer");
  const auto momentum = arguments.value("sgd-momentum");
  if (optimizer && momentum && optimizer->text == "sgd") tree.set("training.sgd_momentum", *momentum);
}

void set_recompute(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto granularity = arguments.value("recompute-granularity");
  if (granularity) {
    tree.set("training.recompute", *granularity);
  } else if (arguments.has("recompute-activations")) {
    tree.set("training.recompute", arguments.flag("recompute-activations").at, "selective");
  } else {
    return tree.assume("training.recompute", "none");
  }
  if (granularity && granularity->text == "full") return set_full_recompute(arguments, tree);
  if (arguments.value("recompute-modules")) set_recomputed_modules(arguments, tree);
}

std::int64_t or_one(const std::optional<std::int64_t>& number) {
  return std::clamp<std::int64_t>(number.value_or(1), 1, 1'000'000);  // more ranks are refused where the key is read
}

// Three ways to specify the number of chunks of a stage.
void set_chunks(const MegatronArguments& arguments, MegatronTree& tree) {
  std::int64_t chunks = 1;
  MegatronWord at;
  for (const std::string_view flag : {"num-virtual-stages-per-pipeline-rank", "virtual-pipeline-model-parallel-size"}) {
    const auto number = arguments.number(flag);
    if (!number) continue;
    chunks = *number;
    at = *arguments.value(flag);
  }
  const auto layers = arguments.number("num-layers");
  const std::int64_t pp = or_one(arguments.number("pipeline-model-parallel-size"));
  const auto per_chunk = arguments.number("num-layers-per-virtual-pipeline-stage");
  if (per_chunk && layers) {
    at = *arguments.value("num-layers-per-virtual-pipeline-stage");
    const std::int64_t ends = static_cast<std::int64_t>(arguments.has("account-for-embedding-in-pipeline-split")) +
                              static_cast<std::int64_t>(arguments.has("account-for-loss-in-pipeline-split"));
    const std::int64_t split = *layers + ends;
    if (*per_chunk < 1 || split % pp != 0 || split / pp % *per_chunk != 0) {
      arguments.error(at,
                      fmt::format("--num-layers-per-virtual-pipeline-stage {} x {} stages does not divide {} layers{}",
                                  *per_chunk, pp, split, ends > 0 ? ", embedding and loss counted as given" : ""));
      return;
    }
    chunks = split / pp / *per_chunk;
  }
  if (chunks <= 1) return;
  tree.set("parallel.schedule", at, "interleaved-1f1b");
  tree.set("parallel.virtual_stages", at, std::to_string(chunks));
  for (const std::string_view flag :
       {"microbatch-group-size-per-virtual-pipeline-stage", "microbatch-group-size-per-vp-stage"}) {
    if (arguments.number(flag)) tree.set("parallel.microbatch_group_size_per_vp_stage", *arguments.value(flag));
  }
}

void set_sharding(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto strategy = arguments.value("data-parallel-sharding-strategy");
  if (strategy && strategy->text != "no_shard") {
    const std::string stage = strategy->text == "optim" ? "1" : strategy->text == "optim_grads" ? "2" : "3";
    tree.set("parallel.zero.stage", *strategy, stage);
  } else if (arguments.has("use-distributed-optimizer")) {
    tree.set("parallel.zero.stage", arguments.flag("use-distributed-optimizer").at, "1");
  } else {
    tree.assume("parallel.zero.stage", "0");
  }
  const auto elements = arguments.number("ddp-bucket-size");
  if (!elements || !arguments.has("overlap-grad-reduce")) return;
  const std::int64_t each = arguments.has("grad-reduce-in-bf16") ? 2 : 4;
  tree.set("parallel.zero.bucket", *arguments.value("ddp-bucket-size"), fmt::format("{}B", *elements * each));
}

// Megatron-DeepSpeed: squares of h / tile_factor, 1 by default.
void set_tiles(const MegatronArguments& arguments, MegatronTree& tree) {
  constexpr std::string_view kFlag = "memory-centric-tiled-linear";
  constexpr std::string_view kFactor = "parallel.zero.tiled_linear.tile_factor";
  if (!arguments.has(kFlag)) return;
  if (arguments.number("tile-factor")) {
    tree.set(kFactor, *arguments.value("tile-factor"));
  } else {
    tree.set(kFactor, arguments.flag(kFlag).at, "1");
  }
}

void set_offload(const MegatronArguments& arguments, MegatronTree& tree) {
  if (arguments.has("cpu-offloading") && arguments.number("cpu-offloading-num-layers")) {
    tree.set("parallel.cpu_offloading_num_layers", *arguments.value("cpu-offloading-num-layers"));
  }
  if (!arguments.has("optimizer-cpu-offload")) return;
  tree.set("parallel.zero.offload_optimizer.device", arguments.flag("optimizer-cpu-offload").at, "cpu");
  if (const auto share = arguments.value("optimizer-offload-fraction")) {
    tree.set("parallel.zero.offload_optimizer.ratio", *share);
  }
}

void set_context(const MegatronArguments& arguments, MegatronTree& tree) {
  if (or_one(arguments.number("context-parallel-size")) == 1) return;
  if (const auto type = arguments.value("cp-comm-type")) {
    std::string name = type->text;  // a log has a list of one element
    std::erase_if(name, [](char c) { return c == '[' || c == ']' || c == '\''; });
    const std::vector<MegatronWord>& types = arguments.flag("cp-comm-type").values;
    const bool equal = std::ranges::all_of(types, [&](const MegatronWord& word) { return word.text == type->text; });
    if (!equal)
      arguments.warn(*type, "W136", fmt::format("layers with their own --cp-comm-type: {} is used for all", name));
    tree.set("parallel.cp_comm_type", *type, name == "allgather" ? "all_gather" : name);
  }
  if (arguments.value("hierarchical-context-parallel-sizes")) {
    tree.set_list("parallel.hierarchical_context_parallel_sizes",
                  arguments.flag("hierarchical-context-parallel-sizes").values);
  }
}

void set_expert_layout(const MegatronArguments& arguments, MegatronTree& tree) {
  if (!arguments.has("num-experts")) return;
  if (arguments.number("expert-tensor-parallel-size")) {
    tree.set("parallel.etp", *arguments.value("expert-tensor-parallel-size"));
  }
  if (const auto type = arguments.value("moe-token-dispatcher-type")) {
    tree.set("parallel.moe_token_dispatcher_type", *type, type->text == "alltoall_seq" ? "alltoall" : type->text);
  } else {
    tree.assume("parallel.moe_token_dispatcher_type", "allgather");
  }
  if (const auto factor = arguments.value("moe-expert-capacity-factor")) {
    tree.set("parallel.moe_expert_capacity_factor", *factor);
  }
  // Off unless given (arguments.py).
  for (const auto& [flag, key] : {std::pair{"moe-grouped-gemm", "training.moe_grouped_gemm"},
                                  std::pair{"moe-permute-fusion", "training.moe_permute_fusion"},
                                  std::pair{"moe-router-fusion", "training.moe_router_fusion"}}) {
    if (!arguments.has(flag)) tree.assume(key, "false");
  }
}

// Native: fewer passes (core/fusions/fused_cross_entropy.py); te: one kernel of Transformer Engine, which writes the
// gradient over the logits. The choice has no effect without the switch.
void set_loss(const MegatronArguments& arguments, MegatronTree& tree) {
  if (!arguments.has("cross-entropy-loss-fusion")) return;
  const auto kind = arguments.value("cross-entropy-fusion-impl");
  if (kind && kind->text == "te") return tree.set("training.cross_entropy", *kind, "fused");
  set_switch(arguments, tree, "cross-entropy-loss-fusion", "training.cross_entropy", "split-fused");
}

// Others are refused where the key is read.
void set_layers(const MegatronArguments& arguments, MegatronTree& tree) {
  if (const auto layers = arguments.value("transformer-impl")) tree.set("training.transformer_impl", *layers);
}

}  // namespace

void apply_training_rules(const MegatronArguments& arguments, MegatronTree& tree) {
  if (!arguments.has("bf16") && !arguments.has("fp16")) tree.assume("training.precision", "fp32");
  // Megatron-LM asserts the same (arguments.py).
  if (arguments.has("bf16") && arguments.has("fp16")) {
    arguments.error(arguments.flag("fp16").at, "--bf16 and --fp16 contradict each other", "give one of them");
    return;
  }
  set_switch(arguments, tree, "fp16", "training.precision", "fp16");
  set_switch(arguments, tree, "bf16", "training.precision", "bf16");
  set_switch(arguments, tree, "grad-reduce-in-bf16", "training.grad_reduce_dtype", "bf16");
  set_switch(arguments, tree, "no-gradient-accumulation-fusion", "training.gradient_accumulation", "separate");
  const auto backend = arguments.value("attention-backend");
  if (backend &&
      (backend->text.find("unfused") != std::string::npos || backend->text.find("local") != std::string::npos)) {
    tree.set("training.attention", *backend, "unfused");
  }
  set_loss(arguments, tree);
  set_layers(arguments, tree);
  set_narrow(arguments, tree);
  set_state_types(arguments, tree);
  set_momentum(arguments, tree);
  set_recompute(arguments, tree);
}

void apply_parallel_rules(const MegatronArguments& arguments, MegatronTree& tree) {
  set_chunks(arguments, tree);
  set_sharding(arguments, tree);
  set_offload(arguments, tree);
  set_tiles(arguments, tree);
  set_context(arguments, tree);
  set_expert_layout(arguments, tree);
  // Megatron turns it off where there is nothing to divide.
  const bool tensor = or_one(arguments.number("tensor-model-parallel-size")) > 1;
  if (tensor) set_switch(arguments, tree, "sequence-parallel", "parallel.sequence_parallel", "true");
  set_switch(arguments, tree, "overlap-p2p-communication", "parallel.overlap_p2p_comm", "true");
  set_switch(arguments, tree, "no-overlap-p2p-communication", "parallel.overlap_p2p_comm", "false");
}

// What is stated about hosts and ranks: by torchrun, by variables of the script, or by the world size in a log.
void apply_machine_rules(const MegatronArguments& arguments, MegatronTree& tree) {
  const auto first = [&](std::string_view flag, std::initializer_list<const char*> variables) {
    std::optional<MegatronWord> word = arguments.number(flag) ? arguments.value(flag) : std::nullopt;
    for (const char* name : variables) {
      if (!word) word = arguments.variable(name);
    }
    return word;
  };
  const auto hosts = first("nnodes", {"NNODES", "NUM_NODES", "SLURM_NNODES"});
  const auto gpus = first("nproc-per-node", {"GPUS_PER_NODE", "NPROC_PER_NODE", "N_GPUS_PER_NODE"});
  if (hosts) tree.set("cluster.nodes", *hosts);
  if (gpus) tree.set("cluster.node.gpus", *gpus);
  const auto world = first("world-size", {"WORLD_SIZE"});
  if (!world || arguments.has("data-parallel-size")) return;
  const std::int64_t model = or_one(arguments.number("tensor-model-parallel-size")) *
                             or_one(arguments.number("pipeline-model-parallel-size")) *
                             or_one(arguments.number("context-parallel-size"));
  const std::int64_t ranks = *parse_whole(world->text);
  if (ranks % model != 0) {
    return arguments.error(*world,
                           fmt::format("a world of {} ranks is not a multiple of tp x pp x cp = {}", ranks, model));
  }
  tree.set("parallel.dp", *world, std::to_string(ranks / model));
}

}  // namespace ringwright::configs
