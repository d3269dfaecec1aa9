// One row an algorithm.
#include "collectives/builtin.h"

#include <array>

namespace ringwright::collectives {

const CollectiveAlgorithm& ring();
const CollectiveAlgorithm& halving_doubling();
const CollectiveAlgorithm& direct();
const CollectiveAlgorithm& pairwise();

std::span<const CollectiveAlgorithm* const> algorithms() {
  static const std::array rows = {
      &ring(),
      &halving_doubling(),
      &direct(),
      &pairwise(),
  };
  return rows;
}

const CollectiveAlgorithm* find_algorithm(std::string_view name) {
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    if (algorithm->name() == name) return algorithm;
  }
  return nullptr;
}

std::vector<std::string> algorithm_names() {
  std::vector<std::string> names;
  for (const CollectiveAlgorithm* algorithm : algorithms()) names.emplace_back(algorithm->name());
  return names;
}

}  // namespace ringwright::collectives
