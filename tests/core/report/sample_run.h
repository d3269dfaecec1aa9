// A run small enough to add up by hand: four ranks, two stages, dimensions tp and pp, one warm-up step and two counted
// ones.
#pragma once

#include "core/report/report.h"

namespace ringwright::testing {

// Ranks 0 and 1 run "stage 0" and are one class; ranks 2 and 3 run "stage 1", a class each.
struct SampleRun {
  TaskGraph graph;
  RankClasses classes;
  RunRecord record;

  [[nodiscard]] ReportInputs inputs() const { return {.record = record, .graph = graph, .classes = classes}; }
};

// Activity masks: bit 0 compute, bit 1 tp, bit 2 pp.
inline constexpr ActivityMask kTp = 2;
inline constexpr ActivityMask kPp = 4;

[[nodiscard]] inline SampleRun sample_run() {
  using namespace literals;
  SampleRun run;
  run.graph.programs.resize(2);
  run.graph.programs[0].name = "stage 0";
  run.graph.programs[1].name = "stage 1";
  run.graph.program_of = {ProgramId(0), ProgramId(0), ProgramId(1), ProgramId(1)};
  run.graph.dimensions.resize(2);
  run.graph.dimensions[0].name = "tp";
  run.graph.dimensions[1].name = "pp";
  run.graph.dimensions[1].joins_stages = true;
  run.graph.iterations = 3;
  run.classes.class_of = {ClassId(0), ClassId(0), ClassId(1), ClassId(2)};
  run.classes.representative = {RankId(0), RankId(2), RankId(3)};
  run.classes.size = {2, 1, 1};

  run.record.dimension_count = 2;
  // The steps end at 120, 220 and 320 ms: the warm-up took 120 ms, the two counted ones 100 ms each.
  run.record.iteration_end = {TimePoint(120_ms), TimePoint(220_ms), TimePoint(320_ms)};
  run.record.messages = 48;
  // Two steps of 100 ms: 200 ms a class. Exposed tp and pp at once: the inner dimension comes first.
  run.record.time_in = {{{.mask = kComputing, .time = 100_ms},
                         {.mask = kComputing | kTp, .time = 20_ms},
                         {.mask = kTp, .time = 30_ms},
                         {.mask = kTp | kPp, .time = 10_ms},
                         {.mask = kPp, .time = 4_ms},
                         {.mask = 0, .time = 36_ms}},
                        {{.mask = kComputing, .time = 140_ms}, {.mask = 0, .time = 60_ms}},
                        {{.mask = kComputing, .time = 160_ms}, {.mask = 0, .time = 40_ms}}};
  // Of all three steps: 30 MiB of tp a rank in the first class, nothing elsewhere.
  run.record.sent.assign(3, std::vector<Bytes>(2));
  run.record.sent[0] = {30_MiB, 3_MiB};
  return run;
}

[[nodiscard]] inline StepFacts sample_facts() {
  using namespace literals;
  StepFacts facts;
  facts.scenario = "sample";
  facts.config_sha256 = "3f9a1c42d0";
  facts.seed = 7;
  facts.model = "tiny-1b";
  facts.parameters = 1'234'000'000;
  facts.layout = "TP 2 x PP 2 x DP 1";
  facts.microbatches = 4;
  facts.tokens_per_step = 8192;
  facts.model_flops = Flops(160e12);
  facts.hardware_flops = Flops(200e12);
  facts.peak_flop_rate = 1000_TFLOPS;
  facts.warmup_iterations = 1;
  facts.memory = {
      {.stage = 0, .items = {{"weights", 10_GiB}, {"activations", 50_GiB}}, .total = 60_GiB, .capacity = 80_GiB},
      {.stage = 1, .items = {{"weights", 10_GiB}, {"activations", 70_GiB}}, .total = 80_GiB, .capacity = 80_GiB}};
  facts.links = {{.name = "leaf3->spine5", .utilisation = 0.93, .bytes = 3_GiB, .multiplicity = 16}};
  facts.evidence = {{.input = "compute", .level = Evidence::kCalibrated, .source = "kernels.csv"},
                    {.input = "fabric", .level = Evidence::kVendorSpec, .source = ""}};
  facts.engine.network = "flow";
  facts.engine.collectives = "steps";
  facts.engine.compute = "roofline";
  facts.engine.events = 1234567;
  facts.engine.classes = 3;
  facts.engine.counters = {{"solves", 42}};
  facts.engine.wall_seconds = 0.25;
  facts.engine.peak_memory = 32_MiB;
  return facts;
}

}  // namespace ringwright::testing
