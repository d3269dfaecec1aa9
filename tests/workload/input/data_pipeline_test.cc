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

}  // namespace
}  // namespace ringwright::workload::data_pipeline_test
