#include "configs/imports.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace ringwright::configs {
namespace {

std::string name_in(ConfigMap map, std::string_view key) {
  return map.text({.name = key, .doc = "a file", .fallback = std::string()});
}

void read_file(const std::string& path, Imports& imports, const std::function<void(ConfigMap)>& read) {
  auto document = ConfigDocument::load(path);
  if (!document) {
    for (const Diagnostic& diagnostic : document.error().all()) imports.diagnostics.add(diagnostic);
    return;
  }
  read(document->root());
  document->check_all_read();
  for (const Diagnostic& diagnostic : document->log().diagnostics().all()) imports.diagnostics.add(diagnostic);
  for (const IgnoredKey& ignored : document->log().ignored()) imports.ignored.push_back(ignored);
}

std::int64_t model_ranks(ConfigMap parallel) {
  std::int64_t ranks = 1;
  for (const std::string_view key : {"tp", "cp", "pp"}) {
    ranks *= parallel.integer({.name = key, .doc = "ranks", .fallback = 1, .min = 1, .max = 1'000'000});
  }
  return ranks;
}

// Paths of Megatron's scripts are often those of a container.
std::string named_by_flags(Imports& imports, const std::function<std::string(const std::string&)>& beside) {
  constexpr std::string_view kStart = "parallel.tp_comm_overlap_cfg=";
  const auto named = std::ranges::find_if(
      imports.values, [&](const ImportedValue& value) { return value.setting.starts_with(kStart); });
  if (named == imports.values.end()) return {};
  const std::string name = named->setting.substr(kStart.size());
  const std::string origin = named->origin;
  imports.values.erase(named);
  if (std::filesystem::is_regular_file(beside(name))) return name;
  imports.diagnostics.add({.severity = Severity::kWarning,
                           .code = "W136",
                           .place = {.file = origin},
                           .message = fmt::format("--tp-comm-overlap-cfg names '{}', which is not beside the scenario: "
                                                  "methods and chunks are Transformer Engine's defaults",
                                                  name)});
  return {};
}

}  // namespace

void Imports::set(std::string path, std::string value, std::string origin) {
  values.push_back({.setting = std::move(path) + "=" + std::move(value), .origin = std::move(origin)});
}

void Imports::know(std::string_view name, std::string_view path) {
  names.push_back({.theirs = std::string(name), .ours = std::string(path)});
}

void Imports::take(ConfigMap& map, std::string_view name, std::string_view path) {
  know(name, path);
  // Asked for even where it is not given, so that a misspelt key finds its neighbour.
  const std::string value = map.text({.name = name, .doc = "of the named file", .fallback = std::string("auto")});
  if (value != "auto") set(std::string(path), value, map.origin(name));
}

Imports read_imports(ConfigMap root, const std::string& scenario_path, std::int64_t ranks) {
  Imports imports;
  ConfigMap training = root.map("training", "batch, precision and recomputation");
  ConfigMap parallel = root.map("parallel", "how the work is split over ranks");
  const std::string deepspeed = name_in(training, "deepspeed");
  const std::string fsdp = name_in(parallel, "fsdp_config");
  const auto beside = [&scenario_path](const std::string& name) {
    return (std::filesystem::path(scenario_path).parent_path() / name).string();
  };
  const std::string megatron = name_in(root, "megatron");
  if (!megatron.empty()) read_megatron(beside(megatron), imports);
  std::string overlap = name_in(parallel, "tp_comm_overlap_cfg");
  if (overlap.empty()) overlap = named_by_flags(imports, beside);
  if (!overlap.empty()) {
    read_file(beside(overlap), imports, [&](ConfigMap file) { read_tensor_overlap(file, imports); });
  }
  if (!deepspeed.empty()) {
    const BatchWorld world{.replicas = std::max<std::int64_t>(1, ranks / model_ranks(parallel))};
    read_file(beside(deepspeed), imports, [&](ConfigMap file) { read_deepspeed(file, world, imports); });
  }
  if (!fsdp.empty()) {
    read_file(beside(fsdp), imports, [&](ConfigMap file) { read_fsdp_config(file, imports); });
  }
  return imports;
}

}  // namespace ringwright::configs
