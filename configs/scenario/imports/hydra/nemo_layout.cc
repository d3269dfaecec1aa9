// Sources: NeMo's megatron_gpt_model.py (setup_mcore_distributed_parallel, configure_optimizers), and Apex's
// contrib/optimizers/distributed_fused_adam.py for its defaults.
#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"
#include "configs/scenario/imports/hydra/nemo_rules.h"

namespace ringwright::configs {
namespace {

enum class Sharding { kNone, kApex, kMegatron };

struct KnownOptimizer {
  std::string_view name;
  std::string_view flag;
  Sharding sharding = Sharding::kNone;
};
constexpr std::array kNemoOptimizers{
    KnownOptimizer{"distributed_fused_adam", "adam", Sharding::kApex},
    KnownOptimizer{"mcore_distributed_optim", "adam", Sharding::kMegatron},
    KnownOptimizer{"megatron_fused_adam", "adam"},
    KnownOptimizer{"fused_adam", "adam"},
    KnownOptimizer{"adamw", "adam"},
    KnownOptimizer{"adam", "adam"},
    KnownOptimizer{"sgd", "sgd"},
};

Sharding set_name(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey sharded = run.key("optim", "use_distributed_optimizer");
  if (flags.is_on(sharded)) {
    flags.turn_on("use-distributed-optimizer", sharded);
    return Sharding::kMegatron;
  }
  const HydraKey name = run.key("optim", "name");
  if (!is_given(name)) return Sharding::kNone;
  const auto* known = std::ranges::find(kNemoOptimizers, value_of(name).word.text, &KnownOptimizer::name);
  if (known == kNemoOptimizers.end()) {
    flags.warn(name, "W136",
               fmt::format("{} {} is not modelled: the optimizer is Adam", name.path, value_of(name).word.text));
    return Sharding::kNone;
  }
  flags.give("optimizer", name, std::string(known->flag));
  if (known->sharding != Sharding::kNone) flags.turn_on("use-distributed-optimizer", name);
  return known->sharding;
}

// Of optim, or of ddp as in MLPerf's submissions.
void set_switch_of(RunSections& run, std::string_view flag, std::initializer_list<std::string_view> names) {
  for (const std::string_view section : {"optim", "ddp"}) {
    for (const std::string_view name : names) {
      const HydraKey key = run.key(section, name);
      if (run.flags().is_on(key)) run.flags().turn_on(flag, key);
    }
  }
}

// Buckets of Apex are measured in MiB of the type of gradients, those of Megatron-Core in parameters.
void set_bucket(RunSections& run, Sharding sharding) {
  FlagList& flags = run.flags();
  if (sharding == Sharding::kMegatron) return flags.give("ddp-bucket-size", run.key("optim", "ddp_bucket_size"));
  const HydraKey size = run.key("optim", "bucket_cap_mb");
  const auto mebibytes = flags.read_number(size);
  constexpr std::int64_t kMost = 1'000'000;
  if (!mebibytes || *mebibytes < 1 || *mebibytes > kMost) {
    if (mebibytes) flags.error(size, fmt::format("{} is {} and must be 1 to {}", size.path, *mebibytes, kMost));
    return;
  }
  const std::int64_t each = flags.has("grad-reduce-in-bf16") ? 2 : 4;
  flags.give("ddp-bucket-size", size, std::to_string(*mebibytes * 1'048'576 / each));
}

// Without a distributed optimizer: main gradients are reduced while the last backward pass runs, where no pipeline, no
// sequence parallelism and no fused accumulation holds them back.
void set_plain_reduction(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey pipeline = run.key("model", "pipeline_model_parallel_size");
  const HydraKey main = run.key("model", "megatron_amp_O2");
  const HydraKey held = run.key("model", "async_grad_allreduce");
  const bool held_back = flags.read_number(pipeline).value_or(1) > 1 || flags.read_switch(held) == false ||
                         flags.is_on(run.key("model", "sequence_parallel")) ||
                         flags.is_on(run.key("model", "gradient_accumulation_fusion"));
  if (flags.is_on(main) && !held_back) flags.turn_on("overlap-grad-reduce", main);
}

}  // namespace

void apply_nemo_optimizer(RunSections& run) {
  FlagList& flags = run.flags();
  const Sharding sharding = set_name(run);
  const HydraKey type = run.key("optim", "grad_sync_dtype");
  const std::string word = value_of(type).word.text;
  if (word == "bf16" && flags.has("bf16")) flags.turn_on("grad-reduce-in-bf16", type);
  if (sharding == Sharding::kNone) return set_plain_reduction(run);
  set_switch_of(run, "overlap-grad-reduce", {"overlap_grad_sync", "overlap_grad_reduce"});
  set_switch_of(run, "overlap-param-gather", {"overlap_param_sync", "overlap_param_gather"});
  // On by default in Apex.
  if (sharding == Sharding::kApex && !is_given(run.key("optim", "overlap_grad_sync"))) {
    flags.turn_on("overlap-grad-reduce", run.key("optim", "name"));
  }
  set_bucket(run, sharding);
}

void apply_nemo_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey chunks = run.key("model", "virtual_pipeline_model_parallel_size");
  const HydraKey messages = run.key("model", "overlap_p2p_comm");
  if (flags.read_number(chunks).value_or(1) > 1) {
    if (flags.is_on(messages)) {
      flags.turn_on("overlap-p2p-communication", messages);
    } else if (is_given(messages)) {
      flags.turn_on("no-overlap-p2p-communication", messages);
    } else if (run.is_whole()) {
      flags.assume("no-overlap-p2p-communication", "");
    }
  }
  const HydraKey overlap = run.key("model", "ub_tp_comm_overlap");
  if (!flags.is_on(overlap)) return;
  const HydraKey ranks = run.key("model", "tensor_model_parallel_size");
  const HydraKey sequences = run.key("model", "sequence_parallel");
  // An open or wrong value is an error of its own.
  const bool is_split = is_given(ranks) && flags.read_number(ranks).value_or(2) > 1;
  const bool has_sequences = is_given(sequences) && flags.read_switch(sequences).value_or(true);
  if (!is_split || !has_sequences) {
    return flags.warn(overlap, "W131",
                      fmt::format("{} has no effect: {}", overlap.path,
                                  is_split ? "model.sequence_parallel is false" : ranks.path + " is 1"));
  }
  flags.turn_on("tp-comm-overlap", overlap);
  apply_core_tensor_overlap(run, run.key("model", "ub_tp_comm_overlap_cfg"));
  for (const std::string_view name : {"tp_comm_disable_qkv", "tp_comm_disable_fc1"}) {
    const HydraKey key = run.key("model", name);
    if (!flags.is_on(key)) continue;
    flags.warn(key, "W136",
               fmt::format("{} is not modelled: all GEMMs of a layer overlap with their exchange", key.path));
  }
}

// A list names the GPUs of a host, "auto" and -1 are all that it has.
void apply_nemo_machine(RunSections& run) {
  FlagList& flags = run.flags();
  flags.give("nnodes", run.key("trainer", "num_nodes"));
  const HydraKey gpus = run.key("trainer", "devices");
  const HydraValue value = value_of(gpus);
  if (value.kind == HydraKind::kList) return flags.give("nproc-per-node", gpus, std::to_string(value.items.size()));
  if (value.word.text != "auto" && value.word.text != "-1") flags.give("nproc-per-node", gpus);
}

}  // namespace ringwright::configs
