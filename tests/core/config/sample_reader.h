// A small configuration with every kind of key, read as a module would read it: for tests and the fuzz target.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/config/config_document.h"
#include "core/config/config_map.h"

namespace ringwright::sample {

struct Sample {
  std::string name;
  std::int64_t tp = 0;
  std::optional<std::int64_t> dp;
  std::string schedule;
  bool overlap = false;
  Bytes bucket;
  std::vector<std::int64_t> stage_layers;
  std::int64_t nodes = 0;
  std::int64_t gpus = 0;
  Bandwidth peer_bandwidth;
  std::string gpu_name;
  FlopRate peak;
  Bandwidth speed;
  double oversubscription = 0.0;
  Duration hop;
  double max_error = 0.0;
  double efficiency = 0.0;
  std::vector<std::string> tags;
  std::vector<Duration> fault_times;
};

inline constexpr std::array kSchedules = {Option{"gpipe", "all forward, then all backward"},
                                          Option{"1f1b", "one forward, one backward"},
                                          Option{"interleaved-1f1b", "several virtual stages on each rank"}};
inline constexpr std::array kFabrics = {Option{"fat_tree", "tiers of switches"},
                                        Option{"rail_optimized", "one leaf switch per rail"}};

inline void read_cluster(ConfigMap cluster, Sample& sample) {
  sample.nodes = cluster.integer({.name = "nodes", .doc = "machines in the cluster", .min = 1, .max = 131072});
  ConfigMap node = cluster.map("node", "one machine");
  sample.gpus = node.integer({.name = "gpus", .doc = "GPUs in one machine", .min = 1});
  sample.peer_bandwidth = node.bandwidth({.name = "nvlink", .doc = "of one GPU, one direction"});
  ConfigMap gpu = node.map("gpu", "the GPU");
  sample.gpu_name = gpu.text({.name = "name", .doc = "as the vendor names it"});
  sample.peak = gpu.flop_rate({.name = "peak", .doc = "dense BF16 rate"});
  ConfigMap fabric = cluster.map("fabric", "the network between machines");
  const std::string type = fabric.choice({.name = "type", .doc = "its shape", .fallback = "fat_tree"}, kFabrics);
  if (type == "rail_optimized" || fabric.documenting()) {
    static_cast<void>(fabric.integer({.name = "rails", .doc = "NICs of a node", .fallback = 8, .min = 1}));
  }
  ConfigMap leaf = fabric.map("leaf", "the switches next to the machines");
  sample.speed = leaf.bandwidth({.name = "speed", .doc = "of one port", .fallback = Bandwidth(50e9)});
  sample.oversubscription = leaf.ratio({.name = "oversubscription", .doc = "down to up", .fallback = 1.0});
  sample.hop = fabric.duration(
      {.name = "hop", .doc = "latency of a switch", .fallback = Duration(350'000), .max = Duration(1'000'000'000)});
}

inline Sample read(ConfigMap root) {
  Sample sample;
  static_cast<void>(root.integer({.name = "version", .doc = "of this format", .fallback = 1, .min = 1, .max = 1}));
  sample.name = root.text({.name = "name", .doc = "of the scenario", .fallback = "unnamed"});
  sample.tags = root.texts({.name = "tags", .doc = "words to find it by"});
  ConfigMap parallel = root.map("parallel", "how the model is split");
  sample.tp = parallel.integer({.name = "tp", .doc = "tensor-model-parallel size", .fallback = 1, .min = 1});
  sample.dp = parallel.integer_or({.name = "dp", .doc = "data-parallel size", .min = 1}, "auto");
  sample.schedule =
      parallel.choice({.name = "schedule", .doc = "order of microbatches", .fallback = "1f1b"}, kSchedules);
  sample.overlap = parallel.boolean({.name = "overlap", .doc = "reduce while computing", .fallback = true});
  sample.bucket = parallel.bytes(
      {.name = "bucket", .doc = "gradients reduced at once", .fallback = Bytes(40 << 20), .min = Bytes(1)});
  sample.stage_layers = parallel.integers({.name = "stage_layers", .doc = "layers of each stage", .min = 0});
  read_cluster(root.map("cluster", "the machines"), sample);
  ConfigMap compute = root.map("compute", "how kernels are timed");
  sample.efficiency =
      compute.number({.name = "efficiency", .doc = "share of the peak", .fallback = 0.7, .min = 0.0, .max = 1.0});
  sample.max_error = compute.percent({.name = "max_error", .doc = "accepted", .fallback = 0.1});
  for (ConfigMap fault : root.maps("faults", "what breaks, and when")) {
    sample.fault_times.push_back(fault.duration({.name = "at", .doc = "simulated time"}));
  }
  ConfigMap environment = root.map("environment", "variables, as NCCL reads them");
  for (const std::string& variable : environment.keys()) {
    static_cast<void>(environment.text({.name = variable, .doc = "a variable"}));
  }
  return sample;
}

}  // namespace ringwright::sample
