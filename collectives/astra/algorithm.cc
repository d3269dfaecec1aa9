#include "collectives/astra/algorithm.h"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace ringwright::collectives {
namespace {

struct AstraName {
  std::string_view name;
  AstraAlgorithm algorithm;
};

constexpr std::array kAstraNames = {
    AstraName{"ring", {.kind = AstraAlgorithmKind::kRing}},
    AstraName{"oneRing", {.kind = AstraAlgorithmKind::kRing, .flat = true}},
    AstraName{"halvingDoubling", {.kind = AstraAlgorithmKind::kHalvingDoubling}},
    AstraName{"oneHalvingDoubling", {.kind = AstraAlgorithmKind::kHalvingDoubling, .flat = true}},
    AstraName{"doubleBinaryTree", {.kind = AstraAlgorithmKind::kDoubleBinaryTree}},
    AstraName{"direct", {.kind = AstraAlgorithmKind::kDirect}},
    AstraName{"oneDirect", {.kind = AstraAlgorithmKind::kDirect, .flat = true}},
};

}  // namespace

std::optional<AstraAlgorithm> parse_astra_algorithm(std::string_view name) {
  for (const AstraName& known : kAstraNames) {
    if (name == known.name) return known.algorithm;
    if (known.algorithm.kind != AstraAlgorithmKind::kDirect || !name.starts_with(known.name)) continue;
    const std::string_view digits = name.substr(known.name.size());
    AstraAlgorithm algorithm = known.algorithm;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), algorithm.window);
    if (error == std::errc() && end == digits.data() + digits.size() && algorithm.window > 0) return algorithm;
  }
  return std::nullopt;
}

std::string to_string(const AstraAlgorithm& algorithm) {
  for (const AstraName& known : kAstraNames) {
    if (known.algorithm.kind != algorithm.kind || known.algorithm.flat != algorithm.flat) continue;
    return algorithm.window > 0 ? fmt::format("{}{}", known.name, algorithm.window) : std::string(known.name);
  }
  return {};
}

std::vector<std::string> astra_algorithm_names() {
  std::vector<std::string> names;
  for (const AstraName& known : kAstraNames) names.emplace_back(known.name);
  names.emplace_back("direct4");
  return names;
}

}  // namespace ringwright::collectives
