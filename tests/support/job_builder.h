// Builds small task graphs by hand, for tests.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::test {

class ProgramBuilder {
 public:
  ProgramBuilder(TaskGraph& graph, std::string name) : graph_(graph) {
    program_.name = std::move(name);
    program_.stream_count = 1;
  }

  // Compute on stream 0; the work is one kernel whose FLOPs are the time in ps of a 1 TFLOP/s GPU.
  std::uint32_t compute(Duration time, const std::vector<std::uint32_t>& after = {},
                        StreamIndex stream = kComputeStream) {
    Work work;
    work.name = "work";
    work.kernels.push_back({.name = "kernel", .flops = Flops(static_cast<double>(time.count())), .bytes = Bytes(0)});
    graph_.works.push_back(std::move(work));
    return add({.kind = TaskKind::kCompute, .stream = stream,
                .detail = static_cast<std::uint32_t>(graph_.works.size() - 1)}, "compute", after);
  }
  std::uint32_t collective(DimensionId dimension, CollectiveKind kind, Bytes bytes, StreamIndex stream,
                           const std::vector<std::uint32_t>& after = {}) {
    graph_.collectives.push_back({.kind = kind, .bytes = bytes});
    return add({.kind = TaskKind::kCollective, .stream = stream, .dimension = dimension,
                .detail = static_cast<std::uint32_t>(graph_.collectives.size() - 1)},
               std::string(to_string(kind)), after);
  }
  std::uint32_t send(DimensionId dimension, const MessageSpec& message, StreamIndex stream,
                     const std::vector<std::uint32_t>& after = {}) {
    graph_.messages.push_back(message);
    return add({.kind = TaskKind::kSend, .stream = stream, .dimension = dimension,
                .detail = static_cast<std::uint32_t>(graph_.messages.size() - 1)}, "send", after);
  }
  std::uint32_t receive(DimensionId dimension, const MessageSpec& message,
                        const std::vector<std::uint32_t>& after = {}, StreamIndex stream = kNoStream) {
    graph_.messages.push_back(message);
    return add({.kind = TaskKind::kReceive, .stream = stream, .dimension = dimension,
                .detail = static_cast<std::uint32_t>(graph_.messages.size() - 1)}, "receive", after);
  }

  // Puts the program into the graph and gives it to these ranks.
  void run_on(const std::vector<int>& ranks) {
    graph_.programs.push_back(program_);
    for (const int rank : ranks) {
      if (graph_.program_of.size() <= static_cast<std::size_t>(rank)) {
        graph_.program_of.resize(static_cast<std::size_t>(rank) + 1);
      }
      graph_.program_of[static_cast<std::size_t>(rank)] = ProgramId(graph_.programs.size() - 1);
    }
  }

 private:
  std::uint32_t add(Task task, const std::string& label, const std::vector<std::uint32_t>& after) {
    const auto known = std::find(graph_.labels.begin(), graph_.labels.end(), label);
    task.label = static_cast<std::uint32_t>(known - graph_.labels.begin());
    if (known == graph_.labels.end()) graph_.labels.push_back(label);
    task.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
    task.dependency_count = static_cast<std::uint32_t>(after.size());
    program_.dependencies.insert(program_.dependencies.end(), after.begin(), after.end());
    if (task.stream != kNoStream) program_.stream_count = std::max(program_.stream_count, task.stream + 1);
    program_.tasks.push_back(task);
    return static_cast<std::uint32_t>(program_.tasks.size() - 1);
  }

  TaskGraph& graph_;
  Program program_;
};

// Adds a dimension with these groups; every rank must be in one of them.
inline DimensionId add_dimension(TaskGraph& graph, std::string name, const std::vector<std::vector<int>>& groups) {
  Dimension dimension;
  dimension.name = std::move(name);
  dimension.joins_stages = dimension.name == "pp";
  std::size_t ranks = 0;
  for (const auto& group : groups) {
    dimension.groups.emplace_back();
    for (const int rank : group) dimension.groups.back().emplace_back(rank);
    ranks += group.size();
  }
  index_groups(dimension, ranks);
  graph.dimensions.push_back(std::move(dimension));
  return DimensionId(graph.dimensions.size() - 1);
}

// Places rank r on GPU r % per_host of host r / per_host.
inline void place_ranks(TaskGraph& graph, int per_host) {
  std::vector<RankPosition> places;
  for (int rank = 0; rank < static_cast<int>(graph.rank_count()); ++rank) {
    places.push_back({.host = rank / per_host, .gpu = rank % per_host});
  }
  lay_out_groups(graph, places);
}

}  // namespace ringwright::test
