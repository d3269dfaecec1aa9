// A sweep: every point of a plan is simulated once and stored, whatever ends the program in between.
//
// 1. Combinations that a condition excludes are counted.
// 2. Every other point is read; its fingerprint tells whether the store has it already, from this sweep or another one.
// 3. What is missing is simulated on all cores (or by other processes), and stored point by point.
// The result depends neither on threads nor on what was there before.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "configs/simulation/overhead_store.h"
#include "core/base/diagnostic.h"
#include "planning/store/result_store.h"
#include "planning/study/point.h"
#include "planning/study/workers.h"
#include "planning/sweep/sweep_file.h"

namespace ringwright::planning {

// One part of a sweep that several processes share: `number` of `count`, from 1.
struct Shard {
  std::size_t number = 1;
  std::size_t count = 1;
};
// "2/8".
[[nodiscard]] std::optional<Shard> parse_shard(std::string_view text);

// Simulates the combinations with these indices and passes on each result; calls of `done` do not overlap.
using PointDone = std::function<void(std::size_t item, Point point)>;
using SimulatePoints = std::function<void(const std::vector<std::size_t>& indices, const PointDone& done)>;

struct SweepOptions {
  Workers workers;
  StudyProgress reading = {};  // of the points that are read, before any is simulated
  Shard shard;
  bool allow_slow = false;       // also what is estimated to take longer than kMostSweepSeconds
  bool only_count = false;       // stop before simulations
  configs::OverheadStore* store = nullptr;  // where overheads of calls are retained; null: nowhere
  SimulatePoints simulate = {};  // instead of this process's own threads
};
inline constexpr double kMostSweepSeconds = 3600.0;

struct SweepRow {
  std::size_t index = 0;  // of the combination
  std::vector<KeyValue> values;
  Point point;
  bool is_known = false;  // otherwise only its fingerprint is: it was not simulated
  std::vector<IgnoredKnob> ignored = {};  // keys of the scenario without effect, as found by reading it
};

struct SweepResult {
  std::size_t combinations = 0;
  std::size_t excluded = 0;          // by conditions
  std::vector<SweepRow> rows;        // by index; of the shard
  std::size_t found = 0;             // points that the store had
  std::size_t simulated = 0;         // different ones
  std::size_t missing = 0;           // with SweepOptions::only_count: different points to simulate
  Diagnostics warnings = {};         // about settings, with the number of points that each is about
  double estimated_seconds = 0.0;    // of all missing ones on the threads asked for
  std::vector<std::size_t> ranking;  // of `rows` that are ok, best first
};

[[nodiscard]] Result<SweepResult> sweep(const SweepPlan& plan, const std::string& scenario, ResultStore& store,
                                        const SweepOptions& options = {});

// One combination, as sweep() simulates it.
[[nodiscard]] Point simulate_combination(const SweepPlan& plan, PointSource& source, std::size_t index);

// Lower is better; empty where the point has no such figure.
[[nodiscard]] std::optional<double> sweep_score(const Point& point, SweepObjective objective);

}  // namespace ringwright::planning
