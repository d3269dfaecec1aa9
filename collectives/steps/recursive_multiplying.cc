// Recursive multiplying: in a stage of factor f, f members exchange all their data, so that sums grow f-fold.
//
// With n = f1 f2 ... fk (its prime factors, those inside a host first) an all-reduce takes k stages of a + S/B each on
// unshared links; with f = 2 throughout it is recursive doubling. All members do the same work, for any n. Whole
// buffers travel, so it is for messages that cost little more than their latency. (Ruefenacht, Bull and Booth,
// "Generalisation of recursive doubling for AllReduce", Parallel Computing 69, 2017.)
#include <array>

#include "collectives/shapes/ring_order.h"
#include "core/ports/collective_algorithm.h"

namespace ringwright::collectives {
namespace {

// The members that differ in one digit of their index: `factor` of them, `stride` apart.
struct MultiplyingStage {
  int factor = 1;
  int stride = 1;

  [[nodiscard]] int digit(int member) const { return member / stride % factor; }
  [[nodiscard]] int with_digit(int member, int digit_wanted) const {
    return member + (digit_wanted - digit(member)) * stride;
  }
};

// The stages of a group: the prime factors of the host's share first, then those of the number of hosts.
class Stages {
 public:
  explicit Stages(const CollectiveCall& call) {
    const bool even = call.layout->even();
    add_factors(even ? call.layout->largest_host : call.size());
    if (even) add_factors(call.layout->host_count());
  }
  [[nodiscard]] int count() const { return count_; }
  [[nodiscard]] const MultiplyingStage& operator[](int index) const { return stages_[static_cast<std::size_t>(index)]; }

 private:
  void add_factors(int number) {
    for (int prime = 2; number > 1; ++prime) {
      if (prime * prime > number) prime = number;
      for (; number % prime == 0; number /= prime) {
        stages_[static_cast<std::size_t>(count_++)] = {.factor = prime, .stride = stride_};
        stride_ *= prime;
      }
    }
  }

  std::array<MultiplyingStage, 32> stages_{};  // an int has fewer prime factors
  int count_ = 0;
  int stride_ = 1;
};

class RecursiveMultiplying final : public CollectiveAlgorithm {
 public:
  [[nodiscard]] std::string_view name() const override { return "recursive_multiplying"; }
  [[nodiscard]] std::string_view help() const override {
    return "whole buffers swapped among 2, 4, ... members (recursive doubling for any group size): for tiny messages";
  }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override {
    return call.kind == CollectiveKind::kAllReduce;
  }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return Stages(call).count(); }

  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const MultiplyingStage stage = Stages(call)[index];
    const int own = stage.digit(member);
    for (int turn = 0; turn + 1 < stage.factor; ++turn) {
      const int peer = stage.with_digit(member, wrap(own + 1 + turn, stage.factor));
      out.sends.push_back({.peer = peer, .size = call.bytes});
      // The peer sends to this member in the round that closes the cycle.
      out.awaits.push_back({.peer = peer, .send = stage.factor - 2 - turn});
    }
  }

  [[nodiscard]] int pieces(const CollectiveCall&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int) const override { return call.bytes; }
  void contents(const CollectiveCall&, int, int, int, SendContents& out) const override {
    out.pieces = {0};
    out.reduce = true;
  }
};

}  // namespace

const CollectiveAlgorithm& recursive_multiplying() {
  static const RecursiveMultiplying algorithm;
  return algorithm;
}

}  // namespace ringwright::collectives
