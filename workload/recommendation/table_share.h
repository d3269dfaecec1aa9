// What a rank has of embedding tables, and which of its rows a step touches.
//
// Distinct rows: R (1 - (1 - 1/R)^n) for n lookups in R rows at random; of skewed lookups: row_access.h. With fixed
// bags the rows of a sample follow from its first one (MLPerf's multi-hot Criteo data, from mlcommons/training,
// torchrec_dlrm/scripts/materialize_synthetic_multihot_dataset.py), so that the distinct ones are those of one lookup
// for each sample, times the rows of a bag.
#pragma once

#include <cstdint>
#include <vector>

#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/row_access.h"
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

// Lookups in a table's rows on this rank, by the skew of the whole table and the bags of a model. With fixed bags a
// draw decides all rows of a bag: the popular rows are those of popular bags, and the others of a bag are anywhere.
class TableLookups {
 public:
  TableLookups(const RecommendationModel& model, const TableShare& share);

  // Distinct rows of so many steps, without those among the most popular `but_top`.
  [[nodiscard]] double distinct(double steps, double but_top = 0.0) const;
  // Share of lookups that meet so many of the most popular rows.
  [[nodiscard]] double share_of_top(double rows) const;

 private:
  [[nodiscard]] double among_top_by_chance(double rows) const;

  RowAccess access_;  // of bags
  double rows_;
  double parts_;
  double bag_;    // rows of a draw
  double draws_;  // in a step, from all parts
};

// Share of the looked up bytes that the GPU's cache has: lookups that repeat in the step, of the most popular rows. The
// cache is divided by the bytes that each table looks up. 0 where all rows together fit: the time of such a kernel
// counts that (workload/kernels/stream.cc).
[[nodiscard]] double cached_lookups(const RecommendationModel& model, const std::vector<TableShare>& tables);

// Of tables in host memory: distinct rows that a step fetches from there, and as many that it writes back. With a cache
// of the most popular rows: those of the batch that it does not hold. With a lookahead of L: those of the batch that
// enters the window, which are in none of the L before it.
[[nodiscard]] double fetched_rows(const RecommendationModel& model, const TableShare& share);
// Rows in GPU memory: all where there is no cache.
[[nodiscard]] double held_rows(const RecommendationModel& model, const TableShare& share);

}  // namespace ringwright::workload
