#include "configs/scenario/named_machine.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::configs {

Result<Scenario> load_named_machine(const std::string& path_or_node, const ScenarioOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(path_or_node, ignored)) return load_machine(path_or_node, options);
  const std::vector<std::string> nodes = preset_names(load_options(options), "nodes");
  if (std::ranges::find(nodes, path_or_node) != nodes.end()) {
    const std::string text = fmt::format("version: 1\nname: {0}\ncluster: {{node: {{preset: {0}}}}}\n", path_or_node);
    return load_machine_text("node " + path_or_node, text, options);
  }
  const std::string near = nearest_name(path_or_node, nodes);
  return tl::unexpected(
      failure("E100", "there is no file and no shipped node '" + path_or_node + "'", {},
              near.empty() ? "`ringwright list nodes` shows all nodes" : "did you mean '" + near + "'?"));
}

}  // namespace ringwright::configs
