#include "core/config/near_file.h"

#include <filesystem>
#include <system_error>

namespace ringwright {

std::optional<std::string> near_file(std::string_view named_in, std::string_view name) {
  if (name.empty()) return std::nullopt;
  const std::filesystem::path near = std::filesystem::path(named_in).parent_path() / name;
  std::error_code ignored;
  if (!std::filesystem::exists(near, ignored) || std::filesystem::is_directory(near, ignored)) return std::nullopt;
  return near.lexically_normal().string();
}

}  // namespace ringwright
