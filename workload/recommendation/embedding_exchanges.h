// The exchanges of embeddings in the program of one rank.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "workload/program/program_writer.h"
#include "workload/recommendation/exchange_sizes.h"

namespace ringwright::workload {

class EmbeddingExchanges {
 public:
  // The writer must outlive this.
  EmbeddingExchanges(ProgramWriter& writer, const RecommendationModel& model, const TablePlacement& placement);

  // Whether ranks send indices to others.
  [[nodiscard]] bool sends_indices() const { return sizes_.indices > Bytes(0); }
  [[nodiscard]] std::optional<TaskIndex> indices();

  // Each adds its calls, if there are any.
  void pooled_rows(std::vector<TaskIndex>& calls);
  void partial_sums(std::vector<TaskIndex>& calls);
  [[nodiscard]] std::vector<TaskIndex> return_gradients();

  // Buffers of all calls so far, by dimension of embeddings: all ranks, and where tables are on hosts, the ranks of a
  // host, and those on other hosts.
  [[nodiscard]] Bytes sent() const { return sent_; }
  [[nodiscard]] std::vector<Bytes> sent_for_hosts() const;

 private:
  void exchange(CollectiveKind kind, Bytes bytes, std::string_view label, std::vector<TaskIndex>& calls);
  void within_host(CollectiveKind kind, std::string_view label, std::vector<TaskIndex>& calls);
  void among_hosts(std::string_view label, std::vector<TaskIndex>& calls);

  ProgramWriter& writer_;
  ExchangeSizes sizes_;
  bool uses_hosts_;
  Bytes sent_, sent_within_host_, sent_among_hosts_;
};

}  // namespace ringwright::workload
