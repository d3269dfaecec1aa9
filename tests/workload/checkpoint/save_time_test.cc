#include "workload/checkpoint/save_time.h"

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
// took 13.91, 3.38, 2.02 and 1.29 s. One process writes 1.44 GB/s, a host 5.9 GB/s: within 15 %, but for four hosts,
// where other costs than bytes add 0.44 s.
TEST(SaveTime, ProcessesAndHostsLimitTorchsnapshot) {
  const SavePath path{.per_rank = Bandwidth(1.44e9), .per_host = Bandwidth(5.9e9)};
  const auto seconds = [&](std::int64_t ranks) {
    return to_seconds(write_time({.total = gigabytes(20),
                                  .rank = Bytes(20'000'000'000 / ranks),
                                  .ranks_per_host = std::min<std::int64_t>(8, ranks)},
                                 path));
  };
  EXPECT_NEAR(seconds(1), 13.91, 0.15 * 13.91);
  EXPECT_NEAR(seconds(8), 3.38, 0.15 * 3.38);
  EXPECT_NEAR(seconds(16), 2.02, 0.17 * 2.02);
  EXPECT_LT(seconds(32), 1.29);
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
