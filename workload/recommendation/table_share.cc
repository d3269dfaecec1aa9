#include "workload/recommendation/table_share.h"

#include <algorithm>
#include <cmath>

#include "workload/recommendation/row_access.h"

namespace ringwright::workload {
namespace {

constexpr double kSector = 32.0;  // bytes of device memory that are read together

// Rows that a sample looks up in the whole table.
double rows_of_bag(const TableShare& share) {
  return share.lookups * share.parts / share.samples;
}

double looked_up_bytes(const RecommendationModel& model, const TableShare& share) {
  return static_cast<double>(share.tables) * share.lookups * row_bytes(model, share);
}

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

TableLookups::TableLookups(const RecommendationModel& model, const TableShare& share)
    : access_(share.rows * share.parts, model.zipf),
      rows_(share.rows),
      parts_(share.parts),
      bag_(model.fixed_bags ? std::max(rows_of_bag(share), 1.0) : 1.0),
      draws_(share.lookups * share.parts / bag_) {}

double TableLookups::among_top_by_chance(double rows) const {
  return std::clamp(rows / rows_, 0.0, 1.0) * (1.0 - 1.0 / bag_);
}

double TableLookups::distinct(double steps, double but_top) const {
  const double bags = access_.distinct(draws_ * steps, but_top * parts_ / bag_);
  return std::min(std::max(rows_ - but_top, 0.0), bags * bag_ / parts_ * (1.0 - among_top_by_chance(but_top)));
}

double TableLookups::share_of_top(double rows) const {
  if (rows >= rows_) return 1.0;
  const double popular = access_.share_of_top(rows * parts_ / bag_);
  return popular + (1.0 - popular) * among_top_by_chance(rows);
}

double cached_lookups(const RecommendationModel& model, const std::vector<TableShare>& tables) {
  const auto cache = static_cast<double>(model.lookup_cache.bytes.count());
  if (cache <= 0.0 || reach(model, tables) <= cache) return 0.0;
  double looked_up = 0.0, found = 0.0;
  for (const TableShare& share : tables) looked_up += looked_up_bytes(model, share);
  for (const TableShare& share : tables) {
    const double own = looked_up_bytes(model, share);
    const double rows = cache * own / looked_up / static_cast<double>(share.tables) / row_bytes(model, share);
    const TableLookups table(model, share);
    const double repeated = 1.0 - table.distinct(1.0) / share.lookups;
    found += own * std::min(table.share_of_top(rows), std::max(repeated, 0.0));
  }
  return found / looked_up;
}

double fetched_rows(const RecommendationModel& model, const TableShare& share) {
  if (!model.cache.on()) return 0.0;
  const TableLookups table(model, share);
  const auto ahead = static_cast<double>(model.cache.lookahead);
  if (ahead > 0.0) return table.distinct(ahead + 1.0) - table.distinct(ahead);
  return table.distinct(1.0, model.cache.rows * share.rows);
}

double held_rows(const RecommendationModel& model, const TableShare& share) {
  if (!model.cache.on()) return share.rows;
  const auto ahead = static_cast<double>(model.cache.lookahead);
  if (ahead > 0.0) return TableLookups(model, share).distinct(ahead);
  return model.cache.rows * share.rows + fetched_rows(model, share);
}

}  // namespace ringwright::workload
