#include "configs/scenario/imports/imports.h"

#include <algorithm>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/config/input_file.h"

namespace ringwright::configs {
namespace {

// Mistakes in the name itself are reported when the scenario is read.
std::optional<InputFile> file_in(ConfigMap map, std::string_view key) {
  return map.file({.name = key, .doc = "a file", .fallback = std::string()});
}

void read_document(const InputFile& file, Imports& imports, const std::function<void(ConfigMap)>& read) {
  auto document = ConfigDocument::load_text(file.path, file.text);
  if (!document) {
    for (const Diagnostic& diagnostic : document.error().all()) imports.diagnostics.add(diagnostic);
    return;
  }
  read(document->root());
  document->check_all_read();
  for (const Diagnostic& diagnostic : document->log().diagnostics().all()) imports.diagnostics.add(diagnostic);
  for (const IgnoredKey& ignored : document->log().ignored()) imports.ignored.push_back(ignored);
}

std::int64_t ranks_of(ConfigMap& parallel, std::string_view key) {
  return parallel.integer({.name = key, .doc = "ranks", .fallback = 1, .min = 1, .max = 1'000'000});
}

BatchWorld read_world(ConfigMap training, ConfigMap parallel, std::int64_t ranks) {
  const std::int64_t pp = ranks_of(parallel, "pp");
  const std::int64_t tp = ranks_of(parallel, "tp");
  const std::int64_t model_ranks = tp * ranks_of(parallel, "cp") * pp;
  const std::int64_t micro_batch = training.integer(
      {.name = "micro_batch", .doc = "sequences per microbatch", .fallback = 1, .min = 1, .max = 10'000});
  const auto below = [&parallel](std::string_view map, std::initializer_list<std::string_view> keys) {
    return parallel.has_map(map) &&
           std::ranges::any_of(keys, [given = parallel.map(map, "sharding")](auto key) { return given.has(key); });
  };
  return {.ranks = ranks,
          .replicas = std::max<std::int64_t>(1, ranks / model_ranks),
          .tp = tp,
          .pp = pp,
          .micro_batch = micro_batch,
          .has_precision = training.has("precision"),
          .has_stage = below("zero", {"stage"}),
          .has_sharding = below("fsdp", {"sharding_strategy", "reshard_after_forward"})};
}

// File paths in Megatron's scripts are often those of a container, so the file is looked up next to the scenario.
std::optional<InputFile> named_by_flags(Imports& imports, const std::string& scenario_path) {
  constexpr std::string_view kStart = "parallel.tp_comm_overlap_cfg=";
  const auto named = std::ranges::find_if(
      imports.values, [&](const ImportedValue& value) { return value.setting.starts_with(kStart); });
  if (named == imports.values.end()) return std::nullopt;
  const std::string name = named->setting.substr(kStart.size());
  const std::string origin = named->origin;
  imports.values.erase(named);
  InputFile file = read_input_file((std::filesystem::path(scenario_path).parent_path() / name).string());
  if (file.problem.empty()) return file;
  imports.diagnostics.add({.severity = Severity::kWarning,
                           .code = "W136",
                           .place = {.file = origin},
                           .message = fmt::format("--tp-comm-overlap-cfg names '{}', which is not in the folder of the "
                                                  "scenario: methods and chunks are Transformer Engine's defaults",
                                                  name)});
  return std::nullopt;
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
  // Read even where it is not given, so that a misspelt key finds its neighbour.
  const std::string value = map.text({.name = name, .doc = "of the named file", .fallback = std::string("auto")});
  if (value != "auto") set(std::string(path), value, map.origin(name));
}

bool is_given(ConfigMap& file, std::string_view key) {
  if (file.has(key) || file.documenting()) return true;
  file.ignore(key, "");
  return false;
}

Imports read_imports(ConfigMap root, const std::string& scenario_path, std::int64_t ranks) {
  Imports imports;
  ConfigMap training = root.map("training", "batch, precision and recomputation");
  ConfigMap parallel = root.map("parallel", "how the work is split over ranks");
  if (const auto megatron = file_in(root, "megatron")) read_megatron(*megatron, imports);
  auto overlap = file_in(parallel, "tp_comm_overlap_cfg");
  if (!overlap) overlap = named_by_flags(imports, scenario_path);
  if (overlap) read_document(*overlap, imports, [&](ConfigMap file) { read_tensor_overlap(file, imports); });
  const BatchWorld world = read_world(training, parallel, ranks);
  if (const auto deepspeed = file_in(training, "deepspeed")) {
    read_document(*deepspeed, imports, [&](ConfigMap file) { read_deepspeed(file, world, imports); });
  }
  if (const auto fsdp = file_in(parallel, "fsdp_config")) {
    read_document(*fsdp, imports, [&](ConfigMap file) { read_fsdp_config(file, world, imports); });
  }
  return imports;
}

}  // namespace ringwright::configs
