#include "workload/recommendation/recommendation_dimensions.h"

#include <utility>

namespace ringwright::workload {
namespace {

constexpr const char* kIntra = "mp_intra";
constexpr const char* kCross = "mp_cross";

// All ranks; those of a host; or those with the same number on their hosts.
Dimension placed_dimension(const std::string& name, const TablePlacement& placement) {
  const std::size_t ranks = placement.role_of_rank.size();
  if (name != kIntra && name != kCross) return world_dimension(name, ranks);
  const auto of_host = static_cast<std::size_t>(placement.ranks_of_host);
  Dimension dimension;
  dimension.name = name;
  dimension.groups.resize(name == kIntra ? ranks / of_host : of_host);
  for (std::size_t rank = 0; rank < ranks; ++rank)
    dimension.groups[name == kIntra ? rank / of_host : rank % of_host].push_back(RankId(rank));
  index_groups(dimension, ranks);
  return dimension;
}

Dimension each_alone(std::string name, std::size_t ranks) {
  Dimension dimension;
  dimension.name = std::move(name);
  for (std::size_t rank = 0; rank < ranks; ++rank) dimension.groups.push_back({RankId(rank)});
  index_groups(dimension, ranks);
  return dimension;
}

}  // namespace

std::vector<std::string> recommendation_dimensions(const TablePlacement& placement) {
  std::vector<std::string> names = recommendation_dimensions();
  if (!placement.uses_hosts()) names.resize(2);
  return names;
}

std::vector<std::string> recommendation_dimensions() {
  return {"mp", "dp", kIntra, kCross};
}

std::vector<Dimension> placed_dimensions(const TablePlacement& placement, bool has_cache) {
  std::vector<Dimension> dimensions;
  for (const std::string& name : recommendation_dimensions(placement))
    dimensions.push_back(placed_dimension(name, placement));
  if (has_cache) dimensions.push_back(each_alone("host", placement.role_of_rank.size()));
  return dimensions;
}

}  // namespace ringwright::workload
