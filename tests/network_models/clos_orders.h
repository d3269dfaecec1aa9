// Hosts and settings of Clos networks for tests: simple hosts, few ports, all speeds equal.
#pragma once

#include "network_models/host/host.h"
#include "network_models/topologies/clos/clos.h"
#include "network_models/topologies/clos/clos_shape.h"

namespace ringwright::network_models {

// `gpus` on one NVSwitch plane, as many NICs of 50 GB/s, each with its GPU on its own switch.
inline Host simple_host(int gpus, int nics) {
  Host host{.gpus = gpus};
  host.nvlink = {.kind = ScaleUp::kNvSwitch, .bandwidth = Bandwidth(450e9), .latency = Duration(500'000)};
  host.pcie.bandwidth = Bandwidth(63e9);
  host.pcie.gpu_bandwidth = Bandwidth(63e9);
  host.pcie.latency = Duration(150'000);
  host.pcie.switches = gpus;
  host.pcie.gpu_at = spread_evenly(gpus, gpus);
  host.pcie.nic_at = spread_evenly(nics, gpus);
  host.nic = {.count = nics, .bandwidth = Bandwidth(50e9), .latency = Duration(600'000)};
  host.memory.bandwidth = Bandwidth(200e9);
  return host;
}

inline ClosOrder simple_order(int ports) {
  const SwitchOrder tier{.ports = ports, .speed = Bandwidth(50e9)};
  return {.leaf = tier,
          .spine = tier,
          .core = tier,
          .latency = {.nic = Duration(600'000), .hop = Duration(230'000), .cable = Duration(50'000)}};
}

inline ClosOrder rail_order(int ports, int rails, int group) {
  ClosOrder order = simple_order(ports);
  order.spread = NicSpread::kRails;
  order.rails = rails;
  order.group = group;
  return order;
}

inline ClosOrder rail_only_order(int ports, int rails, int group) {
  ClosOrder order = rail_order(ports, rails, group);
  order.pod_kind = PodKind::kRail;
  return order;
}

}  // namespace ringwright::network_models
