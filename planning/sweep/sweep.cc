#include "planning/sweep/sweep.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/run_cost.h"
#include "configs/simulation/simulation.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/base/units.h"
#include "planning/study/each_item.h"

namespace ringwright::planning {
namespace {

using configs::Scenario;

constexpr std::size_t kEstimated = 5;  // points whose cost stands for all

std::vector<std::string> settings_of(const SweepPlan& plan, const std::vector<KeyValue>& values) {
  std::vector<std::string> settings = plan.settings;
  for (const KeyValue& value : values) settings.push_back(value.key + "=" + value.value);
  return settings;
}

std::string json_values(const std::vector<KeyValue>& values) {
  std::vector<std::string> entries;
  for (const KeyValue& value : values) entries.push_back(json_text(value.key) + ": " + json_text(value.value));
  return "{" + join(entries, ", ") + "}";
}

std::optional<std::string> value_among(const std::vector<KeyValue>& values, std::string_view key) {
  const auto found = std::ranges::find(values, key, &KeyValue::key);
  return found == values.end() ? std::nullopt : std::optional(found->value);
}

bool decides(const Condition& condition, const std::vector<KeyValue>& values) {
  return std::ranges::all_of(condition.keys(),
                             [&](const std::string& key) { return value_among(values, key).has_value(); });
}

Diagnostics bad_condition(const Condition& condition, const std::vector<KeyValue>& values, const std::string& why) {
  return failure("E302", fmt::format("where '{}': {}", condition.text(), why), {},
                 "in the point " + json_values(values));
}

// Whether all conditions hold that the values decide.
Result<bool> may_be_point(const SweepPlan& plan, const std::vector<KeyValue>& values) {
  for (const Condition& condition : plan.conditions) {
    if (!decides(condition, values)) continue;
    const auto holds = condition.holds([&](std::string_view key) { return value_among(values, key); });
    if (!holds) return tl::unexpected(bad_condition(condition, values, holds.error()));
    if (!*holds) return false;
  }
  return true;
}

// Canonical values are bare numbers: of quantities only the text has the unit.
const std::string& comparable(const ValueRead& value) {
  const bool has_unit = parse_bandwidth(value.text) || parse_flop_rate(value.text) || parse_bytes(value.text) ||
                        parse_duration(value.text);
  return has_unit ? value.text : value.canonical;
}

// The same for the conditions that need the scenario, presets and defaults included.
Result<bool> is_point(const SweepPlan& plan, const std::vector<KeyValue>& values, const Scenario& scenario) {
  const auto value_read = [&](std::string_view key) -> std::optional<std::string> {
    if (key == "parallel.dp" && scenario.job.trains_transformer())
      return std::to_string(scenario.job.parallel.dp);  // often `auto`
    for (const ValueRead& value : scenario.document.log().values()) {
      if (value.path == key) return comparable(value);
    }
    return value_among(values, key);
  };
  for (const Condition& condition : plan.conditions) {
    if (decides(condition, values)) continue;
    const auto holds = condition.holds(value_read);
    if (!holds) return tl::unexpected(bad_condition(condition, values, holds.error()));
    if (!*holds) return false;
  }
  return true;
}

Result<std::vector<SweepRow>> candidates(const SweepPlan& plan, const Shard& shard, SweepResult& result) {
  std::vector<SweepRow> rows;
  std::size_t position = 0;
  result.combinations = plan.size();
  for (std::size_t index = 0; index < result.combinations; ++index) {
    std::vector<KeyValue> values = plan.values(index);
    const auto holds = may_be_point(plan, values);
    if (!holds) return tl::unexpected(holds.error());
    if (!*holds) {
      ++result.excluded;
    } else if (position++ % shard.count + 1 == shard.number) {
      rows.push_back({.index = index, .values = std::move(values), .point = {}});
    }
    if (rows.size() > kMostSweepPoints) {
      return tl::unexpected(failure("E304", fmt::format("there are more than {} points", kMostSweepPoints), {},
                                    "leave out values, exclude some with `where`, or share them: --shard 1/8"));
    }
  }
  return rows;
}

// One for each warning, in the order of the points.
Diagnostics joined(const std::vector<Diagnostics>& of_points, std::size_t points) {
  struct Met {
    Diagnostic warning;
    std::size_t points = 0;
  };
  std::vector<Met> met;
  std::map<std::string, std::size_t> known;  // in `met`, by the text
  for (const Diagnostics& warnings : of_points) {
    for (const Diagnostic& warning : warnings.all()) {
      const auto [at, is_new] = known.try_emplace(render(warning), met.size());
      if (is_new) met.push_back({.warning = warning});
      ++met[at->second].points;
    }
  }
  Diagnostics all;
  for (Met& each : met) {
    if (each.points < points) {
      each.warning.message = fmt::format("{} of {} points: {}", each.points, points, each.warning.message);
    }
    all.add(std::move(each.warning));
  }
  return all;
}

// Warnings about settings have the codes of errors; keys without effect are found over all points.
Diagnostics setting_warnings(const Scenario& scenario) {
  Diagnostics warnings;
  for (const Diagnostic& found : scenario.document.log().diagnostics().all()) {
    if (found.code.starts_with('E')) warnings.add(found);
  }
  return warnings;
}

// Reads every row's scenario: its fingerprint, or why it is refused. Rows that a condition excludes are removed.
Diagnostics read_rows(const SweepPlan& plan, PointSource& source, const Workers& workers, SweepResult& result) {
  std::vector<SweepRow>& rows = result.rows;
  std::vector<char> is_out(rows.size(), 0);
  std::vector<Diagnostics> wrong(rows.size()), warnings(rows.size());
  each_item(rows.size(), workers, [&](std::size_t item) {
    SweepRow& row = rows[item];
    LoadedPoint loaded = source.load(settings_of(plan, row.values));
    row.is_known = !loaded.scenario;
    if (loaded.scenario) {
      const auto holds = is_point(plan, row.values, *loaded.scenario);
      if (!holds) wrong[item] = holds.error();
      is_out[item] = holds && !*holds ? 1 : 0;
      if (is_out[item] == 0) warnings[item] = setting_warnings(*loaded.scenario);
      for (const IgnoredKey& key : loaded.scenario->document.log().ignored())
        row.ignored.push_back({.path = key.path, .why = key.why});
    }
    row.point = std::move(loaded.point);
  });
  for (Diagnostics& each : wrong) {
    if (each.has_errors()) return std::move(each);
  }
  std::vector<SweepRow> left;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (is_out[i] == 0) left.push_back(std::move(rows[i]));
  }
  result.excluded += rows.size() - left.size();
  rows = std::move(left);
  result.warnings = joined(warnings, rows.size());
  return {};
}

// Seconds of one core for a point: reading, building, and by rule of thumb simulating it.
double seconds_of(const SweepPlan& plan, PointSource& source, const SweepRow& row) {
  const auto started = std::chrono::steady_clock::now();
  const LoadedPoint loaded = source.load(settings_of(plan, row.values));
  double simulating = 0.0;
  if (loaded.scenario) {
    const auto simulation = configs::Simulation::assemble(*loaded.scenario, configs::FoldMode::kFold);
    if (simulation) simulating = configs::cost_of_playing(*loaded.scenario, **simulation).seconds;
  }
  return simulating + std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
}

std::string time_text(double seconds) {
  if (seconds < 120.0) return fmt::format("{:.0f} s", seconds);
  return seconds < 7200.0 ? fmt::format("{:.0f} min", seconds / 60.0) : fmt::format("{:.1f} h", seconds / 3600.0);
}

double estimate(const SweepPlan& plan, PointSource& source, const std::vector<SweepRow>& rows,
                const std::vector<std::size_t>& to_simulate, int threads) {
  const std::size_t sampled = std::min(kEstimated, to_simulate.size());
  double seconds = 0.0;
  for (std::size_t i = 0; i < sampled; ++i) {
    seconds += seconds_of(plan, source, rows[to_simulate[i * to_simulate.size() / sampled]]);
  }
  const auto usual = static_cast<double>(std::max(1U, std::thread::hardware_concurrency()));
  const double cores = threads > 0 ? static_cast<double>(threads) : usual;
  return sampled == 0 ? 0.0 : seconds / static_cast<double>(sampled) * static_cast<double>(to_simulate.size()) / cores;
}

// What the store has is taken from there; returns the first row of every different point that it has not.
Result<std::vector<std::size_t>> look_up(ResultStore& store, SweepResult& result) {
  std::map<std::string, std::size_t> first;
  std::vector<std::size_t> to_simulate;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    SweepRow& row = result.rows[i];
    if (row.is_known || !first.emplace(row.point.fingerprint, i).second) continue;
    auto found = store.find(row.point.fingerprint);
    if (!found) return tl::unexpected(found.error());
    if (!*found) {
      to_simulate.push_back(i);
      continue;
    }
    (*found)->figures.processed = row.point.figures.processed;  // what the scenario says is not stored
    row.point = std::move(**found);
    row.is_known = true;
    ++result.found;
  }
  return to_simulate;
}

// Points that share a fingerprint share the result.
void share_points(std::vector<SweepRow>& rows) {
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].is_known) known.emplace(rows[i].point.fingerprint, i);
  }
  for (SweepRow& row : rows) {
    const auto found = known.find(row.point.fingerprint);
    if (row.is_known || found == known.end()) continue;
    row.point = rows[found->second].point;
    row.is_known = true;
  }
}

Diagnostics store_rows(const SweepPlan& plan, const Shard& shard, const std::vector<SweepRow>& rows,
                       ResultStore& store) {
  std::vector<SweepEntry> entries;
  for (const SweepRow& row : rows) {
    entries.push_back({.index = row.index, .values = json_values(row.values), .fingerprint = row.point.fingerprint});
    if (!row.is_known) continue;
    if (Diagnostics wrong = store.put(row.point); wrong.has_errors()) return wrong;
  }
  const std::string part = shard.count > 1 ? fmt::format(" shard {}/{}", shard.number, shard.count) : "";
  return store.put_sweep(plan.name + part, entries);
}

Diagnostics simulate_rows(const SweepPlan& plan, PointSource& source, const SweepOptions& options,
                          const std::vector<std::size_t>& to_simulate, ResultStore& store, SweepResult& result) {
  std::vector<std::size_t> indices;
  for (const std::size_t row : to_simulate) indices.push_back(result.rows[row].index);
  if (options.workers.progress && !indices.empty()) options.workers.progress(0, indices.size());
  Diagnostics wrong;
  const auto done = [&](std::size_t item, Point point) {
    SweepRow& row = result.rows[to_simulate[item]];
    if (!wrong.has_errors()) wrong = store.put(point);
    row.point = std::move(point);
    row.is_known = true;
  };
  if (options.simulate) {
    options.simulate(indices, done);
  } else {
    std::mutex one_at_a_time;
    each_item(indices.size(), options.workers, [&](std::size_t item) {
      Point point = simulate_combination(plan, source, indices[item]);
      const std::lock_guard lock(one_at_a_time);
      done(item, std::move(point));
    });
  }
  result.simulated = to_simulate.size();
  return wrong;
}

void rank_rows(SweepObjective objective, SweepResult& result) {
  std::vector<std::pair<double, std::size_t>> scored;
  for (std::size_t i = 0; i < result.rows.size(); ++i) {
    const SweepRow& row = result.rows[i];
    if (!row.is_known || row.point.status != PointStatus::kOk) continue;
    if (const auto score = sweep_score(row.point, objective)) scored.emplace_back(*score, i);
  }
  std::ranges::sort(scored);
  for (const auto& [score, row] : scored) result.ranking.push_back(row);
}

}  // namespace

std::optional<Shard> parse_shard(std::string_view text) {
  Shard shard;
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto read = [](std::string_view digits, std::size_t& number) {
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return error == std::errc() && end == digits.data() + digits.size();
  };
  if (!read(text.substr(0, slash), shard.number) || !read(text.substr(slash + 1), shard.count)) return std::nullopt;
  if (shard.number < 1 || shard.number > shard.count) return std::nullopt;
  return shard;
}

std::optional<double> sweep_score(const Point& point, SweepObjective objective) {
  const StepFigures& figures = point.figures;
  switch (objective) {
    case SweepObjective::kStepTime: return to_seconds(figures.step);
    case SweepObjective::kTokensPerSecond: return -figures.tokens_per_second();
    case SweepObjective::kTokensPerSecondPerGpu: return -figures.tokens_per_second_per_gpu;
    case SweepObjective::kModelFlopUtilisation:
      return figures.model_flop_utilisation ? std::optional(-*figures.model_flop_utilisation) : std::nullopt;
    case SweepObjective::kMemory: return static_cast<double>(figures.memory.count());
    case SweepObjective::kCost: return figures.cost.usd_per_tera_tokens;
  }
  return std::nullopt;
}

Point simulate_combination(const SweepPlan& plan, PointSource& source, std::size_t index) {
  return source.simulate(settings_of(plan, plan.values(index)));
}

Result<SweepResult> sweep(const SweepPlan& plan, const std::string& scenario, ResultStore& store,
                          const SweepOptions& options) {
  SweepResult result;
  PointSource source(scenario, options.store);
  auto rows = candidates(plan, options.shard, result);
  if (!rows) return tl::unexpected(std::move(rows.error()));
  result.rows = std::move(*rows);
  const Workers readers{.threads = options.workers.threads, .progress = options.reading};
  Diagnostics wrong = read_rows(plan, source, readers, result);
  if (wrong.has_errors()) return tl::unexpected(std::move(wrong));
  const auto to_simulate = look_up(store, result);
  if (!to_simulate) return tl::unexpected(to_simulate.error());
  result.missing = to_simulate->size();
  // Few points take less time than the estimate is worth.
  if (options.only_count || to_simulate->size() > kEstimated) {
    result.estimated_seconds = estimate(plan, source, result.rows, *to_simulate, options.workers.threads);
  }
  if (!options.only_count) {
    if (result.estimated_seconds > kMostSweepSeconds && !options.allow_slow) {
      return tl::unexpected(
          failure("E305",
                  fmt::format("{} points would take about {} on this machine", result.missing,
                              time_text(result.estimated_seconds)),
                  {}, "leave out values, share them (--shard 1/8, mpirun), or run it anyway with --allow-slow"));
    }
    wrong = store_rows(plan, options.shard, result.rows, store);
    if (!wrong.has_errors()) wrong = simulate_rows(plan, source, options, *to_simulate, store, result);
    if (wrong.has_errors()) return tl::unexpected(std::move(wrong));
    result.missing = 0;
  }
  share_points(result.rows);
  rank_rows(plan.objective, result);
  const auto is_ok = [](const SweepRow& row) { return row.is_known && row.point.status == PointStatus::kOk; };
  if (result.ranking.empty() && std::ranges::any_of(result.rows, is_ok)) {
    return tl::unexpected(failure("E307", fmt::format("no point has the objective '{}'", to_string(plan.objective)), {},
                                  plan.objective == SweepObjective::kCost ? "give the scenario a `cost`" : ""));
  }
  return result;
}

}  // namespace ringwright::planning
