#include "configs/scenario/named_machine.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::configs {

namespace {

// A folder of presets, and the map of a scenario that takes one.
struct Shipped {
  std::string_view folder;
  std::string_view cluster;  // {} is the name
};
constexpr std::array kShipped = {Shipped{"nodes", "{{node: {{preset: {}}}}}"},
                                 Shipped{"machines", "{{preset: {}}}"}};

// As a file. Empty: there is none of this name, and `all` holds those there are.
std::string text_of(const std::string& name, const ScenarioOptions& options, std::vector<std::string>& all) {
  for (const Shipped& shipped : kShipped) {
    const std::vector<std::string> names = preset_names(load_options(options), shipped.folder);
    if (std::ranges::find(names, name) != names.end()) {
      return fmt::format("version: 1\nname: {}\ncluster: {}\n", name, fmt::format(fmt::runtime(shipped.cluster), name));
    }
    all.insert(all.end(), names.begin(), names.end());
  }
  return "";
}

}  // namespace

bool is_named_machine(const std::string& name) {
  std::vector<std::string> all;
  return !text_of(name, {}, all).empty();
}

Result<Scenario> load_named_machine(const std::string& path_or_name, const ScenarioOptions& options) {
  std::error_code ignored;
  if (std::filesystem::exists(path_or_name, ignored)) return load_machine(path_or_name, options);
  std::vector<std::string> all;
  const std::string text = text_of(path_or_name, options, all);
  if (!text.empty()) return load_machine_text(path_or_name, text, options);
  const std::string near = nearest_name(path_or_name, all);
  return tl::unexpected(
      failure("E100", "there is no file, no shipped node and no shipped machine '" + path_or_name + "'", {},
              near.empty() ? "`ringwright list nodes` and `ringwright list machines` show all"
                           : "did you mean '" + near + "'?"));
}

}  // namespace ringwright::configs
