#include "collectives/astra/phases.h"

#include <bit>
#include <limits>
#include <optional>

#include <fmt/format.h>

namespace ringwright::collectives {
namespace {

constexpr std::int64_t kMostBytes = std::numeric_limits<std::int64_t>::max() / 2;

struct ChunkSizes {
  std::int64_t chunk = 0;
  std::int64_t count = 0;
};

ChunkSizes chunk_sizes(const AstraCall& call) {
  std::int64_t bytes = call.bytes;
  std::int64_t chunk = bytes / call.splits;
  if (call.kind != CollectiveKind::kAllGather && call.job_ranks > chunk) {
    chunk = call.job_ranks;
    bytes = call.splits * chunk;
  }
  // ASTRA-sim divides by zero here; a chunk of one byte is the smallest there can be.
  if (chunk == 0) chunk = 1;
  return {.chunk = chunk, .count = bytes / chunk + (bytes % chunk == 0 ? 0 : 1)};
}

std::optional<std::string> why_not(const AstraCall& call, std::size_t dimension) {
  const AstraAlgorithm& algorithm = call.algorithms[dimension];
  const std::uint32_t nodes = call.dimensions[dimension];
  const bool halving = algorithm.kind == AstraAlgorithmKind::kHalvingDoubling;
  const bool tree = algorithm.kind == AstraAlgorithmKind::kDoubleBinaryTree;
  if ((halving || tree) && !std::has_single_bit(nodes)) {
    return fmt::format("{} needs a power of two of ranks, and dimension {} has {}", to_string(algorithm), dimension,
                       nodes);
  }
  if (halving && call.kind == CollectiveKind::kAllToAll) return "halvingDoubling has no all-to-all";
  if (tree && call.kind != CollectiveKind::kAllReduce) return "doubleBinaryTree only has an all-reduce";
  return std::nullopt;
}

class PhaseList {
 public:
  PhaseList(const AstraCall& call, std::int64_t chunk) : call_(call), bytes_(chunk) {
    std::uint32_t stride = 1;
    for (std::size_t d = 0; d < call.dimensions.size(); ++d) {
      strides_.push_back(stride);
      stride *= call.dimensions[d];
      if (call.dimensions[d] > 1 && call.involved[d]) active_.push_back(d);
    }
  }

  [[nodiscard]] std::vector<ChunkPhase> take() {
    if (active_.empty()) return {};
    const bool layered = call_.kind == CollectiveKind::kAllReduce && call_.local_bandwidth_aware;
    if (layered) {
      for (std::size_t i = 0; i + 1 < active_.size(); ++i) add(i, CollectiveKind::kReduceScatter, QueueHalf::kFirst);
      add(active_.size() - 1, CollectiveKind::kAllReduce, QueueHalf::kFirst);
      for (std::size_t i = active_.size() - 1; i-- > 0;) add(i, CollectiveKind::kAllGather, QueueHalf::kLast);
    } else if (call_.kind == CollectiveKind::kAllGather) {
      for (std::size_t i = active_.size(); i-- > 0;) add(i, call_.kind, QueueHalf::kBoth);
    } else {
      for (std::size_t i = 0; i < active_.size(); ++i) add(i, call_.kind, QueueHalf::kBoth);
    }
    return std::move(phases_);
  }
  [[nodiscard]] bool too_large() const { return too_large_; }
  [[nodiscard]] const std::vector<std::size_t>& active() const { return active_; }

 private:
  void add(std::size_t index, CollectiveKind kind, QueueHalf half) {
    const std::size_t dimension = active_[index];
    const AstraPhase phase{.kind = kind,
                           .algorithm = call_.algorithms[dimension],
                           .nodes = call_.dimensions[dimension],
                           .bytes = bytes_,
                           .in_group = call_.in_group};
    if (bytes_ > kMostBytes / phase.nodes) {
      too_large_ = true;
      return;
    }
    ChunkPhase steps = astra_steps(phase);
    steps.half = half;
    steps.dimension = static_cast<std::uint32_t>(dimension);
    steps.stride = strides_[dimension];
    phases_.push_back(std::move(steps));
    bytes_ = bytes_after(phase);
  }

  const AstraCall& call_;
  std::int64_t bytes_;
  std::vector<std::uint32_t> strides_;
  std::vector<std::size_t> active_;
  std::vector<ChunkPhase> phases_;
  bool too_large_ = false;
};

}  // namespace

tl::expected<std::uint32_t, std::string> astra_chunks(const AstraCall& call) {
  const std::int64_t count = call.splits > kMostChunks ? call.splits : chunk_sizes(call).count;
  if (count <= kMostChunks) return static_cast<std::uint32_t>(count);
  return tl::unexpected(fmt::format("{} chunks are too many (at most {})", count, kMostChunks));
}

tl::expected<ChunkedCollective, std::string> astra_collective(const AstraCall& call) {
  if (!call.algorithms.empty() && call.algorithms.front().flat && call.dimensions.size() > 1) {
    AstraCall flat = call;
    std::uint32_t ranks = 1;
    for (const std::uint32_t nodes : call.dimensions) ranks *= nodes;
    flat.dimensions = {ranks};
    flat.involved.resize(1);
    flat.algorithms.resize(1);
    return astra_collective(flat);
  }
  const auto chunks = astra_chunks(call);
  if (!chunks) return tl::unexpected(chunks.error());
  if (*chunks == 0) return ChunkedCollective{};
  const ChunkSizes sizes = chunk_sizes(call);
  PhaseList list(call, sizes.chunk);
  for (const std::size_t dimension : list.active()) {
    if (const auto reason = why_not(call, dimension)) return tl::unexpected(*reason);
  }
  ChunkedCollective collective{.chunks = *chunks, .phases = list.take(), .pays_endpoint_delay = !call.in_group};
  if (list.too_large()) return tl::unexpected(fmt::format("its {} bytes grow beyond 2^62", call.bytes));
  return collective;
}

}  // namespace ringwright::collectives
