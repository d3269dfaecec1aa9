// What a sweep found: as text for people, as JSON and as a CSV table for programs.
#pragma once

#include <cstddef>
#include <string>

#include "planning/sweep/sweep.h"

namespace ringwright::planning {

struct SweepReport {
  const SweepPlan& plan;
  const SweepResult& result;
  std::size_t top = 20;     // rows of the text's table
  std::size_t width = 100;  // of the text, in columns
};

[[nodiscard]] std::string render_sweep_text(const SweepReport& report);
// Schema "ringwright.sweep/1" (docs/sweep.md).
[[nodiscard]] std::string render_sweep_json(const SweepReport& report);
// A row for every point, in the order of the plan.
[[nodiscard]] std::string render_sweep_csv(const SweepReport& report);

}  // namespace ringwright::planning
