// The placement of embedding tables: which ranks hold which tables, or parts of them.
//
// Tables, and column parts of them, that one rank holds are placed by longest processing time first: in order of
// falling cost, each on the rank with the least cost so far, which is at most 4/3 - 1/(3n) times the best possible
// maximum (Graham, "Bounds on Multiprocessing Timing Anomalies", SIAM J. Appl. Math. 17, 1969). The cost of a table is
// what a sample makes its rank touch: columns x (rows looked up + the pooled row that is communicated).
//
// With `auto` the costliest groups of tables are split by rows, as many as makes the cost of the busiest rank least: a
// split table costs every rank columns x (rows looked up / n + 1), since all ranks hold a partial sum of each sample;
// tables that stay whole cost the larger of their mean over ranks and the costliest one. A table that finds no room is
// split, too. HugeCTR places tables, or parts of their rows, on hosts instead, where the ranks of a host hold equal
// shares of them; on one host, on ranks (host_placement.h). Room is 85 % of the GPU's memory (TorchRec's planner
// reserves 15 % by default). Tables whose sharding is given are placed even where they do not fit: the memory report
// shows it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/units.h"
#include "workload/recommendation/recommendation_model.h"

namespace ringwright::workload {

// Of one group of tables.
struct GroupPlacement {
  std::int64_t row_wise = 0;    // tables split by rows over all ranks
  std::int64_t replicated = 0;  // tables of which every rank has a copy
  std::int64_t placed = 0;      // parts that are each on one rank
  std::int64_t columns = 0;     // of each such part
  std::int64_t host_wise = 0;   // tables over the ranks of hosts; of HugeCTR on one host, on ranks
  std::int64_t host_parts = 1;  // hosts over which each of those is split
};

// Ranks with equal parts share a role.
struct PlacementRole {
  std::vector<std::int64_t> parts;       // by group
  std::vector<std::int64_t> host_parts;  // by group, of the rank's host
};

struct TablePlacement {
  std::vector<GroupPlacement> groups;
  std::vector<PlacementRole> roles;  // in order of their first rank
  std::vector<std::uint32_t> role_of_rank;
  double split_cost = 0.0;  // of tables split by rows, on every rank
  // Cost of placed parts: of the rank with the most, and of a rank on average.
  double largest_cost = 0.0;
  double mean_cost = 0.0;
  std::int64_t ranks_of_host = 1;  // that share the tables of a host; 1 where HugeCTR places them on ranks

  // Whether hosts share tables among their ranks.
  [[nodiscard]] bool uses_hosts() const;
};

struct PlacementMachine {
  std::int64_t ranks = 1;
  std::int64_t ranks_of_host = 1;
  Bytes memory;  // of one GPU
  // Bandwidth of its memory, relative to what it has to other hosts, and to other GPUs of its own.
  double memory_per_network = 1.0;
  double memory_per_link = 1.0;
};

[[nodiscard]] TablePlacement place_tables(const RecommendationModel& model, const PlacementMachine& machine);

[[nodiscard]] double ranks_of(const TablePlacement& placement);
// The columns of placed parts on a rank of the role.
[[nodiscard]] std::int64_t placed_columns(const TablePlacement& placement, const PlacementRole& role);
// Of the role with the most.
[[nodiscard]] std::int64_t most_placed_columns(const TablePlacement& placement);
// The columns of tables, or parts of their rows, on the role's host; of the host with the most.
[[nodiscard]] std::int64_t host_columns(const RecommendationModel& model, const PlacementRole& role);
[[nodiscard]] std::int64_t most_host_columns(const RecommendationModel& model, const TablePlacement& placement);

}  // namespace ringwright::workload
