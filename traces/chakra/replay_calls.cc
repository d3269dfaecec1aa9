#include "traces/chakra/replay_calls.h"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

// What NCCL's users call for a barrier: an all-reduce of one element.
constexpr Bytes kBarrierBytes{4};

// As for every size of a scenario; buffers of several ranks stay within 64 bits.
constexpr Bytes kLargestBuffer{std::int64_t{1} << 50U};

std::optional<CollectiveKind> kind_of_collective(ChakraCollective collective) {
  switch (collective) {
    case ChakraCollective::kAllReduce:
    case ChakraCollective::kBarrier: return CollectiveKind::kAllReduce;
    case ChakraCollective::kReduce: return CollectiveKind::kReduce;
    case ChakraCollective::kAllGather: return CollectiveKind::kAllGather;
    case ChakraCollective::kBroadcast: return CollectiveKind::kBroadcast;
    case ChakraCollective::kAllToAll: return CollectiveKind::kAllToAll;
    case ChakraCollective::kReduceScatter:
    case ChakraCollective::kReduceScatterBlock: return CollectiveKind::kReduceScatter;
    case ChakraCollective::kGather:
    case ChakraCollective::kScatter: return std::nullopt;
  }
  return std::nullopt;
}

class CallReader {
 public:
  CallReader(const ChakraTrace& trace, ProblemList& problems) : trace_(trace), problems_(problems) {}

  [[nodiscard]] TraceCalls read(const ChakraOrder& order) {
    for (const std::uint32_t at : order.nodes) {
      if (problems_.is_full()) break;
      read_node(at);
    }
    return std::move(calls_);
  }

 private:
  void read_node(std::uint32_t at) {
    const ChakraAttributes& given = trace_.of(trace_.nodes[at]);
    for (const auto& [size, name] :
         {std::pair(given.comm_size, "comm_size"), std::pair(given.tensor_size, "tensor_size"),
          std::pair(given.buffer_bytes, "buffer_bytes")}) {
      if (size > kLargestBuffer) {
        return error(at, fmt::format("has {} = {}; at most 1 PiB can be simulated", name, size->count()));
      }
    }
    switch (role_of(trace_, trace_.nodes[at])) {
      case NodeRole::kCollective: return read_collective(at);
      case NodeRole::kSend: return read_message(at, trace_.of(trace_.nodes[at]).comm_dst, "comm_dst", calls_.sends);
      case NodeRole::kReceive:
        return read_message(at, trace_.of(trace_.nodes[at]).comm_src, "comm_src", calls_.receives);
      case NodeRole::kNothing:
      case NodeRole::kGpu:
      case NodeRole::kCpu:
      case NodeRole::kLoad:
      case NodeRole::kStore: return;
    }
  }

  void error(std::uint32_t at, const std::string& what, std::string hint = {}) {
    problems_.error("E251", fmt::format("{} {}", describe(trace_, trace_.nodes[at]), what), std::move(hint));
  }

  void read_collective(std::uint32_t at) {
    const ChakraAttributes& given = trace_.of(trace_.nodes[at]);
    if (!given.comm_type) return error(at, "is a collective without attribute 'comm_type'");
    const auto kind = kind_of_collective(*given.comm_type);
    if (!kind) {
      return error(at, fmt::format("is a {}, which is not simulated", to_string(*given.comm_type)),
                   "sends and receives, as NCCL carries it out");
    }
    const bool barrier = *given.comm_type == ChakraCollective::kBarrier;
    if (!given.comm_size && !barrier) return error(at, "is a collective without attribute 'comm_size'");
    calls_.collectives.push_back({.node = at,
                                  .group = given.pg_name.value_or(0),
                                  .kind = *kind,
                                  .size = barrier ? kBarrierBytes : *given.comm_size,
                                  .of_shards = *given.comm_type == ChakraCollective::kAllGather});
  }

  void read_message(std::uint32_t at, const std::optional<std::int64_t>& peer, std::string_view attribute,
                    std::vector<TraceMessage>& to) {
    const ChakraAttributes& given = trace_.of(trace_.nodes[at]);
    if (!peer) {
      return error(at, fmt::format("names no peer: attribute '{}' is missing", attribute),
                   "traces of PyTorch do not name the peers of its kernels for sends and receives");
    }
    if (!given.comm_size) return error(at, "is a message without attribute 'comm_size'");
    to.push_back({.node = at,
                  .group = given.pg_name.value_or(0),
                  .peer = *peer,
                  .tag = given.comm_tag.value_or(0),
                  .size = *given.comm_size});
  }

  const ChakraTrace& trace_;
  ProblemList& problems_;
  TraceCalls calls_;
};

}  // namespace

NodeRole role_of(const ChakraTrace& trace, const ChakraNode& node) {
  const ChakraAttributes& given = trace.of(node);
  const bool on_host = given.is_cpu_op.value_or(false);
  switch (node.kind) {
    case ChakraKind::kInvalid:
    case ChakraKind::kMetadata: return NodeRole::kNothing;
    case ChakraKind::kMemoryLoad: return NodeRole::kLoad;
    case ChakraKind::kMemoryStore: return NodeRole::kStore;
    case ChakraKind::kCompute: return on_host ? NodeRole::kCpu : NodeRole::kGpu;
    // PyTorch's traces have the host's call of a collective, too, and do not say what it communicates.
    case ChakraKind::kSend: return on_host && !given.comm_size ? NodeRole::kCpu : NodeRole::kSend;
    case ChakraKind::kReceive: return on_host && !given.comm_size ? NodeRole::kCpu : NodeRole::kReceive;
    case ChakraKind::kCollective: break;
  }
  if (on_host && !given.comm_size) return NodeRole::kCpu;
  const bool empty = given.comm_size == Bytes(0) && given.comm_type != ChakraCollective::kBarrier;
  return empty ? NodeRole::kNothing : NodeRole::kCollective;
}

TraceCalls calls_of(const ChakraTrace& trace, const ChakraOrder& order, ProblemList& problems) {
  return CallReader(trace, problems).read(order);
}

}  // namespace ringwright::traces
