#include "tools/scenario_file.h"

#include <filesystem>

#include "configs/catalogue.h"
#include "configs/scenario.h"

namespace ringwright::tools {

std::string find_scenario(const std::string& path_or_name) {
  const std::filesystem::path path(path_or_name);
  std::error_code ignored;
  if (path.has_parent_path() || path.has_extension() || std::filesystem::exists(path, ignored)) return path_or_name;
  const std::string shipped = configs::scenario_path(configs::load_options({}), path_or_name);
  return shipped.empty() ? path_or_name : shipped;
}

}  // namespace ringwright::tools
