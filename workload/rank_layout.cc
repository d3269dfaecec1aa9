#include "workload/rank_layout.h"

namespace ringwright::workload {

RankLayout::RankLayout(const ParallelOptions& options)
    : sizes_{.tp = options.tp, .cp = options.cp, .ep = options.ep, .dp = options.dp, .pp = options.pp} {
  for (const int size : {options.tp, options.cp, options.ep, options.dp, options.pp}) {
    count_ *= static_cast<std::size_t>(size);
  }
}

RankCoordinates RankLayout::coordinates(RankId rank) const {
  auto rest = static_cast<int>(rank.index());
  const auto take = [&rest](int size) {
    const int coordinate = rest % size;
    rest /= size;
    return coordinate;
  };
  RankCoordinates result;
  result.tp = take(sizes_.tp);
  result.cp = take(sizes_.cp);
  result.ep = take(sizes_.ep);
  result.dp = take(sizes_.dp);
  result.pp = take(sizes_.pp);
  return result;
}

RankId RankLayout::rank(const RankCoordinates& at) const {
  return RankId((((at.pp * sizes_.dp + at.dp) * sizes_.ep + at.ep) * sizes_.cp + at.cp) * sizes_.tp + at.tp);
}

std::size_t RankLayout::size_of(int RankCoordinates::*axis) const {
  return static_cast<std::size_t>(sizes_.*axis);
}

Dimension RankLayout::along(const char* name, int RankCoordinates::*axis) const {
  Dimension dimension;
  dimension.name = name;
  dimension.groups.reserve(count_ / size_of(axis));
  for (std::size_t first = 0; first < count_; ++first) {
    RankCoordinates member = coordinates(RankId(first));
    if (member.*axis != 0) continue;
    std::vector<RankId>& group = dimension.groups.emplace_back();
    for (member.*axis = 0; member.*axis < sizes_.*axis; ++(member.*axis)) group.push_back(rank(member));
  }
  index_groups(dimension, count_);
  return dimension;
}

Dimension RankLayout::tensor_dimension() const {
  return along("tp", &RankCoordinates::tp);
}
Dimension RankLayout::data_dimension() const {
  return along("dp", &RankCoordinates::dp);
}
Dimension RankLayout::pipeline_dimension() const {
  return along("pp", &RankCoordinates::pp);
}

Dimension RankLayout::model_dimension() const {
  Dimension dimension;
  dimension.name = "mp";
  const std::size_t replicas = count_ / (size_of(&RankCoordinates::tp) * size_of(&RankCoordinates::pp));
  dimension.groups.resize(replicas);
  for (std::size_t number = 0; number < count_; ++number) {
    const RankCoordinates at = coordinates(RankId(number));
    const int replica = (at.dp * sizes_.ep + at.ep) * sizes_.cp + at.cp;
    dimension.groups[static_cast<std::size_t>(replica)].emplace_back(number);
  }
  index_groups(dimension, count_);
  return dimension;
}

Dimension RankLayout::embedding_dimension() const {
  Dimension dimension;
  dimension.name = "embedding";
  for (std::size_t number = 0; number < count_; ++number) {
    RankCoordinates at = coordinates(RankId(number));
    if (at.pp == sizes_.pp - 1 && sizes_.pp > 1) continue;  // joins its first stage's group
    std::vector<RankId>& group = dimension.groups.emplace_back();
    group.emplace_back(number);
    if (at.pp != 0 || sizes_.pp == 1) continue;
    at.pp = sizes_.pp - 1;
    group.push_back(rank(at));
  }
  index_groups(dimension, count_);
  return dimension;
}

}  // namespace ringwright::workload
