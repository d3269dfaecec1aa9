// What ranks exchange in a step of a recommendation model, for its embeddings.
#pragma once

#include "core/base/units.h"
#include "workload/recommendation/recommendation_model.h"
#include "workload/recommendation/table_placement.h"

namespace ringwright::workload {

// Buffers of one rank's collectives, as CollectiveSpec counts; 0 where there is no such collective.
struct ExchangeSizes {
  Bytes indices;         // all-to-all: indices and lengths of the samples' features
  Bytes pooled;          // all-to-all: pooled rows; the same for their gradients
  Bytes reduce_scatter;  // partial sums of tables split by rows; the same for the all-gather of gradients
  Bytes host_sums;       // reduce-scatter among the ranks of a host: partial sums of its tables; the same for gradients
  Bytes host_rows;       // all-to-all among hosts: rows of tables on hosts; the same for their gradients
};
[[nodiscard]] ExchangeSizes exchange_sizes(const RecommendationModel& model, const TablePlacement& placement);

}  // namespace ringwright::workload
