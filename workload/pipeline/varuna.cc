// Varuna: stages run forward passes as activations arrive, recompute a microbatch while its gradient is in flight, and
// run a backward pass as soon as possible. The last stage recomputes nothing: each backward pass follows its forward
// pass.
//
// Athlur et al., "Varuna: Scalable, Low-cost Training of Massive Deep Learning Models" (EuroSys 2022, arXiv
// 2111.04007), section 4: the order is computed offline, by simulating three rules on stages of equal speed. A
// recomputation ends when the gradient arrives; only its backward pass may follow it; and a ready backward pass
// precedes a forward pass. In the paper a stage may also deviate from its order when a message is late; here it waits.
#include <limits>
#include <optional>

#include "workload/builtin.h"

namespace ringwright::workload {
namespace {

constexpr std::int64_t kForward = 1;
constexpr std::int64_t kAgain = 1;
constexpr std::int64_t kBackward = 2;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

class VarunaPlayer {
 public:
  explicit VarunaPlayer(const ScheduleRequest& request)
      : request_(request),
        order_(static_cast<std::size_t>(request.stages)),
        free_at_(order_.size(), 0),
        forward_end_(order_.size(), std::vector<std::int64_t>(static_cast<std::size_t>(request.microbatches), kNever)),
        backward_end_(forward_end_),
        forwards_(order_.size(), 0),
        backwards_(order_.size(), 0) {}

  PipelineOrder play() {
    const std::size_t all = 2 * order_.size() * static_cast<std::size_t>(request_.microbatches);
    for (std::size_t done = 0; done < all; ++done) take(next());
    return std::move(order_);
  }

 private:
  struct Choice {
    std::size_t stage = 0;
    Pass pass = Pass::kForward;
    std::int64_t start = kNever;  // of the pass, or of the recomputation before it
    std::int64_t end = kNever;
  };

  [[nodiscard]] bool last(std::size_t stage) const { return stage + 1 == order_.size(); }

  [[nodiscard]] std::int64_t activation_at(std::size_t stage) const {
    const auto number = static_cast<std::size_t>(forwards_[stage]);
    if (number == forward_end_[stage].size()) return kNever;
    return stage == 0 ? 0 : forward_end_[stage - 1][number];
  }
  [[nodiscard]] std::int64_t gradient_at(std::size_t stage) const {
    const auto number = static_cast<std::size_t>(backwards_[stage]);
    if (backwards_[stage] == forwards_[stage]) return kNever;
    return last(stage) ? forward_end_[stage][number] : backward_end_[stage + 1][number];
  }

  // A recomputation may begin so early that it ends with the gradient's arrival.
  [[nodiscard]] Choice backward_of(std::size_t stage) const {
    const std::int64_t gradient = gradient_at(stage);
    if (gradient == kNever) return {};
    const std::int64_t again = last(stage) ? 0 : kAgain;
    const std::int64_t start = std::max(free_at_[stage], gradient - again);
    return {.stage = stage, .pass = Pass::kBackward, .start = start, .end = start + again + kBackward};
  }
  [[nodiscard]] Choice forward_of(std::size_t stage) const {
    const std::int64_t activation = activation_at(stage);
    if (activation == kNever) return {};
    const std::int64_t start = std::max(free_at_[stage], activation);
    return {.stage = stage, .pass = Pass::kForward, .start = start, .end = start + kForward};
  }
  // A backward pass goes first, unless a forward pass fits before its earliest start.
  [[nodiscard]] Choice next_of(std::size_t stage) const {
    const Choice backward = backward_of(stage);
    const Choice forward = forward_of(stage);
    return forward.end <= backward.start ? forward : backward;
  }
  // The stage whose pass begins first: later passes of other stages cannot change it.
  [[nodiscard]] Choice next() const {
    Choice best;
    for (std::size_t stage = 0; stage < order_.size(); ++stage) {
      const Choice choice = next_of(stage);
      if (choice.start < best.start) best = choice;
    }
    return best;
  }
  void take(const Choice& choice) {
    const std::size_t stage = choice.stage;
    const bool forward = choice.pass == Pass::kForward;
    const int number = forward ? forwards_[stage]++ : backwards_[stage]++;
    order_[stage].push_back({choice.pass, number, 0});
    auto& ends = forward ? forward_end_[stage] : backward_end_[stage];
    ends[static_cast<std::size_t>(number)] = choice.end;
    free_at_[stage] = choice.end;
  }

  ScheduleRequest request_;
  PipelineOrder order_;
  std::vector<std::int64_t> free_at_;                   // by stage
  std::vector<std::vector<std::int64_t>> forward_end_;  // by stage, by microbatch
  std::vector<std::vector<std::int64_t>> backward_end_;
  std::vector<int> forwards_;  // by stage: completed
  std::vector<int> backwards_;
};

}  // namespace

PipelineOrder varuna_order(const ScheduleRequest& request) {
  return VarunaPlayer(request).play();
}

}  // namespace ringwright::workload
