#include "traces/kineto/kineto_trace.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/traces/kineto/profiler_events.h"

namespace ringwright::traces::kineto_trace_test {
namespace {

using namespace literals;
using test::host_event;
using test::profiler_trace;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// `arguments` begin with a comma.
std::string kernel(const std::string& name, const std::string& start, const std::string& time,
                   const std::string& arguments = "") {
  return test::gpu_kernel(name, start, time, arguments.empty() ? "" : arguments.substr(2));
}

constexpr const char* kMetadata =
    R"(, "Collective name": "_allgather_base", "In msg nelems": 100, "Out msg nelems": 400, "Group size": 4,)"
    R"( "dtype": "BFloat16", "Process Group Name": "3", "Process Group Ranks": "[0, 1, 2, 3]")";
constexpr const char* kNcclKernel = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

KinetoReading read(const std::string& text) {
  auto reading = read_kineto_text("rank3.json", text);
  EXPECT_TRUE(reading.has_value()) << (reading ? "" : render(reading.error()));
  return reading ? std::move(*reading) : KinetoReading();
}

std::string mistakes(const std::string& text) {
  const auto reading = read_kineto_text("rank3.json", text);
  return reading ? "" : render(reading.error());
}

TEST(Kineto, ReadsKernelsWithTimesOfNanoseconds) {
  const auto [trace_read, warnings] =
      read(profiler_trace({kernel("b", "4458677009853.422", "1.5"), kernel("a", "10", "0.0625")}));
  ASSERT_EQ(trace_read.activities.size(), 2u);
  EXPECT_EQ(trace_read.names[trace_read.activities[0].name], "a");  // by start
  EXPECT_EQ(trace_read.activities[0].time, Duration(62'500));
  EXPECT_EQ(trace_read.activities[1].start_ns, 4'458'677'009'853'422);
  EXPECT_EQ(trace_read.activities[1].time, Duration(1'500'000));
  EXPECT_TRUE(warnings.all().empty());
}

TEST(Kineto, ARankBeyondTheJobIsRefused) {
  const std::string head = R"("distributedInfo": {"rank": 5, "world_size": 2}, )";
  EXPECT_THAT(mistakes(profiler_trace({kernel("a", "1", "2")}, head)),
              HasSubstr("rank3.json: error[E260]: its distributedInfo states rank 5 of a job of 2 ranks"));
}

TEST(Kineto, ANumberInTheNameBeyondTheJobIsNoRank) {
  const auto reading = read(profiler_trace({kernel("a", "1", "2")}, R"("distributedInfo": {"world_size": 2}, )"));
  EXPECT_EQ(reading.trace.calls.rank, -1);  // the file is rank3.json
  const auto larger = read(profiler_trace({kernel("a", "1", "2")}, R"("distributedInfo": {"world_size": 4}, )"));
  EXPECT_EQ(larger.trace.calls.rank, 3);
}

TEST(Kineto, AGroupWithoutTheRankOfTheTraceIsNamed) {
  const auto of_rank = [](int rank) {
    return render(read(profiler_trace({kernel(kNcclKernel, "1", "2", kMetadata)},
                                      fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": 8}}, )", rank)))
                      .warnings);
  };
  EXPECT_THAT(of_rank(3), Not(HasSubstr("no member")));
  EXPECT_THAT(of_rank(5), HasSubstr("warning[W258]: the trace is of rank 5, which is no member of process group '3' "
                                    "(0, 1, 2, 3)"));
}

TEST(Kineto, AGroupWithARankBeyondTheJobIsNamed) {
  const std::string head = R"("distributedInfo": {"rank": 0, "world_size": 2}, )";
  const auto reading = read(profiler_trace({kernel(kNcclKernel, "1", "2", kMetadata)}, head));
  EXPECT_THAT(render(reading.warnings), HasSubstr("warning[W258]: process group '3' has rank 2, and distributedInfo "
                                                  "states a job of 2 ranks"));
}

// What is wrong is the gzip stream, of which nothing can be decompressed, and not what it holds.
TEST(Kineto, SaysThatGzipDataAreDamaged) {
  const std::string path = ::testing::TempDir() + "kineto_trace_test.json.gz";
  std::ofstream(path, std::ios::binary) << std::string("\x1F\x8B\x08\0\0\0\0\0\0\x03", 10) + std::string(50, '\xFF');
  const auto reading = read_kineto(path);
  ASSERT_FALSE(reading.has_value());
  EXPECT_THAT(render(reading.error()), HasSubstr("cannot be read: its gzip data are damaged after 0"));
}

TEST(Kineto, WarnsOfAGroupWhoseSizeAndRanksContradictEachOther) {
  const std::string fine = std::string(kMetadata);
  EXPECT_THAT(render(read(profiler_trace({kernel(kNcclKernel, "1", "1", fine)})).warnings), Not(HasSubstr("W258")));
  std::string fewer = fine;
  fewer.replace(fewer.find("[0, 1, 2, 3]"), 12, "[0, 1]");
  EXPECT_THAT(render(read(profiler_trace({kernel(kNcclKernel, "1", "1", fewer)})).warnings),
              HasSubstr("rank3.json: warning[W258]: process group '3' has a size of 4 and 2 ranks"));
}

TEST(Kineto, AGroupThatListsARankTwiceIsAMistake) {
  std::string twice(kMetadata);
  twice.replace(twice.find("[0, 1, 2, 3]"), 12, "[0, 3, 2, 3]");
  EXPECT_THAT(mistakes(profiler_trace({kernel(kNcclKernel, "1", "20", twice)})),
              HasSubstr("rank3.json: error[E258]: process group '3' has rank 3 twice: [0, 3, 2, 3]"));
}

TEST(Kineto, ReadsTheHead) {
  const auto reading = read(profiler_trace(
      {kernel("a", "1", "1")}, R"("deviceProperties": [{"id": 0, "name": "NVIDIA H100"}], "distributedInfo": )"
                               R"({"backend": "nccl", "rank": 5, "world_size": 8, "nccl_version": "2.21.5"}, )"
                               R"("baseTimeNanoseconds": 1711964646000000000, )"));
  EXPECT_EQ(reading.trace.gpu, "NVIDIA H100");
  EXPECT_EQ(reading.trace.calls.rank, 5);
  EXPECT_EQ(reading.trace.world_size, 8);
  EXPECT_EQ(reading.trace.nccl_version, "2.21.5");
  EXPECT_EQ(reading.trace.base_ns, 1'711'964'646'000'000'000);
}

TEST(Kineto, TakesTheRankFromTheNameOfTheFileWhereItIsNotStated) {
  EXPECT_EQ(read(profiler_trace({kernel("a", "1", "1")})).trace.calls.rank, 3);
}

TEST(Kineto, KeepsOnlyEventsThatAreNeeded) {
  const auto reading = read(
      profiler_trace({kernel("a", "1", "1"), host_event("python_function", "f", 0, 9, ""),
                      host_event("cpu_op", "aten::relu", 0, 9, ""), host_event("gpu_memcpy", "Memcpy HtoD", 2, 1, ""),
                      R"({"ph": "M", "name": "process_name"})"}));
  EXPECT_EQ(reading.trace.events, 5u);
  EXPECT_EQ(reading.trace.activities.size(), 2u);
}

TEST(Kineto, ReadsTheMetadataOfACollectiveFromItsKernel) {
  const auto reading = read(profiler_trace({kernel(kNcclKernel, "1", "20", kMetadata)}));
  ASSERT_EQ(reading.trace.calls.calls.size(), 1u);
  const RecordedCall& call = reading.trace.calls.calls[0];
  EXPECT_EQ(call.operation, "all_gather");
  EXPECT_EQ(call.kernel, "RING_LL");
  EXPECT_EQ(call.bytes, Bytes(800));  // the gathered output: 400 elements of 2 bytes
  EXPECT_EQ(call.time, 20_us);
  EXPECT_THAT(reading.trace.calls.groups[0].ranks, ElementsAre(0, 1, 2, 3));
}

TEST(Kineto, FindsTheMetadataByExternalId) {
  const std::string record = std::string(R"("External id": 42)") + kMetadata;
  const auto reading = read(profiler_trace({kernel(kNcclKernel, "30", "20", R"(, "External id": 42)"),
                                            host_event("cpu_op", "record_param_comms", 1, 5, record)}));
  EXPECT_EQ(reading.trace.calls.calls[0].bytes, Bytes(800));
}

TEST(Kineto, FindsTheAnnotationDuringWhichTheKernelWasLaunched) {
  const auto reading = read(profiler_trace(
      {kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", "50", "20", R"(, "correlation": 5)"),
       host_event("user_annotation", "nccl:all_reduce", 1, 5, R"("Input Dims": [[7]], "Input type": ["float"])"),
       host_event("user_annotation", "nccl:all_to_all", 10, 5, R"("Input Dims": [[8, 4]], "Input type": ["int"])"),
       host_event("cuda_runtime", "cudaLaunchKernel", 12, 1, R"("correlation": 5)")}));
  EXPECT_EQ(reading.trace.calls.calls[0].operation, "alltoall");
  EXPECT_EQ(reading.trace.calls.calls[0].bytes, Bytes(128));
}

// A result of 8 x 64 values from 64: eight ranks of the 16. What is read from the operator counts more than the
// annotation within it, and than the name of the kernel.
TEST(Kineto, BuffersOfAnOperatorGiveItsSizeAndItsRanks) {
  const auto call_of = [](const std::string& operation, const std::string& buffers) {
    const auto reading = read(profiler_trace(
        {kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", "50", "20", R"(, "correlation": 5)"),
         host_event("cpu_op", operation, 8, 9, R"("Input Dims": )" + buffers + R"(, "Input type": ["float", "float"])"),
         host_event("user_annotation", "nccl:other", 10, 5, R"("Input Dims": [[2]], "Input type": ["int"])"),
         host_event("cuda_runtime", "cudaLaunchKernel", 12, 1, R"("correlation": 5)")},
        R"("distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 16}, )"));
    const RecordedCall& call = reading.trace.calls.calls.at(0);
    return std::tuple(call.operation, call.bytes, reading.trace.calls.groups.at(call.group).size);
  };
  EXPECT_EQ(call_of("c10d::_allgather_base_", "[[8, 64], [64]]"), std::tuple("all_gather", Bytes(2048), 8));
  EXPECT_EQ(call_of("c10d::_reduce_scatter_base_", "[[64], [512]]"), std::tuple("reduce_scatter", Bytes(2048), 8));
  EXPECT_EQ(call_of("c10d::_reduce_scatter_base_", "[[32], [512]]"), std::tuple("reduce_scatter", Bytes(2048), 16));
  // Uneven parts: the larger buffer. Its group is not known.
  EXPECT_EQ(call_of("c10d::alltoall_base_", "[[96], [64]]"), std::tuple("alltoall", Bytes(384), 16));
}

// NCCL runs all-reduces in kernels that are named after sends: the operator that calls one confirms its annotation.
TEST(Kineto, AnAnnotationWithinAnOperatorOfItsKindIsTheKernels) {
  const auto operation = [](const std::string& caller) {
    const auto reading = read(profiler_trace(
        {kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", "50", "20", R"(, "correlation": 5)"),
         host_event("cpu_op", caller, 8, 9, R"("Input Dims": [[]], "Input type": ["TensorList"])"),
         host_event("user_annotation", "nccl:all_reduce", 10, 5, R"("Input Dims": [[7]], "Input type": ["float"])"),
         host_event("cuda_runtime", "cudaLaunchKernel", 12, 1, R"("correlation": 5)")}));
    const RecordedCall& call = reading.trace.calls.calls.at(0);
    return std::tuple(call.operation, call.bytes);
  };
  EXPECT_EQ(operation("c10d::allreduce_"), std::tuple("all_reduce", Bytes(28)));
  EXPECT_EQ(operation("c10d::broadcast_"), std::tuple("sendrecv", std::optional<Bytes>()));
}

// Kernels at 50 to 70, 60 to 65 and 64 to 100 us: the first runs with one or both of the others for 10, the second
// always, the third for 6.
TEST(Kineto, CountsTheTimeThatACallSharesWithOthers) {
  const std::string name = "ncclKernel_AllReduce_RING_LL_Sum_float(ncclWork*)";
  const auto reading =
      read(profiler_trace({kernel(name, "50", "20"), kernel(name, "60", "5"), kernel(name, "64", "36")}));
  const std::vector<RecordedCall>& calls = reading.trace.calls.calls;
  ASSERT_EQ(calls.size(), 3u);
  EXPECT_EQ(calls[0].shared, 10_us);
  EXPECT_EQ(calls[1].shared, 5_us);
  EXPECT_EQ(calls[2].shared, 6_us);
}

TEST(Kineto, AnAnnotationThatTheKernelCannotCarryOutIsNotItsOwn) {
  const auto reading = read(profiler_trace(
      {kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWork*)", "50", "20", R"(, "correlation": 5)"),
       host_event("user_annotation", "nccl:all_reduce", 10, 5, R"("Input Dims": [[7]], "Input type": ["float"])"),
       host_event("cuda_runtime", "cudaLaunchKernel", 12, 1, R"("correlation": 5)")}));
  EXPECT_EQ(reading.trace.calls.calls[0].operation, "sendrecv");
  EXPECT_FALSE(reading.trace.calls.calls[0].bytes);
  EXPECT_THAT(render(reading.warnings), HasSubstr("warning[W259]: 1 of 1 communication kernels have no size"));
}

TEST(Kineto, RefusesATypeThatItDoesNotKnow) {
  std::string metadata = kMetadata;
  metadata.replace(metadata.find("BFloat16"), 8, "Float5");
  EXPECT_THAT(mistakes(profiler_trace({kernel(kNcclKernel, "1", "20", metadata)})),
              HasSubstr("error[E257]: the element type 'Float5' of kernel 'ncclDevKernel_AllGather_RING_LL'"));
}

TEST(Kineto, ACutListOfRanksIsRebuiltOrAnError) {
  std::string metadata = kMetadata;
  metadata.replace(metadata.find("[0, 1, 2, 3]"), 12, "[0, 8, ..., 24]");
  const std::string text = kernel(kNcclKernel, "1", "20", metadata);
  const std::string record =
      host_event("cpu_op", "record_param_comms", 1, 5,
                 R"("Process Group Name": "3", "Global rank start": 0, "Global rank stride": 8)");
  EXPECT_THAT(read(profiler_trace({text, record})).trace.calls.groups[0].ranks, ElementsAre(0, 8, 16, 24));
  EXPECT_THAT(mistakes(profiler_trace({text})),
              HasSubstr("error[E258]: the ranks of process group '3' are '[0, 8, ..., 24]'"));
}

TEST(Kineto, CountsCallsOfAGroupWhereTheyHaveNoNumber) {
  const auto numbered =
      read(profiler_trace({kernel(kNcclKernel, "1", "20", std::string(kMetadata) + R"(, "Seq": 17)")}));
  EXPECT_EQ(numbered.trace.calls.calls[0].sequence, 17);
  const auto counted =
      read(profiler_trace({kernel(kNcclKernel, "1", "20", kMetadata), kernel(kNcclKernel, "40", "20", kMetadata)}));
  EXPECT_EQ(counted.trace.calls.calls[1].sequence, 1);
}

TEST(Kineto, NamesWhatFollowsTheEndOfATrace) {
  const std::string whole = profiler_trace({kernel("a", "1", "1")});
  EXPECT_THAT(render(read(whole + "\n\n").warnings), Not(HasSubstr("W256")));
  EXPECT_THAT(
      render(read(whole + whole).warnings),
      HasSubstr(fmt::format("warning[W256]: the trace ends at byte {}, and what follows is not read", whole.size())));
}

TEST(Kineto, CountsMessagesOfAGroupApart) {
  std::string message(kMetadata);
  const std::string name = R"("Collective name": ")";
  const std::size_t at = message.find(name) + name.size();
  message.replace(at, message.find('"', at) - at, "send");
  const auto reading =
      read(profiler_trace({kernel(kNcclKernel, "1", "20", message), kernel(kNcclKernel, "40", "20", kMetadata)}));
  ASSERT_EQ(reading.trace.calls.calls.size(), 2u);
  EXPECT_EQ(reading.trace.calls.calls[0].operation, "send");
  EXPECT_EQ(reading.trace.calls.calls[1].sequence, 0);
}

TEST(Kineto, ACutFileIsReadUpToItsEndWithAWarning) {
  const std::string whole = profiler_trace({kernel("a", "1", "1"), kernel("b", "2", "1")});
  const auto reading = read(whole.substr(0, whole.size() - 30));
  EXPECT_EQ(reading.trace.activities.size(), 1u);
  EXPECT_TRUE(reading.trace.truncated);
  EXPECT_THAT(render(reading.warnings), HasSubstr("warning[W256]: the trace is cut off at byte"));
}

TEST(Kineto, EventsThatAreRecordedTwiceAreNamed) {
  const std::string once = kernel("a", "1", "1", R"(, "correlation": 5, "stream": 7)");
  const std::string other = kernel("a", "1", "1", R"(, "correlation": 6, "stream": 8)");
  EXPECT_TRUE(read(profiler_trace({once, other})).warnings.all().empty());
  EXPECT_THAT(render(read(profiler_trace({once, other, once})).warnings),
              HasSubstr("warning[W256]: 1 of 3 kernels and copies begin and end with an equal one on their stream"));
}

TEST(Kineto, WorkWithoutACorrelationHasNoLaunch) {
  const std::string launch = host_event("cuda_runtime", "cudaLaunchKernel", 500, 1, "");
  const auto reading = read(profiler_trace({launch, kernel("a", "1", "1")}));
  EXPECT_EQ(reading.trace.activities[0].launched_ns, 0);
}

// An all-gather of 100 values for each of the four ranks that are listed.
TEST(Kineto, TheListOfRanksDecidesHowManyThereAre) {
  const auto reading = read(profiler_trace(
      {kernel(kNcclKernel, "1", "20",
              R"(, "Collective name": "_allgather_base", "In msg nelems": 100, "Group size": 2, "dtype": "BFloat16",)"
              R"( "Process Group Name": "3", "Process Group Ranks": "[0, 1, 2, 3]")")}));
  EXPECT_THAT(render(reading.warnings), HasSubstr("has a size of 2 and 4 ranks, which are used"));
  EXPECT_EQ(reading.trace.calls.groups[0].size, 4);
  EXPECT_EQ(reading.trace.calls.calls[0].bytes, Bytes(800));
}

TEST(Kineto, AnInvalidEventIsLeftOutWithAWarning) {
  const std::string invalid = R"({"ph": "X", "cat": "kernel", "name": "b", "ts": x, "dur": 1})";
  const std::string text = profiler_trace({kernel("a", "1", "1"), invalid});
  const auto reading = read(text);
  EXPECT_EQ(reading.trace.activities.size(), 1u);
  EXPECT_THAT(render(reading.warnings), HasSubstr(fmt::format("the event at byte {} is left out", text.find(invalid))));
}

TEST(Kineto, NamesWhatIsNoTrace) {
  EXPECT_THAT(mistakes("size count type"), HasSubstr("error[E255]: 'rank3.json' is no trace of a profiler"));
  EXPECT_THAT(mistakes("{\"a\": 1}"), HasSubstr("has no traceEvents"));
  EXPECT_THAT(mistakes(profiler_trace({host_event("cpu_op", "aten::mm", 1, 1, "")})),
              HasSubstr("has 1 events and none of a GPU"));
  const auto missing = read_kineto("no/such.json");
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(render(missing.error()), HasSubstr("cannot read 'no/such.json': no such file"));
}

}  // namespace
}  // namespace ringwright::traces::kineto_trace_test
