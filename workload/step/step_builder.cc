#include "workload/step/step_builder.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "workload/layout/pipeline_order.h"
#include "workload/layout/short_order.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/program/program_loop.h"
#include "workload/step/meshed_step.h"
#include "workload/step/stage_builder.h"
#include "workload/step/step_counts.h"

namespace ringwright::workload {
namespace {

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
          .expert = parallel.experts.loads_differ() ? parallel.experts.ep : 1};
}

KernelContext context_of(const StepInputs& inputs, const Variants& variants, int context, int expert) {
  KernelContext made = make_kernel_context(inputs.shape, inputs.training, inputs.parallel);
  if (variants.expert > 1) made.expert_load = inputs.parallel.experts.load_of(expert);
  if (variants.context > 1 && made.ring == 1 && !is_even(inputs)) made.piece = context;
  return made;
}

// Replicas with different numbers of microbatches have separate programs: these numbers, the largest first, and the
// place of each replica's among them.
struct ReplicaKinds {
  std::vector<std::int64_t> counts;
  std::vector<int> of_replica;  // empty: all are of the first

  [[nodiscard]] int of(int replica) const {
    return of_replica.empty() ? 0 : of_replica[static_cast<std::size_t>(replica)];
  }
};

ReplicaKinds kinds_of_replicas(const StepInputs& inputs) {
  ReplicaKinds kinds;
  const std::vector<std::int64_t>& given = inputs.parallel.replica_microbatches;
  kinds.counts = given;
  if (given.empty()) kinds.counts = {inputs.parallel.microbatches(inputs.training)};
  std::ranges::sort(kinds.counts, std::ranges::greater());
  kinds.counts.erase(std::ranges::unique(kinds.counts).begin(), kinds.counts.end());
  for (const std::int64_t count : given) {
    kinds.of_replica.push_back(static_cast<int>(std::ranges::find(kinds.counts, count) - kinds.counts.begin()));
  }
  return kinds;
}

// Of a replica with so many microbatches.
PipelineOrder order_of(const StepInputs& inputs, std::int64_t microbatches) {
  if (inputs.parallel.replica_microbatches.empty()) return pipeline_order(inputs.parallel, inputs.training);
  ParallelOptions own = inputs.parallel;
  own.replica_microbatches = {microbatches};
  return pipeline_order(own, inputs.training);
}

void assign_programs(TaskGraph& graph, const StepInputs& inputs, const Variants& variants,
                     const ReplicaKinds& replicas) {
  const RankLayout layout(inputs.parallel);
  for (std::size_t number = 0; number < layout.rank_count(); ++number) {
    const RankId rank(number);
    const RankCoordinates at = layout.coordinates(rank);
    const int context = variants.context > 1 ? at.cp : 0;
    const int expert = variants.expert > 1 ? layout.expert_coordinates(rank).ep : 0;
    const int stage = replicas.of(at.dp) * inputs.parallel.pp + at.pp;
    graph.program_of.emplace_back((stage * variants.context + context) * variants.expert + expert);
  }
}

void count_all(StepPlan& plan, const StepInputs& inputs) {
  count_step(plan, inputs);
  if (!inputs.parallel.replica_microbatches.empty()) {
    for (const ProgramId program : plan.graph.program_of) plan.hardware_flops += plan.stage_flops[program.index()];
    return;
  }
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

// The programs of the stages of replicas with one number of microbatches.
class ReplicaWriter {
 public:
  ReplicaWriter(const StepInputs& inputs, const StepStreams& streams, const Variants& variants, GraphTables& tables,
                Passes passes)
      : inputs_(inputs),
        streams_(streams),
        variants_(variants),
        tables_(tables),
        passes_(passes),
        written_(static_cast<std::size_t>(variants.count())),
        labels_(tables, inputs.parallel.virtual_stages) {}

  // `steady`: of the stages of a shortened order; null: it is whole. `counts`: whether the plan's numbers by stage are
  // those of these replicas.
  void write(StepPlan& plan, const PipelineOrder& order, const ShortOrder* steady, bool counts) {
    for (int stage = 0; stage < inputs_.parallel.pp; ++stage) {
      for (int variant = 0; variant < variants_.count(); ++variant) {
        const int context = variant / variants_.expert;
        SectionTable sections(tables_, context_of(inputs_, variants_, context, variant % variants_.expert));
        StageBuilder builder(inputs_, streams_, sections,
                             {.number = stage,
                              .slots = order[static_cast<std::size_t>(stage)],
                              .context_place = context,
                              .passes = passes_ == Passes::kWrittenOut ? passes_ : Passes::kAsSegments,
                              .written = written_[static_cast<std::size_t>(variant)],
                              .labels = labels_});
        Program& program = plan.graph.programs.emplace_back(builder.build(tables_));
        if (steady != nullptr) {
          program.loop = loop_of(program, builder, steady->steady[static_cast<std::size_t>(stage)]);
        }
        if (variant == 0 && counts) plan.stage_parameters.push_back(count_elements(builder.parts()));
      }
    }
  }

 private:
  const StepInputs& inputs_;
  const StepStreams& streams_;
  const Variants& variants_;
  GraphTables& tables_;
  Passes passes_;
  std::vector<WrittenPasses> written_;
  PassLabels labels_;
};

}  // namespace

StepPlan build_step(const StepInputs& inputs, Passes passes, KnownGroups* known) {
  if (!inputs.parallel.meshes.empty()) return build_meshed_step(inputs, passes);
  StepPlan plan;
  StepStreams streams = known != nullptr
                            ? make_streams(inputs.shape, inputs.parallel, *known, plan.graph.layouts)
                            : make_streams(inputs.shape, inputs.parallel);
  GraphTables tables;
  const Variants variants = variants_of(inputs, streams);
  const ReplicaKinds replicas = kinds_of_replicas(inputs);
  PipelineOrder order = order_of(inputs, replicas.counts.front());
  for (const std::vector<Slot>& slots : order) plan.held_at_peak.push_back(most_held(slots));
  std::optional<ShortOrder> few;
  const bool may_shorten = passes == Passes::kFewCycles || passes == Passes::kManyCycles;
  if (may_shorten && inputs.parallel.replica_microbatches.empty()) {
    const CyclesKept kept = passes == Passes::kFewCycles ? CyclesKept::kFew : CyclesKept::kMany;
    few = shorten(order, inputs.parallel, inputs.training, kept);
  }
  if (few) order = few->order;
  leave_out_passes_ahead(inputs.parallel, order);
  ReplicaWriter writer(inputs, streams, variants, tables, passes);
  writer.write(plan, order, few ? &*few : nullptr, true);
  if (few && !has_loops(plan.graph)) {
    return build_step(inputs, passes == Passes::kFewCycles ? Passes::kManyCycles : Passes::kAsSegments);
  }
  for (std::size_t kind = 1; kind < replicas.counts.size(); ++kind) {
    writer.write(plan, order_of(inputs, replicas.counts[kind]), nullptr, false);
  }
  if (few) plan.graph.cycles_left_out = few->cycles_left_out;
  tables.move_into(plan.graph);
  plan.graph.dimensions = std::move(streams.dimensions);
  assign_programs(plan.graph, inputs, variants, replicas);
  count_all(plan, inputs);
  keep_first_variants(plan, variants);
  return plan;
}

}  // namespace ringwright::workload
