#include "workload/parallel/expert.h"

#include <cmath>

#include "workload/kernels/kernel_maker.h"
#include "workload/options/expert_visits.h"

namespace ringwright::workload {

ExpertParallel::ExpertParallel(SectionTable& sections, TensorParallel& tensor, const CommStreams& channels)
    : sections_(sections),
      tensor_(tensor),
      channels_(channels),
      tokens_(static_cast<double>(KernelMaker(sections.context()).local_tokens)) {}

// The same whole bytes for each of so many ranks: counts are expected values, and ranks with a byte more than others
// would not be equal to them.
Bytes ExpertParallel::vectors(double count, std::int64_t ranks, Direction direction) const {
  const bool fp8 = options().fp8_dispatch && direction == Direction::kToExperts;
  const double each = fp8 ? 1.0 + 4.0 / 128.0 : bytes_per_element(sections_.context().training.precision);
  const double all = count * static_cast<double>(expert_hidden(sections_.context().shape)) * each;
  return Bytes(std::llround(all / static_cast<double>(ranks)) * ranks);
}

// Every rank has all tokens; results are summed over the ranks.
std::vector<TaskIndex> ExpertParallel::travel_to_all(ProgramWriter& writer, Direction direction) {
  const bool there = direction == Direction::kToExperts;
  const CollectiveSpec spec{.kind = there ? CollectiveKind::kAllGather : CollectiveKind::kReduceScatter,
                            .bytes = vectors(tokens_ * options().ep, options().ep, direction)};
  return {writer.collective(*channels_.all, spec, there ? "ep all_gather tokens" : "ep reduce_scatter tokens")};
}

// Between hosts and inside concurrently: the kernels forward tokens while others still arrive.
std::vector<TaskIndex> ExpertParallel::travel(ProgramWriter& writer, Direction direction) {
  if (options().to_all()) return travel_to_all(writer, direction);
  const std::string label = direction == Direction::kToExperts ? "ep dispatch" : "ep combine";
  const double copies = tokens_ * options().hottest() * static_cast<double>(shape().per_token);
  std::vector<TaskIndex> tasks;
  const auto exchange = [&](const std::optional<CommStream>& channel, double count, std::int64_t ranks) {
    if (!channel) return;
    const CollectiveSpec spec{.kind = CollectiveKind::kAllToAll, .bytes = vectors(count, ranks, direction)};
    tasks.push_back(writer.collective(*channel, spec, label));
  };
  exchange(channels_.all, copies, options().ep);
  exchange(channels_.outer, tokens_ * options().hottest() * places_visited(shape(), options().outer()),
           options().outer());
  exchange(channels_.inner, tokens_ * options().hottest() * places_visited(shape(), options().ep), options().inner());
  return tasks;
}

// Each rank of an expert has a part of its width: all tokens are gathered, partial results are reduced.
void ExpertParallel::split(ProgramWriter& writer, Direction direction) {
  if (!channels_.tensor) return;
  const double held = options().to_all() ? tokens_ * options().ep
                                         : tokens_ * options().hottest() * static_cast<double>(shape().per_token);
  const bool there = direction == Direction::kToExperts;
  const CollectiveSpec spec{.kind = there ? CollectiveKind::kAllGather : CollectiveKind::kReduceScatter,
                            .bytes = vectors(held * options().etp, options().etp, Direction::kBack)};
  writer.wait(
      writer.collective(*channels_.tensor, spec, there ? "etp all_gather tokens" : "etp reduce_scatter tokens"));
}

void ExpertParallel::shared_forward(ProgramWriter& writer) {
  if (shape().shared_ffn == 0) return;
  tensor_.gather_activation(writer);
  writer.compute(sections_[LayerSection::kSharedExperts]);
  tensor_.sum_activation(writer);
}

void ExpertParallel::shared_backward(ProgramWriter& writer) {
  if (shape().shared_ffn == 0) return;
  if (sections_.context().training.recomputes(&RecomputedModules::shared_experts)) shared_forward(writer);
  tensor_.gather_activation(writer);
  tensor_.gather_activation(writer);  // the input again, for the weight gradient
  writer.compute(sections_[LayerSection::kSharedExpertsBackward]);
  tensor_.sum_activation(writer);
}

void ExpertParallel::await(ProgramWriter& writer, const Travel& arriving) {
  for (const TaskIndex task : arriving) writer.wait(task);
}

ExpertParallel::Travel ExpertParallel::forward_dispatch(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kMlpNorm]);
  return dispatch_result(writer);
}

ExpertParallel::Travel ExpertParallel::dispatch_result(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kRouter]);
  if (!options().overlap_shared) shared_forward(writer);
  writer.compute(sections_[LayerSection::kPermute]);
  return travel(writer, Direction::kToExperts);
}

ExpertParallel::Travel ExpertParallel::forward_experts(ProgramWriter& writer, const Travel& arriving) {
  if (options().overlap_shared) shared_forward(writer);
  await(writer, arriving);
  split(writer, Direction::kToExperts);
  writer.compute(sections_[LayerSection::kExpertSort]);
  writer.compute(sections_[LayerSection::kExperts]);
  writer.compute(sections_[LayerSection::kExpertUnsort]);
  split(writer, Direction::kBack);
  return travel(writer, Direction::kBack);
}

void ExpertParallel::forward_finish(ProgramWriter& writer, const Travel& arriving) {
  await(writer, arriving);
  writer.compute(sections_[LayerSection::kUnpermute]);
  writer.compute(sections_[LayerSection::kMlpResidual]);
}

// The tokens travel once more (Megatron-LM, moe_layer.py: moe_layer_recompute).
void ExpertParallel::results_again(ProgramWriter& writer) {
  if (!sections_.context().training.recomputes(&RecomputedModules::experts)) return;
  await(writer, forward_experts(writer, dispatch_result(writer)));
  writer.compute(sections_[LayerSection::kUnpermute]);
}

ExpertParallel::Travel ExpertParallel::backward_dispatch(ProgramWriter& writer) {
  writer.compute(sections_[LayerSection::kMlpResidualBackward]);
  results_again(writer);
  if (!options().overlap_shared) shared_backward(writer);
  writer.compute(sections_[LayerSection::kUnpermuteBackward]);
  return travel(writer, Direction::kToExperts);
}

ExpertParallel::Travel ExpertParallel::backward_experts(ProgramWriter& writer, const Travel& arriving) {
  if (options().overlap_shared) shared_backward(writer);
  await(writer, arriving);
  split(writer, Direction::kToExperts);
  writer.compute(sections_[LayerSection::kExpertSort]);
  writer.compute(sections_[LayerSection::kExpertsBackward]);
  if (!options().delay_wgrad) writer.compute(sections_[LayerSection::kExpertsWgrad]);
  writer.compute(sections_[LayerSection::kExpertUnsort]);
  split(writer, Direction::kBack);
  const Travel leaving = travel(writer, Direction::kBack);
  if (options().delay_wgrad) writer.compute(sections_[LayerSection::kExpertsWgrad]);
  return leaving;
}

void ExpertParallel::backward_finish(ProgramWriter& writer, const Travel& arriving) {
  await(writer, arriving);
  writer.compute(sections_[LayerSection::kPermuteBackward]);
  writer.compute(sections_[LayerSection::kRouterBackward]);
  writer.compute(sections_[LayerSection::kMlpNormBackward]);
}

void ExpertParallel::forward(ProgramWriter& writer) {
  forward_finish(writer, forward_experts(writer, forward_dispatch(writer)));
}

void ExpertParallel::backward(ProgramWriter& writer) {
  backward_finish(writer, backward_experts(writer, backward_dispatch(writer)));
}

}  // namespace ringwright::workload
