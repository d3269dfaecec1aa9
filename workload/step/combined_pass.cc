#include "workload/step/combined_pass.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

bool is_attention(PointKind kind) { return kind == PointKind::kAttention || kind == PointKind::kWindowedAttention; }

bool is_head(PointKind kind) { return kind == PointKind::kHead || kind == PointKind::kPredictorHead; }

}  // namespace

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

void CombinedPass::before_backward(ProgramWriter& writer, std::size_t point) {
  stage_.replicas.before_backward(writer, backward_.chunk, point);
  stage_.activations.fetch(writer, backward_.chunk, point);
}

void CombinedPass::backward_until(ProgramWriter& writer, std::size_t end) {
  while (backward_at_ > end) {
    --backward_at_;
    before_backward(writer, backward_at_);
    stage_.points.backward(writer, backward_.layers.points[backward_at_], Pass::kBackward);
    stage_.replicas.after_backward(writer, backward_.chunk, backward_at_, turn_);
  }
}

void CombinedPass::pair(ProgramWriter& writer, std::size_t forward, std::size_t backward) {
  ExpertParallel& expert = stage_.points.expert();
  backward_until(writer, backward + 1);
  before_backward(writer, backward);
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
  next == kNone ? gradients_of_inputs(writer) : backward_until(writer, next + 1);
  expert.forward_finish(writer, results);
  stage_.activations.store(writer, forward_.chunk, forward);
  stage_.replicas.after_forward(writer, forward_.chunk, forward);
  forward_at_ = forward + 1;
}

// Those of the chunk's last layers; the head of a layer of multi-token prediction stays with that layer.
std::size_t CombinedPass::first_of_head() const {
  const std::vector<PointKind>& points = forward_.layers.points;
  std::size_t first = points.size();
  while (first > 0 && is_head(points[first - 1])) --first;
  return first;
}

std::size_t CombinedPass::first_of_layers() const {
  const std::vector<PointKind>& points = backward_.layers.points;
  const auto other = [](PointKind kind) { return kind != PointKind::kEmbedding; };
  return static_cast<std::size_t>(std::ranges::find_if(points, other) - points.begin());
}

bool CombinedPass::delays_weights() const {
  const std::size_t first = first_of_layers();
  return stage_.points.context().experts.delay_wgrad && first < backward_.layers.points.size() &&
         is_attention(backward_.layers.points[first]);
}

void CombinedPass::gradients_of_inputs(ProgramWriter& writer) {
  const std::size_t first = first_of_layers();
  backward_until(writer, delays_weights() ? first + 1 : first);
  if (backward_at_ <= first) return;
  backward_at_ = first;
  before_backward(writer, first);
  stage_.points.backward(writer, backward_.layers.points[first], Pass::kInputGradient);
}

void CombinedPass::write_results(ProgramWriter& writer) {
  for (;;) {
    const std::size_t forward = next_forward();
    const std::size_t backward = next_backward();
    if (forward == kNone || backward == kNone) break;
    pair(writer, forward, backward);
  }
  gradients_of_inputs(writer);
  forward_until(writer, first_of_head());
}

void CombinedPass::write_rest(ProgramWriter& writer) {
  forward_at_ = first_of_head();
  backward_at_ = first_of_layers();
  if (delays_weights()) {
    stage_.points.backward(writer, backward_.layers.points[backward_at_], Pass::kWeightGradient);
    stage_.replicas.after_backward(writer, backward_.chunk, backward_at_, turn_);
  }
  forward_until(writer, forward_.layers.points.size());
  backward_until(writer, 0);
}

}  // namespace ringwright::workload
