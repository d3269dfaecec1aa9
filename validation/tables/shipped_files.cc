#include "validation/tables/shipped_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "core/base/shared_folder.h"

namespace ringwright::validation {

std::string shipped_folder(std::string_view kind) {
  return shared_folder("validation") + "/" + std::string(kind);
}

std::vector<std::string> files_in(const std::string& folder, std::string_view ending) {
  std::vector<std::string> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().filename().string().ends_with(ending)) files.push_back(entry.path().string());
  }
  std::ranges::sort(files);
  return files;
}

std::string text_of_file(const std::string& path) {
  std::ifstream stream(path);
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

}  // namespace ringwright::validation
