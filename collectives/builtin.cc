// One row per algorithm.
#include "collectives/builtin.h"

#include <array>

namespace ringwright::collectives {

const CollectiveAlgorithm& ring();
const CollectiveAlgorithm& rail_rings();
const CollectiveAlgorithm& permuted_rings();
const CollectiveAlgorithm& double_tree();
const CollectiveAlgorithm& halving_doubling();
const CollectiveAlgorithm& recursive_multiplying();
const CollectiveAlgorithm& recursive_doubling();
const CollectiveAlgorithm& bine();
const CollectiveAlgorithm& bine_doubling();
const CollectiveAlgorithm& bruck();
const CollectiveAlgorithm& neighbor_exchange();
const CollectiveAlgorithm& binomial();
const CollectiveAlgorithm& scatter_allgather();
const CollectiveAlgorithm& scatter_ring();
const CollectiveAlgorithm& hierarchical();
const CollectiveAlgorithm& hybrid();
const CollectiveAlgorithm& islands();
const CollectiveAlgorithm& direct();
const CollectiveAlgorithm& all_pairs();
const CollectiveAlgorithm& all_pairs_once();
const CollectiveAlgorithm& pairwise();
const CollectiveAlgorithm& scattered();
const CollectiveAlgorithm& in_switch();
const CollectiveAlgorithm& nvls_tree();
const CollectiveAlgorithm& collnet_direct();
const CollectiveAlgorithm& collnet_chain();
const CollectiveAlgorithm& around_lost_nics();
const CollectiveAlgorithm& adaptive_trees();

std::span<const CollectiveAlgorithm* const> algorithms() {
  static const std::array rows = {
      &ring(),
      &rail_rings(),
      &permuted_rings(),
      &double_tree(),
      &halving_doubling(),
      &recursive_multiplying(),
      &recursive_doubling(),
      &bine(),
      &bine_doubling(),
      &bruck(),
      &neighbor_exchange(),
      &binomial(),
      &scatter_allgather(),
      &scatter_ring(),
      &hierarchical(),
      &hybrid(),
      &islands(),
      &direct(),
      &all_pairs(),
      &all_pairs_once(),
      &pairwise(),
      &scattered(),
      &in_switch(),
      &nvls_tree(),
      &collnet_direct(),
      &collnet_chain(),
      &around_lost_nics(),
      &adaptive_trees(),
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
