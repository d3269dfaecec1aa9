// The communication patterns of the peers' figures, run on the NetworkModel port: ring, all-to-all, permutations.
#pragma once

#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "core/base/random.h"
#include "core/engine/engine.h"
#include "core/ports/network_model.h"

namespace ringwright::peers {

// The setting in which a pattern runs.
struct Stage {
  Engine& engine;
  NetworkModel& network;
  std::uint32_t ranks = 0;
};

// Step k of rank r, a message to r + 1, starts when the step k - 1 of r itself and of r - 1 have arrived.
class Ring final : public TransferListener {
 public:
  Ring(Stage stage, Bytes total, std::uint32_t steps)
      : stage_(stage), block_(total / stage.ranks), steps_(steps), rows_(stage.ranks) {}

  void start() {
    for (std::uint32_t r = 0; r < stage_.ranks; ++r) send(r);
  }
  void on_arrived(std::uint64_t token) override {
    const auto rank = static_cast<std::uint32_t>(token);
    const std::uint32_t next = next_of(rank);
    ++rows_[rank].sent;
    ++rows_[next].received;
    advance(rank);
    advance(next);
  }

 private:
  struct Row {
    std::uint32_t started = 0;
    std::uint32_t sent = 0;
    std::uint32_t received = 0;
  };

  void advance(std::uint32_t rank) {
    const Row& row = rows_[rank];
    if (row.started < steps_ && row.sent >= row.started && row.received >= row.started) send(rank);
  }
  void send(std::uint32_t rank) {
    ++rows_[rank].started;
    stage_.network.start(
        {.from = RankId(rank), .to = RankId(next_of(rank)), .size = block_, .token = rank}, *this);
  }
  [[nodiscard]] std::uint32_t next_of(std::uint32_t rank) const { return rank + 1 == stage_.ranks ? 0 : rank + 1; }

  Stage stage_;
  Bytes block_;
  std::uint32_t steps_;
  std::vector<Row> rows_;
};

// All ranks send to all ranks, all at once.
class AllToAll final : public TransferListener {
 public:
  AllToAll(Stage stage, Bytes block) : stage_(stage), block_(block) {}

  void start() {
    for (std::uint32_t from = 0; from < stage_.ranks; ++from) {
      for (std::uint32_t to = 0; to < stage_.ranks; ++to) {
        if (from != to) stage_.network.start({.from = RankId(from), .to = RankId(to), .size = block_}, *this);
      }
    }
  }
  void on_arrived(std::uint64_t /*token*/) override {}

 private:
  Stage stage_;
  Bytes block_;
};

// Shift k = 1, 2, ...: all ranks send to r + k; the next shift starts when the last message has arrived.
class AllToAllWithBarrier final : public TransferListener {
 public:
  AllToAllWithBarrier(Stage stage, Bytes block, std::uint32_t shifts) : stage_(stage), block_(block), shifts_(shifts) {}

  void start() {
    ++shift_;
    waiting_for_ = stage_.ranks;
    for (std::uint32_t rank = 0; rank < stage_.ranks; ++rank) {
      stage_.network.start({.from = RankId(rank), .to = RankId((rank + shift_) % stage_.ranks), .size = block_}, *this);
    }
  }
  void on_arrived(std::uint64_t /*token*/) override {
    if (--waiting_for_ == 0 && shift_ < shifts_) start();
  }

 private:
  Stage stage_;
  Bytes block_;
  std::uint32_t shifts_;
  std::uint32_t shift_ = 0;
  std::uint32_t waiting_for_ = 0;
};

// Shift k = 1, 2, ...: a rank sends to rank + k, and continues when its own message has arrived, independent of the
// others.
class AllToAllByShifts final : public TransferListener {
 public:
  AllToAllByShifts(Stage stage, Bytes block, std::uint32_t shifts)
      : stage_(stage), block_(block), shifts_(shifts), shift_(stage.ranks) {}

  void start() {
    for (std::uint32_t rank = 0; rank < stage_.ranks; ++rank) send(rank);
  }
  void on_arrived(std::uint64_t token) override { send(static_cast<std::uint32_t>(token)); }

 private:
  void send(std::uint32_t rank) {
    if (shift_[rank] == shifts_) return;
    const std::uint32_t to = (rank + ++shift_[rank]) % stage_.ranks;
    stage_.network.start({.from = RankId(rank), .to = RankId(to), .size = block_, .token = rank}, *this);
  }

  Stage stage_;
  Bytes block_;
  std::uint32_t shifts_;
  std::vector<std::uint32_t> shift_;  // by rank
};

// Each rank sends its k-th message, of random size, to the rank given by the k-th random permutation, one after the
// other.
class Permutations final : public TransferListener {
 public:
  Permutations(Stage stage, std::uint32_t rounds) : stage_(stage), next_(stage.ranks) {
    for (std::uint32_t k = 0; k < rounds; ++k) targets_.push_back(permutation(k));
  }

  void start() {
    for (std::uint32_t rank = 0; rank < stage_.ranks; ++rank) send(rank);
  }
  void on_arrived(std::uint64_t token) override { send(static_cast<std::uint32_t>(token)); }

 private:
  [[nodiscard]] std::vector<std::uint32_t> permutation(std::uint32_t k) const {
    std::vector<std::uint32_t> targets(stage_.ranks);
    std::iota(targets.begin(), targets.end(), 0U);
    for (std::uint32_t i = stage_.ranks - 1; i >= 1; --i) {
      std::swap(targets[i], targets[splitmix64(std::uint64_t{k} * 1000003 + i + 77) % (i + 1)]);
    }
    return targets;
  }
  void send(std::uint32_t rank) {
    const std::uint32_t k = next_[rank]++;
    if (k >= targets_.size()) return;
    constexpr std::uint64_t kMiB = 1U << 20U;
    const std::uint64_t size =
        8 * kMiB + splitmix64(std::uint64_t{rank} * 131071 + std::uint64_t{7} * k + 5) % (16 * kMiB);
    const std::uint32_t target = targets_[k][rank] == rank ? (rank + 1) % stage_.ranks : targets_[k][rank];
    stage_.network.start({.from = RankId(rank),
                          .to = RankId(target),
                          .size = Bytes(static_cast<std::int64_t>(size)),
                          .token = rank},
                         *this);
  }

  Stage stage_;
  std::vector<std::vector<std::uint32_t>> targets_;
  std::vector<std::uint32_t> next_;
};

}  // namespace ringwright::peers
