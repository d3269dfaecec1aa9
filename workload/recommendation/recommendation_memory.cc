#include "workload/recommendation/recommendation_memory.h"

#include <utility>

#include "workload/recommendation/recommendation_kernels.h"
#include "workload/recommendation/recommendation_step.h"
#include "workload/recommendation/table_lookups.h"

namespace ringwright::workload {
namespace {

class RoleLedger {
 public:
  RoleLedger(const RecommendationModel& model, const TablePlacement& placement, int role)
      : model_(model), placement_(placement), role_(placement.roles[static_cast<std::size_t>(role)]) {
    memory_.stage = role;
  }

  [[nodiscard]] StageMemory list(const MemoryAssumptions& assumed) && {
    tables("tables", placed_tables(model_, placement_, role_));
    tables("split tables", row_wise_tables(model_, placement_, role_));
    const double dense = all_reduced_parameters(model_, placement_);
    const bool has_state = model_.optimizer != SparseOptimizer::kSgd;
    add("dense weights", dense * kDenseBytes);
    add("dense gradients", dense * kDenseBytes);
    add("dense optimizer state", has_state ? dense * kDenseBytes : 0.0);
    const double working = add_activations() + add_pooled_rows() + add_indices();
    assume("fragmentation", working * assumed.fragmentation);
    assume("CUDA context", static_cast<double>(assumed.cuda_context.count()));
    // Both dimensions are one communicator.
    const std::int64_t own = placement_.role_of_rank.size() > 1 ? 1 : 0;
    assume("communicators", static_cast<double>((assumed.communicator * (own + assumed.more_communicators)).count()));
    return std::move(memory_);
  }

 private:
  double add(std::string_view name, double bytes, Evidence evidence = Evidence::kVendorSpec) {
    if (bytes > 0.0) memory_.items.push_back({.name = name, .bytes = scale(Bytes(1), bytes), .evidence = evidence});
    return bytes;
  }
  void assume(std::string_view name, double bytes) { add(name, bytes, Evidence::kAssumed); }

  void tables(std::string_view name, const std::vector<TableShare>& shares) {
    double bytes = 0.0;
    for (const TableShare& share : shares) {
      const double weights = row_weight_bytes(model_, share.columns);
      bytes += static_cast<double>(share.tables) * held_rows(model_, share) *
               (weights + row_state_bytes(model_, share.columns));
    }
    add(name, bytes);
  }

  [[nodiscard]] double local_samples() const {
    return static_cast<double>(model_.global_batch) / static_cast<double>(placement_.role_of_rank.size());
  }

  // Inputs of layers, and what ReLU leaves; the interaction's concatenated vectors and products.
  [[nodiscard]] double add_activations() {
    double columns = static_cast<double>(model_.dense_features + interaction_width(model_) + model_.bottom_mlp.back() +
                                         embedding_columns(model_));
    for (const auto& layers : {bottom_layers(model_), cross_layers(model_), top_layers(model_)}) {
      for (const DenseLayer& layer : layers) columns += static_cast<double>(layer.outputs);
    }
    return add("activations", local_samples() * columns * bytes_per_element(model_.precision));
  }

  [[nodiscard]] double add_pooled_rows() {
    double split = 0.0;
    for (std::size_t g = 0; g < model_.tables.size(); ++g)
      split += static_cast<double>(placement_.groups[g].row_wise * model_.tables[g].dim);
    const auto batch = static_cast<double>(model_.global_batch);
    const auto on_host = static_cast<double>(host_columns(model_, role_));
    const double before = batch * (static_cast<double>(placed_columns(placement_, role_)) + split + on_host);
    const double after = local_samples() * static_cast<double>(embedding_columns(model_));
    return add("pooled rows and their gradients", 2.0 * (before + after) * bytes_per_element(model_.comm_precision));
  }

  [[nodiscard]] double add_indices() {
    double own = 0.0;
    for (const auto& shares : {placed_tables(model_, placement_, role_), row_wise_tables(model_, placement_, role_),
                               replicated_tables(model_, placement_)}) {
      for (const TableShare& share : shares)
        own += static_cast<double>(share.tables) * (share.lookups + share.samples) * index_bytes(model_);
    }
    double received = 0.0;
    for (const TableGroup& group : model_.tables)
      received += static_cast<double>(group.count) * (group.pooling + 1.0) * local_samples() * index_bytes(model_);
    return add("indices", own + received);
  }

  const RecommendationModel& model_;
  const TablePlacement& placement_;
  const PlacementRole& role_;
  StageMemory memory_;
};

}  // namespace

std::vector<StageMemory> recommendation_memory(const RecommendationModel& model, const TablePlacement& placement,
                                               const MemoryAssumptions& assumptions) {
  std::vector<StageMemory> ledger;
  for (std::size_t role = 0; role < placement.roles.size(); ++role)
    ledger.push_back(RoleLedger(model, placement, static_cast<int>(role)).list(assumptions));
  return ledger;
}

std::vector<HostHoldings> recommendation_host_holdings(const RecommendationModel& model,
                                                       const TablePlacement& placement) {
  std::vector<HostHoldings> ranks;
  if (!model.cache.on()) return ranks;
  for (std::size_t role = 0; role < placement.roles.size(); ++role) {
    HostHoldings& holdings = ranks.emplace_back(HostHoldings{.stage = static_cast<int>(role)});
    const PlacementRole& own = placement.roles[role];
    for (const auto& [name, shares] : {std::pair{"tables", placed_tables(model, placement, own)},
                                       std::pair{"split tables", row_wise_tables(model, placement, own)}}) {
      double bytes = 0.0;
      for (const TableShare& share : shares) {
        bytes += static_cast<double>(share.tables) * share.rows *
                 (row_weight_bytes(model, share.columns) + row_state_bytes(model, share.columns));
      }
      if (bytes > 0.0) holdings.memory.push_back({.name = name, .bytes = scale(Bytes(1), bytes)});
    }
  }
  return ranks;
}

}  // namespace ringwright::workload
