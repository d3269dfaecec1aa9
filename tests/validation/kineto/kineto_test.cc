#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "validation/builtin.h"

namespace ringwright::validation::kineto_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// An all-reduce of 30 us on one of two ranks.
std::string trace(int rank, int elements) {
  const std::string path = test::own_folder() + fmt::format("kineto_test_{}_{}.json", rank, elements);
  std::ofstream(path) << fmt::format(
      R"({{"distributedInfo": {{"rank": {}, "world_size": 2}}, "traceEvents": [{{"ph": "X", "cat": "kernel",)"
      R"( "name": "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "tid": 20, "ts": 1, "dur": 30, "args": {{"device": 0,)"
      R"( "stream": 20, "Collective name": "allreduce", "dtype": "BFloat16", "In msg nelems": {}, "Out msg nelems": {},)"
      R"( "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}}}]}})",
      rank, elements, elements);
  return path;
}

std::string warnings_of(int elements_of_rank_1) {
  const auto outcome =
      validate_kineto({.files = {trace(0, 1 << 20), trace(1, elements_of_rank_1)}, .cluster = "dgx-h100"});
  return outcome ? render(outcome->warnings) : render(outcome.error());
}

TEST(ValidateKineto, RecordsOfRanksThatContradictAreCounted) {
  EXPECT_THAT(warnings_of(2 << 20),
              HasSubstr("warning[W265]: 1 records of ranks are left out: they differ in operation or size"));
  EXPECT_THAT(warnings_of(1 << 20), Not(HasSubstr("W265")));
}

// A negative time is left out, and so the one call.
TEST(ValidateInspector, ALogOfWhichNothingIsComparedDoesNotPass) {
  const auto outcome_of = [](const std::string& time) {
    const std::string path = test::own_folder() + "kineto_test_inspector.log";
    std::ofstream(path) << R"({"header": {"id": "0x1", "rank": 0, "n_ranks": 8, "nnodes": 1}, "metadata": )"
                        << R"({"inspector_output_format_version": "v4.0", "hostname": "h", "pid": 1}, "coll_perf": )"
                        << R"({"coll": "AllReduce", "coll_sn": 1, "coll_msg_size_bytes": 67108864, )"
                        << R"("coll_exec_time_us": )" << time << R"(, "coll_timing_source": "kernel_gpu"}})"
                        << "\n";
    return validate_nccl_inspector({.files = {path}, .cluster = "dgx-h100"});
  };
  EXPECT_TRUE(outcome_of("400")->passed);
  EXPECT_FALSE(outcome_of("-3")->passed);
  EXPECT_THAT(outcome_of("-3")->text, HasSubstr("nothing to compare"));
}

}  // namespace
}  // namespace ringwright::validation::kineto_test
