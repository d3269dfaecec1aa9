#include "workload/checkpoint/save_time.h"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

namespace ringwright::workload::save_time_test {
namespace {

using namespace ringwright::literals;

constexpr Bytes gigabytes(std::int64_t count) {
  return Bytes(count * 1'000'000'000);
}

// 14 bytes for each of 405e9 parameters over 2 TB/s: 2.8 s.
TEST(SaveTime, TheStoreLimitsLlama3) {
  const SaveSize size{.total = gigabytes(5670), .rank = Bytes(346'000'000)};
  EXPECT_NEAR(to_seconds(write_time(size, {.store = Bandwidth(2e12)})), 2.835, 1e-3);
}

// torchsnapshot's benchmark, 20 GB of DDP state on 8-GPU hosts with local drives: 1, 8, 16 and 32 GPUs
// took 13.91, 3.38, 2.02 and 1.29 s. With 8 and 16 the bytes of a host halve: 10 GB at 7.35 GB/s are the difference,
// and 0.66 s are left that bytes do not explain. One process writes 1.51 GB/s. Four hosts are a prediction.
constexpr Duration kTorchsnapshotOverhead = 660_ms;

TEST(SaveTime, ProcessesHostsAndOverheadLimitTorchsnapshot) {
  const SavePath path{
      .per_rank = Bandwidth(1.51e9), .per_host = Bandwidth(7.35e9), .overhead = kTorchsnapshotOverhead};
  const auto seconds = [&](std::int64_t ranks) {
    return to_seconds(write_time({.total = gigabytes(20),
                                  .rank = Bytes(20'000'000'000 / ranks),
                                  .ranks_per_host = std::min<std::int64_t>(8, ranks)},
                                 path));
  };
  EXPECT_NEAR(seconds(1), 13.91, 0.01 * 13.91);
  EXPECT_NEAR(seconds(8), 3.38, 0.01 * 3.38);
  EXPECT_NEAR(seconds(16), 2.02, 0.01 * 2.02);
  EXPECT_NEAR(seconds(32), 1.29, 0.05 * 1.29);
}

// Copying, serialising and writing run at once, piece by piece: the slowest decides.
TEST(SaveTime, IsThatOfTheSlowestStage) {
  const SaveSize size{.total = gigabytes(80), .rank = gigabytes(10), .ranks_per_host = 8};
  const auto seconds = [&](const SavePath& path) { return to_seconds(write_time(size, path)); };
  const SavePath path{.snapshot = 25_GBps, .serialise = 2_GBps, .per_rank = 4_GBps, .per_host = 20_GBps};
  EXPECT_DOUBLE_EQ(seconds(path), 5.0);
  EXPECT_DOUBLE_EQ(seconds({.snapshot = 25_GBps, .per_rank = 4_GBps, .per_host = 20_GBps}), 4.0);
  EXPECT_DOUBLE_EQ(seconds({.snapshot = 1_GBps, .serialise = 2_GBps}), 10.0);
}

// The same on Lustre took 14.52, 7.61, 4.61 and 2.68 s. With the overhead of the local drives the first two rows give
// 1.44 GB/s of a process and 2.88 GB/s of a host's client; the store limits nothing. 16 and 32 GPUs are predictions.
TEST(SaveTime, HostsLimitTorchsnapshotOnLustre) {
  const SavePath path{
      .per_rank = Bandwidth(1.44e9), .per_host = Bandwidth(2.88e9), .overhead = kTorchsnapshotOverhead};
  const auto seconds = [&](std::int64_t ranks) {
    return to_seconds(write_time({.total = gigabytes(20),
                                  .rank = Bytes(20'000'000'000 / ranks),
                                  .ranks_per_host = std::min<std::int64_t>(8, ranks)},
                                 path));
  };
  EXPECT_NEAR(seconds(1), 14.52, 0.01 * 14.52);
  EXPECT_NEAR(seconds(8), 7.61, 0.01 * 7.61);
  EXPECT_NEAR(seconds(16), 4.61, 0.12 * 4.61);
  EXPECT_NEAR(seconds(32), 2.68, 0.12 * 2.68);
}

// 10 % of 1 GB and a byte: rounded up.
TEST(SaveTime, AnIncrementSavesItsShare) {
  EXPECT_EQ(incremental(Bytes(1'000'000'000), 0.1), Bytes(100'000'000));
  EXPECT_EQ(incremental(Bytes(1'000'000'001), 0.1), Bytes(100'000'001));
  EXPECT_EQ(incremental(Bytes(1'000'000'001), 1.0), Bytes(1'000'000'001));
}

// Version by version: each level takes one once it has passed on the last one, and holds it until the next level takes
// it. The last checkpoint of many begins a period after the one before.
Duration period_by_version(const Flushes& flushes) {
  std::vector<Duration> free(flushes.levels.size() + 1);  // when each level takes its next version
  Duration begin;
  Duration last;
  for (int version = 0; version < 1000; ++version) {
    last = begin;
    Duration arrives = begin + flushes.stall;
    for (std::size_t level = 0; level < flushes.levels.size(); ++level) {
      const Duration taken = std::max(arrives, free[level]);
      if (level == 0) begin = taken + flushes.steps;  // training waits until the first level takes it
      if (level > 0) free[level - 1] = std::max(free[level - 1], taken);
      free[level] = taken + flushes.levels[level];
      arrives = free[level];
    }
  }
  return begin - last;
}

TEST(SaveTime, LevelsHoldBackTrainingWhereTheyAreSlower) {
  using Levels = std::vector<Duration>;
  for (const Levels& levels :
       {Levels{1_s}, Levels{9_s}, Levels{2_s, 15_s}, Levels{15_s, 2_s}, Levels{1_s, 12_s, 11_s}}) {
    const Flushes flushes{.steps = 10_s, .stall = 500_ms, .levels = levels};
    EXPECT_EQ(checkpoint_period(flushes), period_by_version(flushes));
  }
  // Interval >= flush: no wait; else the flush is the interval.
  const Levels slow = {2_s, 15_s};
  EXPECT_EQ(checkpoint_period({.steps = 10_s, .stall = 500_ms, .levels = slow}), 15_s);
  EXPECT_EQ(checkpoint_period({.steps = 20_s, .stall = 500_ms, .levels = slow}), 20_s + 500_ms);
}

TEST(SaveTime, PassesHideASnapshot) {
  EXPECT_EQ(snapshot_stall(gigabytes(25), 25_GBps, {}), from_seconds(1.0));
  EXPECT_EQ(snapshot_stall(gigabytes(25), 25_GBps, from_seconds(0.4)), from_seconds(0.6));
  EXPECT_EQ(snapshot_stall(gigabytes(25), 25_GBps, from_seconds(2.0)), Duration());
}

// (m - 1) C <= B T_idle costs nothing; the crossover is at C / B of idle time, and below it costs what is left.
TEST(SaveTime, PeerCopiesAreFreeWhileTheNicIsIdleLongEnough) {
  PeerCopies copies{.rank = gigabytes(10), .copies = 2, .nic = 50_GBps};
  EXPECT_EQ(peer_copy_stall(copies), from_seconds(0.2));
  copies.idle = from_seconds(0.15);
  EXPECT_EQ(peer_copy_stall(copies), from_seconds(0.05));
  copies.idle = from_seconds(0.2);
  EXPECT_EQ(peer_copy_stall(copies), Duration());
  copies.copies = 3;
  EXPECT_EQ(peer_copy_stall(copies), from_seconds(0.2));
}

// Overhead is at most the budget, and one step less would exceed it.
TEST(SaveTime, CheckFreqHoldsItsBudget) {
  for (const double stall : {0.05, 1.0, 7.3, 100.0}) {
    const Duration step = from_seconds(2.0);
    const std::int64_t interval = checkfreq_interval(from_seconds(stall), step, 0.035);
    EXPECT_LE(stall / (static_cast<double>(interval) * 2.0), 0.035 + 1e-9);
    if (interval == 1) continue;
    EXPECT_GT(stall / (static_cast<double>(interval - 1) * 2.0), 0.035);
  }
}

}  // namespace
}  // namespace ringwright::workload::save_time_test
