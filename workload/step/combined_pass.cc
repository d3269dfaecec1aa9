#include "workload/step/combined_pass.h"

namespace ringwright::workload {

CombinedPass::CombinedPass(const Stage& stage, const Part& forward, const Part& backward, DataParallel::Turn turn)
    : stage_(stage),
      forward_(forward),
      backward_(backward),
      turn_(turn),
      backward_at_(backward.layers.points.size()) {}

std::size_t CombinedPass::next_forward() const {
  for (std::size_t point = forward_at_; point < forward_.layers.points.size(); ++point) {
    if (forward_.layers.points[point] == PointKind::kExperts) return point;
  }
  return kNone;
}

std::size_t CombinedPass::next_backward() const {
  for (std::size_t point = backward_at_; point-- > 0;) {
    if (backward_.layers.points[point] == PointKind::kExperts) return point;
  }
  return kNone;
}

void CombinedPass::forward_until(ProgramWriter& writer, std::size_t end) {
  for (; forward_at_ < end; ++forward_at_) {
    stage_.replicas.before_forward(writer, forward_.chunk, forward_at_);
    stage_.points.forward(writer, forward_.layers.points[forward_at_]);
    stage_.activations.store(writer, forward_.chunk, forward_at_);
    stage_.replicas.after_forward(writer, forward_.chunk, forward_at_);
  }
}

void CombinedPass::backward_until(ProgramWriter& writer, std::size_t end) {
  while (backward_at_ > end) {
    --backward_at_;
    stage_.replicas.before_backward(writer, backward_.chunk, backward_at_);
    stage_.activations.fetch(writer, backward_.chunk, backward_at_);
    stage_.points.backward(writer, backward_.layers.points[backward_at_], Pass::kBackward);
    stage_.replicas.after_backward(writer, backward_.chunk, backward_at_, turn_);
  }
}

void CombinedPass::pair(ProgramWriter& writer, std::size_t forward, std::size_t backward) {
  ExpertParallel& expert = stage_.points.expert();
  backward_until(writer, backward + 1);
  stage_.replicas.before_backward(writer, backward_.chunk, backward);
  stage_.activations.fetch(writer, backward_.chunk, backward);
  const auto gradients = expert.backward_dispatch(writer);
  forward_until(writer, forward);
  stage_.replicas.before_forward(writer, forward_.chunk, forward);
  const auto tokens = expert.forward_dispatch(writer);
  const auto input_gradients = expert.backward_experts(writer, gradients);
  const auto results = expert.forward_experts(writer, tokens);
  expert.backward_finish(writer, input_gradients);
  stage_.replicas.after_backward(writer, backward_.chunk, backward, turn_);
  backward_at_ = backward;
  const std::size_t next = next_backward();
  backward_until(writer, next == kNone ? 0 : next + 1);
  expert.forward_finish(writer, results);
  stage_.activations.store(writer, forward_.chunk, forward);
  stage_.replicas.after_forward(writer, forward_.chunk, forward);
  forward_at_ = forward + 1;
}

void CombinedPass::write(ProgramWriter& writer) {
  for (;;) {
    const std::size_t forward = next_forward();
    const std::size_t backward = next_backward();
    if (forward == kNone || backward == kNone) break;
    pair(writer, forward, backward);
  }
  backward_until(writer, 0);
  forward_until(writer, forward_.layers.points.size());
}

}  // namespace ringwright::workload
