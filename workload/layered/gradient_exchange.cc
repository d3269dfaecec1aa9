#include "workload/layered/gradient_exchange.h"

#include <utility>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr CommStream kReplicas{.dimension = DimensionId(0), .stream = 1};
// With parameter servers.
constexpr CommStream kHostReduce{.dimension = DimensionId(0), .stream = 1};
constexpr CommStream kHostGather{.dimension = DimensionId(0), .stream = 2};
constexpr CommStream kPush{.dimension = DimensionId(1), .stream = 3};
constexpr CommStream kPull{.dimension = DimensionId(1), .stream = 4};
constexpr CommStream kHostMemory{.dimension = DimensionId(2), .stream = 5};

std::size_t ranks_of(const LayeredLayout& layout) { return static_cast<std::size_t>(layout.ranks); }
std::size_t host_ranks_of(const LayeredLayout& layout) { return static_cast<std::size_t>(layout.host_ranks); }

// Ranks of one host.
Dimension host_dimension(const LayeredLayout& layout) {
  Dimension dimension;
  dimension.name = "dp_node";
  for (std::size_t rank = 0; rank < ranks_of(layout); ++rank) {
    if (rank % host_ranks_of(layout) == 0) dimension.groups.emplace_back();
    dimension.groups.back().emplace_back(rank);
  }
  return dimension;
}

// Ranks with the same GPU number on all hosts.
Dimension server_dimension(const LayeredLayout& layout) {
  Dimension dimension;
  dimension.name = "ps";
  dimension.servers = layout.servers;
  dimension.groups.resize(host_ranks_of(layout));
  for (std::size_t rank = 0; rank < ranks_of(layout); ++rank) {
    dimension.groups[rank % host_ranks_of(layout)].emplace_back(rank);
  }
  return dimension;
}

// Every rank alone with its host.
Dimension memory_dimension(const LayeredLayout& layout) {
  Dimension dimension;
  dimension.name = "host";
  for (std::size_t rank = 0; rank < ranks_of(layout); ++rank) dimension.groups.push_back({RankId(rank)});
  return dimension;
}

}  // namespace

GradientExchange::GradientExchange(const LayeredModel& model, const LayeredLayout& layout, bool is_server)
    : model_(model), layout_(layout), is_server_(is_server) {}

void GradientExchange::exchange(ProgramWriter& writer, Bytes bytes) {
  if (bytes == Bytes(0) || layout_.ranks < 2) return;
  if (layout_.servers.count > 0) {
    by_servers(writer, bytes);
  } else {
    all_reduce(writer, bytes);
  }
  ++buckets_;
}

void GradientExchange::all_reduce(ProgramWriter& writer, Bytes bytes) {
  last_.push_back(writer.collective(kReplicas, {.kind = CollectiveKind::kAllReduce, .bytes = bytes},
                                    fmt::format("gradients {}", buckets_)));
}

// Servers take part in every call of their group, in the same order.
void GradientExchange::by_servers(ProgramWriter& writer, Bytes bytes) {
  const bool works = !is_server_ || !layout_.servers.dedicated;
  const bool several = works && layout_.host_ranks > 1;
  const Bytes part(bytes.count() / layout_.host_ranks);
  if (part == Bytes(0)) return;
  std::vector<TaskIndex> ready = writer.last_computation();
  if (several) {
    ready = {writer.collective_after(kHostReduce, {.kind = CollectiveKind::kReduceScatter, .bytes = bytes},
                                     fmt::format("host reduce {}", buckets_), ready)};
  }
  ready = {writer.collective_after(kPush, {.kind = CollectiveKind::kReduceScatter, .bytes = part},
                                   fmt::format("push {}", buckets_), ready)};
  if (is_server_) {
    ready = {writer.send_after(kHostMemory, {.bytes = server_traffic(part), .path = DmaPath::kWithinMemory},
                               fmt::format("server update {}", buckets_), ready)};
  }
  ready = {writer.collective_after(kPull, {.kind = CollectiveKind::kAllGather, .bytes = part},
                                   fmt::format("pull {}", buckets_), ready)};
  if (several) {
    ready = {writer.collective_after(kHostGather, {.kind = CollectiveKind::kAllGather, .bytes = bytes},
                                     fmt::format("host gather {}", buckets_), ready)};
  }
  last_.push_back(ready.front());
}

// Reads and writes of host memory for a server's part of a bucket: the first push is copied, every other one is read,
// added to the sum, and written; the update reads the sum, the weight and its state, and writes weight and state.
Bytes GradientExchange::server_traffic(Bytes bytes) const {
  const std::int64_t pushes = layout_.workers() / layout_.host_ranks;
  const std::int64_t passes = 3 * pushes - 1 + 3 + 2 * state_values(model_.optimizer);
  return Bytes(bytes.count() * passes / layout_.servers.count);
}

void GradientExchange::wait(ProgramWriter& writer) {
  for (const TaskIndex task : std::exchange(last_, {})) writer.wait(task);
}

int GradientExchange::streams() const {
  if (layout_.ranks < 2) return 1;
  return layout_.servers.count > 0 ? kHostMemory.stream + 1 : kReplicas.stream + 1;
}

std::vector<Dimension> exchange_dimensions(const LayeredLayout& layout) {
  if (layout.ranks < 2) return {};
  const std::size_t ranks = ranks_of(layout);
  if (layout.servers.count == 0) return {world_dimension("dp", ranks)};
  std::vector<Dimension> dimensions = {host_dimension(layout), server_dimension(layout), memory_dimension(layout)};
  for (Dimension& dimension : dimensions) index_groups(dimension, ranks);
  return dimensions;
}

std::vector<Bytes> exchange_volume(const LayeredLayout& layout, Bytes gradients) {
  if (layout.ranks < 2) return {};
  if (layout.servers.count == 0) return {gradients};
  const Bytes pushed(gradients.count() / layout.host_ranks);
  return {gradients * 2, pushed * 2, Bytes()};
}

}  // namespace ringwright::workload
