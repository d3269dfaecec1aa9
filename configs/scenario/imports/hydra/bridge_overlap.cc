// Source: Megatron-Bridge's training/comm_overlap.py. A section comm_overlap decides what overlaps: its own keys first,
// then defaults that depend on the layout; without it the keys of model and ddp count.
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/hydra/core_rules.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kOverlap = "comm_overlap";
constexpr std::string_view kBucket = "134217728";  // parameters: 128 x 1024 x 1024

// Of comm_overlap where it is not null, else the section's own.
HydraKey decisive(RunSections& run, std::string_view section, std::string_view name) {
  const HydraKey own = run.key(kOverlap, name);
  return is_given(own) ? own : run.key(section, name);
}

void set_tensor_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey overlap = run.key(run.has(kOverlap) ? kOverlap : "model", "tp_comm_overlap");
  if (!flags.is_on(overlap)) return;
  const bool split = flags.read_number(run.key("model", "tensor_model_parallel_size")).value_or(2) > 1;
  const HydraKey sequence = run.key("model", "sequence_parallel");
  // An open or wrong value is an error of its own.
  const bool sequences =
      is_given(sequence) ? flags.read_switch(sequence).value_or(true) : sequence.node == nullptr && !run.is_whole();
  if (!split || !sequences) {
    return flags.warn(overlap, "W131",
                      fmt::format("{} has no effect: model.{}", overlap.path,
                                  split ? "sequence_parallel is false" : "tensor_model_parallel_size is 1"));
  }
  flags.turn_on("tp-comm-overlap", overlap);
  apply_core_tensor_overlap(run, decisive(run, "model", "tp_comm_overlap_cfg"));
}

// Only chunks of interleaved stages are sent while others are computed.
void set_stage_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  const HydraKey chunks = run.key("model", "virtual_pipeline_model_parallel_size");
  if (flags.read_number(chunks).value_or(1) <= 1) return;
  const HydraKey own = run.key(kOverlap, "overlap_p2p_comm");
  if (run.has(kOverlap) && !is_given(own)) return;  // on, as it is for Megatron-LM's interleaved schedule
  const HydraKey overlap = is_given(own) ? own : run.key("model", "overlap_p2p_comm");
  if (flags.is_on(overlap)) {
    flags.turn_on("overlap-p2p-communication", overlap);
  } else if (overlap.node != nullptr) {
    flags.turn_on("no-overlap-p2p-communication", overlap);
  } else if (run.is_whole()) {
    flags.assume("no-overlap-p2p-communication", "");
  }
}

void set_data_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  const bool by_section = run.has(kOverlap) && flags.has("use-distributed-optimizer");
  for (const std::string_view name : {"overlap_grad_reduce", "overlap_param_gather"}) {
    const HydraKey own = run.key(kOverlap, name);
    const HydraKey key = by_section && is_given(own) ? own : run.key("ddp", name);
    if (by_section && !is_given(own)) {
      flags.turn_on(flag_of({.name = name}), run.section(kOverlap));
    } else if (flags.is_on(key)) {
      flags.turn_on(flag_of({.name = name}), key);
    }
  }
  const HydraKey bucket = by_section ? run.key(kOverlap, "bucket_size") : run.key("ddp", "bucket_size");
  if (is_given(bucket)) return flags.give("ddp-bucket-size", bucket);
  if (by_section) flags.give("ddp-bucket-size", run.section(kOverlap), std::string(kBucket));
}

}  // namespace

void apply_core_tensor_overlap(RunSections& run, const HydraKey& methods) {
  FlagList& flags = run.flags();
  for (const std::string_view name : {"tp_comm_overlap_ag", "tp_comm_overlap_rs"}) {
    if (flags.read_switch(run.key("model", name)) == false) {
      flags.turn_on("disable-" + flag_of({.name = name}), run.key("model", name));
    }
  }
  const HydraKey scatter = run.key("model", "tp_comm_overlap_rs_dgrad");
  if (flags.is_on(scatter)) flags.turn_on("tp-comm-overlap-rs-dgrad", scatter);
  if (!is_given(methods)) return;
  if (methods.node->kind == ConfigKind::kScalar) return flags.give("tp-comm-overlap-cfg", methods);
  flags.warn(methods, "W136",
             fmt::format("{} is not modelled: methods and chunks are Transformer Engine's defaults", methods.path),
             "write them to a file, and name it in parallel.tp_comm_overlap_cfg");
}

void apply_core_expert_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  for (const std::string_view name : {"overlap_moe_expert_parallel_comm", "delay_wgrad_compute"}) {
    const HydraKey key = decisive(run, "model", name);
    if (flags.is_on(key)) flags.turn_on(flag_of({.name = name}), key);
  }
}

void apply_overlap(RunSections& run) {
  FlagList& flags = run.flags();
  set_tensor_overlap(run);
  set_stage_overlap(run);
  set_data_overlap(run);
  apply_core_expert_overlap(run);
  const HydraKey deferred = decisive(run, "model", "defer_embedding_wgrad_compute");
  if (flags.is_on(deferred)) flags.turn_on("defer-embedding-wgrad-compute", deferred);
}

}  // namespace ringwright::configs
