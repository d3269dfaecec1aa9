#include "core/run/servers/server_run.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace ringwright::server_run_test {
namespace {

using namespace ringwright::literals;

// Every message takes as long, whatever else is on its way.
class EqualDelays final : public NetworkModel {
 public:
  EqualDelays(Engine& engine, Duration delay) : engine_(engine), delay_(delay) {}
  void start(const Transfer& transfer, TransferListener& listener) override {
    engine_.after(delay_, [to = &listener, token = transfer.token] { to->on_arrived(token); });
  }
  [[nodiscard]] std::vector<LinkUsage> usage() const override { return {}; }
  [[nodiscard]] std::vector<Counter> counters() const override { return {}; }

 private:
  Engine& engine_;
  Duration delay_;
};

// Steps of 10 ms, whose one bucket of 1 MB is complete at their end; updates take 1 ms.
ServerPlan plan_of(std::size_t workers) {
  ServerPlan plan{.workers = {},
                  .servers = {{RankId(workers)}},
                  .step = 10_ms,
                  .buckets = {{.ready = 10_ms, .bytes = Bytes(1'000'000)}},
                  .update_rate = 1_GBps,
                  .steps = 50};
  for (std::size_t w = 0; w < workers; ++w) plan.workers.push_back({RankId(w)});
  plan.slowdown.assign(workers, 1.0);
  return plan;
}

ServerRunResult run(const ServerPlan& plan, Duration delay = 2_ms) {
  Engine engine;
  EqualDelays network(engine, delay);
  return run_servers(engine, network, plan);
}

double ratio_of_steps(const ServerRunResult& result) {
  std::uint64_t least = result.workers.front().steps, most = least;
  for (const WorkerFigures& worker : result.workers) {
    least = std::min(least, worker.steps);
    most = std::max(most, worker.steps);
  }
  return static_cast<double>(most) / static_cast<double>(least);
}

TEST(ServerRun, AStepIsComputingPushUpdateAndPull) {
  const ServerRunResult result = run(plan_of(1));
  ASSERT_TRUE(result.finished);
  EXPECT_EQ(result.counted, 15_ms * 50);  // 10 + 2 + 1 + 2
  EXPECT_EQ(result.workers[0].exchanging, 5_ms * 50);
  EXPECT_NEAR(result.servers[0].busy, 1.0 / 15.0, 1e-9);
}

// Two buckets that are ready at once: the second push arrives 2 ms after the first, and is back when the first update,
// of 0.5 ms, and its pull have long ended.
TEST(ServerRun, BucketsFollowEachOtherOnAConnection) {
  ServerPlan plan = plan_of(1);
  plan.buckets = {{.ready = 10_ms, .bytes = Bytes(500'000)}, {.ready = 10_ms, .bytes = Bytes(500'000)}};
  const ServerRunResult result = run(plan);
  ASSERT_TRUE(result.finished);
  EXPECT_EQ(result.counted, (10_ms + 2_ms + 2_ms + Duration(500'000'000) + 2_ms) * 50);
}

// A call has 4 ms of latency more, and takes a thread 2 MB / 0.5 GB/s for what arrives and what it sends.
TEST(ServerRun, RemoteProcedureCallsHaveALatencyAndARateOfAThread) {
  ServerPlan plan = plan_of(1);
  plan.rpc_latency = 4_ms;
  plan.rpc_thread_rate = Bandwidth(0.5e9);
  const ServerRunResult result = run(plan);
  EXPECT_EQ(result.counted, (15_ms + 4_ms + 4_ms) * 50);
  EXPECT_NEAR(result.servers[0].busy, 5.0 / 23.0, 1e-9);
}

// C threads that are busy all the time: c / (request + 2 S / rate + update), 4 / (0.5 + 4 + 1) ms.
TEST(ServerRun, ThreadsBoundTheCallsOfAServer) {
  ServerPlan plan = plan_of(64);
  plan.request = Duration(500'000'000);
  plan.rpc_thread_rate = Bandwidth(0.5e9);
  plan.threads = 4;
  plan.steps = 100;
  EXPECT_NEAR(run(plan).steps_per_second(), 4.0 / 5.5e-3, 0.01 * 4.0 / 5.5e-3);
}

TEST(ServerRun, AsynchronousWorkersKeepTheirOwnPace) {
  ServerPlan plan = plan_of(2);
  plan.slowdown[1] = 4.0;
  plan.buckets[0].bytes = Bytes(1000);
  EXPECT_NEAR(ratio_of_steps(run(plan)), 44.0 / 14.0, 0.1);
  plan.synchronous = true;
  EXPECT_NEAR(ratio_of_steps(run(plan)), 1.0, 0.03);
}

// No worker is more than the bound ahead of the slowest, whose pace is that of all in the end.
TEST(ServerRun, TheBoundOnStalenessHoldsTheFastBack) {
  ServerPlan plan = plan_of(2);
  plan.slowdown[1] = 4.0;
  plan.staleness = 3;
  const ServerRunResult bounded = run(plan);
  EXPECT_NEAR(ratio_of_steps(bounded), 1.0, 0.1);
  EXPECT_GT(bounded.workers[0].waiting, Duration(0));
  EXPECT_EQ(bounded.workers[1].waiting, Duration(0));
  EXPECT_LE(bounded.staleness.size(), 5U);
  plan.staleness.reset();
  EXPECT_GT(run(plan).steps_per_second(), bounded.steps_per_second());
}

// A step of the fast one takes 15 ms, and of the slow one 5 ms + 20 / 17 of 10 ms: in three of its steps, of 16.76 ms,
// the fast one ends three whole ones. The bound is reached after 29 steps of the slow one.
TEST(ServerRun, AFewStepsAreEnoughForTheSpeedOfUnevenWorkers) {
  ServerPlan plan = plan_of(2);
  plan.threads = 2;
  plan.slowdown[1] = 20.0 / 17.0;
  const double slow = 1.0 / (5e-3 + 10e-3 * 20.0 / 17.0);
  for (const int steps : {3, 10}) {
    plan.steps = steps;
    plan.staleness.reset();
    EXPECT_NEAR(run(plan).steps_per_second(), 1.0 / 15e-3 + slow, 0.1) << steps;
    plan.staleness = 3;
    EXPECT_NEAR(run(plan).steps_per_second(), 2.0 * slow, 0.1) << steps;
  }
}

TEST(ServerRun, EqualWorkersFindTheUpdatesOfAllOthers) {
  const ServerRunResult result = run(plan_of(4));
  EXPECT_NEAR(result.mean_staleness(), 3.0, 0.1);
  ServerPlan plan = plan_of(4);
  plan.synchronous = true;
  EXPECT_EQ(run(plan).mean_staleness(), 0.0);
}

// R3: steps that may be outstanding hide the servers until these are saturated: min(workers / computing, threads /
// service).
TEST(ServerRun, OutstandingStepsHideTheServerUntilItIsSaturated) {
  for (const std::size_t workers : {2U, 4U, 8U, 16U, 32U}) {
    ServerPlan plan = plan_of(workers);
    const double waits = run(plan).steps_per_second();
    plan.outstanding = 4;
    plan.steps = 400;
    const double hidden = run(plan).steps_per_second();
    const double computing = static_cast<double>(workers) / 10e-3, served = 1.0 / 1e-3;
    EXPECT_NEAR(hidden, std::min(computing, served), 0.04 * hidden) << workers;
    EXPECT_LE(waits, hidden * 1.001) << workers;
  }
}

TEST(ServerRun, ThreadsServeAtTheSameTime) {
  ServerPlan plan = plan_of(32);
  const double one = run(plan).steps_per_second();
  plan.threads = 4;
  EXPECT_GT(run(plan).steps_per_second(), 1.8 * one);
}

}  // namespace
}  // namespace ringwright::server_run_test
