// The counts of a Clos network of leaf, spine and core switches, derived from the settings: ports, speeds, ratios.
//
// A group of hosts connects to `rails` leaf switches; a pod is a set of leaves that share their spines; cores connect
// pods. Fat tree: one leaf a group. Rail-optimised: a leaf per rail and group. Rail-only: a pod per rail and no cores.
// Dual ToR (Alibaba HPN, SIGCOMM 2024): two leaves in place of each, one for each port of a NIC, below the same spines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/units.h"
#include "network_models/host/host.h"
#include "network_models/topologies/routing.h"

namespace ringwright::network_models {

enum class NicSpread : std::uint8_t {
  kBlocks,  // a host's NICs 0..k-1 go to the first leaf of its group, the next k to the second
  kRails,   // NIC n goes to leaf n % rails
};

enum class PodKind : std::uint8_t {
  kGroups,  // leaves of neighbouring groups, all rails
  kRail,    // the leaves of one rail; pods are not connected
};

struct SwitchOrder {
  int ports = 64;
  Bandwidth speed;
  double oversubscription = 1.0;  // leaf: towards the spines; core: of the spines towards the cores; else unused
};

struct ClosOrder {
  NicSpread spread = NicSpread::kBlocks;
  PodKind pod_kind = PodKind::kGroups;
  std::optional<int> rails;  // empty: as few leaves a group as the ports allow
  std::optional<int> group;  // hosts on one set of leaves; empty: as many as the ports allow
  std::optional<int> tiers;  // empty: as few as the ports allow
  std::optional<int> pod;    // groups in one pod when there are cores; empty: as many as the spines' ports allow
  bool dual_tor = false;     // each NIC has two ports, on two leaves
  SwitchOrder leaf;
  SwitchOrder spine;
  SwitchOrder core;
  FabricLatency latency;
};

struct ClosShape {
  NicSpread spread = NicSpread::kBlocks;
  PodKind pod_kind = PodKind::kGroups;
  std::uint32_t hosts = 1;
  std::uint32_t nics = 1;   // of a host with the most
  std::uint32_t rails = 1;  // of a group: leaves, or pairs of leaves
  std::uint32_t nic_ports = 1;  // 2: each port of a NIC has half of its bandwidth and a leaf of its own
  std::uint32_t group = 1;  // hosts of a group
  std::uint32_t groups = 1;
  std::uint32_t uplinks = 0;  // of a leaf; 0: there are no spines
  std::uint32_t spines = 0;   // of a pod; divides uplinks
  std::uint32_t groups_per_pod = 1;
  std::uint32_t pods = 1;
  std::uint32_t spine_uplinks = 0;  // of a spine; 0: there are no cores
  std::uint32_t cores = 0;          // of a plane, which the spines with one number in their pods share
  Bandwidth cable;                  // port of a NIC to leaf, nominal, of the fastest NIC
  Bandwidth leaf_port;              // the most that a cable to a leaf carries, nominal
  Bandwidth uplink;                 // leaf to spine
  Bandwidth core_link;              // spine to core
  FabricLatency latency;

  [[nodiscard]] std::uint32_t leaves() const { return groups * rails * nic_ports; }
  [[nodiscard]] std::uint32_t nics_per_rail() const { return nics / rails; }
  [[nodiscard]] std::uint32_t leaves_per_pod() const {
    return (pod_kind == PodKind::kRail ? groups : groups_per_pod * rails) * nic_ports;
  }
  [[nodiscard]] std::uint32_t all_spines() const { return pods * spines; }
  [[nodiscard]] std::uint32_t all_cores() const { return spines * cores; }
};

// A problem, and the key (below `cluster.fabric`, with a dot for sub-maps) that best fixes it.
struct OrderProblem {
  std::string key;
  std::string message;
  std::string hint;
};

struct DerivedClos {
  ClosShape shape;
  std::vector<OrderProblem> problems;  // non-empty: the shape must not be built
  std::vector<OrderProblem> warnings;
};

[[nodiscard]] DerivedClos derive_clos(const ClosOrder& order, const Host& host, int hosts);

}  // namespace ringwright::network_models
