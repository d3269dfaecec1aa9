// Analysis of a whole fabric, with Boost.Graph on a copy of its links.
#include "core/fabric/graph_analysis.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <tuple>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <boost/graph/strong_components.hpp>

#include "core/base/check.h"

namespace ringwright {
namespace {

using Digraph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

Digraph copy_links(const Fabric& fabric) {
  Digraph graph(fabric.node_count());
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    boost::add_edge(link.from.index(), link.to.index(), graph);
  }
  return graph;
}

std::vector<char> reached_from(const Digraph& graph, std::size_t start) {
  std::vector<char> reached(boost::num_vertices(graph), 0);
  std::vector<std::size_t> frontier = {start};
  reached[start] = 1;
  while (!frontier.empty()) {
    const std::size_t node = frontier.back();
    frontier.pop_back();
    const auto [begin, end] = boost::out_edges(node, graph);
    for (auto edge = begin; edge != end; ++edge) {
      const std::size_t next = boost::target(*edge, graph);
      if (reached[next] != 0) continue;
      reached[next] = 1;
      frontier.push_back(next);
    }
  }
  return reached;
}

// A flow network between two terminals, reduced before it is solved: parallel links are merged, dead ends dropped, and
// a node with two neighbours becomes a link of the lesser capacity. None of this changes the maximum flow.
class FlowNetwork {
 public:
  static constexpr std::uint32_t kSource = 0;
  static constexpr std::uint32_t kSink = 1;

  explicit FlowNetwork(std::size_t nodes) : around_(nodes) {}

  void add(std::uint32_t from, std::uint32_t to, std::int64_t capacity) {
    if (from == to || to == kSource || from == kSink) return;  // such a link never helps
    around_[from][to].out += capacity;
    around_[to][from].in += capacity;
  }

  void shrink() {
    std::vector<std::uint32_t> waiting;
    for (std::uint32_t node = kSink + 1; node < around_.size(); ++node) waiting.push_back(node);
    while (!waiting.empty()) {
      const std::uint32_t node = waiting.back();
      waiting.pop_back();
      const std::map<std::uint32_t, Capacity> neighbours = around_[node];
      if (neighbours.empty() || neighbours.size() > 2) continue;
      for (const auto& [neighbour, capacity] : neighbours) around_[neighbour].erase(node);
      around_[node].clear();
      if (neighbours.size() == 2) {
        const auto& [a, by_a] = *neighbours.begin();
        const auto& [b, by_b] = *neighbours.rbegin();
        if (const std::int64_t c = std::min(by_a.in, by_b.out); c > 0) add(a, b, c);
        if (const std::int64_t c = std::min(by_b.in, by_a.out); c > 0) add(b, a, c);
      }
      for (const auto& [neighbour, capacity] : neighbours) {
        if (neighbour > kSink) waiting.push_back(neighbour);
      }
    }
  }

  [[nodiscard]] std::int64_t solve() const {
    using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using Graph = boost::adjacency_list<
        boost::vecS, boost::vecS, boost::directedS, boost::no_property,
        boost::property<boost::edge_capacity_t, std::int64_t,
                        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                        boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
    Graph graph(around_.size());
    const auto capacity = boost::get(boost::edge_capacity, graph);
    const auto reverse = boost::get(boost::edge_reverse, graph);
    // Each direction has its own reverse edge: the method returns surplus only over edges without capacity.
    for (std::uint32_t from = 0; from < around_.size(); ++from) {
      for (const auto& [to, there] : around_[from]) {
        if (there.out == 0) continue;
        const auto forth = boost::add_edge(from, to, graph).first;
        const auto back = boost::add_edge(to, from, graph).first;
        capacity[forth] = there.out;
        capacity[back] = 0;
        reverse[forth] = back;
        reverse[back] = forth;
      }
    }
    return boost::push_relabel_max_flow(graph, kSource, kSink);
  }

  // Gives the remaining nodes consecutive numbers, so that the solver does not carry the dropped ones.
  [[nodiscard]] FlowNetwork compact() const {
    std::vector<std::uint32_t> number(around_.size(), 0);
    std::uint32_t next = kSink + 1;
    for (std::uint32_t node = kSink + 1; node < around_.size(); ++node) {
      if (!around_[node].empty()) number[node] = next++;
    }
    number[kSink] = kSink;
    FlowNetwork result(next);
    for (std::uint32_t from = 0; from < around_.size(); ++from) {
      for (const auto& [to, there] : around_[from]) {
        if (there.out > 0) result.add(number[from], number[to], there.out);
      }
    }
    return result;
  }

 private:
  struct Capacity {
    std::int64_t out = 0;
    std::int64_t in = 0;
  };
  std::vector<std::map<std::uint32_t, Capacity>> around_;  // by node, by neighbour
};

}  // namespace

std::vector<NodeCount> count_nodes(const Fabric& fabric) {
  std::map<NodeKind, std::size_t> counts;
  for (std::size_t i = 0; i < fabric.node_count(); ++i) ++counts[fabric.node(NodeId(i)).kind];
  std::vector<NodeCount> result;
  for (const auto& [kind, count] : counts) result.push_back({.kind = kind, .count = count});
  return result;
}

std::vector<LinkCount> count_links(const Fabric& fabric) {
  std::map<std::tuple<NodeKind, NodeKind, Bandwidth>, LinkCount> counts;
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    const NodeKind from = fabric.node(link.from).kind;
    const NodeKind to = fabric.node(link.to).kind;
    LinkCount& entry =
        counts.try_emplace({from, to, link.bandwidth}, LinkCount{.from = from, .to = to, .each = link.bandwidth})
            .first->second;
    ++entry.count;
  }
  std::vector<LinkCount> result;
  for (const auto& [kinds, entry] : counts) result.push_back(entry);
  return result;
}

// GPUs of one strong component reach the same nodes, so one search per component is enough.
Connectivity check_connectivity(const Fabric& fabric, std::size_t max_examples) {
  const Digraph graph = copy_links(fabric);
  std::vector<std::size_t> component(fabric.node_count());
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), boost::get(boost::vertex_index, graph)));
  std::map<std::size_t, std::vector<NodeId>> gpus_of;
  for (const NodeId gpu : fabric.gpus()) gpus_of[component[gpu.index()]].push_back(gpu);
  Connectivity result;
  if (gpus_of.size() < 2) return result;
  for (const auto& [number, gpus] : gpus_of) {
    const std::vector<char> reached = reached_from(graph, gpus.front().index());
    for (const NodeId to : fabric.gpus()) {
      if (reached[to.index()] != 0) continue;
      result.unreachable_pairs += gpus.size();
      for (const NodeId from : gpus) {
        if (result.examples.size() < max_examples) result.examples.emplace_back(from, to);
      }
    }
  }
  return result;
}

Bandwidth max_flow(const Fabric& fabric, std::span<const NodeId> from, std::span<const NodeId> to) {
  std::vector<std::uint32_t> number(fabric.node_count(), std::numeric_limits<std::uint32_t>::max());
  for (const NodeId gpu : from) number[gpu.index()] = FlowNetwork::kSource;
  for (const NodeId gpu : to) {
    CHECK(number[gpu.index()] != FlowNetwork::kSource, "the two sets of a flow have no node in common");
    number[gpu.index()] = FlowNetwork::kSink;
  }
  std::uint32_t next = FlowNetwork::kSink + 1;
  for (std::uint32_t& n : number) {
    if (n == std::numeric_limits<std::uint32_t>::max()) n = next++;
  }
  FlowNetwork network(next);
  for (std::size_t i = 0; i < fabric.link_count(); ++i) {
    const LinkSpec& link = fabric.link(LinkId(i));
    network.add(number[link.from.index()], number[link.to.index()], std::llround(link.bandwidth.count()));
  }
  network.shrink();
  return Bandwidth(static_cast<double>(network.compact().solve()));
}

Bandwidth bisection_bandwidth(const Fabric& fabric, std::size_t gpus_per_host) {
  const auto gpus = fabric.gpus();
  const std::size_t first_half = gpus.size() / gpus_per_host / 2 * gpus_per_host;
  return max_flow(fabric, gpus.first(first_half), gpus.subspan(first_half));
}

}  // namespace ringwright
