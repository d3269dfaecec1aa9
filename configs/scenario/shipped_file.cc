#include "configs/scenario/shipped_file.h"

#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "core/base/text.h"

namespace ringwright::configs {

Result<std::string> find_shipped(const ShippedKind& kind, const std::string& path_or_name) {
  const std::filesystem::path path(path_or_name);
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return path_or_name;
  const LoadOptions options = load_options({});
  if (const std::string shipped = shipped_path(options, kind.folder, path_or_name); !shipped.empty()) return shipped;
  const auto suffix = path.extension();
  if (path.has_parent_path() || suffix == ".yaml" || suffix == ".yml" || suffix == ".json") return path_or_name;
  const std::string near = nearest_name(path_or_name, preset_names(options, kind.folder));
  return tl::unexpected(failure("E100", fmt::format("there is no file and no shipped {} '{}'", kind.what, path_or_name),
                                {},
                                near.empty() ? fmt::format("`ringwright list {}` shows all", kind.folder)
                                             : fmt::format("did you mean '{}'?", near)));
}

Result<std::string> find_study(std::string_view what, const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) || scenario_path(load_options({}), path).empty()) return path;
  return tl::unexpected(failure("E100", fmt::format("there is no file '{}'", path), {},
                                fmt::format("it is a shipped scenario, which a {} names: scenario: {}", what, path)));
}

}  // namespace ringwright::configs
