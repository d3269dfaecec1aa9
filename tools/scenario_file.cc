#include "tools/scenario_file.h"

#include <filesystem>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"

namespace ringwright::tools {

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
  return tl::unexpected(failure("E100", "there is no file and no shipped scenario '" + path_or_name + "'", {},
                                near.empty() ? "`ringwright list scenarios` shows all scenarios"
                                             : "did you mean '" + near + "'?"));
}

}  // namespace ringwright::tools
