// NCCL's cost model: its own estimate of a collective's time with each algorithm and protocol, used for its choice.
//
//     time = latency + bytes / algorithm bandwidth
//
// Formulas: graph/tuning.cc of NCCL, whose numbers are in NcclTables. They rank choices; simulated time never uses
// them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "collectives/nccl/search/graph.h"
#include "collectives/nccl/search/graph_cache.h"
#include "collectives/nccl/search/graph_file.h"
#include "collectives/nccl/tables/knobs.h"
#include "collectives/nccl/tables/tables.h"
#include "collectives/nccl/topology/hardware.h"
#include "core/plan/collective_call.h"

namespace ringwright::collectives {

struct NcclCost {
  NcclAlgorithm algorithm = NcclAlgorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  double latency_us = 0.0;
  double bandwidth_gb = 0.0;  // size / time, not the bus's; 0: cannot be used
  double time_us = 0.0;       // of the requested call
  std::string_view why_not;   // empty when it can be used
};

// One communicator on its hosts.
class NcclCostModel {
 public:
  // All references must outlive the model. `graphs`: channels from a file, or null. `cache`: channels of communicators
  // with the same layout, for the same tables, host and knobs, or null.
  NcclCostModel(const NcclTables& tables, const NcclHost& host, const NcclKnobs& knobs, const GroupLayout& layout,
                const NcclGraphFile* graphs = nullptr, NcclGraphCache* cache = nullptr);

  // Every algorithm with every protocol it has, in NCCL's order; none for all-to-all, which NCCL does not rank.
  [[nodiscard]] std::vector<NcclCost> costs(const CollectiveCall& call) const;
  [[nodiscard]] const NcclGraphs& graphs() const { return graphs_; }
  [[nodiscard]] const NcclGroup& group() const { return group_; }
  [[nodiscard]] const NcclTables& tables() const { return tables_; }
  // After NCCL_MIN_NCHANNELS and its like.
  [[nodiscard]] int channels() const { return channels_; }

 private:
  struct Case {
    CollectiveKind kind;
    NcclAlgorithm algorithm;
    Protocol protocol;
  };

  [[nodiscard]] const NcclGraph& graph_of(NcclAlgorithm algorithm) const;
  [[nodiscard]] std::string_view why_not(const Case& c) const;
  [[nodiscard]] bool ll128_is_safe(const NcclGraph& graph) const;
  [[nodiscard]] double bus_bandwidth(const Case& c) const;
  [[nodiscard]] double ring_bandwidth(const Case& c, double bus) const;
  [[nodiscard]] std::size_t ll_row() const;
  [[nodiscard]] double ll128_channel(const Case& c, double by_generation) const;
  [[nodiscard]] double share_of_ring(const Case& c) const;
  [[nodiscard]] double tree_bandwidth(const Case& c, double bus) const;
  [[nodiscard]] double nvls_channel(const Case& c) const;
  [[nodiscard]] double collnet_bandwidth(const Case& c, double bus) const;
  [[nodiscard]] double algorithm_bandwidth(const Case& c) const;
  [[nodiscard]] double latency(const Case& c) const;
  [[nodiscard]] double ring_latency(const Case& c, double network_us) const;
  [[nodiscard]] bool is_by_size(const CollectiveCall& call) const;
  [[nodiscard]] Protocol protocol_of_size(Bytes bytes) const;
  [[nodiscard]] bool on_plateau(Bytes bytes) const;
  [[nodiscard]] double correction(const Case& c, Bytes bytes) const;
  [[nodiscard]] double time(const Case& c, const CollectiveCall& call, const NcclCost& cost) const;
  [[nodiscard]] int steps(CollectiveKind kind) const;
  [[nodiscard]] double hop_us(const NcclGraph& graph, const Case& c) const;

  const NcclTables& tables_;
  const NcclHost& host_;
  const NcclKnobs& knobs_;
  NcclGroup group_;
  NcclGraphs graphs_;
  int channels_ = 1;
  std::optional<Processor> processor_;  // none: hosts of several vendors
  int smallest_host_;
  int largest_host_;
  Generation generation_;
  std::size_t column_;  // of tables by number of hosts
};

}  // namespace ringwright::collectives
