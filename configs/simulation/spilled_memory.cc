#include "configs/simulation/spilled_memory.h"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace ringwright::configs {
namespace {

constexpr std::string_view kHostDimension = "host";

DimensionId host_dimension(TaskGraph& graph) {
  const auto known = std::ranges::find(graph.dimensions, kHostDimension, &Dimension::name);
  if (known != graph.dimensions.end()) {
    return DimensionId(static_cast<std::size_t>(known - graph.dimensions.begin()));
  }
  Dimension& dimension = graph.dimensions.emplace_back();
  dimension.name = kHostDimension;
  for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) dimension.groups.push_back({RankId(rank)});
  index_groups(dimension, graph.rank_count());
  return DimensionId(graph.dimensions.size() - 1);
}

// The last task on the compute stream, if there is one.
std::vector<std::uint32_t> last_computing(const Program& program) {
  for (std::size_t t = program.tasks.size(); t-- > 0;) {
    if (program.tasks[t].stream == kComputeStream) return {static_cast<std::uint32_t>(t)};
  }
  return {};
}

}  // namespace

void spill_to_host(TaskGraph& graph, Bytes bytes) {
  const DimensionId host = host_dimension(graph);
  const auto out = static_cast<std::uint32_t>(graph.messages.size());
  graph.messages.push_back({.bytes = bytes, .path = DmaPath::kToMemory});
  graph.messages.push_back({.bytes = bytes, .path = DmaPath::kFromMemory});
  const auto label = static_cast<std::uint32_t>(graph.labels.size());
  graph.labels.emplace_back("memory that does not fit");
  for (Program& program : graph.programs) {
    std::vector<std::uint32_t> after = last_computing(program);
    const auto stream = static_cast<StreamIndex>(program.stream_count++);
    for (const std::uint32_t message : {out, out + 1}) {
      const auto first = static_cast<std::uint32_t>(program.dependencies.size());
      program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
      program.tasks.push_back({.kind = TaskKind::kSend,
                               .stream = stream,
                               .dimension = host,
                               .detail = message,
                               .first_dependency = first,
                               .dependency_count = static_cast<std::uint32_t>(after.size()),
                               .label = label});
      after = {static_cast<std::uint32_t>(program.tasks.size() - 1)};
    }
  }
}

}  // namespace ringwright::configs
