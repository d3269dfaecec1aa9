#include "configs/scenario/result_name.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

namespace ringwright::configs {

void check_result_name(ConfigMap& root, const std::string& name) {
  constexpr std::size_t kLongest = 200;
  const auto cannot_stand = [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return c == '/' || c == '\\' || byte < 0x20 || byte == 0x7F;
  };
  std::string problem;
  if (name.empty()) problem = "is empty";
  if (name.size() > kLongest) problem = fmt::format("has {} bytes and may have {}", name.size(), kLongest);
  if (name.starts_with('.')) problem = "begins with a dot";
  if (std::ranges::any_of(name, cannot_stand)) problem = "holds a slash, a backslash or a control character";
  if (problem.empty()) return;
  root.error("name", "E118", fmt::format("'name' {}", problem), "it names folders of results: write llama-8b-tp4");
}

}  // namespace ringwright::configs
