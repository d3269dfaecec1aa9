#include "configs/astra/astra_graphs.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "traces/chakra/check.h"

namespace ringwright::configs {
namespace {

using traces::ChakraAttributes;
using traces::ChakraCollective;
using traces::ChakraKind;
using traces::ChakraNode;
using traces::ChakraTrace;

Tick recorded_duration(const ChakraNode& node) {
  if (node.duration_micros == 0) return 1;
  const auto most = static_cast<std::uint64_t>(kLastTick) / 1000;
  return static_cast<Tick>(std::min(node.duration_micros, most)) * 1000;
}

class NodeTranslator {
 public:
  NodeTranslator(const ChakraTrace& trace, std::uint32_t peers, AstraProblems& problems)
      : trace_(trace), peers_(peers), problems_(problems) {}
  void use(const AstraSettings& settings, AstraCalls& calls) {
    settings_ = &settings;
    calls_ = &calls;
  }

  [[nodiscard]] GraphNode of_rank(const ChakraNode& node) {
    GraphNode result = basics(node);
    if (settings_->system.replay_only) return lasting(node, result);
    switch (node.kind) {
      case ChakraKind::kMemoryLoad:
      case ChakraKind::kMemoryStore: return memory(node, result);
      case ChakraKind::kCompute: return computation(node, result);
      case ChakraKind::kSend:
      case ChakraKind::kReceive:
      case ChakraKind::kCollective:
        if (result.slot == NodeSlot::kCpu) return lasting(node, result);
        return node.kind == ChakraKind::kCollective ? collective(node, result) : message(node, result);
      case ChakraKind::kMetadata:
        // ASTRA-sim ends here; the node says something about the trace and does nothing.
        result.work = NodeWork::kLasting;
        result.slot = NodeSlot::kReceiver;
        break;
      case ChakraKind::kInvalid: break;
    }
    return result;
  }

  [[nodiscard]] GraphNode of_collective(const ChakraNode& node) {
    GraphNode result = basics(node);
    switch (node.kind) {
      case ChakraKind::kSend:
      case ChakraKind::kReceive: return message(node, result);
      case ChakraKind::kCompute: return lasting(node, result);
      case ChakraKind::kInvalid:
      case ChakraKind::kMetadata: return result;
      case ChakraKind::kCollective:
      case ChakraKind::kMemoryLoad:
      case ChakraKind::kMemoryStore: break;
    }
    fail(node, fmt::format("is a {} node: the graph of a collective has sends, receives and computations only",
                           to_string(node.kind)));
    return result;
  }

 private:
  [[nodiscard]] GraphNode basics(const ChakraNode& node) const {
    const ChakraAttributes& given = trace_.of(node);
    GraphNode result{.id = node.id, .work = NodeWork::kSkipped};
    if (given.is_cpu_op.value_or(false)) {
      result.slot = NodeSlot::kCpu;
    } else if (node.kind == ChakraKind::kCompute) {
      result.slot = NodeSlot::kGpu;
    } else if (node.kind == ChakraKind::kReceive) {
      result.slot = NodeSlot::kReceiver;
    }
    result.priority = static_cast<std::int32_t>(given.comm_priority.value_or(0));
    return result;
  }

  [[nodiscard]] static GraphNode lasting(const ChakraNode& node, GraphNode result) {
    result.work = NodeWork::kLasting;
    result.duration = recorded_duration(node);
    result.counts_as_gpu_time = result.slot != NodeSlot::kCpu;
    return result;
  }

  [[nodiscard]] GraphNode computation(const ChakraNode& node, GraphNode result) {
    if (!settings_->system.roofline || result.slot == NodeSlot::kCpu) return lasting(node, result);
    const ChakraAttributes& given = trace_.of(node);
    if (!given.num_ops || !given.tensor_size) {
      fail(node, "needs num_ops and tensor_size, since roofline-enabled is 1");
      return result;
    }
    if (given.tensor_size->count() <= 0) return result;
    result.work = NodeWork::kLasting;
    result.counts_as_gpu_time = true;
    const auto operations = static_cast<double>(*given.num_ops);
    const double intensity = operations / static_cast<double>(given.tensor_size->count());
    const double rate =
        std::min(settings_->system.local_bytes_per_ns * 1e9 * intensity, settings_->system.peak_flops.value_or(1.0));
    result.duration = operations > 0.0 ? whole_ticks(operations / rate * 1e9) : 0;
    return result;
  }

  [[nodiscard]] GraphNode memory(const ChakraNode& node, GraphNode result) {
    const ChakraAttributes& given = trace_.of(node);
    result.work = NodeWork::kMemory;
    if (!given.tensor_size || given.tensor_size->count() < 0) {
      fail(node, "needs tensor_size");
    } else if (settings_->memory.kind == traces::AstraMemoryKind::kNone) {
      fail(node, "moves data from or to a remote memory, and there is none (--remote-memory-configuration)");
    } else {
      result.bytes = given.tensor_size->count();
    }
    return result;
  }

  [[nodiscard]] GraphNode message(const ChakraNode& node, GraphNode result) {
    const ChakraAttributes& given = trace_.of(node);
    const bool sends = node.kind == ChakraKind::kSend;
    const std::optional<std::int64_t> peer = sends ? given.comm_dst : given.comm_src;
    result.work = sends ? NodeWork::kSend : NodeWork::kReceive;
    if (!peer || !given.comm_size || !given.comm_tag) {
      fail(node, fmt::format("needs {}, comm_size and comm_tag", sends ? "comm_dst" : "comm_src"));
      return result;
    }
    if (*peer < 0 || *peer >= peers_) {
      fail(node, fmt::format("{} rank {}, and there are ranks 0 to {}", sends ? "sends to" : "receives from", *peer,
                             peers_ - 1));
      return result;
    }
    if (given.comm_size->count() < 0 || *given.comm_tag < std::numeric_limits<std::int32_t>::min() ||
        *given.comm_tag > std::numeric_limits<std::uint32_t>::max()) {
      fail(node, fmt::format("has comm_size {} and comm_tag {}; sizes are not negative, and tags have 32 bits",
                             given.comm_size->count(), *given.comm_tag));
      return result;
    }
    result.peer = static_cast<std::uint32_t>(*peer);
    result.bytes = given.comm_size->count();
    result.tag = static_cast<std::uint32_t>(*given.comm_tag);
    return result;
  }

  // Empty: no algorithm sends its messages.
  [[nodiscard]] static std::optional<traces::AstraCollective> simulated(ChakraCollective collective) {
    switch (collective) {
      case ChakraCollective::kAllReduce: return traces::AstraCollective::kAllReduce;
      case ChakraCollective::kAllGather: return traces::AstraCollective::kAllGather;
      case ChakraCollective::kReduceScatter:
      case ChakraCollective::kReduceScatterBlock: return traces::AstraCollective::kReduceScatter;
      case ChakraCollective::kAllToAll: return traces::AstraCollective::kAllToAll;
      case ChakraCollective::kReduce:
      case ChakraCollective::kGather:
      case ChakraCollective::kScatter:
      case ChakraCollective::kBroadcast:
      case ChakraCollective::kBarrier: break;
    }
    return std::nullopt;
  }

  [[nodiscard]] GraphNode collective(const ChakraNode& node, GraphNode result) {
    const ChakraAttributes& given = trace_.of(node);
    if (!given.comm_type) {
      fail(node, "needs comm_type");
      return result;
    }
    const auto kind = simulated(*given.comm_type);
    if (!kind) {
      if (*given.comm_type != ChakraCollective::kBroadcast) {
        problems_.warn("W280", trace_.file,
                       fmt::format("{} takes its recorded duration: {} is not simulated", describe(trace_, node),
                                   to_string(*given.comm_type)));
      }
      result = lasting(node, result);
      result.counts_as_gpu_time = false;
      return result;
    }
    const std::string name(trace_.group_of(node));
    const auto group = calls_->group(name);
    if (!group) {
      problems_.error("E276", trace_.file,
                      fmt::format("{} belongs to group '{}', which does not exist", describe(trace_, node), name),
                      "--comm-group-configuration=FILE with {\"" + name + "\": [ranks]}");
      return result;
    }
    if (!given.comm_size || given.comm_size->count() < 0) {
      fail(node, "needs comm_size");
      return result;
    }
    result.work = NodeWork::kCollective;
    const auto call = calls_->call({.kind = *kind,
                                    .bytes = given.comm_size->count(),
                                    .group = *group,
                                    .involved = given.involved_dim.value_or(std::vector<bool>())});
    result.call = call.value_or(0);
    return result;
  }

  void fail(const ChakraNode& node, const std::string& message) {
    problems_.error("E275", trace_.file, fmt::format("{} {}", describe(trace_, node), message));
  }

  const ChakraTrace& trace_;
  std::uint32_t peers_;
  AstraProblems& problems_;
  const AstraSettings* settings_ = nullptr;
  AstraCalls* calls_ = nullptr;
};

// `translate` makes a node; nodes are put in order of their ids, with the dependencies of the trace.
template <class Translate>
NodeGraph build_graph(const ChakraTrace& trace, AstraProblems& problems, Translate&& translate) {
  NodeGraph graph;
  const auto order = traces::order_nodes(trace);
  if (!order) {
    problems.take(order.error());
    return graph;
  }
  const std::size_t count = trace.nodes.size();
  std::vector<std::uint32_t> by_id(count);
  for (std::uint32_t i = 0; i < count; ++i) by_id[i] = i;
  std::ranges::sort(by_id, {}, [&](std::uint32_t i) { return trace.nodes[i].id; });
  std::vector<std::uint32_t> index_of(count);
  for (std::uint32_t i = 0; i < count; ++i) index_of[by_id[i]] = i;

  graph.nodes.reserve(count);
  graph.first_child.assign(count + 1, 0);
  for (const std::uint32_t position : by_id) {
    graph.nodes.push_back(translate(trace.nodes[position]));
    const std::uint32_t begin = order->first_dependency[position];
    const std::uint32_t end = order->first_dependency[position + 1];
    graph.dependencies.push_back(end - begin);
    for (std::uint32_t i = begin; i < end; ++i) ++graph.first_child[index_of[order->dependencies[i]] + 1];
  }
  for (std::size_t i = 0; i < count; ++i) graph.first_child[i + 1] += graph.first_child[i];
  graph.children.resize(order->dependencies.size());
  std::vector<std::uint32_t> next(graph.first_child.begin(), graph.first_child.end() - 1);
  for (const std::uint32_t position : by_id) {
    for (std::uint32_t i = order->first_dependency[position]; i < order->first_dependency[position + 1]; ++i) {
      graph.children[next[index_of[order->dependencies[i]]]++] = index_of[position];
    }
  }
  return graph;
}

}  // namespace

NodeGraph astra_rank_graph(const ChakraTrace& trace, const AstraSettings& settings, AstraCalls& calls,
                           AstraProblems& problems) {
  NodeTranslator translator(trace, settings.ranks(), problems);
  translator.use(settings, calls);
  return build_graph(trace, problems, [&](const ChakraNode& node) { return translator.of_rank(node); });
}

NodeGraph astra_collective_graph(const ChakraTrace& trace, std::uint32_t positions, AstraProblems& problems) {
  NodeTranslator translator(trace, positions, problems);
  return build_graph(trace, problems, [&](const ChakraNode& node) { return translator.of_collective(node); });
}

}  // namespace ringwright::configs
