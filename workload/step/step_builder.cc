#include "workload/step/step_builder.h"

#include <algorithm>
#include <utility>

#include "core/plan/segments.h"
#include "workload/layout/pipeline_order.h"
#include "workload/layout/short_order.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/program/program_loop.h"
#include "workload/step/stage_builder.h"

namespace ringwright::workload {
namespace {

void count_program(StepPlan& plan, const Program& program) {
  Flops flops;
  std::vector<Bytes> bytes(plan.graph.dimensions.size());
  visit_tasks(plan.graph, program, [&](const Task& task, std::uint32_t times) {
    if (task.kind == TaskKind::kCompute)
      flops += total_flops(plan.graph.works[task.detail]) * static_cast<double>(times);
    if (task.kind == TaskKind::kCollective) {
      bytes[task.dimension.index()] += plan.graph.collectives[task.detail].bytes * std::int64_t{times};
    }
    if (task.kind == TaskKind::kSend)
      bytes[task.dimension.index()] += plan.graph.messages[task.detail].bytes * std::int64_t{times};
  });
  plan.stage_flops.push_back(flops);
  plan.communication.push_back(std::move(bytes));
}

// Ranks of one stage have separate programs if their position in a ring or the load of their experts matters.
struct Variants {
  int context = 1;
  int expert = 1;
  [[nodiscard]] int count() const { return context * expert; }
};

bool is_even(const StepInputs& inputs) {
  return inputs.parallel.context_balanced || inputs.shape.masking == Masking::kBidirectional;
}

Variants variants_of(const StepInputs& inputs, const StepStreams& streams) {
  const ParallelOptions& parallel = inputs.parallel;
  const bool uneven = parallel.context_exchange == ContextExchange::kAllGather && !is_even(inputs);
  return {.context = streams.ring || uneven ? parallel.cp : 1,
          .expert = parallel.experts.load.empty() ? 1 : parallel.experts.ep};
}

// With a causal mask the i-th of c consecutive pieces has (2i + 1) / c of an equal share.
KernelContext context_of(const StepInputs& inputs, const Variants& variants, int context, int expert) {
  KernelContext made = make_kernel_context(inputs.shape, inputs.training, inputs.parallel);
  if (variants.expert > 1) made.expert_load = inputs.parallel.experts.load_of(expert);
  if (variants.context > 1 && made.ring == 1 && !is_even(inputs)) {
    made.core_load = static_cast<double>(2 * context + 1) / static_cast<double>(inputs.parallel.cp);
  }
  return made;
}

void assign_programs(TaskGraph& graph, const RankLayout& layout, const Variants& variants) {
  for (std::size_t number = 0; number < layout.rank_count(); ++number) {
    const RankId rank(number);
    const RankCoordinates at = layout.coordinates(rank);
    const int context = variants.context > 1 ? at.cp : 0;
    const int expert = variants.expert > 1 ? layout.expert_coordinates(rank).ep : 0;
    graph.program_of.emplace_back((at.pp * variants.context + context) * variants.expert + expert);
  }
}

void count_step(StepPlan& plan, const StepInputs& inputs) {
  const ModelShape& shape = inputs.shape;
  const std::int64_t sequences = inputs.training.global_batch;
  plan.parameters = parameters(shape);
  plan.tokens = sequences * shape.sequence;
  plan.microbatches = inputs.parallel.microbatches(inputs.training);
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    plan.weight_versions.push_back(
        weight_versions(inputs.parallel.versions, inputs.parallel.pp, stage, static_cast<int>(plan.microbatches)));
  }
  plan.model_flops = model_flops(shape, sequences, AttentionCount::kCausal);
  plan.model_flops_full_attention = model_flops(shape, sequences, AttentionCount::kFull);
  for (const Program& program : plan.graph.programs) count_program(plan, program);
  const double ranks = static_cast<double>(plan.graph.rank_count()) / static_cast<double>(plan.stage_flops.size());
  for (const Flops flops : plan.stage_flops) plan.hardware_flops += flops * ranks;
}

// Values by stage are those of its first ranks.
void keep_first_variants(StepPlan& plan, const Variants& variants) {
  for (std::size_t stage = 0; stage < plan.stage_parameters.size(); ++stage) {
    const std::size_t program = stage * static_cast<std::size_t>(variants.count());
    if (program == stage) continue;
    plan.stage_flops[stage] = plan.stage_flops[program];
    plan.communication[stage] = std::move(plan.communication[program]);
  }
  plan.stage_flops.resize(plan.stage_parameters.size());
  plan.communication.resize(plan.stage_parameters.size());
}

// They belong to earlier steps, which run as many for this one.
void leave_out_passes_ahead(const ParallelOptions& parallel, PipelineOrder& order) {
  for (std::size_t stage = 0; stage < order.size(); ++stage) {
    const int ahead = passes_ahead(parallel.versions, parallel.pp, static_cast<int>(stage));
    order[stage].erase(order[stage].begin(), order[stage].begin() + ahead);
  }
}

// The loop of a stage's program, from the cycles of its order.
Loop loop_of(const Program& program, const StageBuilder& builder, const ShortOrder::Steady& steady) {
  std::vector<TaskIndex> cycles;
  for (std::size_t slot = steady.first; slot < steady.end; slot += steady.cycle) {
    cycles.push_back(builder.first_tasks()[slot]);
  }
  return find_loop(program, cycles);
}

// Whether every program repeats in cycles, so that some can be left out.
bool has_loops(const TaskGraph& graph) {
  return std::ranges::all_of(graph.programs, [](const Program& program) { return program.loop.cycles >= 3; });
}

}  // namespace

StepPlan build_step(const StepInputs& inputs, Passes passes) {
  StepPlan plan;
  StepStreams streams = make_streams(inputs.shape, inputs.parallel);
  GraphTables tables;
  const Variants variants = variants_of(inputs, streams);
  PipelineOrder order = pipeline_order(inputs.parallel, inputs.training);
  for (const std::vector<Slot>& slots : order) plan.held_at_peak.push_back(most_held(slots));
  std::optional<ShortOrder> few;
  if (passes == Passes::kFewCycles || passes == Passes::kManyCycles) {
    const CyclesKept kept = passes == Passes::kFewCycles ? CyclesKept::kFew : CyclesKept::kMany;
    few = shorten(order, inputs.parallel, inputs.training, kept);
  }
  if (few) order = few->order;
  leave_out_passes_ahead(inputs.parallel, order);
  std::vector<WrittenPasses> written(static_cast<std::size_t>(variants.count()));
  PassLabels labels(tables, inputs.parallel.virtual_stages);
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    for (int variant = 0; variant < variants.count(); ++variant) {
      const int context = variant / variants.expert;
      SectionTable sections(tables, context_of(inputs, variants, context, variant % variants.expert));
      StageBuilder builder(inputs, streams, sections,
                           {.number = stage,
                            .slots = order[static_cast<std::size_t>(stage)],
                            .context_place = context,
                            .passes = passes == Passes::kWrittenOut ? passes : Passes::kAsSegments,
                            .written = written[static_cast<std::size_t>(variant)],
                            .labels = labels});
      Program& program = plan.graph.programs.emplace_back(builder.build(tables));
      if (few) program.loop = loop_of(program, builder, few->steady[static_cast<std::size_t>(stage)]);
      if (variant == 0) plan.stage_parameters.push_back(count_elements(builder.parts()));
    }
  }
  if (few && !has_loops(plan.graph)) {
    return build_step(inputs, passes == Passes::kFewCycles ? Passes::kManyCycles : Passes::kAsSegments);
  }
  if (few) plan.graph.cycles_left_out = few->cycles_left_out;
  tables.move_into(plan.graph);
  plan.graph.dimensions = std::move(streams.dimensions);
  assign_programs(plan.graph, RankLayout(inputs.parallel), variants);
  count_step(plan, inputs);
  keep_first_variants(plan, variants);
  return plan;
}

}  // namespace ringwright::workload
