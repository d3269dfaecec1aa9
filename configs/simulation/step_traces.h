// The simulated step of a scenario as Chakra traces and as a GOAL schedule, for `ringwright run --chakra` and `--goal`.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "core/record/run_record.h"
#include "traces/chakra/export.h"
#include "traces/goal/schedule.h"

namespace ringwright::configs {

struct LossyGoal {
  traces::GoalSchedule schedule;
  Diagnostics lost;  // of the step: warnings W624
};

// Owned members that refer to each other: not movable.
class StepTraces {
 public:
  ~StepTraces();
  StepTraces(const StepTraces&) = delete;
  StepTraces& operator=(const StepTraces&) = delete;

  // Simulates the scenario, which outlives the result, once, task by task. Fails where the run does not end, or the
  // format cannot express the step.
  [[nodiscard]] static Result<std::unique_ptr<StepTraces>> record(const Scenario& scenario, FoldMode fold);

  [[nodiscard]] const traces::ChakraExport& traces() const { return *export_; }
  // Why Chakra traces cannot express the step; none where they can.
  [[nodiscard]] Diagnostics refused_as_chakra() const;
  // The same step as a GOAL schedule.
  [[nodiscard]] Result<LossyGoal> goal() const;

 private:
  StepTraces();

  std::unique_ptr<Simulation> simulation_;
  std::vector<Program> programs_;
  std::vector<Duration> work_time_;
  std::vector<Span> spans_;
  std::optional<traces::ChakraExport> export_;
  Diagnostics lost_in_goal_;
};

}  // namespace ringwright::configs
