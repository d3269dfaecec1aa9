#include "workload/step/meshed_step.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "workload/layout/pipeline_order.h"
#include "workload/layout/stage_meshes.h"
#include "workload/pipeline/schedule_check.h"
#include "workload/step/stage_builder.h"
#include "workload/step/step_counts.h"

namespace ringwright::workload {
namespace {

Bytes activation_of(const StepInputs& inputs) {
  const std::int64_t sequences = inputs.training.micro_batch * inputs.parallel.dp;
  const auto value_bytes = static_cast<std::int64_t>(bytes_per_element(inputs.training.precision));
  return Bytes(sequences * inputs.shape.sequence * inputs.shape.hidden * value_bytes);
}

std::vector<PipelineMessage> in_group(const std::vector<StagePiece>& pieces, const Dimension& pipeline) {
  std::vector<PipelineMessage> messages;
  for (const StagePiece& piece : pieces) {
    messages.push_back({.peer = static_cast<int>(pipeline.index_in_group[piece.peer.index()]), .bytes = piece.bytes});
  }
  return messages;
}

// By rank.
std::vector<PipelineEnds> pipeline_ends(const StepInputs& inputs, const StageMeshes& meshes,
                                        const StepStreams& streams) {
  std::vector<PipelineEnds> ends(meshes.rank_count());
  if (!streams.pipeline) return ends;
  const Dimension& pipeline = streams.dimensions[streams.pipeline->forward.front().dimension.index()];
  const std::vector<StageEnds> exchanged = meshes.ends(activation_of(inputs));
  for (std::size_t rank = 0; rank < ends.size(); ++rank) {
    ends[rank] = {.before = in_group(exchanged[rank].before, pipeline),
                  .after = in_group(exchanged[rank].after, pipeline)};
  }
  return ends;
}

// The programs of one stage.
class MeshWriter {
 public:
  MeshWriter(const StepInputs& inputs, const StepStreams& streams, int stage, Passes passes)
      : shape_(inputs.shape),
        training_(training_of_stage(inputs.training, inputs.parallel, stage)),
        parallel_(parallel_of_stage(inputs.parallel, stage)),
        streams_(streams_of_mesh(streams, parallel_)),
        stage_(stage),
        passes_(passes == Passes::kWrittenOut ? passes : Passes::kAsSegments) {}

  // Of ranks with these ends; `first`: the plan's numbers by stage are theirs.
  void write(StepPlan& plan, GraphTables& tables, const std::vector<Slot>& slots, const PipelineEnds& ends,
             bool first) {
    const StepInputs own{.shape = shape_, .training = training_, .parallel = parallel_};
    PassLabels labels(tables, parallel_.virtual_stages);
    SectionTable sections(tables, make_kernel_context(shape_, training_, parallel_));
    StageBuilder builder(
        own, streams_, sections,
        {.number = stage_, .slots = slots, .passes = passes_, .written = written_, .labels = labels, .ends = &ends});
    plan.graph.programs.push_back(builder.build(tables));
    if (first) plan.stage_parameters.push_back(count_elements(builder.parts()));
  }

 private:
  const ModelShape& shape_;
  TrainingOptions training_;
  ParallelOptions parallel_;
  StepStreams streams_;
  int stage_;
  Passes passes_;
  WrittenPasses written_;
};

// Values by stage are those of its first ranks.
void keep_first_ranks(StepPlan& plan, const StageMeshes& meshes) {
  for (const ProgramId program : plan.graph.program_of) plan.hardware_flops += plan.stage_flops[program.index()];
  for (std::size_t stage = 0; stage < plan.stage_parameters.size(); ++stage) {
    const std::size_t program = plan.graph.program_of[meshes.first_rank(static_cast<int>(stage))].index();
    if (program == stage) continue;
    plan.stage_flops[stage] = plan.stage_flops[program];
    plan.communication[stage] = std::move(plan.communication[program]);
  }
  plan.stage_flops.resize(plan.stage_parameters.size());
  plan.communication.resize(plan.stage_parameters.size());
}

}  // namespace

StepPlan build_meshed_step(const StepInputs& inputs, Passes passes) {
  StepPlan plan;
  const StageMeshes meshes(inputs.parallel.meshes);
  StepStreams streams = make_streams(inputs.shape, inputs.parallel);
  const std::vector<PipelineEnds> ends = pipeline_ends(inputs, meshes, streams);
  const PipelineOrder order = pipeline_order(inputs.parallel, inputs.training);
  GraphTables tables;
  for (int stage = 0; stage < inputs.parallel.pp; ++stage) {
    const std::vector<Slot>& slots = order[static_cast<std::size_t>(stage)];
    plan.held_at_peak.push_back(most_held(slots));
    MeshWriter writer(inputs, streams, stage, passes);
    std::vector<const PipelineEnds*> written;
    const std::size_t first_program = plan.graph.programs.size();
    for (std::size_t rank = meshes.first_rank(stage); rank < meshes.first_rank(stage + 1); ++rank) {
      const auto known = std::ranges::find_if(written, [&](const PipelineEnds* other) { return *other == ends[rank]; });
      plan.graph.program_of.emplace_back(first_program + static_cast<std::size_t>(known - written.begin()));
      if (known != written.end()) continue;
      writer.write(plan, tables, slots, ends[rank], written.empty());
      written.push_back(&ends[rank]);
    }
  }
  tables.move_into(plan.graph);
  plan.graph.dimensions = std::move(streams.dimensions);
  count_step(plan, inputs);
  keep_first_ranks(plan, meshes);
  return plan;
}

}  // namespace ringwright::workload
