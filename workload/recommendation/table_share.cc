#include "workload/recommendation/table_share.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

constexpr double kSector = 32.0;  // bytes of device memory that are read together

}  // namespace

double row_bytes(const RecommendationModel& model, const TableShare& share) {
  return row_weight_bytes(model, share.columns);
}

double in_sectors(double bytes) {
  return std::ceil(bytes / kSector) * kSector;
}

double reach(const RecommendationModel& model, const std::vector<TableShare>& tables) {
  double bytes = 0.0;
  for (const TableShare& share : tables)
    bytes += static_cast<double>(share.tables) * share.rows * row_bytes(model, share);
  return bytes;
}

std::vector<TableShare> placed_tables(const RecommendationModel& model, const TablePlacement& placement,
                                      const PlacementRole& role) {
  std::vector<TableShare> shares;
  const auto batch = static_cast<double>(model.global_batch);
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    if (role.parts[g] == 0) continue;
    shares.push_back({.tables = role.parts[g],
                      .rows = static_cast<double>(model.tables[g].rows),
                      .columns = placement.groups[g].columns,
                      .lookups = batch * model.tables[g].pooling,
                      .samples = batch});
  }
  return shares;
}

std::vector<TableShare> row_wise_tables(const RecommendationModel& model, const TablePlacement& placement,
                                        const PlacementRole& role) {
  std::vector<TableShare> shares;
  const auto batch = static_cast<double>(model.global_batch);
  const auto add = [&](const TableGroup& group, std::int64_t tables, double parts) {
    if (tables == 0) return;
    shares.push_back({.tables = tables,
                      .rows = std::max(1.0, static_cast<double>(group.rows) / parts),
                      .columns = group.dim,
                      .lookups = batch * group.pooling / parts,
                      .samples = batch,
                      .parts = parts});
  };
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    const GroupPlacement& group = placement.groups[g];
    add(model.tables[g], group.row_wise, ranks_of(placement));
    add(model.tables[g], role.host_parts[g], static_cast<double>(placement.ranks_of_host * group.host_parts));
  }
  return shares;
}

std::vector<TableShare> replicated_tables(const RecommendationModel& model, const TablePlacement& placement) {
  std::vector<TableShare> shares;
  const double local = static_cast<double>(model.global_batch) / ranks_of(placement);
  for (std::size_t g = 0; g < model.tables.size(); ++g) {
    if (placement.groups[g].replicated == 0) continue;
    shares.push_back({.tables = placement.groups[g].replicated,
                      .rows = static_cast<double>(model.tables[g].rows),
                      .columns = model.tables[g].dim,
                      .lookups = local * model.tables[g].pooling,
                      .samples = local});
  }
  return shares;
}

}  // namespace ringwright::workload
