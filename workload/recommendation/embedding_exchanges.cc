#include "workload/recommendation/embedding_exchanges.h"

#include "workload/recommendation/recommendation_dimensions.h"

namespace ringwright::workload {

EmbeddingExchanges::EmbeddingExchanges(ProgramWriter& writer, const RecommendationModel& model,
                                       const TablePlacement& placement)
    : writer_(writer), sizes_(exchange_sizes(model, placement)), uses_hosts_(placement.uses_hosts()) {}

std::optional<TaskIndex> EmbeddingExchanges::indices() {
  std::vector<TaskIndex> calls;
  exchange(CollectiveKind::kAllToAll, sizes_.indices, "indices", calls);
  return calls.empty() ? std::nullopt : std::optional(calls.front());
}

void EmbeddingExchanges::pooled_rows(std::vector<TaskIndex>& calls) {
  exchange(CollectiveKind::kAllToAll, sizes_.pooled, "pooled rows", calls);
}

void EmbeddingExchanges::partial_sums(std::vector<TaskIndex>& calls) {
  exchange(CollectiveKind::kReduceScatter, sizes_.reduce_scatter, "partial sums", calls);
  within_host(CollectiveKind::kReduceScatter, "partial sums of a host", calls);
  among_hosts("pooled rows of parts", calls);
}

std::vector<TaskIndex> EmbeddingExchanges::return_gradients() {
  std::vector<TaskIndex> calls;
  exchange(CollectiveKind::kAllToAll, sizes_.pooled, "gradients of pooled rows", calls);
  exchange(CollectiveKind::kAllGather, sizes_.reduce_scatter, "gradients of split tables", calls);
  among_hosts("gradients of parts", calls);
  within_host(CollectiveKind::kAllGather, "gradients for a host", calls);
  return calls;
}

std::vector<Bytes> EmbeddingExchanges::sent_for_hosts() const {
  if (!uses_hosts_) return {};
  return {sent_within_host_, sent_among_hosts_};
}

void EmbeddingExchanges::exchange(CollectiveKind kind, Bytes bytes, std::string_view label,
                                  std::vector<TaskIndex>& calls) {
  if (bytes == Bytes(0)) return;
  sent_ += bytes;
  calls.push_back(writer_.collective(kEmbeddingStream, {.kind = kind, .bytes = bytes}, label));
}

void EmbeddingExchanges::within_host(CollectiveKind kind, std::string_view label, std::vector<TaskIndex>& calls) {
  if (sizes_.host_sums == Bytes(0)) return;
  sent_within_host_ += sizes_.host_sums;
  calls.push_back(writer_.collective(kIntraStream, {.kind = kind, .bytes = sizes_.host_sums}, label));
}

// Where ranks take the place of hosts, it is an exchange of all of them.
void EmbeddingExchanges::among_hosts(std::string_view label, std::vector<TaskIndex>& calls) {
  if (!uses_hosts_) return exchange(CollectiveKind::kAllToAll, sizes_.host_rows, label, calls);
  if (sizes_.host_rows == Bytes(0)) return;
  sent_among_hosts_ += sizes_.host_rows;
  const CollectiveSpec rows{.kind = CollectiveKind::kAllToAll, .bytes = sizes_.host_rows};
  calls.push_back(writer_.collective(kCrossStream, rows, label));
}

}  // namespace ringwright::workload
