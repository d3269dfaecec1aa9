#include "tools/machine_file.h"

#include <fmt/format.h>

#include "configs/scenario/named_machine.h"

namespace ringwright::tools {

Result<configs::Scenario> load_machine(const std::string& path_or_name, const MachineOptions& options) {
  configs::ScenarioOptions scenario{.overrides = {}, .share_folders = {}};
  if (options.nodes) scenario.overrides.push_back(fmt::format("cluster.nodes={}", *options.nodes));
  scenario.overrides.insert(scenario.overrides.end(), options.overrides.begin(), options.overrides.end());
  return configs::load_named_machine(path_or_name, scenario);
}

}  // namespace ringwright::tools
