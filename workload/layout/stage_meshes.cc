#include "workload/layout/stage_meshes.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ringwright::workload {
namespace {

// The common part of the i-th of n and the j-th of m equal parts of a whole, in units of 1 / lcm(n, m).
std::int64_t common(int i, int n, int j, int m) {
  const std::int64_t units = std::lcm(n, m);
  const std::int64_t begin = std::max(i * (units / n), j * (units / m));
  const std::int64_t end = std::min((i + 1) * (units / n), (j + 1) * (units / m));
  return std::max<std::int64_t>(0, end - begin);
}

// Of the activation that rank (d, t) of one mesh and (e, u) of the next have in common.
Bytes shared(Bytes activation, const StageMesh& mesh, int d, int t, const StageMesh& next, int e, int u) {
  const std::int64_t parts = common(d, mesh.dp, e, next.dp) * common(t, mesh.tp, u, next.tp);
  const std::int64_t whole = std::int64_t{std::lcm(mesh.dp, next.dp)} * std::lcm(mesh.tp, next.tp);
  return Bytes((activation.count() * parts + whole - 1) / whole);
}

}  // namespace

ParallelOptions parallel_of_stage(const ParallelOptions& parallel, int stage) {
  ParallelOptions own = parallel;
  if (parallel.meshes.empty()) return own;
  const StageMesh& mesh = parallel.meshes[static_cast<std::size_t>(stage)];
  own.meshes.clear();
  own.tp = mesh.tp;
  own.dp = mesh.dp;
  if (mesh.tp > 1) return own;
  own.sequence_parallel = own.keep_gathered = false;
  own.tensor_overlap = {};
  return own;
}

TrainingOptions training_of_stage(const TrainingOptions& training, const ParallelOptions& parallel, int stage) {
  TrainingOptions own = training;
  if (parallel.meshes.empty()) return own;
  own.micro_batch = training.micro_batch * parallel.dp / parallel.meshes[static_cast<std::size_t>(stage)].dp;
  return own;
}

std::vector<int> stage_of_ranks(const ParallelOptions& parallel) {
  std::vector<int> stages;
  for (int stage = 0; stage < parallel.pp; ++stage) {
    const ParallelOptions own = parallel_of_stage(parallel, stage);
    stages.insert(stages.end(), static_cast<std::size_t>(own.tp) * static_cast<std::size_t>(own.cp * own.dp), stage);
  }
  return stages;
}

StageMeshes::StageMeshes(const std::vector<StageMesh>& meshes) : meshes_(meshes), first_{0} {
  for (const StageMesh& mesh : meshes) first_.push_back(first_.back() + static_cast<std::size_t>(mesh.ranks()));
}

RankId StageMeshes::rank(int stage, int replica, int tensor) const {
  const int in_stage = replica * meshes_[static_cast<std::size_t>(stage)].tp + tensor;
  return RankId(first_rank(stage) + static_cast<std::size_t>(in_stage));
}

std::vector<StageEnds> StageMeshes::ends(Bytes activation) const {
  std::vector<StageEnds> ends(rank_count());
  for (int stage = 0; stage + 1 < static_cast<int>(meshes_.size()); ++stage) {
    const StageMesh& mesh = meshes_[static_cast<std::size_t>(stage)];
    const StageMesh& next = meshes_[static_cast<std::size_t>(stage) + 1];
    for (int from = 0; from < mesh.ranks(); ++from) {
      for (int to = 0; to < next.ranks(); ++to) {
        const Bytes bytes = shared(activation, mesh, from / mesh.tp, from % mesh.tp, next, to / next.tp, to % next.tp);
        if (bytes == Bytes(0)) continue;
        const RankId sender = rank(stage, from / mesh.tp, from % mesh.tp);
        const RankId receiver = rank(stage + 1, to / next.tp, to % next.tp);
        ends[sender.index()].after.push_back({.peer = receiver, .bytes = bytes});
        ends[receiver.index()].before.push_back({.peer = sender, .bytes = bytes});
      }
    }
  }
  return ends;
}

Dimension StageMeshes::within_meshes(const char* name, Along along) const {
  Dimension dimension;
  dimension.name = name;
  for (int stage = 0; stage < static_cast<int>(meshes_.size()); ++stage) {
    const StageMesh& mesh = meshes_[static_cast<std::size_t>(stage)];
    const bool tensor = along == Along::kTensor;
    const int groups = tensor ? mesh.dp : mesh.tp;
    const int members = tensor ? mesh.tp : mesh.dp;
    for (int group = 0; group < groups; ++group) {
      std::vector<RankId>& ranks = dimension.groups.emplace_back();
      for (int i = 0; i < members; ++i) ranks.push_back(tensor ? rank(stage, group, i) : rank(stage, i, group));
    }
  }
  index_groups(dimension, rank_count());
  return dimension;
}

Dimension StageMeshes::tensor_dimension() const {
  return within_meshes("tp", Along::kTensor);
}
Dimension StageMeshes::data_dimension() const {
  return within_meshes("dp", Along::kData);
}

Dimension StageMeshes::pipeline_dimension() const {
  std::vector<std::size_t> joined(rank_count());  // by rank: one with a lower number that it exchanges with, or itself
  std::iota(joined.begin(), joined.end(), std::size_t{0});
  const auto first_of = [&joined](std::size_t rank) {
    while (joined[rank] != rank) rank = joined[rank] = joined[joined[rank]];
    return rank;
  };
  const std::vector<StageEnds> ends = this->ends(Bytes(1));
  for (std::size_t number = 0; number < ends.size(); ++number) {
    for (const StagePiece& piece : ends[number].after) {
      const std::size_t here = first_of(number);
      const std::size_t there = first_of(piece.peer.index());
      joined[std::max(here, there)] = std::min(here, there);
    }
  }
  Dimension dimension;
  dimension.name = "pp";
  dimension.joins_stages = true;
  std::vector<std::size_t> group_of(rank_count());
  for (std::size_t number = 0; number < rank_count(); ++number) {
    const std::size_t first = first_of(number);
    if (first == number) {
      group_of[number] = dimension.groups.size();
      dimension.groups.emplace_back();
    }
    group_of[number] = group_of[first];
    dimension.groups[group_of[number]].emplace_back(number);
  }
  index_groups(dimension, rank_count());
  return dimension;
}

Dimension StageMeshes::model_dimension() const {
  const int replicas = meshes_.front().dp;
  const bool even = std::ranges::all_of(meshes_, [&](const StageMesh& mesh) { return mesh.dp == replicas; });
  if (!even) return world_dimension("mp", rank_count());
  Dimension dimension;
  dimension.name = "mp";
  for (int replica = 0; replica < replicas; ++replica) {
    std::vector<RankId>& ranks = dimension.groups.emplace_back();
    for (int stage = 0; stage < static_cast<int>(meshes_.size()); ++stage) {
      for (int t = 0; t < meshes_[static_cast<std::size_t>(stage)].tp; ++t) ranks.push_back(rank(stage, replica, t));
    }
  }
  index_groups(dimension, rank_count());
  return dimension;
}

Dimension StageMeshes::embedding_dimension() const {
  Dimension dimension;
  dimension.name = "embedding";
  const auto in_stage = static_cast<std::size_t>(meshes_.front().ranks());
  const std::size_t last = rank_count() - in_stage;
  for (std::size_t number = 0; number < last; ++number) {
    dimension.groups.push_back({RankId(number)});
    if (number < in_stage) dimension.groups.back().emplace_back(last + number);
  }
  index_groups(dimension, rank_count());
  return dimension;
}

}  // namespace ringwright::workload
