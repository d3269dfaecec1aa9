#include "workload/pipeline/zero_bubble.h"

#include <algorithm>

namespace ringwright::workload {
namespace {

class StageWriter {
 public:
  explicit StageWriter(std::vector<Slot>& slots) : slots_(slots) {}
  void forward(int microbatch) { slots_.push_back({Pass::kForward, microbatch, 0}); }
  void input_gradient() { slots_.push_back({Pass::kInputGradient, inputs_++, 0}); }
  // Keeps at most `lag` microbatches without their weight gradient.
  void weight_gradient(int lag) {
    if (inputs_ - weights_ > lag) slots_.push_back({Pass::kWeightGradient, weights_++, 0});
  }
  [[nodiscard]] int inputs() const { return inputs_; }
  [[nodiscard]] int weights() const { return weights_; }

 private:
  std::vector<Slot>& slots_;
  int inputs_ = 0;
  int weights_ = 0;
};

}  // namespace

PipelineOrder handcrafted_zero_bubble(const ScheduleRequest& request, int lead) {
  const int m = request.microbatches;
  PipelineOrder order;
  for (int stage = 0; stage < request.stages; ++stage) {
    const int warmup = std::min(lead * (request.stages - 1 - stage), m);
    const int lag = std::min(lead * stage, m);
    StageWriter writer(order.emplace_back());
    for (int i = 0; i < warmup; ++i) writer.forward(i);
    for (int i = warmup; i < m; ++i) {
      writer.forward(i);
      writer.input_gradient();
      writer.weight_gradient(lag);
    }
    // Weight gradients fill the time between arriving gradients, but not before the stage's lag is reached.
    while (writer.inputs() < m) {
      writer.input_gradient();
      if (writer.inputs() > lag) writer.weight_gradient(0);
    }
    while (writer.weights() < m) writer.weight_gradient(0);
  }
  return order;
}

}  // namespace ringwright::workload
