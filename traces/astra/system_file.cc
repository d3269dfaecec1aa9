#include "traces/astra/system_file.h"

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

constexpr std::array<std::string_view, 27> kSystemKeys = {
    "scheduling-policy",
    "collective-optimization",
    "endpoint-delay",
    "preferred-dataset-splits",
    "active-chunks-per-dimension",
    "local-mem-bw",
    "peak-perf",
    "roofline-enabled",
    "replay-only",
    "model-shared-bus",
    "L",
    "o",
    "g",
    "G",
    "local-reduction-delay",
    "trace-enabled",
    "track-local-mem",
    "local-mem-trace-filename",
    "per-node-custom-implementation",
    "all-reduce-implementation",
    "all-gather-implementation",
    "reduce-scatter-implementation",
    "all-to-all-implementation",
    "all-reduce-implementation-custom",
    "all-gather-implementation-custom",
    "reduce-scatter-implementation-custom",
    "all-to-all-implementation-custom",
};

constexpr std::int64_t kMost = 1'000'000'000;

constexpr std::array kPolicies = {Option{"LIFO", "chunks of later collectives go first"},
                                  Option{"FIFO", "chunks of earlier collectives go first"},
                                  Option{"EXPLICIT", "chunks of a higher comm_priority go first"}};
constexpr std::array kOptimizations = {
    Option{"baseline", "an all-reduce in each dimension"},
    Option{"localBWAware", "reduce-scatters up to the last dimension, all-gathers in the opposite order"}};

double positive_number(ConfigMap& root, std::string_view name, std::string_view doc, double fallback) {
  const double value = root.number({.name = name, .doc = doc, .fallback = fallback});
  if (value > 0.0 && value < 1e18) return value;
  root.error(name, "E270", fmt::format("{} is {} and must be above 0", name, value));
  return fallback;
}

bool read_on_off(ConfigMap& root, std::string_view name, std::string_view doc) {
  return read_plain_switch(root, {.name = name, .doc = doc}, kAstraSim).value_or(false);
}

void read_rates(ConfigMap& root, AstraSystem& system) {
  system.local_bytes_per_ns = positive_number(root, "local-mem-bw", "GB/s of 1e9 bytes", 50.0);
  if (!root.has("local-mem-bw")) {
    root.warn("", "W281", "local-mem-bw is not given: 50 GB/s are used, as in ASTRA-sim");
  }
  if (root.has("peak-perf")) system.peak_flops = positive_number(root, "peak-perf", "TFLOPS", 1.0) * 1e12;
  system.roofline = read_on_off(root, "roofline-enabled", "computations take the time of a roofline");
  if (system.roofline && !system.peak_flops) {
    root.error("roofline-enabled", "E270", "roofline-enabled needs peak-perf", "\"peak-perf\": 900   # TFLOPS");
  }
}

void read_bus(ConfigMap& root, AstraSystem& system) {
  const bool on = read_on_off(root, "model-shared-bus", "LogGP bus between accelerator and memory");
  const auto value = [&](std::string_view name, std::string_view doc) {
    return root.number({.name = name, .doc = doc, .fallback = 0.0, .min = 0.0, .max = 1e15});
  };
  const AstraSharedBus bus{.latency = value("L", "latency of the bus, ns"),
                           .overhead = value("o", "overhead of a transfer on the bus, ns"),
                           .gap_per_byte = value("G", "gap between bytes on the bus, ns")};
  system.reduction_delay =
      root.integer({.name = "local-reduction-delay", .doc = "ns per 100 bytes", .fallback = 1, .min = 0, .max = kMost});
  if (on) system.shared_bus = bus;
  if (root.has("g")) root.ignore("g", "transfers on the bus that follow each other closely are not simulated");
}

void read_implementations(ConfigMap& root, AstraSystem& system) {
  for (std::size_t i = 0; i < kAstraCollectiveNames.size(); ++i) {
    const std::string name = fmt::format("{}-implementation", kAstraCollectiveNames[i]);
    if (root.has(name)) system.implementations[i] = root.texts({.name = name, .doc = "an algorithm per dimension"});
    const std::string custom = name + "-custom";
    if (!root.has(custom)) continue;
    const std::vector<std::string> prefixes = root.texts({.name = custom, .doc = "prefix of a graph per position"});
    if (prefixes.size() != 1) {
      root.error(custom, "E270", fmt::format("{} has {} entries and needs one prefix", custom, prefixes.size()));
      continue;
    }
    system.custom[i] = prefixes.front();
  }
}

void note_without_effect(ConfigMap& root) {
  for (const std::string_view name : {"trace-enabled", "track-local-mem", "local-mem-trace-filename"}) {
    if (!root.has(name)) continue;
    if (root.text({.name = name, .doc = "what ASTRA-sim writes"}) == "0") continue;
    root.warn(name, "W272", fmt::format("{} changes only what ASTRA-sim writes: it has no effect here", name));
  }
  if (root.has("per-node-custom-implementation")) {
    root.warn("per-node-custom-implementation", "W271",
              "per-node-custom-implementation is not supported: nodes use the algorithm of their collective");
    root.ignore("per-node-custom-implementation", "not supported");
  }
}

}  // namespace

AstraSystem read_astra_system(ConfigMap& root) {
  AstraSystem system;
  warn_of_unread_keys(root, kSystemKeys, kAstraSim);
  system.scheduling_policy =
      root.choice({.name = "scheduling-policy", .doc = "whose chunks go first", .fallback = "LIFO"}, kPolicies);
  system.local_bandwidth_aware =
      root.choice(
          {.name = "collective-optimization", .doc = "of all-reduces over several dimensions", .fallback = "baseline"},
          kOptimizations) == "localBWAware";
  system.endpoint_delay =
      root.integer({.name = "endpoint-delay", .doc = "of each packet, ns", .fallback = 10, .min = 0, .max = kMost});
  system.splits = root.integer(
      {.name = "preferred-dataset-splits", .doc = "chunks of a collective", .fallback = 1, .min = 1, .max = kMost});
  system.active_chunks = root.integer({.name = "active-chunks-per-dimension",
                                       .doc = "chunks that run at a time",
                                       .fallback = 1,
                                       .min = 1,
                                       .max = kMost});
  read_rates(root, system);
  system.replay_only = read_on_off(root, "replay-only", "every node takes its recorded duration");
  read_bus(root, system);
  read_implementations(root, system);
  note_without_effect(root);
  return system;
}

Result<ForeignReading<AstraSystem>> read_astra_system(const std::string& path) {
  return read_foreign_file<AstraSystem>(path, [](ConfigMap& root) { return read_astra_system(root); });
}

}  // namespace ringwright::traces
