#include "tools/misfit.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::tools {
namespace {

// The setting that reduces an item of the memory table. One that is a stage of ZeRO is no remedy from that stage on.
struct Remedy {
  std::string_view item;
  std::string_view setting;
  int zero_stage = 4;
};
constexpr std::array kRemedies = {
    Remedy{"layer activations", "training.recompute: full, a smaller micro_batch, or more tp with sequence_parallel"},
    Remedy{"optimizer", "parallel.zero.stage: 1 or more, or offload_optimizer", 1},
    Remedy{"optimizer", "parallel.zero.offload_optimizer"},
    Remedy{"gradients", "parallel.zero.stage: 2 or more", 2},
    Remedy{"gradient accumulators", "parallel.zero.stage: 3 or parallel.fsdp", 3},
    Remedy{"weights", "more tp or pp (ep for experts), or parallel.fsdp", 3},
    Remedy{"weights", "more tp or pp (ep for experts)"},
    Remedy{"tables", "more GPUs, another recommendation.sharding, or recommendation.cache"},
    Remedy{"dense weights", "recommendation.sharding: auto, where tables are copied"},
    Remedy{"logits", "more tp, or training.cross_entropy: chunked"},
    Remedy{"gathered parameters",
           "a smaller stage3_max_live_parameters and stage3_max_reuse_distance, or parallel.zero.tiled_linear"},
    Remedy{"unreduced gradients", "a smaller reduce_bucket_size"},
    Remedy{"recomputed layer", "a smaller micro_batch"},
    Remedy{"activation gradients", "a smaller micro_batch"}};

int zero_stage(const std::vector<ConfigValue>& config) {
  const auto stage = std::ranges::find(config, "parallel.zero.stage", &ConfigValue::path);
  return stage != config.end() && stage->text.size() == 1 ? stage->text.front() - '0' : 0;
}

std::string_view remedy(std::string_view item, int stage) {
  const auto* found = std::ranges::find_if(kRemedies, [&](const Remedy& remedy) {
    return remedy.item == item && stage < remedy.zero_stage;
  });
  return found == kRemedies.end() ? std::string_view() : found->setting;
}

// Of fragmented memory (memory.largest_block).
std::string misfit_of_blocks(const std::vector<MemoryRow>& memory) {
  for (const MemoryRow& row : memory) {
    if (row.fits_in_blocks()) continue;
    return fmt::format(
        "error: the largest weight of stage {} needs {}, the largest block of free memory has {}\n"
        "  remedies: parallel.zero.tiled_linear, or more tp\n",
        row.stage, to_string(row.largest_weight), to_string(row.largest_block));
  }
  return "";
}

std::string_view remedy_of_host(const HostRow& row) {
  if (row.what != "memory") return "  remedies: more hosts or drives (cluster.node.storage)\n";
  const bool has_tables =
      std::ranges::any_of(row.items, [](const MemoryItem& item) { return item.name.ends_with("tables"); });
  if (has_tables) return "  remedies: more hosts, or a narrower recommendation.embedding_precision\n";
  return "  remedies: more hosts, or device: nvme in parallel.zero.offload_optimizer and offload_param\n";
}

}  // namespace

std::string misfit(const Report& report) {
  const std::vector<MemoryRow>& memory = report.facts.memory;
  const auto too_large = std::ranges::count_if(memory, [](const MemoryRow& row) { return row.total > row.capacity; });
  if (too_large == 0) return misfit_of_blocks(memory);
  const MemoryRow& row = memory[*report.fullest_memory];
  std::string text =
      fmt::format("error: {} of {} stages need more memory than their GPUs have: stage {} needs {}, capacity {}",
                  too_large, memory.size(), row.stage, to_string(row.total), to_string(row.capacity));
  std::vector<MemoryItem> largest = row.items;
  std::ranges::stable_sort(largest, std::ranges::greater(), &MemoryItem::size);
  if (largest.size() > 3) largest.resize(3);
  std::vector<std::string> items;
  for (const MemoryItem& item : largest) items.push_back(fmt::format("{} {}", item.name, to_string(item.size)));
  text += "; most of it is " + join(items, ", ") + "\n";
  std::vector<std::string> remedies;
  const int stage = zero_stage(report.facts.config);
  for (const MemoryItem& item : largest) {
    const std::string setting(remedy(item.name, stage));
    if (!setting.empty() && std::ranges::find(remedies, setting) == remedies.end()) remedies.push_back(setting);
  }
  return remedies.empty() ? text : text + "  remedies: " + join(remedies, "; ") + "\n";
}

std::string misfit_of_hosts(const Report& report) {
  std::string text;
  for (const HostRow& row : report.facts.hosts) {
    if (row.fits()) continue;
    text +=
        fmt::format("error: the {} of a host cannot hold what its GPUs leave there: host {} needs {}, capacity {}\n",
                    row.what, row.host, to_string(row.total), to_string(row.capacity));
    text += remedy_of_host(row);
  }
  return text;
}

}  // namespace ringwright::tools
