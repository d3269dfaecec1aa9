#include "traces/calls/recorded_call.h"

#include <gtest/gtest.h>

namespace ringwright::traces::recorded_call_test {
namespace {

using namespace literals;

TEST(OperationOf, KnowsTheSpellingsOfPyTorchAndNccl) {
  EXPECT_EQ(operation_of("allreduce"), "all_reduce");
  EXPECT_EQ(operation_of("AllReduce"), "all_reduce");
  EXPECT_EQ(operation_of("_allgather_base"), "all_gather");
  EXPECT_EQ(operation_of("nccl:_all_gather_base"), "all_gather");
  EXPECT_EQ(operation_of("reduce_scatter_tensor_coalesced"), "reduce_scatter");
  EXPECT_EQ(operation_of("_reduce_scatter_base"), "reduce_scatter");
  EXPECT_EQ(operation_of("all_to_allv"), "alltoall");
  EXPECT_EQ(operation_of("reduce"), "reduce");
  EXPECT_EQ(operation_of("send"), "send");
  EXPECT_EQ(operation_of("wait"), "");
}

TEST(RatesOf, AreThoseOfNcclTests) {
  // 1 GB in 10 ms is 100 GB/s; all-reduce over 4 ranks moves 2 * 3 / 4 as much over a rank's link.
  const CallRates rates = rates_of("all_reduce", 4, Bytes(1'000'000'000), 10_ms);
  EXPECT_DOUBLE_EQ(rates.algbw, 100.0);
  EXPECT_DOUBLE_EQ(rates.busbw, 150.0);
  EXPECT_DOUBLE_EQ(rates_of("all_gather", 4, Bytes(1'000'000'000), 10_ms).busbw, 75.0);
  EXPECT_DOUBLE_EQ(rates_of("broadcast", 4, Bytes(1'000'000'000), 10_ms).busbw, 100.0);
  EXPECT_LE(rates_of("broadcast", 4, std::nullopt, 10_ms).algbw, 0.0);
}

}  // namespace
}  // namespace ringwright::traces::recorded_call_test
