#include "workload/step/step_counts.h"

#include <cmath>
#include <utility>
#include <vector>

#include "core/plan/segments.h"
#include "workload/options/document_mix.h"

namespace ringwright::workload {
namespace {

// FLOPs are summed as integers, in parts of one: the sum is then the same however a program divides its tasks into
// loops.
void count_program(StepPlan& plan, const Program& program) {
  constexpr double kParts = 1 << 20;
  WideInteger parts = 0;
  std::vector<Bytes> bytes(plan.graph.dimensions.size());
  visit_tasks(plan.graph, program, [&](const Task& task, std::uint32_t times) {
    if (task.kind == TaskKind::kCompute) {
      const double of_task = kParts * total_flops(plan.graph.works[task.detail]).count();
      parts += static_cast<WideInteger>(std::round(of_task)) * times;
    }
    if (task.kind == TaskKind::kCollective) {
      bytes[task.dimension.index()] += plan.graph.collectives[task.detail].bytes * std::int64_t{times};
    }
    if (task.kind == TaskKind::kSend)
      bytes[task.dimension.index()] += plan.graph.messages[task.detail].bytes * std::int64_t{times};
  });
  plan.stage_flops.emplace_back(static_cast<double>(parts) / kParts);
  plan.communication.push_back(std::move(bytes));
}

// Documents that are packed into a sequence need scores among their own tokens only. Unfused attention computes all.
Flops scores_between_documents(const StepInputs& inputs) {
  const ModelShape& shape = inputs.shape;
  const std::int64_t documents = inputs.training.documents(shape.sequence);
  Flops total;
  if (documents == 1 && inputs.training.lengths.empty()) return total;
  if (inputs.training.attention == AttentionKernel::kUnfused) return total;
  const std::int64_t sequences = inputs.training.global_batch;
  ModelShape document = shape;
  document.sequence = shape.sequence / documents;
  for (std::int64_t layer = 0; layer < shape.layers + shape.predictors; ++layer) {
    if (halves_of(shape, layer).mixer != Mixer::kAttention) continue;
    if (!inputs.training.lengths.empty()) {
      const bool windowed = is_windowed(shape, layer);
      const double among = document_pairs(shape, inputs.training, windowed) / score_pairs(shape, windowed);
      total += attention_core_flops(shape, sequences, AttentionCount::kCausal, layer) * (1.0 - among);
      continue;
    }
    total += attention_core_flops(shape, sequences, AttentionCount::kCausal, layer) -
             attention_core_flops(document, sequences * documents, AttentionCount::kCausal, layer);
  }
  return total * 3.0;  // forward, and twice as much backward
}

// Forward and backward; a frozen output layer has no gradient of its weights.
Flops logits_not_predicted(const StepInputs& inputs) {
  const double passes = inputs.shape.adapters ? 2.0 : 3.0;
  return logit_flops(inputs.shape, inputs.training.global_batch) * (passes * (1.0 - inputs.training.predicted));
}

}  // namespace

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
  const Flops left_out = logits_not_predicted(inputs);
  plan.model_flops =
      model_flops(shape, sequences, AttentionCount::kCausal) - left_out - scores_between_documents(inputs);
  plan.model_flops_full_attention = model_flops(shape, sequences, AttentionCount::kFull) - left_out;
  for (const Program& program : plan.graph.programs) count_program(plan, program);
}

}  // namespace ringwright::workload
