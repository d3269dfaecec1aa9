#include "tools/machine_file.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::tools {

Result<configs::Scenario> load_machine(const std::string& path_or_node, const MachineOptions& options) {
  configs::ScenarioOptions scenario{.overrides = {}, .share_folders = {}};
  if (options.nodes) scenario.overrides.push_back(fmt::format("cluster.nodes={}", *options.nodes));
  scenario.overrides.insert(scenario.overrides.end(), options.overrides.begin(), options.overrides.end());
  const std::filesystem::path path(path_or_node);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return configs::load_machine(path_or_node, scenario);
  const std::vector<std::string> nodes = preset_names(configs::load_options({}), "nodes");
  if (std::ranges::find(nodes, path_or_node) != nodes.end()) {
    const std::string text = fmt::format("version: 1\nname: {0}\ncluster: {{node: {{preset: {0}}}}}\n", path_or_node);
    return configs::load_machine_text("node " + path_or_node, text, scenario);
  }
  const std::string near = nearest_name(path_or_node, nodes);
  return tl::unexpected(failure("E100", "there is no file and no shipped node '" + path_or_node + "'", {},
                                near.empty() ? "`ringwright list nodes` shows what there is"
                                             : "did you mean '" + near + "'?"));
}

}  // namespace ringwright::tools
