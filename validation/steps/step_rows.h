// Tables of measured steps of any workload: each row names a scenario, and the settings that make it the measured one.
#pragma once

#include <string>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::validation {

struct MeasuredStep {
  std::string id;
  std::string name;                   // whose run it was
  std::string group;                  // rows that are summed up together: "8 H100"
  std::string scenario;               // a shipped name, or a file next to the table; empty: not simulated
  std::vector<std::string> settings;  // as --set takes them
  double seconds = 0.0;
  // A time that is averaged over training and evaluation: samples that are evaluated for each one that is trained, and
  // what makes the scenario's step one of evaluation.
  double evaluated = 0.0;
  std::vector<std::string> evaluation;
  std::string note;  // of a row that is not simulated: why
  Place place;
};

struct StepTable {
  std::string file;
  std::string source;
  std::vector<MeasuredStep> rows;
};

// E161 for a row that contradicts itself, E160 for a table that cannot be read.
[[nodiscard]] Result<StepTable> read_step_table(const std::string& path);

// The command that simulates the step, without its evaluation.
[[nodiscard]] std::string command_of(const MeasuredStep& step);

}  // namespace ringwright::validation
