#include "core/base/shared_folder.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace ringwright {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInShare = "share/ringwright";
constexpr std::string_view kSystemFolders[] = {"/usr/local/share/ringwright", "/usr/share/ringwright"};

std::string existing_folder(const fs::path& folder) {
  std::error_code error;
  if (!fs::is_directory(folder, error)) return {};
  const fs::path path = fs::canonical(folder, error);
  return error ? std::string() : path.string();
}

// The file that this code was loaded from: the program, or a shared library such as Python's module.
std::string own_file() {
  Dl_info info{};
  const bool is_known =
      dladdr(reinterpret_cast<const void*>(&existing_folder), &info) != 0 && info.dli_fname != nullptr;
  const fs::path library(is_known ? info.dli_fname : "");
  if (library.extension() == ".so") return fs::absolute(library).string();
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error).string();
}

}  // namespace

std::string shared_folder_of(const std::string& program, std::string_view name) {
  const fs::path start = fs::path(program).parent_path();
  for (fs::path folder = start; !folder.empty(); folder = folder.parent_path()) {
    if (std::string found = existing_folder(folder / kInShare / name); !found.empty()) return found;
    if (folder == folder.root_path()) break;
  }
  fs::path last;
  for (const std::string_view folder : kSystemFolders) {
    last = fs::path(folder) / name;
    if (std::string found = existing_folder(last); !found.empty()) return found;
  }
  return last.string();
}

std::string shared_folder(std::string_view name) {
  if (const char* const given = std::getenv("RINGWRIGHT_SHARE"); given != nullptr && *given != '\0') {
    std::string found = existing_folder(fs::path(given) / name);
    // What is given is meant: nothing else is taken in its place.
    return found.empty() ? (fs::path(given) / name).string() : found;
  }
  return shared_folder_of(own_file(), name);
}

}  // namespace ringwright
