#include "collectives/nccl/settings.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "collectives/libraries/settings.h"
#include "collectives/msccl/teccl_schedule.h"
#include "collectives/nccl/environment.h"
#include "core/base/text.h"
#include "core/config/config_document.h"
#include "core/config/input_file.h"
#include "core/config/yaml_reader.h"

namespace ringwright::collectives {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kFolder = "nccl";
constexpr std::string_view kRccl = "rccl";
constexpr std::string_view kDefaultVersion = "2.30";

// "2.27.3" as (2, 27).
std::optional<std::pair<int, int>> version_number(std::string_view text) {
  std::pair<int, int> number;
  const auto [dot, wrong] = std::from_chars(text.data(), text.data() + text.size(), number.first);
  if (wrong != std::errc() || dot == text.data() + text.size() || *dot != '.') return std::nullopt;
  const auto [end, error] = std::from_chars(dot + 1, text.data() + text.size(), number.second);
  if (error != std::errc() || (end != text.data() + text.size() && *end != '.')) return std::nullopt;
  return number;
}

std::vector<std::string> shipped_versions(const NcclFiles& files) {
  std::vector<std::string> versions;
  for (const std::string& name : preset_names({.share_folders = files.share_folders}, kFolder)) {
    if (version_number(name)) versions.push_back(name);
  }
  return versions;
}

NcclTables read_tables(ConfigMap& comm, const InputFile& file, const NcclFiles& files, Diagnostics& foreign) {
  const std::string name = fs::path(file.path).filename().string();
  if (const auto known = files.tables != nullptr ? files.tables->find(file) : std::nullopt) {
    comm.note_content("nccl_tables", name, known->sha256);
    return known->tables;
  }
  auto document = ConfigDocument::load(file.path, {.parsed = files.parsed});
  if (!document) {
    for (const Diagnostic& problem : document.error().all()) foreign.add(problem);
    return {};
  }
  const KnownTables::Entry entry{.tables = read_nccl_tables(document->root()), .sha256 = document->content_sha256()};
  comm.note_content("nccl_tables", name, entry.sha256);
  document->check_all_read();
  const std::vector<Diagnostic>& problems = document->log().diagnostics().all();
  for (const Diagnostic& problem : problems) foreign.add(problem);
  if (problems.empty() && files.tables != nullptr) files.tables->add(file, entry);
  return entry.tables;
}

NcclTables load_tables(ConfigMap& comm, const NcclFiles& files, const std::string& name, Diagnostics& foreign) {
  for (const std::string& share : files.share_folders) {
    const std::string path = (fs::path(share) / kFolder / (name + ".yaml")).string();
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    return read_tables(comm, read_input_file(path), files, foreign);
  }
  foreign.add({.code = "E180", .place = {}, .message = fmt::format("no table of '{}' among the shared files", name)});
  return {};
}

std::string choose_tables(ConfigMap& comm, const NcclFiles& files, std::string_view library, NcclSetup& setup) {
  const std::string wanted = comm.text({.name = "nccl_version",
                                        .doc = "version of the library whose cost model is used, \"2.27\"",
                                        .fallback = std::string(kDefaultVersion)});
  if (comm.documenting()) return std::string(kDefaultVersion);
  if (comm.has("nccl_version") && library != kRccl) setup.version = wanted;
  if (library == kRccl) {
    if (comm.has("nccl_version")) comm.warn("nccl_version", "E183", "RCCL has one table for all versions");
    return std::string(kRccl);
  }
  const std::vector<std::string> versions = shipped_versions(files);
  const std::string nearest = nearest_version(versions, wanted);
  if (nearest.empty()) {
    comm.error("nccl_version", "E183", fmt::format("'{}' is not a version of NCCL", wanted),
               fmt::format("there are tables for {}", join(versions, ", ")));
    return std::string(kDefaultVersion);
  }
  if (comm.has("nccl_version") && version_number(nearest) != version_number(wanted)) {
    comm.assume("nccl_version", nearest, fmt::format("no table for {}; the nearest one is used", wanted));
  }
  return nearest;
}

template <class Parsed>
std::optional<Parsed> kept(Result<Parsed> parsed, Diagnostics& foreign) {
  if (parsed) return std::move(*parsed);
  for (const Diagnostic& problem : parsed.error().all()) foreign.add(problem);
  return std::nullopt;
}

std::optional<NcclGraphFile> read_graph(ConfigMap& comm, Diagnostics& foreign) {
  if (!comm.documenting() && !comm.has("graph")) return std::nullopt;
  const auto file = comm.file({.name = "graph",
                               .doc = "a graph file of NCCL (NCCL_GRAPH_DUMP_FILE): the channels that it found",
                               .fallback = std::string()});
  if (!file) return std::nullopt;
  return kept(parse_nccl_graphs(file->text, file->path), foreign);
}

// A plan of MSCCL++ or a schedule of TE-CCL. Inputs of the solvers of TACCL and TE-CCL say what they are.
void read_json_algorithm(const InputFile& file, NcclSetup& setup, Diagnostics& foreign) {
  ConfigSource source{.name = file.path};
  Diagnostics problems;
  const std::optional<ConfigNode> root = read_yaml(file.text, source, problems);
  const auto has = [&root](std::string_view key) {
    return root && root->kind == ConfigKind::kMap && find_entry(*root, key) != nullptr;
  };
  if (root && is_teccl_schedule(*root)) {
    if (auto program = kept(read_teccl_schedule(*root, file.path), foreign)) {
      setup.algorithms.push_back(std::move(*program));
    }
    return;
  }
  const bool sketch = has("intranode_sketch") || has("internode_sketch");
  const bool topology = has("gpus_per_node") && has("alpha");
  if (sketch || topology || has("TopologyParams")) {
    foreign.add({.severity = Severity::kError,
                 .code = "E187",
                 .place = {.file = file.path, .line = 1, .column = 1},
                 .message = sketch     ? "this is a communication sketch for TACCL's solver, not an algorithm"
                            : topology ? "this is a machine that TACCL profiled, not an algorithm"
                                       : "these are settings of TE-CCL's solver, not an algorithm",
                 .hint = topology ? "cluster: {fabric: {type: graph, file: FILE}}"
                                  : "there is no solver here: give the file that the solver writes"});
    return;
  }
  if (auto plan = kept(parse_execution_plan(file.text, file.path), foreign)) setup.plans.push_back(std::move(*plan));
}

void read_algorithms(ConfigMap& comm, NcclSetup& setup, Diagnostics& foreign) {
  if (!comm.documenting() && !comm.has("algorithms")) return;
  const std::vector<InputFile> files = comm.files(
      {.name = "algorithms",
       .doc = "files of MSCCL (*.xml), MSCCL++ and TE-CCL's schedules (*.json): each runs the calls of its kind, size "
              "and number of ranks"});
  for (const InputFile& file : files) {
    if (file.path.ends_with(".json")) {
      read_json_algorithm(file, setup, foreign);
    } else if (auto program = kept(parse_msccl(file.text, file.path), foreign)) {
      setup.algorithms.push_back(std::move(*program));
    }
  }
}

TunerFile read_tuner(ConfigMap& comm, Diagnostics& foreign) {
  if (!comm.documenting() && !comm.has("tuner_config")) return {};
  const auto file = comm.file({.name = "tuner_config",
                               .doc = "a tuner file: collective_type,min_bytes,max_bytes,algorithm,protocol,"
                                      "channels,nNodes,nRanks[,numPipeOps[,regBuff]]",
                               .fallback = std::string()});
  if (!file) return {};
  return kept(parse_tuner_file(file->text, file->path), foreign).value_or(TunerFile());
}

}  // namespace

std::string nearest_version(const std::vector<std::string>& shipped, const std::string& wanted) {
  const auto number = version_number(wanted);
  if (!number || shipped.empty()) return {};
  std::string best = *std::min_element(shipped.begin(), shipped.end(), [](const auto& a, const auto& b) {
    return version_number(a) < version_number(b);
  });
  for (const std::string& name : shipped) {
    if (version_number(name) <= number && version_number(best) < version_number(name)) best = name;
  }
  return best;
}

NcclSetup read_nccl_settings(ConfigMap comm, const NcclFiles& files, const LibrarySettings& library,
                             Diagnostics& foreign) {
  NcclSetup setup;
  const bool amd = library.is(kRccl) || (!library.is("nccl") && !library.nvidia);
  if (!library.profile->nccl_kernels && !comm.documenting()) {
    if (comm.has("nccl_version")) {
      comm.ignore("nccl_version", fmt::format("{} does not run NCCL's kernels", library.profile->name));
    }
    setup.tables = load_tables(comm, files, std::string(amd ? kRccl : kDefaultVersion), foreign);
    return setup;
  }
  const std::string tables = choose_tables(comm, files, amd ? kRccl : std::string_view(), setup);
  setup.knobs = read_nccl_environment(comm.map("env", "NCCL's environment variables, as a job would set them"),
                                      library_variables(library.profile->name));
  setup.tuner = read_tuner(comm, foreign);
  setup.graph = read_graph(comm, foreign);
  read_algorithms(comm, setup, foreign);
  if (!comm.documenting()) setup.tables = load_tables(comm, files, tables, foreign);
  return setup;
}

}  // namespace ringwright::collectives
