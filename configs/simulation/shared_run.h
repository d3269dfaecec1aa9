// Several jobs on one machine, simulated together in one network: their step times, and what each spends on what.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "configs/scenario/scenario.h"
#include "configs/simulation/simulation.h"
#include "core/base/diagnostic.h"
#include "core/plan/merged_jobs.h"
#include "core/report/report.h"
#include "core/run/step/job_steps.h"

namespace ringwright::configs {

// What jobs have of their GPUs: all of them, or what `gpu_sharing`, their limits and the other jobs leave them.
enum class GpuUse : std::uint8_t { kWhole, kShared };

struct SharedJobFigures {
  StepWindow window;   // the steps that count
  StepTimes step;      // over them
  TimeBreakdown time;  // a mean over the job's ranks and these steps
};

struct SharedRun {
  std::vector<SharedJobFigures> jobs;  // of a job that did not run: empty
  std::vector<double> link_load;       // by link of the fabric: mean share of its capacity over the run
  std::uint64_t events = 0;
  std::size_t rank_classes = 0;
  TimePoint end;
};

struct SharedRunOptions {
  std::vector<StepWindow> windows = {};  // by job, the steps that count; empty: as job_steps.h describes
  GpuUse gpus = GpuUse::kWhole;
  FoldMode fold = FoldMode::kFold;
};

// E483 when ranks wait for each other, E484 when a job ends thousands of steps while another ends a few.
[[nodiscard]] Result<SharedRun> run_jobs(const Scenario& machine, std::span<const PlacedJob> jobs,
                                         const SharedRunOptions& options = {});

}  // namespace ringwright::configs
