#include "tools/scenario_arguments.h"

#include <utility>

#include "tools/scenario_file.h"

namespace ringwright::tools {

std::vector<OptionSpec> scenario_options(std::string* config, std::vector<std::string>* settings) {
  return {{.names = "config",
           .value = "",
           .doc = "a YAML file, or the name of a shipped scenario",
           .target = config,
           .required = true},
          {.names = "--set", .value = "KEY=VALUE", .doc = "override a value, may be repeated", .target = settings}};
}

Result<configs::Scenario> ScenarioArguments::load(const std::vector<std::string>& more) const {
  const auto path = find_scenario(config);
  if (!path) return tl::unexpected(path.error());
  std::vector<std::string> all = settings;
  all.insert(all.end(), more.begin(), more.end());
  return configs::load_scenario(*path, {.overrides = all, .share_folders = {}});
}

}  // namespace ringwright::tools
