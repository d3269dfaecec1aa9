#include "core/base/cache_folder.h"

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace ringwright {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

std::string cache_folder() {
  namespace fs = std::filesystem;
  if (const std::string given = variable("RINGWRIGHT_CACHE"); !given.empty()) return given == "off" ? "" : given;
  // A relative path is invalid there, and to be ignored.
  if (const fs::path cache = variable("XDG_CACHE_HOME"); cache.is_absolute()) return (cache / "ringwright").string();
  const fs::path home = variable("HOME");
  return home.is_absolute() ? (home / ".cache/ringwright").string() : "";
}

}  // namespace ringwright
