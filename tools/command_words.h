// The words of a command as a result names them: with files, but without the folders of the user's machine.
#pragma once

#include <string>

namespace ringwright::tools {

[[nodiscard]] inline std::string base_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

// "megatron=run.sh" of "megatron=/data/run.sh"; values such as 400GB/s stay.
[[nodiscard]] inline std::string without_folders_in(const std::string& setting) {
  const std::size_t value = setting.find('=') + 1;
  return setting.substr(value, 1) == "/" ? setting.substr(0, value) + base_name(setting) : setting;
}

}  // namespace ringwright::tools
