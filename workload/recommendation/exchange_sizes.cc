#include "workload/recommendation/exchange_sizes.h"

#include <algorithm>

namespace ringwright::workload {

ExchangeSizes exchange_sizes(const RecommendationModel& model, const TablePlacement& placement) {
  const auto ranks = ranks_of(placement);
  if (ranks < 2.0) return {};
  const auto batch = static_cast<double>(model.global_batch);
  const double element = bytes_per_element(model.comm_precision);
  const auto host_ranks = static_cast<double>(placement.ranks_of_host);
  // Indices and lengths of each sample: those that a rank sends, and those that the rank with the most receives.
  double sent = 0.0, split = 0.0, split_columns = 0.0;
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    const GroupPlacement& group = placement.groups[g];
    const double pooling = model.tables[g].pooling;
    sent += static_cast<double>(group.placed) * (pooling + 1.0);
    split += static_cast<double>(group.row_wise) * (pooling + ranks);  // lengths for every rank
    split_columns += static_cast<double>(group.row_wise * model.tables[g].dim);
    sent += static_cast<double>(group.host_wise) * (pooling + host_ranks * static_cast<double>(group.host_parts));
  }
  double received = 0.0;
  for (const PlacementRole& role : placement.roles) {
    double own = 0.0;
    for (std::size_t g = 0; g < model.tables.size(); ++g) {
      const double pooling = model.tables[g].pooling;
      const double parts = host_ranks * static_cast<double>(placement.groups[g].host_parts);
      own += static_cast<double>(role.parts[g]) * (pooling + 1.0);
      own += static_cast<double>(role.host_parts[g]) * (pooling / parts + 1.0);
    }
    received = std::max(received, own);
  }
  const double on_host = batch * static_cast<double>(most_host_columns(model, placement)) * element;
  const double indices = std::max(batch / ranks * sent, batch * received) + batch / ranks * split;
  return {.indices = as_bytes(indices * index_bytes(model)),
          .pooled = as_bytes(batch * static_cast<double>(most_placed_columns(placement)) * element),
          .reduce_scatter = as_bytes(batch * split_columns * element),
          .host_sums = as_bytes(host_ranks > 1.0 ? on_host : 0.0),
          .host_rows = as_bytes(ranks > host_ranks ? on_host / host_ranks : 0.0)};
}

}  // namespace ringwright::workload
