// Reads the job of a scenario: its model, training options, layout and memory, or a recorded step, or a
// recommendation model, or a layer table.
#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/model_import.h"
#include "configs/scenario/layered_job.h"
#include "configs/scenario/listed_schedule.h"
#include "configs/scenario/mixed_balance.h"
#include "configs/scenario/mixed_compute.h"
#include "configs/scenario/recommendation_job.h"
#include "configs/scenario/recorded_job.h"
#include "configs/scenario/scenario_reader.h"
#include "configs/scenario/stage_plan_file.h"
#include "core/config/input_file.h"
#include "workload/layout/layout_checks.h"
#include "workload/model/model_config.h"
#include "workload/options/narrow_types.h"
#include "workload/parallel/step_streams.h"
#include "workload/step/partitioned_step.h"

namespace ringwright::configs {
namespace {

// `model.hf` names a config.json; its values are listed with the scenario's own.
workload::ModelShape read_model_shape(ConfigMap model, Diagnostics& foreign) {
  const bool named = model.has("hf");
  auto document = named_document(
      model, {.name = "hf", .doc = "a Hugging Face config.json to take the model from", .fallback = std::string()},
      foreign);
  if (!document && !named) return workload::read_model(model);
  if (!document) {
    model.ignore_rest("the model's file cannot be read");
    return workload::ModelShape();
  }
  ConfigMap config = document->root();
  workload::ModelShape shape = read_hf_model(config, model);
  for (const Assumption& assumed : document->log().assumptions()) {
    model.assume(assumed.path, assumed.value, assumed.why);
  }
  for (const Diagnostic& diagnostic : document->log().diagnostics().all()) foreign.add(diagnostic);
  model.note_values("hf", document->log());
  return shape;
}

// Offloading needs a host with memory or drives for it.
void check_offload(ConfigMap& parallel, const workload::OffloadOptions& offload, const Cluster& cluster) {
  if (!offload.any() || parallel.documenting()) return;
  ConfigMap zero = parallel.map("zero", "sharding of a model's state over data-parallel ranks, with DeepSpeed's keys");
  if (cluster.fabric == "graph") {
    parallel.error("", "E140", "offloading needs hosts as cluster.node describes them, not a fabric of type graph");
  }
  const bool drives = offload.optimizer == workload::Tier::kNvme || offload.parameters == workload::Tier::kNvme;
  if (drives && cluster.host.storage.drives == 0) {
    zero.error(offload.optimizer == workload::Tier::kNvme ? "offload_optimizer" : "offload_param", "E140",
               "device: nvme, but the hosts have no drives",
               "set cluster.node.storage: {drives: 4, read: 6.8GB/s, write: 4GB/s}");
  }
}

// Divisions that divide nothing in this layout.
void check_partition(ConfigMap& parallel, const Job& job, std::int64_t ranks_per_host) {
  const workload::Partition& partition = job.partition;
  if (!parallel.has("partition") || parallel.documenting()) return;
  ConfigMap map = parallel.map("partition", "collectives divided into smaller ones, one after another (Centauri)");
  const auto ignore = [&map](std::initializer_list<std::string_view> keys, std::string_view why) {
    for (const std::string_view key : keys) {
      if (map.has(key)) map.ignore(key, std::string(why));
    }
  };
  if (!partition.on()) {
    return ignore({"dimensions", "substitute", "hierarchical", "chunks"},
                  partition.dimensions.empty() ? "partition.dimensions names no group" : "nothing is to be divided");
  }
  std::vector<Dimension> chosen;
  for (Dimension& dimension : workload::make_streams(job.model, job.parallel).dimensions) {
    const auto named = std::ranges::find(partition.dimensions, dimension.name);
    if (named != partition.dimensions.end()) chosen.push_back(std::move(dimension));
  }
  if (chosen.empty()) {
    return ignore({"dimensions", "substitute", "hierarchical", "chunks"}, "this layout has no such groups");
  }
  const bool divides = std::ranges::any_of(chosen, [ranks_per_host](const Dimension& dimension) {
    return workload::divides_by_hosts(dimension, ranks_per_host);
  });
  if (divides) return;
  ignore({"hierarchical"}, "no such group has several ranks on each of several hosts");
  if (!partition.substitute && partition.chunks == 1) ignore({"dimensions"}, "nothing is to be divided");
}

int fewest_sms(const Cluster& cluster) {
  std::int64_t fewest = cluster.gpu.sms;
  for (const HostGroup& group : cluster.groups) fewest = std::min(fewest, group.gpu.sms);
  return static_cast<int>(std::max<std::int64_t>(fewest, 1));
}

workload::World world_of(ConfigMap root, const Cluster& cluster, const JobShare* share) {
  if (share != nullptr) {
    return {.ranks = share->gpus,
            .described = share->described,
            .host_ranks = share->gpus_per_host,
            .sms = fewest_sms(cluster)};
  }
  const ConfigMap map = root.map("cluster", "the machine: hosts, their components, and the fabric between them");
  const std::string_view key = cluster.groups.empty() ? "nodes" : "groups";
  return {.ranks = cluster.gpus(),
          .described = fmt::format("cluster.{} = {} x {} GPUs ({})", key, cluster.hosts, cluster.host.gpus,
                                   map.origin(key)),
          .host_ranks = cluster.host.gpus,
          .sms = fewest_sms(cluster)};
}

}  // namespace

Job read_job(ConfigMap root, const Cluster& cluster, Diagnostics& foreign, const JobShare* share,
             const KnownJob& known) {
  const workload::World world = world_of(root, cluster, share);
  const workload::LayeredLayout replicas{.ranks = world.ranks, .host_ranks = world.host_ranks};
  if (root.has("layer_table")) return read_layered_job(root, cluster, replicas);
  if (root.has("recommendation")) return read_recommendation_job(root, cluster, world.ranks);
  if (root.has("workload")) return read_recorded_job(root, cluster, world.ranks, foreign);
  if (root.documenting()) static_cast<void>(read_recorded_job(root, cluster, world.ranks, foreign));
  if (root.documenting()) static_cast<void>(read_recommendation_job(root, cluster, world.ranks));
  if (root.documenting()) static_cast<void>(read_layered_job(root, cluster, replicas));
  Job job;
  ConfigMap model = root.map("model", "the model; `preset` names a shipped one");
  ConfigMap training = root.map("training", "batch, precision and recomputation");
  ConfigMap parallel = root.map("parallel", "how the work is split over ranks");
  job.model = known.model != nullptr ? *known.model : read_model_shape(model, foreign);
  static_cast<void>(training.file({.name = "deepspeed",
                                   .doc = "a DeepSpeed configuration (ds_config.json) that sets batch, precision and "
                                          "sharding; relative to this file",
                                   .fallback = std::string()}));
  static_cast<void>(parallel.file({.name = "fsdp_config",
                                   .doc = "an accelerate configuration (YAML) that sets how FSDP shards; relative to "
                                          "this file",
                                   .fallback = std::string()}));
  static_cast<void>(parallel.file({.name = "tp_comm_overlap_cfg",
                                   .doc = "a file of Transformer Engine's user buffers (YAML, as for Megatron's "
                                          "--tp-comm-overlap-cfg) that sets how exchanges overlap; relative to this "
                                          "file",
                                   .fallback = std::string()}));
  const bool fsdp = parallel.has("fsdp") && !parallel.documenting();
  job.training = workload::read_training_options(
      training, fsdp ? workload::Framework::kPyTorch : workload::Framework::kMegatron);
  workload::check_precision(training, job.training, cluster.gpu);
  for (const HostGroup& group : cluster.groups) workload::check_precision(training, job.training, group.gpu);
  ScheduleFile schedule = read_schedule_file(parallel, foreign);
  StagePlanFile plan = open_stage_plan(parallel, foreign);
  job.parallel = workload::read_parallel_options(
      parallel, {.shape = job.model, .training = job.training, .model_map = model, .training_map = training,
                 .world = world, .listed = schedule.get(), .plan = plan.root(), .known = known.layouts});
  close_stage_plan(plan, parallel, foreign);
  const auto either = [&](const workload::GpuSpec& gpu) { return takes_either_layout(job.training.narrow, gpu); };
  job.training.one_layout = !job.parallel.sharding.parameters && either(cluster.gpu) &&
                            std::ranges::all_of(cluster.groups, either, &HostGroup::gpu);
  if (job.parallel.sharding.parameters) job.training.drops_transposes = false;  // they are cast where they are used
  // Already refused; the rest must not lay out as many ranks.
  if (!workload::can_be_laid_out(job.parallel, job.training))
    job.training.global_batch = job.training.micro_batch * job.parallel.dp;
  check_schedule_file(schedule, job.parallel, job.parallel.microbatches(job.training), foreign);
  check_offload(parallel, job.parallel.offload, cluster);
  job.partition = workload::read_partition(parallel);
  check_partition(parallel, job, cluster.host.gpus);
  job.compute = read_compute(root, cluster);
  if (known.memory != nullptr) {
    job.memory = *known.memory;
  } else {
    ConfigMap memory = root.map("memory", "GPU memory in use besides the tensors of the model");
    job.memory = workload::read_memory_assumptions(memory);
  }
  balance_work(parallel, cluster, job, known.layouts);
  return job;
}

}  // namespace ringwright::configs
