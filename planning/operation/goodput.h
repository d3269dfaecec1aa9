// Goodput: a job's life for months, simulated many times with each recovery policy under the same faults.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_document.h"
#include "planning/operation/accounts.h"
#include "planning/operation/job_life.h"
#include "planning/operation/operation.h"
#include "planning/operation/statistics.h"
#include "planning/study/workers.h"

namespace ringwright::planning {

// All repetitions of one policy. Times are means in seconds; they add up to the wall time.
struct PolicyOutcome {
  std::string policy;
  std::string refusal;  // why it was not simulated; empty: it was
  int lives = 0;
  int unfinished = 0;                  // lives whose work never ended
  Summary ettr;                        // productive / wall
  std::vector<double> ettr_quantiles;  // over lives (planning/study/quantiles.h)
  Summary wall_hours;
  std::optional<Summary> tokens_per_second;
  Summary faults;                       // that hit the job, per life
  std::vector<double> seconds;          // by account
  std::vector<double> lost_gpu_hours;   // by account, the productive one 0
  std::vector<double> class_faults;     // by component class
  std::vector<double> class_gpu_hours;  // lost to recovery, replay and slow parts
  double between_faults_hours = 0.0;    // of wall time
  double running_between_faults_hours = 0.0;
  double out_of_spares = 0.0;  // share of lives that waited for a host
  double waits = 0.0;          // per life
  double in_recovery = 0.0;    // faults that hit a recovery, per life
  double from_start = 0.0;     // recoveries without any version
  double undetected = 0.0;
  double selections = 0.0;
  double retired = 0.0;
  std::optional<double> usd;  // of a life
  std::optional<double> usd_per_productive_gpu_hour;
};

// One interval of the tier whose interval is studied.
struct IntervalOutcome {
  std::string rule;  // "given", "Young", "Daly", "searched"
  double seconds = 0.0;
  double closed_form = 0.0;  // exact efficiency of the classic model
  Summary ettr;
};

struct GoodputResult {
  std::string name;
  std::string scenario;  // empty: the step's time is given
  std::string fingerprint;
  Operation operation;
  PolicyOutcome outcome;              // of the chosen policy
  std::vector<PolicyOutcome> others;  // in the order of the table
  std::string tier;                   // whose interval was studied; empty: none
  std::vector<IntervalOutcome> intervals;
  double recovery_seconds = 0.0;  // R of the classic model: detection, diagnosis, restart, load
  Diagnostics warnings;

  [[nodiscard]] double between_failures() const { return 3600.0 / operation.faults_per_hour(); }
  [[nodiscard]] double between_recoveries() const { return 3600.0 / operation.recoveries_per_hour(); }
};

struct GoodputOptions {
  std::vector<std::string> settings = {};  // of this file, or of the scenario that it names
  Workers workers = {};
  bool intervals = true;
  bool compare = true;
};

[[nodiscard]] Result<GoodputResult> goodput(const std::string& path, const GoodputOptions& options = {});
// The same for a text in memory; `name` appears in messages.
[[nodiscard]] Result<GoodputResult> goodput_text(const std::string& name, std::string_view text,
                                                 const GoodputOptions& options = {});

// One policy alone, all repetitions.
[[nodiscard]] std::vector<LifeResult> live_all(const Operation& operation, const RecoveryPolicy& policy,
                                               const Workers& workers);

[[nodiscard]] std::string render_goodput_text(const GoodputResult& result);
// Schema "ringwright.goodput/1" (docs/goodput.md).
[[nodiscard]] std::string render_goodput_json(const GoodputResult& result);

}  // namespace ringwright::planning
