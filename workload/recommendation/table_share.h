// What a rank has of embedding tables, by how they are sharded.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// Tables, or parts of them, that one kernel looks up on a rank.
struct TableShare {
  std::int64_t tables = 0;  // or parts
  double rows = 0.0;        // of each, on this rank
  std::int64_t columns = 0;
  double lookups = 0.0;  // in each, in a step, on this rank
  double samples = 0.0;  // that get a pooled row of each
  double parts = 1.0;    // ranks over which its rows are split
};
// Of one kind of sharding on a rank; `ranks` and the local batch follow from the placement.
[[nodiscard]] std::vector<TableShare> placed_tables(const RecommendationModel& model, const TablePlacement& placement,
                                                    const PlacementRole& role);
// Those over all ranks, and those over the ranks of the role's host.
[[nodiscard]] std::vector<TableShare> row_wise_tables(const RecommendationModel& model, const TablePlacement& placement,
                                                      const PlacementRole& role);
[[nodiscard]] std::vector<TableShare> replicated_tables(const RecommendationModel& model,
                                                        const TablePlacement& placement);

// Bytes of the weights of one row, or of its columns on this rank.
[[nodiscard]] double row_bytes(const RecommendationModel& model, const TableShare& share);
// The same in whole sectors of memory.
[[nodiscard]] double in_sectors(double bytes);
// Bytes of all rows on this rank: what lookups at random reach.
[[nodiscard]] double reach(const RecommendationModel& model, const std::vector<TableShare>& tables);

}  // namespace ringwright::workload
