// The result of a run: the time of a training step, its use of the hardware, and the time breakdown.
//
//   step time          mean over the counted iterations; an iteration lasts from the end of the one before (when its
//                      last rank finished) to its own end
//   tokens/s/GPU       tokens per step / step time / GPUs
//   MFU, HFU           model or hardware FLOPs per step / (step time x GPUs x peak FLOP rate of one GPU)
//   peak memory        of the stage with the fullest device
//
// The time breakdown is defined in time_breakdown.h.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"
#include "core/plan/rank_classes.h"
#include "core/plan/task_graph.h"
#include "core/record/run_record.h"
#include "core/report/critical_path.h"
#include "core/report/facts.h"
#include "core/report/pipeline_bubble.h"
#include "core/report/time_breakdown.h"

namespace ringwright {

struct StepTimes {
  Duration mean;
  Duration minimum;
  Duration median;  // nearest rank, as is the 99th percentile
  Duration p99;
  Duration maximum;
  int count = 0;
};

// The prediction and the published value, both in the unit of the quantity.
struct Comparison {
  PublishedFigure published;
  double ours = 0.0;
  // ours / published - 1
  [[nodiscard]] double difference() const { return ours / published.value - 1.0; }
};

struct Report {
  StepFacts facts;
  std::size_t gpus = 0;
  std::uint64_t messages = 0;  // transfers simulated
  StepTimes step_time;
  double tokens_per_second_per_gpu = 0.0;
  std::optional<double> model_flop_utilisation;     // empty when FLOPs or peak are unknown (recorded traces)
  std::optional<double> hardware_flop_utilisation;
  FlopRate model_flop_rate_per_gpu;
  TimeBreakdown everywhere;
  std::optional<TimeBreakdown> slowest_stage;       // when the ranks run more than one program
  std::vector<TimeBreakdown> groups;                // by facts.groups: how their ranks spend a step
  std::vector<StageBubble> bubbles;                 // by stage, when there are several
  std::optional<std::size_t> fullest_memory;        // index into facts.memory
  std::vector<Comparison> comparisons;
  std::optional<CriticalPath> critical_path;        // of the last step, where it was asked for

  // The weakest level among the inputs; "assumed" when none is given.
  [[nodiscard]] Evidence evidence() const;
};

struct ReportInputs {
  const RunRecord& record;  // of a run that finished
  const TaskGraph& graph;
  const RankClasses& classes;
};

// Of the steps after the warm-up, of which there is at least one.
[[nodiscard]] StepTimes step_times(const std::vector<TimePoint>& iteration_end, int warmup);

[[nodiscard]] Report summarise(const ReportInputs& inputs, StepFacts facts);

// Of its mean step, with checkpoints in some steps of the mean between them; empty where the facts name no rates.
[[nodiscard]] StepCost cost_of(const Report& report);

// The share of its device that a stage needs, in [0, ...): above 1 it does not fit.
[[nodiscard]] double fill(const MemoryRow& row);

enum class Colour { kNever, kAnsi };
enum class Detail { kQuiet, kNormal, kVerbose };

struct TextOptions {
  std::size_t width = 100;  // of the terminal, in columns
  Colour colour = Colour::kNever;
  Detail detail = Detail::kNormal;
};

// For people. kQuiet: the key figures only; kVerbose: every stage's memory, every assumption and ignored key.
[[nodiscard]] std::string render_text(const Report& report, const TextOptions& options = {});

// For programs: schema "ringwright.result/1" (docs/result-format.md). Same configuration, seed and version give the
// same bytes, except for wall time and memory of the simulator, which are under "engine".
[[nodiscard]] std::string render_json(const Report& report);

}  // namespace ringwright
