#include "workload/input/data_pipeline.h"

#include <gtest/gtest.h>

namespace ringwright::workload::data_pipeline_test {
namespace {

using namespace ringwright::literals;

DataPipeline local(std::int64_t workers) { return {.cpu_per_sample = 10_ms, .local_workers = workers}; }

TEST(DataPipeline, WorkersOfAllHostsPrepareInParallel) {
  const InputRate rate = input_rate(local(8), 4);
  EXPECT_DOUBLE_EQ(rate.samples_per_second, 3200.0);  // 4 hosts x 8 workers / 10 ms
  EXPECT_EQ(rate.limit, InputLimit::kWorkers);
  EXPECT_EQ(batch_time(local(8), 4, 640), 200_ms);
}

TEST(DataPipeline, RemoteWorkersAddUpToWhatTheHostsNetworksCarry) {
  DataPipeline pipeline = local(8);
  pipeline.remote_workers = 10;
  pipeline.bytes_per_sample = Bytes(1'000'000);
  pipeline.network = Bandwidth(1e9);
  EXPECT_DOUBLE_EQ(input_rate(pipeline, 2).samples_per_second, 1600.0 + 1000.0);
  EXPECT_EQ(input_rate(pipeline, 2).limit, InputLimit::kWorkers);
  pipeline.remote_workers = 100;  // could send 10,000, of which two hosts take 2,000
  EXPECT_DOUBLE_EQ(input_rate(pipeline, 2).samples_per_second, 1600.0 + 2000.0);
  EXPECT_EQ(input_rate(pipeline, 2).limit, InputLimit::kNetwork);
}

TEST(DataPipeline, StorageLimitsByHostAndInAll) {
  DataPipeline pipeline = local(8);
  pipeline.stored_per_sample = Bytes(100'000);
  pipeline.storage_per_host = Bandwidth(50e6);
  EXPECT_DOUBLE_EQ(input_rate(pipeline, 4).samples_per_second, 2000.0);  // 4 x 50 MB/s / 100 kB
  EXPECT_EQ(input_rate(pipeline, 4).limit, InputLimit::kStorage);
  pipeline.storage_total = Bandwidth(120e6);
  EXPECT_DOUBLE_EQ(input_rate(pipeline, 4).samples_per_second, 1200.0);
  pipeline.storage_per_host = Bandwidth(1e12);
  pipeline.storage_total = Bandwidth(1e12);
  EXPECT_EQ(input_rate(pipeline, 4).limit, InputLimit::kWorkers);
}

TEST(DataPipeline, ABatchBeyondTheClockTakesUntilItsEnd) {
  EXPECT_EQ(batch_time({.cpu_per_sample = 3600_s, .local_workers = 1}, 1, 1'000'000), kClockEnd);
}

// 4 hosts prepare 3,200 samples a second; 100 more a second for each remote worker.
TEST(DataPipeline, ElasticWorkersGrowUntilNoStepWaits) {
  DataPipeline pipeline = local(8);
  pipeline.bytes_per_sample = Bytes(1'000'000);
  pipeline.network = Bandwidth(1e9);
  pipeline.elastic_workers = 50;
  EXPECT_EQ(with_elastic_workers(pipeline, 4, 3200.0).remote_workers, 0);
  EXPECT_EQ(with_elastic_workers(pipeline, 4, 3201.0).remote_workers, 1);
  EXPECT_EQ(with_elastic_workers(pipeline, 4, 4700.0).remote_workers, 15);
  EXPECT_EQ(with_elastic_workers(pipeline, 4, 1e6).remote_workers, 40);  // the networks carry 4,000
  pipeline.network = Bandwidth(1e10);
  EXPECT_EQ(with_elastic_workers(pipeline, 4, 1e6).remote_workers, 50);
}

DataPipeline one_slow(std::int64_t every, double factor, std::int64_t ahead) {
  DataPipeline pipeline = local(1);
  pipeline.slow_every = every;
  pipeline.slow_factor = factor;
  pipeline.prefetch = ahead;
  return pipeline;
}

// Steps of 20 ms, batches of 10 ms, every fourth of 40 ms. One ahead: three steps of 20 ms and one of 40 ms. Two ahead:
// the slow batch is begun two steps before its own, which is 40 ms.
TEST(DataPipeline, AQueueHidesBatchesThatTakeLonger) {
  EXPECT_EQ(mean_wait(one_slow(4, 4.0, 1), 10_ms, 20_ms), 5_ms);
  EXPECT_EQ(mean_wait(one_slow(4, 4.0, 2), 10_ms, 20_ms), 0_ms);
}

// (3 x 10 ms + 120 ms) / 4 = 37.5 ms a batch: no queue makes a step shorter.
TEST(DataPipeline, NoQueueIsFasterThanTheMeanBatch) {
  EXPECT_EQ(mean_wait(one_slow(4, 12.0, 1000), 10_ms, 20_ms), Duration(17'500'000'000));
  EXPECT_DOUBLE_EQ(one_slow(4, 12.0, 1).mean_factor(), 3.75);
}

TEST(DataPipeline, ADeeperQueueNeverWaitsLonger) {
  for (const double factor : {1.5, 3.0, 7.0}) {
    Duration before = kClockEnd;
    for (const std::int64_t ahead : {1, 2, 3, 5, 8, 40}) {
      const Duration wait = mean_wait(one_slow(7, factor, ahead), 15_ms, 20_ms);
      EXPECT_LE(wait, before) << factor << " " << ahead;
      before = wait;
    }
  }
}

}  // namespace
}  // namespace ringwright::workload::data_pipeline_test
