// One point of a study: a scenario with some values changed, simulated, or the reason why it cannot be.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/scenario/known_files.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/machine_overheads.h"
#include "configs/simulation/overhead_store.h"
#include "core/base/units.h"
#include "core/report/report.h"
#include "core/report/step_cost.h"
#include "core/report/step_parts.h"

namespace ringwright::planning {

// kTooLarge: it was simulated, but does not fit into the memory of its GPUs or hosts. kUnfinished: ranks wait for each
// other, or the run ends beyond the simulated clock.
enum class PointStatus { kOk, kTooLarge, kRefused, kUnfinished };
[[nodiscard]] std::string_view to_string(PointStatus status);  // "ok", "too_large", "refused", "unfinished"
[[nodiscard]] std::optional<PointStatus> status_named(std::string_view name);

// What a simulated step takes. Zero where there is none.
struct StepFigures {
  Duration step;
  std::vector<StepPart> parts;  // they add up to `step`
  Duration mean_step;           // over steps with a checkpoint and those without it, as `cost`; not of a stored point
  double tokens_per_second_per_gpu = 0.0;
  std::optional<double> model_flop_utilisation;
  std::int64_t gpus = 0;
  std::int64_t tokens_per_step = 0;
  std::string processed = "tokens";  // what they are: "samples" of a recommendation model or a table of layers
  Bytes memory;                      // of the fullest GPU
  Bytes memory_capacity;
  StepCost cost;
  std::optional<Duration> checkpoint_takes;  // of a step with a checkpoint, until it is stored

  [[nodiscard]] double tokens_per_second() const { return tokens_per_second_per_gpu * static_cast<double>(gpus); }
};

struct Point {
  std::string fingerprint;  // `config.sha256` of its result; of a scenario that cannot be read, one of the mistake
  PointStatus status = PointStatus::kRefused;
  std::string code;    // of the first mistake: "E130"
  std::string reason;  // why it is not ok
  StepFigures figures;
  std::vector<IgnoredKnob> ignored;     // keys that were given without effect; not of a point that was stored
  std::vector<ReportWarning> warnings;  // likewise

  [[nodiscard]] bool was_simulated() const { return status == PointStatus::kOk || status == PointStatus::kTooLarge; }
};

// A scenario ready to be simulated, or a point that is refused.
struct LoadedPoint {
  Point point;  // complete where there is no scenario; otherwise only its fingerprint and what it processes
  std::optional<configs::Scenario> scenario;
};

// The scenario file of a study. Its presets and tables are read once for all points, and what a machine's collectives
// cost beyond their messages is found once for all points on it. Thread-safe.
class PointSource {
 public:
  // `store`: where overheads of calls are retained; it outlives this. Null: nowhere.
  explicit PointSource(std::string path, configs::OverheadStore* store = nullptr)
      : path_(std::move(path)), overheads_(store) {}

  // With these settings, as --set takes them.
  [[nodiscard]] LoadedPoint load(std::span<const std::string> settings);
  [[nodiscard]] Point simulate(std::span<const std::string> settings);

 private:
  std::string path_;
  configs::KnownFiles known_;
  configs::MachineOverheads overheads_;
};

[[nodiscard]] std::string fingerprint_of(const configs::Scenario& scenario);
// `overheads`: of its machine, shared with other points on it; null: its own.
[[nodiscard]] Point simulate_point(const configs::Scenario& scenario, configs::KnownOverheads* overheads = nullptr);

[[nodiscard]] StepFigures figures_of(const Report& report);

}  // namespace ringwright::planning
