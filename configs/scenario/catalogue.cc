#include "configs/scenario/catalogue.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "collectives/builtin.h"
#include "collectives/builtin_channels.h"
#include "network_models/builtin.h"
#include "workload/builtin.h"

namespace ringwright::configs {
namespace {

std::optional<std::filesystem::path> shipped_file(const LoadOptions& options, std::string_view folder,
                                                  std::string_view name) {
  for (const std::string& share : options.share_folders) {
    const auto path = std::filesystem::path(share) / folder / (std::string(name) + ".yaml");
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path;
  }
  return std::nullopt;
}

// The first sentence of a shipped file's opening comment, up to the end of its first line.
std::string opening_line(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
    if (line.starts_with("# yaml-language-server")) continue;
    line.erase(0, line.find_first_not_of("# "));
    const std::size_t sentence_end = line.find(". ");
    return sentence_end == std::string::npos ? line : line.substr(0, sentence_end);
  }
  return "";
}

std::vector<CatalogueEntry> shipped(const LoadOptions& options, std::string_view folder) {
  std::vector<CatalogueEntry> entries;
  for (const std::string& name : preset_names(options, folder)) {
    const auto path = shipped_file(options, folder, name);
    entries.push_back({.name = name, .summary = path ? opening_line(*path) : ""});
  }
  return entries;
}

// RCCL has one table, which `cluster` chooses, and no version that a scenario could name.
std::vector<CatalogueEntry> nccl_versions(const LoadOptions& options) {
  std::vector<CatalogueEntry> entries = shipped(options, "nccl");
  std::erase_if(entries, [](const CatalogueEntry& entry) { return entry.name == "rccl"; });
  // 2.8 before 2.14.
  std::ranges::stable_sort(entries, {}, [](const CatalogueEntry& entry) { return entry.name.size(); });
  return entries;
}

template <class Rows>
std::vector<CatalogueEntry> built_in(const Rows& rows) {
  std::vector<CatalogueEntry> entries;
  for (const auto& row : rows) entries.push_back({.name = std::string(row.name), .summary = std::string(row.help)});
  return entries;
}

std::vector<CatalogueEntry> channel_algorithms() {
  std::vector<CatalogueEntry> entries;
  for (const ChannelAlgorithm* algorithm : collectives::channel_algorithms()) {
    entries.push_back({.name = std::string(algorithm->name()), .summary = std::string(algorithm->help())});
  }
  return entries;
}

std::vector<CatalogueEntry> collective_algorithms() {
  std::vector<CatalogueEntry> entries;
  for (const CollectiveAlgorithm* algorithm : collectives::algorithms()) {
    entries.push_back({.name = std::string(algorithm->name()), .summary = std::string(algorithm->help())});
  }
  return entries;
}

}  // namespace

std::vector<CatalogueSection> catalogue(const LoadOptions& options) {
  return {{.kind = "scenarios", .where = "ringwright run NAME", .entries = shipped(options, "scenarios")},
          {.kind = "operation", .where = "ringwright goodput NAME", .entries = shipped(options, "operation")},
          {.kind = "clusters", .where = "ringwright cluster NAME", .entries = shipped(options, "clusters")},
          {.kind = "machines", .where = "cluster.preset", .entries = shipped(options, "machines")},
          {.kind = "models", .where = "model.preset", .entries = shipped(options, "models")},
          {.kind = "recommenders", .where = "recommendation.preset", .entries = shipped(options, "recommenders")},
          {.kind = "layer_tables", .where = "layer_table.preset", .entries = shipped(options, "layer_tables")},
          {.kind = "gpus", .where = "cluster.node.gpu.preset", .entries = shipped(options, "gpus")},
          {.kind = "kernels", .where = "cluster.node.gpu.kernels.preset", .entries = shipped(options, "kernels")},
          {.kind = "nodes", .where = "cluster.node.preset", .entries = shipped(options, "nodes")},
          {.kind = "prices", .where = "cost.preset", .entries = shipped(options, "prices")},
          {.kind = "profiles", .where = "preset", .entries = shipped(options, "profiles")},
          {.kind = "fabrics", .where = "cluster.fabric.type", .entries = built_in(network_models::topologies())},
          {.kind = "networks", .where = "simulate.network", .entries = built_in(network_models::models())},
          {.kind = "collectives", .where = "collectives.<dimension>.algorithm", .entries = collective_algorithms()},
          {.kind = "channels", .where = "comm.plan.algorithm", .entries = channel_algorithms()},
          {.kind = "nccl", .where = "comm.nccl_version", .entries = nccl_versions(options)},
          {.kind = "schedules", .where = "parallel.schedule", .entries = built_in(workload::schedules())},
          {.kind = "compute", .where = "compute.model", .entries = built_in(workload::compute_models())}};
}

std::string shipped_path(const LoadOptions& options, std::string_view folder, std::string_view name) {
  const auto path = shipped_file(options, folder, name);
  return path ? path->string() : "";
}

std::string scenario_path(const LoadOptions& options, std::string_view name) {
  return shipped_path(options, "scenarios", name);
}

}  // namespace ringwright::configs
