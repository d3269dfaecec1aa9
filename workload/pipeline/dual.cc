#include "workload/pipeline/dual.h"

#include <array>
#include <deque>

namespace ringwright::workload {
namespace {

enum class Weights { kWithBackward, kLater };

class DualWriter {
 public:
  void forward(int chunk) { slots_.push_back({Pass::kForward, forward_[index(chunk)]++, chunk}); }
  void backward(int chunk, Weights weights = Weights::kWithBackward) {
    const int microbatch = backward_[index(chunk)]++;
    const bool later = weights == Weights::kLater;
    slots_.push_back({later ? Pass::kInputGradient : Pass::kBackward, microbatch, chunk});
    if (later) waiting_.push_back({Pass::kWeightGradient, microbatch, chunk});
  }
  void weights() {
    slots_.push_back(waiting_.front());
    waiting_.pop_front();
  }
  void block(int forward_chunk, int backward_chunk) {
    forward(forward_chunk);
    slots_.back().joined = true;
    backward(backward_chunk);
  }
  void all_weights() {
    while (!waiting_.empty()) weights();
  }
  std::vector<Slot> take() { return std::move(slots_); }

 private:
  static std::size_t index(int chunk) { return static_cast<std::size_t>(chunk); }
  std::array<int, 2> forward_{};
  std::array<int, 2> backward_{};
  std::deque<Slot> waiting_;
  std::vector<Slot> slots_;
};

// Warm-up: forward passes until the first gradient arrives, then whole backward passes.
void fill(DualWriter& writer, int outside, int inside) {
  for (int i = 0; i < 2 * outside; ++i) writer.forward(0);
  for (int i = 0; i < inside; ++i) {
    writer.forward(0);
    writer.forward(1);
  }
  for (int i = 0; i < outside; ++i) {
    writer.backward(1, Weights::kLater);
    writer.weights();
    writer.forward(1);
  }
}

// Cool-down: weight gradients are deferred to where the stage would wait.
void drain(DualWriter& writer, int outside, int inside) {
  for (int i = 0; i < outside; ++i) {
    writer.backward(1);
    writer.block(1, 0);
  }
  for (int pass = 0; pass < 2 * inside; ++pass) {
    writer.backward(pass % 2 == 0 ? 1 : 0, pass >= inside ? Weights::kLater : Weights::kWithBackward);
  }
  for (int i = 0; i < outside; ++i) {
    writer.weights();
    writer.backward(0, Weights::kLater);
  }
  writer.all_weights();
}

}  // namespace

std::vector<Slot> dual_order(const DualStage& stage) {
  const int outside = stage.positions - 1 - stage.position;
  const int inside = stage.position + 1;
  DualWriter writer;
  fill(writer, outside, inside);
  for (int i = 0; i < stage.microbatches - stage.positions - outside; ++i) {
    // The innermost stage cannot overlap its first pair.
    if (i == 0 && outside == 0) {
      writer.forward(0);
      writer.backward(1);
    } else {
      writer.block(0, 1);
    }
    writer.block(1, 0);
  }
  drain(writer, outside, inside);
  return writer.take();
}

}  // namespace ringwright::workload
