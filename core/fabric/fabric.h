// Nodes and links of a cluster in flat arrays. A link is one direction. Names are built on demand, never stored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"

namespace ringwright {

enum class NodeKind : std::uint8_t {
  kGpu,
  kNvSwitch,     // the NVLink switch plane of a domain
  kPcieSwitch,
  kRootComplex,  // CPU socket / NUMA node
  kHostMemory,
  kNic,
  kLeaf,         // first-tier switch
  kSpine,        // second tier
  kCore,         // third tier
  kSwitch,       // a switch of an explicit graph
  kStorage,
};

[[nodiscard]] std::string_view to_string(NodeKind kind);
[[nodiscard]] std::optional<NodeKind> parse_node_kind(std::string_view text);
[[nodiscard]] bool is_switch(NodeKind kind);

struct NodeSpec {
  NodeKind kind = NodeKind::kGpu;
  // Where it is, for its name: host number or tier coordinates, -1 = not applicable. "gpu3@host17", "leaf2.rail5".
  std::int32_t first = -1;
  std::int32_t second = -1;
};

struct LinkSpec {
  NodeId from;
  NodeId to;
  Bandwidth bandwidth;
  Duration latency;
};

class Fabric {
 public:
  NodeId add_node(const NodeSpec& spec);
  // An explicit graph's own name for the node; overrides the generated one.
  NodeId add_named_node(NodeKind kind, std::string name);
  LinkId add_link(const LinkSpec& spec);
  // Both directions with the same numbers; the reverse link's id is the returned one + 1.
  LinkId add_duplex(const LinkSpec& spec);

  [[nodiscard]] std::size_t node_count() const { return nodes_.size(); }
  [[nodiscard]] std::size_t link_count() const { return links_.size(); }
  [[nodiscard]] const NodeSpec& node(NodeId id) const { return nodes_[id.index()]; }
  [[nodiscard]] const LinkSpec& link(LinkId id) const { return links_[id.index()]; }
  // By link id.
  [[nodiscard]] std::span<const Bandwidth> capacities() const { return capacities_; }

  // "gpu3@host17", "host17/nic2", "leaf4.2"; links: "leaf4.2->spine7".
  [[nodiscard]] std::string name(NodeId id) const;
  [[nodiscard]] std::string name(LinkId id) const;

  // The GPUs in the order in which ranks are placed on them.
  void add_gpu(NodeId gpu) { gpus_.push_back(gpu); }
  [[nodiscard]] std::span<const NodeId> gpus() const { return gpus_; }

 private:
  std::vector<NodeSpec> nodes_;
  std::vector<LinkSpec> links_;
  std::vector<Bandwidth> capacities_;
  std::vector<NodeId> gpus_;
  std::vector<std::string> given_names_;  // by node where given, else empty; empty vector without any
};

}  // namespace ringwright
