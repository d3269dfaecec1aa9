// Reads an input file whole: scenarios, presets, and every file that a scenario names.
#pragma once

#include <cstddef>
#include <string>

#include "core/base/user_file.h"

namespace ringwright {

struct InputFile {
  std::string path;
  std::string text;
  std::string problem;  // why it could not be read: "no such file"; empty when it could
};

// The text is without a byte order mark; UTF-16 is a problem.
[[nodiscard]] InputFile read_input_file(const std::string& path, std::size_t most_bytes = kMostFileBytes);

// "did you mean 'llama.yaml'?": the file in the same directory with the nearest name; empty without one.
[[nodiscard]] std::string did_you_mean_file(const std::string& path);

}  // namespace ringwright
