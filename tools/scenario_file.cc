#include "tools/scenario_file.h"

#include <filesystem>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"
#include "traces/file_kinds.h"

namespace ringwright::tools {
namespace {

// How to use a shipped file that is not a scenario; empty: there is none of that name.
std::string use_of(const std::string& name, const LoadOptions& options) {
  for (const configs::CatalogueSection& section : configs::catalogue(options)) {
    for (const configs::CatalogueEntry& entry : section.entries) {
      if (entry.name != name || section.where.empty()) continue;
      return "'" + name + "' is an entry of `ringwright list " + section.kind + "`: a scenario names it as '" +
             section.where + ": " + name + "'";
    }
  }
  return {};
}

// A trace or log is no scenario; YAML is, whatever it says.
Result<std::string> without_recordings(const std::string& file) {
  const auto suffix = std::filesystem::path(file).extension();
  std::error_code ignored;
  // What is read from a pipe is gone.
  const bool once = !std::filesystem::is_regular_file(file, ignored);
  if (once || suffix == ".yaml" || suffix == ".yml") return file;
  const traces::FileKind* const kind = traces::kind_of_file(file);
  if (kind == nullptr) return file;
  return tl::unexpected(failure("E105", fmt::format("'{}' is a file of another kind ({}), but a scenario is YAML", file,
                                                    kind->doc),
                                {}, kind->use.empty() ? "`ringwright inspect` shows it" : std::string(kind->use)));
}

struct ShippedNames {
  std::string_view what;   // "scenario"
  std::string_view shown;  // how to see all
  std::vector<std::string_view> folders;
};

Result<std::string> find_named(const std::string& path_or_name, const ShippedNames& names) {
  const std::filesystem::path path(path_or_name);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    if (path.extension() == ".toml") {
      return tl::unexpected(failure("E105", "'" + path_or_name + "' is TOML, but a scenario is YAML", {},
                                    "write its values in a scenario; a key under torchtitan's name is refused with the "
                                    "name that it has here"));
    }
    if (path.extension() != ".sh") return without_recordings(path_or_name);
    return tl::unexpected(failure("E105", "'" + path_or_name + "' is a script, but a scenario is YAML", {},
                                  "name a scenario with a 'cluster', and the script with --megatron or as 'megatron: " +
                                      path.filename().string() + "'"));
  }
  const LoadOptions options = configs::load_options({});
  const std::string shipped = configs::scenario_path(options, path_or_name);
  if (!shipped.empty()) return shipped;
  // A dot alone means nothing: model names have dots ("gpt2-1.5b").
  const auto suffix = path.extension();
  if (path.has_parent_path() || suffix == ".yaml" || suffix == ".yml" || suffix == ".json") return path_or_name;
  std::vector<std::string> all;
  for (const std::string_view folder : names.folders) {
    const std::vector<std::string> some = preset_names(options, folder);
    all.insert(all.end(), some.begin(), some.end());
  }
  const std::string near = nearest_name(path_or_name, all);
  std::string hint = use_of(path_or_name, options);
  if (hint.empty() && !near.empty()) hint = "did you mean '" + near + "'?";
  if (hint.empty()) hint = names.shown;
  return tl::unexpected(
      failure("E100", fmt::format("there is no file and no shipped {} '{}'", names.what, path_or_name), {}, hint));
}

}  // namespace

Result<std::string> find_scenario(const std::string& path_or_name) {
  return find_named(
      path_or_name,
      {.what = "scenario", .shown = "`ringwright list scenarios` shows all scenarios", .folders = {"scenarios"}});
}

Result<std::string> find_scenario_or_machine(const std::string& path_or_name) {
  return find_named(path_or_name, {.what = "scenario, machine or node",
                                   .shown = "`ringwright list scenarios`, `list machines` and `list nodes` show all",
                                   .folders = {"scenarios", "machines", "nodes"}});
}

std::string nearest_scenario(std::string_view name) {
  return nearest_name(name, preset_names(configs::load_options({}), "scenarios"));
}

}  // namespace ringwright::tools
