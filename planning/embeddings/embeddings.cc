#include "planning/embeddings/embeddings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/simulate.h"
#include "workload/recommendation/recommendation_kernels.h"
#include "workload/recommendation/table_lookups.h"

namespace ringwright::planning {
namespace {

using workload::EmbeddingUpkeep;
using workload::RecommendationModel;
using workload::TableCheckpoints;
using workload::TableGroup;
using workload::TableLookups;

constexpr std::array kCachedShares{0.001, 0.01, 0.1, 0.5};
constexpr std::array<std::int64_t, 4> kLookaheads{1, 10, 50, 200};
constexpr double kCheckpointedSeconds = 86400.0;
constexpr std::int64_t kExactIntervals = 300;
constexpr double kRowNumber = 8.0;       // bytes, of a row that is saved by itself
constexpr double kScaleAndOffset = 8.0;  // of a quantised row

double columns_of(const TableGroup& group) {
  return static_cast<double>(group.dim);
}

// In GPU memory: weights and optimizer state.
double row_bytes(const RecommendationModel& model, const TableGroup& group) {
  return row_weight_bytes(model, group.dim) + row_state_bytes(model, group.dim);
}

double lookups_of(const RecommendationModel& model, const TableGroup& group) {
  return static_cast<double>(model.global_batch) * group.pooling;
}

// Calls visit(group, tables, access, lookups of one table in a step) for each group.
template <class Visit>
void for_each_group(const RecommendationModel& model, Visit&& visit) {
  for (const TableGroup& group : model.tables) {
    const double lookups = lookups_of(model, group);
    const TableLookups access(model, {.tables = group.count,
                                      .rows = static_cast<double>(group.rows),
                                      .columns = group.dim,
                                      .lookups = lookups,
                                      .samples = static_cast<double>(model.global_batch)});
    visit(group, static_cast<double>(group.count), access, lookups);
  }
}

CacheRow cache_row(const RecommendationModel& model, double share) {
  CacheRow row{.rows = share};
  double lookups = 0.0;
  for_each_group(model, [&](const TableGroup& group, double tables, const TableLookups& access, double of_step) {
    const double top = share * static_cast<double>(group.rows);
    lookups += tables * of_step;
    row.hits += tables * of_step * access.share_of_top(top);
    row.fetched += tables * access.distinct(1.0, top) * row_bytes(model, group);
  });
  row.hits /= lookups;
  return row;
}

LookaheadRow lookahead_row(const RecommendationModel& model, std::int64_t batches) {
  LookaheadRow row{.batches = batches};
  double rows = 0.0;
  const auto ahead = static_cast<double>(batches);
  for_each_group(model, [&](const TableGroup& group, double tables, const TableLookups& access, double) {
    const double held = access.distinct(ahead);
    rows += tables * static_cast<double>(group.rows);
    row.held += tables * held;
    row.fetched += tables * (access.distinct(ahead + 1.0) - held) * row_bytes(model, group);
  });
  row.held /= rows;
  return row;
}

// Of a row as it is saved: as it is in the table, or quantised to fewer bits a weight.
double saved_row_bytes(const RecommendationModel& model, const TableGroup& group, std::int64_t bits) {
  if (bits >= weight_bits(model)) return row_bytes(model, group);
  return columns_of(group) * static_cast<double>(bits) / 8.0 + kScaleAndOffset + row_state_bytes(model, group.dim);
}

// Rows that changed in so many steps, as they are saved.
double changed_bytes(const RecommendationModel& model, double steps) {
  double bytes = 0.0;
  for_each_group(model, [&](const TableGroup& group, double tables, const TableLookups& access, double) {
    const double row = saved_row_bytes(model, group, model.upkeep.bits) + kRowNumber;
    bytes += tables * access.distinct(steps) * row;
  });
  return bytes;
}

// All rows, in order, so that they need no numbers.
double full_bytes(const RecommendationModel& model, std::int64_t bits) {
  double bytes = 0.0;
  for (const TableGroup& group : model.tables) {
    const double row = saved_row_bytes(model, group, bits);
    bytes += static_cast<double>(group.count) * static_cast<double>(group.rows) * row;
  }
  return bytes;
}

// Of the rows that changed since the last checkpoint of all rows, by the number of intervals since: exact up to
// kExactIntervals, then linear between numbers that differ by 2 %, since a day may have 100,000 checkpoints.
class ChangedRows {
 public:
  ChangedRows(const RecommendationModel& model, double steps_between) : model_(model), steps_between_(steps_between) {}

  double bytes(std::int64_t intervals) {
    while (knots_.empty() || knots_.back().intervals < intervals) add_knot();
    const auto to = std::ranges::lower_bound(knots_, intervals, {}, &Knot::intervals);
    if (to->intervals == intervals) return to->bytes;
    const auto from = std::prev(to);
    const double share =
        static_cast<double>(intervals - from->intervals) / static_cast<double>(to->intervals - from->intervals);
    return from->bytes + share * (to->bytes - from->bytes);
  }

 private:
  struct Knot {
    std::int64_t intervals = 0;
    double bytes = 0.0;
  };

  void add_knot() {
    const std::int64_t last = knots_.empty() ? 0 : knots_.back().intervals;
    const std::int64_t next = last < kExactIntervals ? last + 1 : last + last / 50;
    knots_.push_back({.intervals = next, .bytes = changed_bytes(model_, steps_between_ * static_cast<double>(next))});
  }

  const RecommendationModel& model_;
  double steps_between_;
  std::vector<Knot> knots_;
};

// The checkpoints of a day, two at least, the first of all rows. Of intermittent ones, all rows again once further
// increments are expected to write more than that, as the last one predicts (Check-N-Run, section 4.1).
CheckpointRow checkpoint_row(const RecommendationModel& model, TableCheckpoints policy, ChangedRows& changed) {
  const auto count = static_cast<std::int64_t>(std::max(2.0, kCheckpointedSeconds / to_seconds(model.upkeep.interval)));
  const double all = full_bytes(model, model.upkeep.bits);
  double written = all, kept = all, increments = 0.0;
  std::int64_t since = 0;
  CheckpointRow row;
  for (std::int64_t i = 1; i < count; ++i) {
    ++since;
    double own = changed.bytes(policy == TableCheckpoints::kConsecutive ? 1 : since);
    const bool again = policy == TableCheckpoints::kIntermittent && own * static_cast<double>(since) > all + increments;
    if (policy == TableCheckpoints::kFull || again || own > all) {
      own = all;
      since = 0;
      increments = 0.0;
      kept = std::max(kept, all);
    } else {
      increments += own;
      kept = std::max(kept, all + (policy == TableCheckpoints::kConsecutive ? increments : own));
    }
    if (i == 1) row.first = own;
    written += own;
  }
  row.mean = written / static_cast<double>(count);
  row.largest_kept = kept;
  const double unquantised = full_bytes(model, weight_bits(model));
  row.less_written = unquantised / row.mean;
  row.less_kept = unquantised / kept;
  return row;
}

std::vector<CheckpointRow> checkpoint_rows(const RecommendationModel& model, Duration step) {
  ChangedRows changed(model, to_seconds(model.upkeep.interval) / to_seconds(step));
  // In the order of TableCheckpoints.
  constexpr std::array kPolicies{std::pair{"full", TableCheckpoints::kFull},
                                 std::pair{"one_shot", TableCheckpoints::kOneShot},
                                 std::pair{"consecutive", TableCheckpoints::kConsecutive},
                                 std::pair{"intermittent", TableCheckpoints::kIntermittent}};
  std::vector<CheckpointRow> rows;
  for (const auto& [name, policy] : kPolicies) {
    CheckpointRow row = checkpoint_row(model, policy, changed);
    row.policy = name;
    rows.push_back(row);
  }
  return rows;
}

// A recovery loads what checkpoints hold: all rows, and the increments since.
std::vector<RecoveryRow> recovery_rows(const RecommendationModel& model, const CheckpointRow& checkpoints) {
  const EmbeddingUpkeep& upkeep = model.upkeep;
  const double fail = to_seconds(upkeep.time_between_failures), restart = to_seconds(upkeep.restart);
  const auto servers = static_cast<double>(upkeep.servers);
  const double save = checkpoints.mean / upkeep.storage.count();
  const double load = checkpoints.largest_kept / upkeep.storage.count();
  const double best = std::sqrt(2.0 * save * fail);
  const double allowed = 2.0 * upkeep.portion_of_lost_samples * servers * fail;
  const auto full = [&](double interval) { return save / interval + (load + interval / 2.0 + restart) / fail; };
  const auto partial = [&](double interval) { return save / interval + (load / servers + restart) / fail; };
  const auto pls = [&](double interval) { return interval / (2.0 * fail * servers); };
  return {
      {.kind = "full", .interval = from_seconds(best), .overhead = full(best), .pls = 0.0},
      {.kind = "partial, same interval", .interval = from_seconds(best), .overhead = partial(best), .pls = pls(best)},
      {.kind = "partial", .interval = from_seconds(allowed), .overhead = partial(allowed), .pls = pls(allowed)}};
}

// A step sends the difference of each updated row to the owner of each parity.
void add_erasure_code(const RecommendationModel& model, EmbeddingsResult& result) {
  const EmbeddingUpkeep& upkeep = model.upkeep;
  const auto data = static_cast<double>(upkeep.data_servers), parity = static_cast<double>(upkeep.parity_servers);
  const auto servers = static_cast<double>(upkeep.servers);
  double updated = 0.0;
  for_each_group(model, [&](const TableGroup& group, double tables, const TableLookups& access, double) {
    updated += tables * access.distinct(1.0) * (row_bytes(model, group) + kRowNumber);
  });
  result.memory_overhead = parity / data;
  result.parity_bytes = updated * parity;
  const double seconds = result.parity_bytes / servers / upkeep.server_bandwidth.count();
  result.parity_overhead = seconds / to_seconds(result.step);
  // The new server receives k parts as large as its own.
  result.rebuild = from_seconds(result.table_bytes / servers * data / upkeep.server_bandwidth.count());
}

}  // namespace

Diagnostics embeddings_warnings(const configs::Scenario& scenario) {
  Diagnostics warnings;
  const Diagnostics all = configs::warnings_of(scenario);
  for (const Diagnostic& warning : all.all()) {
    // Tables of rows that follow from the skew are printed for every sharding.
    const bool used =
        warning.message.starts_with("recommendation.upkeep ") || warning.message.starts_with("recommendation.zipf ");
    if (!used) warnings.add(warning);
  }
  return warnings;
}

Result<EmbeddingsResult> study_embeddings(const configs::Scenario& scenario) {
  if (!scenario.job.recommendation) {
    return tl::unexpected(failure("E554", "the scenario has no recommendation model",
                                  Place{.file = scenario.simulate.steps_at.file},
                                  "recommendation: {preset: dlrm-criteo}"));
  }
  const auto outcome = configs::simulate(scenario, configs::FoldMode::kFold);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!outcome->report) {
    return tl::unexpected(
        failure("E554", "the step of the model does not end", Place{.file = scenario.simulate.steps_at.file}));
  }
  const RecommendationModel& model = scenario.job.recommendation->model;
  const Duration step = outcome->report->step_time.mean;
  if (model.upkeep.interval < step) {
    return tl::unexpected(failure("E554",
                                  fmt::format("recommendation.upkeep.interval is {}, and a step takes {}",
                                              to_string(model.upkeep.interval), to_string(step)),
                                  Place{.file = scenario.simulate.steps_at.file}, "save once per step at most"));
  }
  EmbeddingsResult result{.scenario = scenario.name, .step = step};
  double lookups = 0.0, distinct = 0.0;
  for_each_group(model, [&](const TableGroup& group, double tables, const TableLookups& access, double of_step) {
    result.table_bytes += tables * static_cast<double>(group.rows) * row_bytes(model, group);
    lookups += tables * of_step;
    distinct += tables * access.distinct(1.0);
  });
  result.unique_rows = distinct / lookups;
  for (const double share : kCachedShares) result.caches.push_back(cache_row(model, share));
  for (const std::int64_t batches : kLookaheads) result.lookaheads.push_back(lookahead_row(model, batches));
  result.checkpoints = checkpoint_rows(model, result.step);
  result.recoveries = recovery_rows(model, result.checkpoints[static_cast<std::size_t>(model.upkeep.checkpoints)]);
  add_erasure_code(model, result);
  return result;
}

}  // namespace ringwright::planning
