// Loads scenarios: files, their imports, changes to the values, and all mistakes at once.
#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/foreign_names.h"
#include "configs/scenario/imports/imports.h"
#include "configs/scenario/key_effects.h"
#include "configs/scenario/known_files.h"
#include "configs/scenario/load_warnings.h"
#include "configs/scenario/scenario.h"
#include "configs/scenario/scenario_reader.h"
#include "core/base/shared_folder.h"
#include "core/config/log_warnings.h"
#include "network_models/imports/node_import.h"

namespace ringwright::configs {

LoadOptions load_options(const ScenarioOptions& options) {
  LoadOptions load{.overrides = options.overrides,
                   .presets = {{.path = "", .folder = "profiles"},
                               {.path = "model", .folder = "models"},
                               {.path = "recommendation", .folder = "recommenders"},
                               {.path = "layer_table", .folder = "layer_tables"},
                               {.path = "cluster", .folder = "machines", .parts = {"node", "fabric"}},
                               {.path = "cluster.node", .folder = "nodes"},
                               {.path = "cluster.node.gpu", .folder = "gpus"},
                               {.path = "cluster.node.gpu.kernels", .folder = "kernels"},
                               {.path = "cluster.groups[].node", .folder = "nodes"},
                               {.path = "cluster.groups[].node.gpu", .folder = "gpus"},
                               {.path = "cluster.groups[].node.gpu.kernels", .folder = "kernels"},
                               {.path = "cost", .folder = "prices"}},
                   .share_folders = options.share_folders,
                   .imports = network_models::node_imports(),
                   .parsed = options.known != nullptr ? &options.known->parsed : nullptr};
  if (load.share_folders.empty()) load.share_folders = {shared_folder("configs")};
  return load;
}

namespace {

// How much of a file is required.
enum class Extent { kJob, kMachine, kSharedMachine };

collectives::NcclFiles nccl_files(const ScenarioOptions& options) {
  const LoadOptions load = load_options(options);
  collectives::NcclFiles files{.share_folders = load.share_folders,
                               .parsed = load.parsed,
                               .tables = options.known != nullptr ? &options.known->tables : nullptr};
  files.share_folders.push_back(shared_folder("configs"));  // folders of users need not have NCCL's tables
  return files;
}

using Load = std::function<Result<ConfigDocument>(const LoadOptions&)>;

// Values from files that the document names, under its own values.
Result<ConfigDocument> load_with_imports(const Load& load, const std::string& path, const ScenarioOptions& options,
                                         Imports& imports) {
  LoadOptions how = load_options(options);
  auto document = load(how);
  if (!document) return document;
  constexpr std::array kFiles = {"training.deepspeed", "parallel.fsdp_config", "parallel.tp_comm_overlap_cfg",
                                 "megatron"};
  if (std::ranges::none_of(kFiles, [&](const char* file) { return document->names(file); })) return document;
  ConfigMap root = document->root();
  imports = read_imports(root, path, read_cluster(root).gpus());
  how.imported = imports.values;
  return load(how);
}

// A layout is checked against the model; where the model's file could not be read, the check is meaningless.
bool evaluates_layout(const Diagnostic& diagnostic) {
  return diagnostic.code.starts_with("E13") || diagnostic.code.starts_with("E14") || diagnostic.code == "W131";
}

Diagnostics without_consequences(const Diagnostics& own, const Diagnostics& foreign) {
  Diagnostics all = foreign;
  for (const Diagnostic& diagnostic : own.all()) {
    if (!evaluates_layout(diagnostic)) all.add(diagnostic);
  }
  return all;
}

// A preset of the model or the machine that could not be read: its map has defaults, which fit no layout and no fabric.
bool is_of_lacking_preset(const Diagnostic& diagnostic) {
  return diagnostic.code == "E109" &&
         (diagnostic.message.starts_with("'model.") || diagnostic.message.starts_with("'cluster."));
}

Result<Scenario> without_errors(Scenario scenario) {
  const Diagnostics& found = scenario.document.log().diagnostics();
  if (!found.has_errors()) return scenario;
  if (std::ranges::none_of(found.all(), is_of_lacking_preset)) return tl::unexpected(with_foreign_names(found));
  Diagnostics causes;
  for (const Diagnostic& diagnostic : found.all()) {
    if (!evaluates_layout(diagnostic) && diagnostic.code != "E120") causes.add(diagnostic);
  }
  return tl::unexpected(with_foreign_names(causes));
}

// Its mistakes are in its document's log.
Result<Scenario> read_all(const Load& load, const std::string& path, const ScenarioOptions& options, Extent extent) {
  const collectives::NcclFiles files = nccl_files(options);
  Imports imports;
  auto document = load_with_imports(load, path, options, imports);
  if (!document) return tl::unexpected(document.error());
  // What follows from the values of a file with mistakes is no mistake of the scenario.
  if (imports.diagnostics.has_errors()) return tl::unexpected(imports.diagnostics);
  if (const Diagnostics other = other_format(*document, path); other.has_errors()) return tl::unexpected(other);
  const bool has_model_file = document->names("model.hf");
  Diagnostics foreign = imports.diagnostics;  // of other files that the scenario names
  const bool shared = extent == Extent::kSharedMachine;
  const bool whole = shared || extent == Extent::kJob || document->names("model") || document->names("megatron") ||
                     document->names("workload") || document->names("recommendation") || document->names("layer_table");
  Scenario scenario =
      whole ? read_scenario(std::move(*document), files, foreign, {.share = options.share, .machine_only = shared})
            : read_machine(std::move(*document), files, foreign);
  scenario.document.check_all_read();
  if (foreign.has_errors() && has_model_file) {
    return tl::unexpected(without_consequences(scenario.document.log().diagnostics(), foreign));
  }
  for (const Diagnostic& diagnostic : foreign.all()) scenario.document.log().add(diagnostic);
  for (const IgnoredKey& ignored : imports.ignored) scenario.document.log().add(ignored);
  if (!shared) list_keys_without_effect(scenario, extent == Extent::kJob ? RunOf::kStep : RunOf::kCollective);
  return scenario;
}

Result<Scenario> checked_scenario(const Load& load, const std::string& path, const ScenarioOptions& options,
                                  Extent extent) {
  return read_all(load, path, options, extent).and_then(without_errors);
}

Diagnostics without_listed(const ConfigLog& log) {
  Diagnostics warnings;
  for (const Diagnostic& found : log.diagnostics().all()) {
    if (found.severity == Severity::kWarning && !is_listed_as_ignored(log, found)) warnings.add(found);
  }
  return warnings;
}

}  // namespace

Result<Scenario> load_scenario(const std::string& path, const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load(path, how); }, path, options,
                          Extent::kJob);
}

Result<Scenario> read_scenario_with_errors(const std::string& path, const ScenarioOptions& options) {
  return read_all([&](const LoadOptions& how) { return ConfigDocument::load(path, how); }, path, options, Extent::kJob);
}

Result<Scenario> load_scenario_text(const std::string& name, std::string_view text, const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load_text(name, text, how); }, name,
                          options, Extent::kJob);
}

Result<Scenario> changed_scenario(const Scenario& base, const ConfigChanges& changes, const ScenarioOptions& options) {
  Diagnostics foreign;
  Scenario scenario = read_scenario(base.document.changed(changes), nccl_files(options), foreign);
  scenario.document.check_all_read();
  for (const Diagnostic& diagnostic : foreign.all()) scenario.document.log().add(diagnostic);
  list_keys_without_effect(scenario, RunOf::kStep);
  return without_errors(std::move(scenario));
}

namespace {

enum class Recorded { kMistakes, kEverything };

ChangedJob read_changed(const Scenario& base, const ConfigChanges& changes, workload::KnownLayouts* known,
                        Recorded recorded) {
  const auto change = [&](std::string_view map) {
    const auto of_map = [map](const std::string& key) { return key.starts_with(map); };
    return std::ranges::any_of(changes.settings, of_map) || std::ranges::any_of(changes.removed, of_map);
  };
  const bool same = recorded == Recorded::kMistakes && base.job.trains_transformer();
  // Of no job, or, as the machine, the base's.
  std::vector<std::string_view> outlined;
  for (const std::string_view map : {"cluster", "search", "published"}) {
    if (!change(map)) outlined.push_back(map);
  }
  for (const std::string_view map : {"model", "memory"}) {
    if (same && !change(map)) outlined.push_back(map);
  }
  Diagnostics foreign;
  ConfigDocument document = base.document.changed(changes, outlined);
  if (recorded == Recorded::kMistakes) document.log().record_only_mistakes();
  const KnownJob found{.layouts = known,
                       .model = same && !change("model") ? &base.job.model : nullptr,
                       .memory = same && !change("memory") ? &base.job.memory : nullptr};
  Job job = read_job(document.root(), base.cluster, foreign, nullptr, found);
  SimulateSettings simulate = read_simulate_of(document.root(), job);
  document.check_all_read();
  for (const Diagnostic& diagnostic : foreign.all()) document.log().add(diagnostic);
  return {.document = std::move(document), .job = std::move(job), .simulate = simulate};
}

bool has_unknown_keys(const Diagnostics& found) {
  return std::ranges::any_of(found.all(), [](const Diagnostic& diagnostic) { return diagnostic.code == "E102"; });
}

}  // namespace

Result<ChangedJob> changed_job(const Scenario& base, const ConfigChanges& changes, workload::KnownLayouts* known) {
  ChangedJob changed = read_changed(base, changes, known, Recorded::kMistakes);
  // For the sake of the keys that it may have meant.
  if (has_unknown_keys(changed.document.log().diagnostics())) {
    changed = read_changed(base, changes, known, Recorded::kEverything);
  }
  if (changed.document.log().diagnostics().has_errors()) return tl::unexpected(changed.document.log().diagnostics());
  return changed;
}

Result<Scenario> load_machine(const std::string& path, const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load(path, how); }, path, options,
                          Extent::kMachine);
}

Result<Scenario> load_machine_text(const std::string& name, std::string_view text, const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load_text(name, text, how); }, name,
                          options, Extent::kMachine);
}

Result<Scenario> load_shared_machine(const std::string& path, const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load(path, how); }, path, options,
                          Extent::kSharedMachine);
}

Result<Scenario> load_shared_machine_text(const std::string& name, std::string_view text,
                                          const ScenarioOptions& options) {
  return checked_scenario([&](const LoadOptions& how) { return ConfigDocument::load_text(name, text, how); }, name,
                          options, Extent::kSharedMachine);
}

// Those of the whole file, since the readers of a cluster alone ask for some of its keys only.
static Diagnostics unknown_keys(const std::string& path, const ScenarioOptions& options) {
  Diagnostics unknown;
  const auto machine = load_machine(path, options);
  if (machine) return unknown;
  for (const Diagnostic& mistake : machine.error().all()) {
    if (mistake.code == "E102") unknown.add(mistake);
  }
  return unknown;
}

Result<DescribedCluster> describe_cluster(const std::string& path, const ScenarioOptions& options) {
  auto document = ConfigDocument::load(path, load_options(options));
  if (!document) return tl::unexpected(document.error());
  DescribedCluster described{.cluster = read_cluster(document->root()), .warnings = {}};
  if (document->log().diagnostics().has_errors()) return tl::unexpected(document->log().diagnostics());
  if (Diagnostics unknown = unknown_keys(path, options); unknown.has_errors())
    return tl::unexpected(std::move(unknown));
  described.warnings = without_listed(document->log());
  for (const std::string& setting : options.overrides) {
    const std::string first = setting.substr(0, setting.find_first_of(".="));
    if (first == "cluster") continue;
    described.warnings.add(
        {.severity = Severity::kWarning,
         .code = "W131",
         .message = fmt::format("'{}' has no effect: of '{}' only the cluster is read", setting, path)});
  }
  return described;
}

Result<Cluster> load_cluster(const std::string& path, const ScenarioOptions& options) {
  auto described = describe_cluster(path, options);
  if (!described) return tl::unexpected(described.error());
  return std::move(described->cluster);
}

Diagnostics unlisted_warnings(const Scenario& scenario) {
  return without_listed(scenario.document.log());
}

std::vector<KeyDoc> scenario_keys() {
  ConfigDocument document = ConfigDocument::for_documentation();
  Diagnostics foreign;
  const Scenario scenario = read_scenario(std::move(document), {}, foreign);
  return scenario.document.log().docs();
}

}  // namespace ringwright::configs
