#include "workload/recommendation/table_lookups.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

// Rows that a sample looks up in the whole table.
double rows_of_bag(const TableShare& share) {
  return share.lookups * share.parts / share.samples;
}

double looked_up_bytes(const RecommendationModel& model, const TableShare& share) {
  return static_cast<double>(share.tables) * share.lookups * row_bytes(model, share);
}

}  // namespace

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
