// Paths of the shipped measurements.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringwright::validation {

// "training" -> ".../validation/training".
[[nodiscard]] std::string shipped_folder(std::string_view kind);
// The files of a folder with this ending, sorted.
[[nodiscard]] std::vector<std::string> files_in(const std::string& folder, std::string_view ending);
// Empty if it cannot be read.
[[nodiscard]] std::string text_of_file(const std::string& path);

}  // namespace ringwright::validation
