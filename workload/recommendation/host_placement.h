// The placement of embedding tables on hosts, whose GPUs each hold a share of their rows (TorchRec's table-row-wise,
// HugeCTR's hierarchical communication).
//
// As HugeCTR's planner for MLPerf Training (sharding plan hier_auto, and auto for ranks in place of hosts): parts are
// placed by falling cost, each on the host with the least so far; then the table with the costliest parts is split over
// twice as many hosts, and all are placed again; of all these plans the one whose busiest host has least to do is
// taken. A part costs columns x (rows looked up + c): c weighs the exchange of its partial sums against reading a row.
#pragma once

#include <cstdint>
#include <vector>

namespace ringwright::workload {

// Equal tables.
struct HostTables {
  std::int64_t count = 1;
  double columns = 0.0;
  double pooling = 0.0;
  double bytes = 0.0;      // of one table
  bool may_split = false;  // over several hosts
};

struct HostPlacementRules {
  std::int64_t hosts = 1;
  double exchange_cost = 0.0;  // c
  double room = 0.0;           // bytes on a host
};

struct HostPlacement {
  std::vector<std::int64_t> parts_of_table;              // by entry: hosts over which each of its tables is split
  std::vector<std::vector<std::int64_t>> parts_on_host;  // by host, then by entry
  std::vector<double> cost_of_host;
};

// Where no plan finds room, the one with the most parts.
[[nodiscard]] HostPlacement place_on_hosts(const std::vector<HostTables>& tables, const HostPlacementRules& rules);

}  // namespace ringwright::workload
