// The training step of the peers' figures: a 1F1B pipeline with activations on the network, then ring all-reduces of
// gradients.
//
// Rank = tp + 8 * (dp + D * pp). A stage runs min(M, PP - pp - 1) forwards, then pairs of forward and backward, then
// the other backwards; a forward waits for the activations of its microbatch, a backward for the gradients. Sends do
// not block the sender. After its last operation a rank joins the ring over dp: 2 (D - 1) steps of grad / D bytes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tests/peers/flow/traffic.h"

namespace ringwright::peers {

struct StepShape {
  std::uint32_t stages = 1;
  std::uint32_t replicas = 1;
  std::uint32_t microbatches = 1;
  Bytes activations;
  Bytes gradients;  // of a rank
  Duration forward;
  Duration backward;
};

// `Place` is a Stage, or one with another clock: something with now() and at().
template <class Place>
class TrainingStep final : public TransferListener {
 public:
  TrainingStep(Place stage, const StepShape& shape)
      : stage_(stage),
        shape_(shape),
        block_(gradient_block(shape)),
        ring_steps_(2 * (shape.replicas - 1)),
        rows_(stage.ranks) {}

  void start() {
    for (std::uint32_t rank = 0; rank < stage_.ranks; ++rank) advance(rank);
  }
  void on_arrived(std::uint64_t token) override {
    const auto target = static_cast<std::uint32_t>(token);
    switch (static_cast<Kind>(token >> 32U)) {
      case Kind::kForward:
        ++rows_[target].activations_in;
        advance(target);
        return;
      case Kind::kBackward:
        ++rows_[target].gradients_in;
        advance(target);
        return;
      case Kind::kRing: on_ring_arrived(target); return;
    }
  }
  [[nodiscard]] TimePoint last_backward_end() const { return last_backward_end_; }

 private:
  enum class Kind : std::uint32_t { kRing = 0, kForward = 1, kBackward = 2 };  // the numbers go into the route hash
  static constexpr std::uint32_t kTensorRanks = 8;

  struct Row {
    std::uint16_t forwards = 0;  // done or running
    std::uint16_t backwards = 0;
    std::uint16_t activations_in = 0;
    std::uint16_t gradients_in = 0;
    std::uint16_t ring_started = 0;
    std::uint16_t ring_sent = 0;
    std::uint16_t ring_received = 0;
    bool busy = false;
    bool in_ring = false;
  };
  // Ranks whose operations of one kind end at one time: they share an event.
  struct Batch {
    TimePoint due;
    std::vector<std::uint32_t> ranks;
  };
  struct Lane {
    std::vector<Batch> batches;  // from `front` on; earlier ones are consumed
    std::size_t front = 0;
  };

  static Bytes gradient_block(const StepShape& shape) {
    return Bytes((shape.gradients.count() + shape.replicas / 2) / shape.replicas);
  }
  [[nodiscard]] std::uint32_t stage_of(std::uint32_t rank) const { return rank / kTensorRanks / shape_.replicas; }
  [[nodiscard]] std::uint32_t ring_next(std::uint32_t rank) const {
    const std::uint32_t replica = rank / kTensorRanks % shape_.replicas;
    return replica + 1 == shape_.replicas ? rank - kTensorRanks * (shape_.replicas - 1) : rank + kTensorRanks;
  }

  // Starts the rank's next operation if its inputs have arrived.
  void advance(std::uint32_t rank) {
    Row& row = rows_[rank];
    if (row.busy || row.in_ring) return;
    const std::uint32_t stage = stage_of(rank);
    if (row.backwards == shape_.microbatches) {
      row.in_ring = true;
      last_backward_end_ = std::max(last_backward_end_, stage_.engine.now());
      send_in_ring(rank);
      return;
    }
    const std::uint32_t warm_up = std::min(shape_.microbatches, shape_.stages - stage - 1);
    const bool forward =
        row.forwards < shape_.microbatches && (row.forwards < warm_up || row.forwards - warm_up == row.backwards);
    if (forward && (stage == 0 || row.activations_in > row.forwards)) {
      ++row.forwards;
      compute(rank, Kind::kForward);
      return;
    }
    if (!forward && (stage + 1 == shape_.stages || row.gradients_in > row.backwards)) {
      ++row.backwards;
      compute(rank, Kind::kBackward);
    }
  }

  void compute(std::uint32_t rank, Kind kind) {
    rows_[rank].busy = true;
    Lane& lane = kind == Kind::kForward ? forwards_ : backwards_;
    const TimePoint due = stage_.engine.now() + (kind == Kind::kForward ? shape_.forward : shape_.backward);
    if (lane.front < lane.batches.size() && lane.batches.back().due == due) {
      lane.batches.back().ranks.push_back(rank);
      return;
    }
    lane.batches.push_back({.due = due, .ranks = {rank}});
    stage_.engine.at(due, [this, kind] { end_batch(kind); });
  }

  void end_batch(Kind kind) {
    Lane& lane = kind == Kind::kForward ? forwards_ : backwards_;
    const std::vector<std::uint32_t> ranks = std::move(lane.batches[lane.front++].ranks);
    if (lane.front > 1024 && 2 * lane.front > lane.batches.size()) {
      lane.batches.erase(lane.batches.begin(), lane.batches.begin() + static_cast<std::ptrdiff_t>(lane.front));
      lane.front = 0;
    }
    for (const std::uint32_t rank : ranks) {
      rows_[rank].busy = false;
      const std::uint32_t hop = kTensorRanks * shape_.replicas;
      if (kind == Kind::kForward && stage_of(rank) + 1 < shape_.stages)
        send(rank, rank + hop, shape_.activations, kind);
      if (kind == Kind::kBackward && stage_of(rank) > 0) send(rank, rank - hop, shape_.activations, kind);
      advance(rank);
    }
  }

  void send(std::uint32_t from, std::uint32_t to, Bytes size, Kind kind) {
    // The token names the rank to notify: the receiver of a stage's message, the sender of a ring's.
    const std::uint32_t concerned = kind == Kind::kRing ? from : to;
    stage_.network.start({.from = RankId(from),
                          .to = RankId(to),
                          .size = size,
                          .label = static_cast<std::uint32_t>(kind),
                          .token = (static_cast<std::uint64_t>(kind) << 32U) | concerned},
                         *this);
  }

  void on_ring_arrived(std::uint32_t rank) {
    const std::uint32_t next = ring_next(rank);
    ++rows_[rank].ring_sent;
    ++rows_[next].ring_received;
    send_in_ring(rank);
    send_in_ring(next);
  }
  void send_in_ring(std::uint32_t rank) {
    Row& row = rows_[rank];
    if (!row.in_ring || row.ring_started >= ring_steps_) return;
    if (row.ring_sent < row.ring_started || row.ring_received < row.ring_started) return;
    ++row.ring_started;
    send(rank, ring_next(rank), block_, Kind::kRing);
  }

  Place stage_;
  StepShape shape_;
  Bytes block_;
  std::uint32_t ring_steps_;
  std::vector<Row> rows_;
  Lane forwards_;
  Lane backwards_;
  TimePoint last_backward_end_;
};

}  // namespace ringwright::peers
