// The tables of this folder: the measurements that `ringwright validate` compares with predictions, and the constants
// that `ringwright calibrate` fits.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

struct ValidationRequest {
  std::vector<std::string> files;         // measurements; empty: the shipped validation set
  std::vector<std::string> overrides;     // "path=value", on top of every scenario that is simulated
  std::optional<std::string> cluster;     // a file or shipped name for measurements without their machine
  std::optional<std::string> node = {};   // a shipped node for logs of collectives, instead of the one of their GPU
  std::optional<std::string> profile;     // constants for all logs: a shipped name, a file, or "none"
  std::optional<std::string> classes;     // values of classes: a file, or "none"; the shipped ones if not given
  std::optional<std::string> collective;  // of logs that do not name theirs: "all_gather"
  std::optional<int> hosts;               // of the measured job; of traces and communication logs
  std::vector<std::string> groups = {};   // of traces: "363=0,8", ranks of the calls of a stream
  std::optional<double> threshold;        // largest error that passes, as a ratio; the validator's own if not given
  bool wants_page = false;                // `markdown` is needed
  std::function<void(std::size_t done, std::size_t all)> progress = {};  // of training runs
};

struct NamedText {
  std::string name;  // of a file
  std::string text;
};

struct ValidationOutcome {
  std::string text;              // text tables
  std::string json;              // one object
  std::string markdown;          // the page in docs/
  std::vector<NamedText> plots;      // SVG, for the page
  std::vector<NamedText> scenarios;  // YAML, of training runs: one for each row that was simulated
  bool passed = true;    // within the threshold
  Diagnostics warnings;
};

struct Validator {
  std::string_view name;  // "nccl"
  std::string_view help;
  Result<ValidationOutcome> (*run)(const ValidationRequest& request);
};
[[nodiscard]] std::span<const Validator> validators();
// Files of equal content count once, with a warning (W247).
[[nodiscard]] Result<ValidationOutcome> run_validator(const Validator& validator, ValidationRequest request);

// In files of the same names.
[[nodiscard]] Result<ValidationOutcome> validate_host_copies(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_interference(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_kernels(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_kineto(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_launches(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_layers(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_memory(const ValidationRequest& request);  // memory_curves.cc
[[nodiscard]] Result<ValidationOutcome> validate_mpi(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_nccl(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_nccl_inspector(const ValidationRequest& request);  // kineto.cc
[[nodiscard]] Result<ValidationOutcome> validate_primitives(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_offload(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_primitive_times(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_reliability(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_steps(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_systems(const ValidationRequest& request);
[[nodiscard]] Result<ValidationOutcome> validate_training(const ValidationRequest& request);

struct CalibrationRequest {
  std::vector<std::string> files;
  std::vector<std::string> overrides;
  std::optional<std::string> cluster;
  std::optional<std::string> node = {};  // as above
  std::optional<std::string> classes;  // as above: where a fit begins
  std::optional<std::string> collective;  // as above
  std::optional<std::string> only;        // "kernels", "network", "costs" (both): what is fitted
};

struct CalibrationOutcome {
  std::string text;  // fitted constants and their errors
  std::string json;
  std::string profile;  // YAML, with the source of its numbers
  bool passed = true;   // the constants describe the measurements
  Diagnostics warnings;
};

struct Calibrator {
  std::string_view name;  // "nccl"
  std::string_view help;
  Result<CalibrationOutcome> (*run)(const CalibrationRequest& request);
};
[[nodiscard]] std::span<const Calibrator> calibrators();
[[nodiscard]] Result<CalibrationOutcome> run_calibrator(const Calibrator& calibrator, CalibrationRequest request);

// In files of the same names; host copies, interference and primitives are next to their validation.
[[nodiscard]] Result<CalibrationOutcome> calibrate_host_copies(const CalibrationRequest& request);
[[nodiscard]] Result<CalibrationOutcome> calibrate_interference(const CalibrationRequest& request);
[[nodiscard]] Result<CalibrationOutcome> calibrate_primitives(const CalibrationRequest& request);
[[nodiscard]] Result<CalibrationOutcome> calibrate_nccl(const CalibrationRequest& request);
[[nodiscard]] Result<CalibrationOutcome> calibrate_kernels(const CalibrationRequest& request);

}  // namespace ringwright::validation
