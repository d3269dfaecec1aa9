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

Result<configs::Scenario> ScenarioArguments::load() const {
  const auto path = find_scenario(config);
  if (!path) return tl::unexpected(path.error());
  return configs::load_scenario(*path, {.overrides = settings, .share_folders = {}});
}

}  // namespace ringwright::tools
