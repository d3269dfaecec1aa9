// A file that another file names: relative to the folder of the file that names it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringwright {

// Empty where there is no such file. `named_in` may be empty, for a text in memory: then relative to the current
// folder.
[[nodiscard]] std::optional<std::string> near_file(std::string_view named_in, std::string_view name);

}  // namespace ringwright
