// The arguments of commands that study one scenario as it is: its name and overrides.
#pragma once

#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "tools/command.h"

namespace ringwright::tools {

// The name of the scenario, and "--set".
[[nodiscard]] std::vector<OptionSpec> scenario_options(std::string* config, std::vector<std::string>* settings);

struct ScenarioArguments {
  std::string config;
  std::vector<std::string> settings;

  [[nodiscard]] std::vector<OptionSpec> options() { return scenario_options(&config, &settings); }
  // With the overrides, and further ones after them; fails with all mistakes of the file.
  [[nodiscard]] Result<configs::Scenario> load(const std::vector<std::string>& more = {}) const;
};

}  // namespace ringwright::tools
