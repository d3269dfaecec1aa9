#include "workload/step_builder.h"

#include <utility>

#include "workload/stage_builder.h"

namespace ringwright::workload {
namespace {

void count_program(StepPlan& plan, const Program& program) {
  Flops flops;
  std::vector<Bytes> bytes(plan.graph.dimensions.size());
  for (const Task& task : program.tasks) {
    if (task.kind == TaskKind::kCompute) flops += total_flops(plan.graph.works[task.detail]);
    if (task.kind == TaskKind::kCollective) bytes[task.dimension.index()] += plan.graph.collectives[task.detail].bytes;
    if (task.kind == TaskKind::kSend) bytes[task.dimension.index()] += plan.graph.messages[task.detail].bytes;
  }
  plan.stage_flops.push_back(flops);
  plan.communication.push_back(std::move(bytes));
}

void assign_programs(TaskGraph& graph, const RankLayout& layout) {
  for (std::size_t rank = 0; rank < layout.rank_count(); ++rank) {
    graph.program_of.emplace_back(layout.coordinates(RankId(rank)).pp);
  }
}

void count_step(StepPlan& plan, const StepInputs& inputs) {
  const ModelShape& shape = inputs.shape;
  const std::int64_t sequences = inputs.training.global_batch;
  plan.parameters = parameters(shape);
  plan.tokens = sequences * shape.sequence;
  plan.microbatches = inputs.parallel.microbatches(inputs.training);
  plan.model_flops = model_flops(shape, sequences, AttentionCount::kCausal);
  plan.model_flops_full_attention = model_flops(shape, sequences, AttentionCount::kFull);
  for (const Program& program : plan.graph.programs) count_program(plan, program);
  const double ranks_per_stage = static_cast<double>(plan.graph.rank_count()) / inputs.parallel.pp;
  for (const Flops flops : plan.stage_flops) plan.hardware_flops += flops * ranks_per_stage;
}

}  // namespace

StepPlan build_step(const StepInputs& inputs) {
  StepPlan plan;
  StepStreams streams = make_streams(inputs.shape, inputs.parallel);
  GraphTables tables;
  PieceTable pieces(tables, make_kernel_context(inputs.shape, inputs.training, inputs.parallel));
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    StageBuilder builder(inputs, streams, pieces, stage);
    plan.graph.programs.push_back(builder.build(tables));
    plan.stage_parameters.push_back(count_elements(builder.parts()));
  }
  tables.move_into(plan.graph);
  plan.graph.dimensions = std::move(streams.dimensions);
  assign_programs(plan.graph, RankLayout(inputs.parallel));
  count_step(plan, inputs);
  return plan;
}

}  // namespace ringwright::workload
