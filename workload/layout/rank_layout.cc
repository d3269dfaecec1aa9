#include "workload/layout/rank_layout.h"

#include <cstddef>
#include <limits>

namespace ringwright::workload {

RankLayout::RankLayout(const ParallelOptions& options, ListedRanks listed)
    : sizes_{.tp = options.tp, .cp = options.cp, .dp = options.dp, .pp = options.pp},
      expert_sizes_{.etp = options.experts.etp, .ep = options.experts.ep, .edp = options.expert_replicas()},
      inner_(options.experts.inner()),
      ulysses_(options.ulysses),
      per_worker_(options.dp / options.workers) {
  for (const int size : {options.tp, options.cp, options.dp, options.pp}) count_ *= static_cast<std::size_t>(size);
  if (listed == ListedRanks::kNone) count_ = 0;
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
  result.dp = take(sizes_.dp);
  result.pp = take(sizes_.pp);
  return result;
}

RankId RankLayout::rank(const RankCoordinates& at) const {
  return RankId(((at.pp * sizes_.dp + at.dp) * sizes_.cp + at.cp) * sizes_.tp + at.tp);
}

ExpertCoordinates RankLayout::expert_coordinates(RankId rank) const {
  const int stage_size = sizes_.tp * sizes_.cp * sizes_.dp;
  const int in_stage = static_cast<int>(rank.index()) % stage_size;
  return {.etp = in_stage % expert_sizes_.etp,
          .ep = in_stage / expert_sizes_.etp % expert_sizes_.ep,
          .edp = in_stage / (expert_sizes_.etp * expert_sizes_.ep),
          .pp = static_cast<int>(rank.index()) / stage_size};
}

void RankLayout::advance(RankCoordinates& at) const {
  if (++at.tp < sizes_.tp) return;
  at.tp = 0;
  if (++at.cp < sizes_.cp) return;
  at.cp = 0;
  if (++at.dp < sizes_.dp) return;
  at.dp = 0;
  ++at.pp;
}

template <class KeyOf>
Dimension RankLayout::grouped(const char* name, KeyOf key_of) const {
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> group_of_key(count_, kNone);  // at most as many groups as ranks
  Dimension dimension;
  dimension.name = name;
  dimension.group_of.resize(count_);
  std::uint32_t groups = 0;
  RankCoordinates at;
  for (std::size_t number = 0; number < count_; ++number, advance(at)) {
    std::uint32_t& group = group_of_key[static_cast<std::size_t>(key_of(RankId(number), at))];
    if (group == kNone) group = groups++;
    dimension.group_of[number] = group;
  }
  dimension.index_in_group.resize(count_);
  dimension.groups.resize(groups);
  for (std::vector<RankId>& group : dimension.groups) group.reserve(count_ / groups);  // all have the same size
  for (std::size_t number = 0; number < count_; ++number) {
    std::vector<RankId>& group = dimension.groups[dimension.group_of[number]];
    dimension.index_in_group[number] = static_cast<std::uint32_t>(group.size());
    group.emplace_back(number);
  }
  return dimension;
}

Dimension RankLayout::tensor_dimension() const {
  return grouped("tp", [this](RankId, const RankCoordinates& at) {
    return (at.pp * sizes_.dp + at.dp) * sizes_.cp + at.cp;
  });
}

Dimension RankLayout::context_dimension() const {
  return grouped("cp", [this](RankId, const RankCoordinates& at) {
    return (at.pp * sizes_.dp + at.dp) * sizes_.tp + at.tp;
  });
}

Dimension RankLayout::data_dimension() const {
  return grouped("dp", [this](RankId, const RankCoordinates& at) {
    return (at.pp * (sizes_.dp / per_worker_) + at.dp / per_worker_) * sizes_.tp + at.tp;
  });
}

Dimension RankLayout::worker_dimension() const {
  return grouped("outer", [this](RankId, const RankCoordinates& at) {
    return ((at.pp * per_worker_ + at.dp % per_worker_) * sizes_.cp + at.cp) * sizes_.tp + at.tp;
  });
}

Dimension RankLayout::pipeline_dimension() const {
  Dimension dimension = grouped("pp", [this](RankId, const RankCoordinates& at) {
    return (at.dp * sizes_.cp + at.cp) * sizes_.tp + at.tp;
  });
  dimension.joins_stages = true;
  return dimension;
}

Dimension RankLayout::ulysses_dimension() const {
  return grouped("cp_a2a", [this](RankId, const RankCoordinates& at) {
    return ((at.pp * sizes_.dp + at.dp) * sizes_.cp + at.cp / ulysses_) * sizes_.tp + at.tp;
  });
}

Dimension RankLayout::ring_dimension() const {
  return grouped("cp_p2p", [this](RankId, const RankCoordinates& at) {
    return ((at.pp * sizes_.dp + at.dp) * sizes_.cp + at.cp % ulysses_) * sizes_.tp + at.tp;
  });
}

Dimension RankLayout::expert_dimension() const {
  return grouped("ep", [this](RankId rank, const RankCoordinates&) {
    const ExpertCoordinates at = expert_coordinates(rank);
    return (at.pp * expert_sizes_.edp + at.edp) * expert_sizes_.etp + at.etp;
  });
}

Dimension RankLayout::expert_tensor_dimension() const {
  return grouped("etp", [this](RankId rank, const RankCoordinates&) {
    const ExpertCoordinates at = expert_coordinates(rank);
    return (at.pp * expert_sizes_.edp + at.edp) * expert_sizes_.ep + at.ep;
  });
}

Dimension RankLayout::expert_data_dimension() const {
  return grouped("edp", [this](RankId rank, const RankCoordinates&) {
    const ExpertCoordinates at = expert_coordinates(rank);
    return (at.pp * expert_sizes_.ep + at.ep) * expert_sizes_.etp + at.etp;
  });
}

Dimension RankLayout::inner_expert_dimension() const {
  return grouped("ep_inner", [this](RankId rank, const RankCoordinates&) {
    const ExpertCoordinates at = expert_coordinates(rank);
    return ((at.pp * expert_sizes_.edp + at.edp) * expert_sizes_.ep + at.ep / inner_) * expert_sizes_.etp + at.etp;
  });
}

Dimension RankLayout::outer_expert_dimension() const {
  return grouped("ep_outer", [this](RankId rank, const RankCoordinates&) {
    const ExpertCoordinates at = expert_coordinates(rank);
    return ((at.pp * expert_sizes_.edp + at.edp) * expert_sizes_.ep + at.ep % inner_) * expert_sizes_.etp + at.etp;
  });
}

Dimension RankLayout::model_dimension() const {
  return grouped("mp", [this](RankId, const RankCoordinates& at) {
    return at.dp * sizes_.cp + at.cp;
  });
}

Dimension RankLayout::embedding_dimension() const {
  Dimension dimension;
  dimension.name = "embedding";
  const std::size_t stage = count_ / static_cast<std::size_t>(sizes_.pp);
  const std::size_t last = count_ - stage;  // the last stage's first rank; they join their first stage's groups
  dimension.groups.reserve(sizes_.pp > 1 ? last : count_);
  for (std::size_t number = 0; number < (sizes_.pp > 1 ? last : count_); ++number) {
    std::vector<RankId>& group = dimension.groups.emplace_back();
    if (number < stage && sizes_.pp > 1) {
      group = {RankId(number), RankId(last + number)};
    } else {
      group = {RankId(number)};
    }
  }
  index_groups(dimension, count_);
  return dimension;
}

Dimension RankLayout::mirror_dimension() const {
  Dimension dimension;
  dimension.name = "mirror";
  for (std::size_t number = 0; number < count_; ++number) {
    RankCoordinates at = coordinates(RankId(number));
    const int mirror = sizes_.pp - 1 - at.pp;
    if (mirror < at.pp) continue;  // joins its mirror's group
    std::vector<RankId>& group = dimension.groups.emplace_back();
    group.emplace_back(number);
    if (mirror == at.pp) continue;
    at.pp = mirror;
    group.push_back(rank(at));
  }
  index_groups(dimension, count_);
  return dimension;
}

}  // namespace ringwright::workload
