// Simulates measured collectives: the same operation at the same sizes on a description of the same machine.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/collective_run.h"
#include "core/base/diagnostic.h"
#include "traces/nccl_tests/collective_log.h"
#include "validation/fit/error_statistics.h"
#include "validation/nccl/measured_machine.h"

namespace ringwright::validation {

struct ReplayedRow {
  Bytes size;
  int line = 0;
  Duration measured;
  Duration simulated;
  std::optional<Duration> formula;  // the estimate of NCCL's own cost model, if there is one
  std::string algorithm;
  std::string protocol;
  int channels = 0;
};

// Relation between the constants of a replay and the log: fitted on it, fitted on other logs of the same machine, or
// values of the hardware's class.
enum class LogRole : std::uint8_t { kFitted, kPredicted, kClass };
[[nodiscard]] std::string_view to_string(LogRole role);

struct ReplayedLog {
  std::string file;
  std::string machine;   // "2 hosts x 4 of gh200-x4, slingshot"
  std::string platform;  // "gh200-x4, slingshot": logs of one platform are scored together
  std::string profile;   // empty: nothing is calibrated
  LogRole role = LogRole::kClass;
  std::string operation;
  int ranks = 0;
  std::vector<ReplayedRow> rows;
  std::string listed = "";              // the machine's name in the list of machines
  std::string kernels = "";             // the classes whose constants hold where no profile does: "hopper",
  std::string transport = "";           // and "infiniband"; "none" within one host
  std::vector<std::string> notes = {};  // assumptions
};

struct ReplayOptions {
  std::vector<std::string> overrides;
  std::optional<std::string> cluster;  // for logs without their machine
  UseProfile use_profile = UseProfile::kYes;
  std::string classes = "";  // constants of classes: the shipped ones, `none` (planning values), or those of a folder
  std::optional<std::string> node = {};  // a shipped node, instead of the one that the log's GPU suggests
  std::optional<std::string> profile;  // a shipped name or a file, instead of the one of the log's machine
};

// The machine of a log, ready for simulation.
struct ReplayPlan {
  configs::Scenario scenario;
  MeasuredMachine machine;
  configs::CollectiveOperation operation;
  int gpus_per_host = 0;
  std::optional<traces::PlayedMachine> played;  // the log is our own: calls are simulated as they were
};
[[nodiscard]] Result<ReplayPlan> plan_replay(const traces::CollectiveLog& log, const ReplayOptions& options);

[[nodiscard]] Result<ReplayedLog> replay(const traces::CollectiveLog& log, const ReplayPlan& plan);
// All logs, on all cores; the order of the answers is that of the logs, and so is the first failure.
[[nodiscard]] Result<std::vector<ReplayedLog>> replay_all(const std::vector<traces::CollectiveLog>& logs,
                                                          const ReplayOptions& options);

struct Replays {
  std::vector<ReplayedLog> logs;
  Diagnostics refused;  // of the others: a warning each, with its reasons
  int refusals = 0;
};
// The same, without those that cannot be simulated. Fails where that is all of them.
[[nodiscard]] Result<Replays> replay_each(const std::vector<traces::CollectiveLog>& logs, const ReplayOptions& options);

// Sizes fall into bands, since what limits them differs: latency, pipelining, bandwidth.
enum class SizeBand : std::uint8_t { kSmall, kMiddle, kLarge };
inline constexpr int kSizeBands = 3;
[[nodiscard]] SizeBand band_of(Bytes size);
[[nodiscard]] std::string_view to_string(SizeBand band);  // "below 64 KiB"

enum class Against : std::uint8_t { kSimulation, kFormula };
// Of the rows of one band, or of all with the band left out.
[[nodiscard]] std::vector<PredictedMeasured> pairs_of(const std::vector<ReplayedRow>& rows, SizeBand band,
                                                      Against what);

}  // namespace ringwright::validation
