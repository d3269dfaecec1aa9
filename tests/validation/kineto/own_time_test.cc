#include "validation/kineto/own_time.h"

#include <gtest/gtest.h>

namespace ringwright::validation::own_time_test {
namespace {

using namespace ringwright::literals;

// Calls of one rank of eight, by their times.
std::vector<traces::JoinedCall> calls_of(const std::vector<Duration>& times, int recorded = 1) {
  std::vector<traces::JoinedCall> calls;
  for (const Duration time : times) {
    calls.push_back({.operation = "all_reduce", .kernel = "", .dtype = "", .bytes = 1_MiB, .recorded = recorded,
                     .shortest = time, .longest = time});
  }
  return calls;
}

OwnTime judged(const std::vector<traces::JoinedCall>& calls) {
  std::vector<const traces::JoinedCall*> list;
  for (const traces::JoinedCall& call : calls) list.push_back(&call);
  return own_time_of(list, 8);
}

// DLRM on 8 A100: an all-reduce of 181 MB took 1,575 to 2,221 us, one of 18 MB 1,724 to 4,796.
TEST(OwnTime, IsRecordedWhereTheShortestTimeIsMetAgain) {
  EXPECT_EQ(judged(calls_of({1575_us, 2221_us, 1743_us, 1808_us})), OwnTime::kRecorded);
  EXPECT_EQ(judged(calls_of({1724_us, 2331_us, 4417_us, 4796_us})), OwnTime::kWaits);
  EXPECT_EQ(judged(calls_of({100_us, 121_us})), OwnTime::kWaits);
  EXPECT_EQ(judged(calls_of({100_us})), OwnTime::kOnce);
}

TEST(OwnTime, IsTheShortestOfAllRanks) {
  EXPECT_EQ(judged(calls_of({100_us}, 8)), OwnTime::kRecorded);
  EXPECT_EQ(judged(calls_of({100_us, 500_us}, 8)), OwnTime::kRecorded);
  EXPECT_EQ(judged(calls_of({100_us, 500_us}, 7)), OwnTime::kWaits);
}

TEST(OwnTime, IsNotThatOfCallsThatAlwaysRunWithOthers) {
  auto calls = calls_of({117_us, 130_us, 139_us});
  calls[0].shared = 117_us;
  calls[2].shared = 139_us;
  EXPECT_EQ(judged(calls), OwnTime::kRecorded);  // the second ran alone
  calls[1].shared = 27_us;
  EXPECT_EQ(judged(calls), OwnTime::kShared);
}

TEST(OwnTime, OfAnAllToAllNeedsEvenParts) {
  auto calls = calls_of({100_us, 101_us});
  for (auto& call : calls) call.operation = "alltoall";
  EXPECT_EQ(judged(calls), OwnTime::kOneBuffer);
  for (auto& call : calls) call.other_buffer = 900_KiB;
  EXPECT_EQ(judged(calls), OwnTime::kRecorded);
  calls[1].other_buffer = 512_KiB;
  EXPECT_EQ(judged(calls), OwnTime::kUnevenParts);
  calls[1].other_buffer = 0_B;
  EXPECT_EQ(judged(calls), OwnTime::kUnevenParts);
}

}  // namespace
}  // namespace ringwright::validation::own_time_test
