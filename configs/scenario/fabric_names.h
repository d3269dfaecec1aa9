// Finds nodes and links of a built fabric by the names that it prints: "host17/nic2", "leaf3.2->spine5".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"

namespace ringwright::configs {

// A switch of the network between hosts.
[[nodiscard]] bool is_network_switch(NodeKind kind);

// The links found, or why there are none.
struct FoundLinks {
  std::vector<LinkId> links;  // several where parallel links have one name
  std::string problem;        // "no node 'leaf9'", empty when links were found
  std::string nearest;        // the most similar name, or empty
};

class FabricNames {
 public:
  explicit FabricNames(const Fabric& fabric);  // must outlive it

  // By "from->to", in that direction.
  [[nodiscard]] FoundLinks links(std::string_view name) const;
  // The cables between a NIC and the network, both directions.
  [[nodiscard]] FoundLinks cables_of_nic(std::string_view name) const;
  // The cable of one port, "host1/nic3.0", both directions; ports are numbered from 0.
  [[nodiscard]] FoundLinks cable_of_port(std::string_view name) const;
  // All links of a switch of the network.
  [[nodiscard]] FoundLinks links_of_switch(std::string_view name) const;

 private:
  [[nodiscard]] std::optional<NodeId> node(const std::string& name) const;
  struct Cables {
    std::vector<LinkId> out;  // by port
    std::vector<LinkId> in;
  };
  [[nodiscard]] Cables cables(NodeId nic) const;
  [[nodiscard]] FoundLinks no_node(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> neighbours(NodeId node) const;

  const Fabric& fabric_;
  std::unordered_map<std::string, NodeId> nodes_;
  std::vector<std::string> names_;  // by node
};

}  // namespace ringwright::configs
