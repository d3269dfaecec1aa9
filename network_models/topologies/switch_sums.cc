// The share of a port is measured: all-reduce on HDR InfiniBand with streaming aggregation reaches about 95 % of the
// network's bandwidth (Graham et al., Scalable Hierarchical Aggregation and Reduction Protocol (SHARP) Streaming-
// Aggregation Hardware Design and Evaluation, ISC High Performance 2020). The latency is a class value.
#include "network_models/topologies/switch_sums.h"

namespace ringwright::network_models {

using namespace ringwright::literals;

SwitchSums read_switch_sums(ConfigMap& fabric, Bandwidth nic) {
  ConfigMap map = fabric.map("reduction", "sums in the fabric's switches (SHARP), for NCCL's CollNet");
  SwitchSums sums;
  sums.enabled =
      map.boolean({.name = "enabled", .doc = "whether the switches reduce the hosts' data", .fallback = false});
  if (!sums.enabled && !map.documenting()) {
    map.ignore_rest("the switches do not reduce; set 'enabled: true'");
    return sums;
  }
  sums.latency = map.duration({.name = "latency",
                               .doc = "of the switches' sums, without the path there and back",
                               .fallback = 500_ns,
                               .min = 0_ns});
  const double share = map.percent({.name = "efficiency",
                                    .doc = "fraction of a NIC's bandwidth that its switch reduces",
                                    .fallback = 0.95,
                                    .min = 0.01,
                                    .max = 1.0});
  sums.rate = nic * share;
  return sums;
}

}  // namespace ringwright::network_models
