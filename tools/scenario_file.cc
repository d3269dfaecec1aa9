#include "tools/scenario_file.h"

#include <filesystem>
#include <utility>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"

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

}  // namespace

Result<std::string> find_scenario(const std::string& path_or_name) {
  const std::filesystem::path path(path_or_name);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    if (path.extension() != ".sh") return path_or_name;
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
  const std::string near = nearest_name(path_or_name, preset_names(options, "scenarios"));
  std::string hint = use_of(path_or_name, options);
  if (hint.empty() && !near.empty()) hint = "did you mean '" + near + "'?";
  if (hint.empty()) hint = "`ringwright list scenarios` shows all scenarios";
  return tl::unexpected(
      failure("E100", "there is no file and no shipped scenario '" + path_or_name + "'", {}, std::move(hint)));
}

}  // namespace ringwright::tools
