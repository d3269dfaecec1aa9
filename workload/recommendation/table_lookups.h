// Which rows of a rank's embedding tables a step touches, and what caches save of it.
//
// Distinct rows: R (1 - (1 - 1/R)^n) for n lookups in R rows at random; of skewed lookups: row_access.h. With fixed
// bags the rows of a sample follow from its first one (MLPerf's multi-hot Criteo data, from mlcommons/training,
// torchrec_dlrm/scripts/materialize_synthetic_multihot_dataset.py), so that the distinct ones are those of one lookup
// for each sample, times the rows of a bag.
#pragma once

#include <vector>

#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/row_access.h"
#include "workload/recommendation/table_share.h"

namespace ringwright::workload {

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
