#include "core/config/input_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright {

namespace fs = std::filesystem;

InputFile read_input_file(const std::string& path, std::size_t most_bytes) {
  InputFile file{.path = path, .text = {}, .problem = {}};
  const auto refuse = [&file](std::string problem) {
    file.problem = std::move(problem);
    return file;
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return refuse("no such file");
  if (fs::is_directory(status)) return refuse("it is a directory");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) return refuse("it cannot be opened");
  // Pipes and devices tell no size beforehand, and /dev/zero has no end: block by block, since one buffer of the
  // largest size would cost more to clear than most files cost to read.
  constexpr std::size_t kBlock = std::size_t{1} << 16U;
  while (stream && file.text.size() <= most_bytes) {
    const std::size_t had = file.text.size();
    file.text.resize(std::min<std::size_t>(had + kBlock, most_bytes + 1));
    stream.read(file.text.data() + had, static_cast<std::streamsize>(file.text.size() - had));
    file.text.resize(had + static_cast<std::size_t>(stream.gcount()));
  }
  if (file.text.size() > most_bytes) return refuse(fmt::format("larger than {} MiB", most_bytes >> 20U));
  return file;
}

std::string did_you_mean_file(const std::string& path) {
  const fs::path wanted(path);
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
