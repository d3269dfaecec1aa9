// The names that ASTRA-sim's system files give to collective algorithms, one per dimension of the network.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::collectives {

enum class AstraAlgorithmKind : std::uint8_t { kRing, kDirect, kHalvingDoubling, kDoubleBinaryTree };

struct AstraAlgorithm {
  AstraAlgorithmKind kind = AstraAlgorithmKind::kRing;
  bool flat = false;         // over all ranks as one dimension: oneRing
  std::uint32_t window = 0;  // of kDirect: messages in flight; 0: all
};

// "ring", "direct4", "oneHalvingDoubling"; empty when the name is none.
[[nodiscard]] std::optional<AstraAlgorithm> parse_astra_algorithm(std::string_view name);
[[nodiscard]] std::string to_string(const AstraAlgorithm& algorithm);
[[nodiscard]] std::vector<std::string> astra_algorithm_names();

}  // namespace ringwright::collectives
