#include "core/config/input_file.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/user_file.h"
#include "core/config/text_lines.h"

namespace ringwright {

namespace fs = std::filesystem;

InputFile read_input_file(const std::string& path, std::size_t most_bytes) {
  auto text = read_user_file(path, {.bytes = most_bytes});
  if (!text) return {.path = path, .text = {}, .problem = std::move(text.error())};
  if (is_utf16(*text)) return {.path = path, .text = {}, .problem = std::string(kUtf16Refused)};
  text->erase(0, text->size() - without_byte_order_mark(*text).size());
  return {.path = path, .text = std::move(*text), .problem = {}};
}

std::string did_you_mean_file(const std::string& path) {
  const fs::path wanted(path);
  std::error_code none;
  if (fs::exists(wanted, none)) return {};
  const fs::path folder = wanted.has_parent_path() ? wanted.parent_path() : fs::path(".");
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string extension = it->path().extension().string();
    if (extension == ".yaml" || extension == ".yml" || extension == ".json" || extension == wanted.extension()) {
      names.push_back(it->path().filename().string());
    }
  }
  std::sort(names.begin(), names.end());
  const std::string near = nearest_name(wanted.filename().string(), names);
  return near.empty() ? std::string() : fmt::format("did you mean '{}'?", near);
}

}  // namespace ringwright
