// Reading of the offload settings.
#include "workload/options/offload_options.h"

#include <array>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr std::array kTiers{Option{"none", "on the GPU"}, Option{"cpu", "in host memory, over PCIe or NVLink-C2C"},
                            Option{"nvme", "on the host's drives, through host memory (cluster.node.storage)"}};

Tier read_tier(ConfigMap& map) {
  const std::string device = map.choice({.name = "device", .doc = "where it is stored", .fallback = "none"}, kTiers);
  return device == "cpu" ? Tier::kCpu : device == "nvme" ? Tier::kNvme : Tier::kGpu;
}

void offload_without_effect(ConfigMap& map, std::string_view key, std::string_view why) {
  map.warn(key, "W131", fmt::format("{} has no effect: {}", map.path_of(key), why));
}

// Keys of buffers: pinned memory is assumed, and buffers only bound the bytes in flight.
void read_buffers(ConfigMap& map) {
  const bool pinned = map.boolean({.name = "pin_memory", .doc = "host buffers are page-locked", .fallback = true});
  if (!pinned)
    offload_without_effect(map, "pin_memory", "transfers are simulated with page-locked buffers, at full speed");
  static_cast<void>(
      map.integer({.name = "buffer_count", .doc = "host buffers", .fallback = 5, .min = 1, .max = 1'000'000}));
  static_cast<void>(map.integer(
      {.name = "buffer_size", .doc = "elements per buffer", .fallback = 100'000'000, .min = 1, .max = kMostElements}));
  static_cast<void>(map.text({.name = "nvme_path", .doc = "where the drives are mounted", .fallback = std::string()}));
  for (const std::string_view key : {"buffer_count", "buffer_size"}) {
    if (map.has(key)) offload_without_effect(map, key, "transfers have the size of the needed data");
  }
}

void read_optimizer(ConfigMap& zero, ConfigMap map, OffloadOptions& offload) {
  offload.optimizer = read_tier(map);
  read_buffers(map);
  offload.ratio = map.number({.name = "ratio",
                              .doc = "share of the optimizer state that is offloaded (ZeRO-Offload++)",
                              .fallback = 1.0,
                              .min = 0.0,
                              .max = 1.0});
  const bool reads = map.boolean(
      {.name = "pipeline_read", .doc = "the next sub-group is read while one is updated", .fallback = false});
  const bool writes = map.boolean(
      {.name = "pipeline_write", .doc = "a sub-group is written while the next is updated", .fallback = false});
  static_cast<void>(map.boolean({.name = "fast_init", .doc = "for states on NVMe", .fallback = false}));
  offload.pipelined = offload.optimizer != Tier::kNvme || (reads && writes);
  offload.sub_group = zero.integer({.name = "sub_group_size",
                                    .doc = "parameters that are read, updated and written together",
                                    .fallback = 1'000'000'000,
                                    .min = 1,
                                    .max = kMostElements});
  offload.delayed_update =
      zero.boolean({.name = "delayed_param_update",
                    .doc = "the CPU's update overlaps the next step, on gradients one step old (ZeRO-Offload)",
                    .fallback = false});
  if (offload.delayed_update && offload.optimizer == Tier::kGpu) {
    offload_without_effect(zero, "delayed_param_update", "the optimizer is on the GPU");
    offload.delayed_update = false;
  }
}

constexpr std::array kGradientCopies{
    Option{"blocking", "DeepSpeed's stage 3 since January 2022: 2 bytes per parameter to the host and back for their "
                       "norm, and after the last microbatch 4 bytes that the host waits for"},
    Option{"overlapped", "2 bytes per parameter, while the backward pass goes on"}};

// Read after the stage and the gathers of the sharding, which tell what DeepSpeed's version does.
void read_gradient_copies(ConfigMap map, const ParallelOptions& options, OffloadOptions& offload) {
  const bool stage3_on_cpu = options.zero_stage == 3 && offload.optimizer == Tier::kCpu && offload.passes_apart;
  const bool old = options.sharding.gather_calls == GatherCalls::kLists;
  const std::string copies =
      map.choice({.name = "gradient_copies",
                  .doc = "stage 3: how gradients reach host memory; with gather_calls: lists, overlapped",
                  .fallback = stage3_on_cpu && !old ? "blocking" : "overlapped"},
                 kGradientCopies);
  offload.blocking_gradients = copies == "blocking" && stage3_on_cpu;
  if (copies == "blocking" && !stage3_on_cpu) {
    offload_without_effect(map, "gradient_copies", "only stage 3 of DeepSpeed with the optimizer in host memory waits");
  }
}

void read_efficiency(ConfigMap& zero, OffloadOptions& offload) {
  // ZeRO-Offload (arXiv 2101.06840) gives about a quarter of a second for Adam alone, of a billion parameters on two
  // sockets with 256 GB/s together: 28 bytes each at 110 GB/s. The passes in addition to Adam stream through memory
  // like Adam.
  constexpr std::string_view kWhy = "ZeRO-Offload's CPU Adam on two Xeon 8168, about 0.25 s for 1e9 parameters";
  if (offload.optimizer != Tier::kGpu && !zero.has("cpu_adam_efficiency")) {
    zero.assume("cpu_adam_efficiency", "45%", kWhy);
  }
  offload.adam_efficiency =
      zero.percent({.name = "cpu_adam_efficiency",
                    .doc = "share of host memory bandwidth that the CPU's update reaches: with Adam it reads and "
                           "writes 42 bytes per parameter (zero.offload_optimizer: 28 of Adam, 8 to unscale and clip "
                           "gradients, 6 to cast weights) or 28 (fsdp.cpu_offload)",
                    .fallback = 0.45,
                    .min = 0.01,
                    .max = 1.0});
}

}  // namespace

void read_offload(ConfigMap& parallel, ParallelOptions& options) {
  OffloadOptions& offload = options.offload;
  ConfigMap zero = parallel.map("zero", "sharding of a model's state over data-parallel ranks, with DeepSpeed's keys");
  const ConfigMap optimizer = zero.map("offload_optimizer", "optimizer state, gradients and update outside the GPU");
  read_optimizer(zero, optimizer, offload);
  ConfigMap param = zero.map("offload_param", "sharded parameters outside the GPU");
  offload.parameters = read_tier(param);
  read_buffers(param);
  static_cast<void>(param.integer({.name = "max_in_cpu",
                                   .doc = "elements stored in host memory with nvme",
                                   .fallback = 1'000'000'000,
                                   .min = 0,
                                   .max = kMostElements}));
  if (param.has("max_in_cpu"))
    offload_without_effect(param, "max_in_cpu", "with nvme all parameters are on the drives");
  if (offload.parameters != Tier::kGpu && options.zero_stage != 3) {
    param.error("device", "E140", fmt::format("{} needs sharded parameters", param.path_of("device")),
                "set zero.stage: 3");
    offload.parameters = Tier::kGpu;
  }
  if (parallel.has("fsdp") || parallel.documenting()) {
    ConfigMap fsdp = parallel.map("fsdp", "PyTorch's fully sharded data parallelism");
    const bool cpu = fsdp.boolean(
        {.name = "cpu_offload", .doc = "shards, their gradients and the update are in host memory", .fallback = false});
    if (cpu) {
      offload.optimizer = offload.parameters = Tier::kCpu;
      offload.passes_apart = false;
      offload.fp32_shards = true;
    }
  }
  // A single rank has all parameters as its shard: they are fetched from the host and not gathered.
  if (offload.parameters != Tier::kGpu && options.zero_stage == 3) options.sharding.parameters = true;
  if (!options.sharding.parameters) options.sharding = {};
  read_gradient_copies(optimizer, options, offload);
  if (offload.optimizer != Tier::kGpu && options.zero_stage == 0 && options.replicas() > 1) {
    zero.error("offload_optimizer", "E140",
               fmt::format("{} needs a sharded optimizer state", zero.path_of("offload_optimizer")),
               "set zero.stage: 1, 2 or 3");
  }
  if (options.replicas() == 1 && offload.optimizer == Tier::kGpu) {
    options.gradient_reduction = GradientReduction::kLastMicrobatch;
  }
  read_efficiency(zero, offload);
  offload.activation_layers = static_cast<int>(
      parallel.integer({.name = "cpu_offloading_num_layers",
                        .doc = "layers of each model chunk whose activations are offloaded to host memory until the "
                               "backward pass",
                        .fallback = 0,
                        .min = 0,
                        .max = 10'000}));
}

}  // namespace ringwright::workload
