#include "traces/file_kinds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include "tests/support/own_folder.h"
#include "traces/chakra/trace_builder.h"
#include "traces/chakra/writer.h"

namespace ringwright::traces::file_kinds_test {
namespace {

using testing::HasSubstr;

// Two all-reduces of 1 MiB, 3 us of computing, a dependency on a node that is not there when `broken`.
std::string chakra(bool broken = false) {
  ChakraTraceBuilder builder("t.0.et");
  builder.trace().version = "0.0.4";
  const ChakraAttributes sum{.comm_type = ChakraCollective::kAllReduce, .comm_size = Bytes(1 << 20)};
  const std::vector<std::uint64_t> after{broken ? 99U : 1U};
  builder.add({.id = 1, .name = "gemm", .kind = ChakraKind::kCompute, .duration_micros = 3});
  builder.add({.id = 2, .name = "s", .kind = ChakraKind::kCollective, .data_dependencies = after, .attributes = &sum});
  builder.add({.id = 3, .name = "s", .kind = ChakraKind::kCollective, .attributes = &sum});
  return chakra_records(std::move(builder).take());
}

class FileKinds : public testing::Test {
 protected:
  std::string file(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  std::string gzip_file(const std::string& name, const std::string& content) {
    const std::string path = (folder_ / name).string();
    gzFile out = gzopen(path.c_str(), "wb");
    gzwrite(out, content.data(), static_cast<unsigned>(content.size()));
    gzclose(out);
    return path;
  }
  [[nodiscard]] std::string kind(const std::string& path) const {
    const auto inspected = inspect_file(path);
    return inspected ? std::string(inspected->kind) : render(inspected.error());
  }
  [[nodiscard]] std::string prefix() const { return (folder_ / "t").string(); }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ = std::filesystem::path(test::own_folder());
};

SummaryValue fact(const FileSummary& summary, const std::string& name) {
  const auto found = std::ranges::find(summary.facts, name, &SummaryFact::name);
  return found == summary.facts.end() ? SummaryValue("none") : found->value;
}

TEST_F(FileKinds, AreRecognisedByContentNotByName) {
  EXPECT_EQ(kind(file("a.json", chakra())), "chakra");
  EXPECT_EQ(kind(gzip_file("b.txt", chakra())), "chakra");
  EXPECT_EQ(kind(file("c.et", R"({"workload_graph": [{"Id": 1, "NodeType": 4}]})")), "chakra-json");
  EXPECT_EQ(kind(file("d", R"({"schema": "1.0.1", "pid": 1, "nodes": []})")), "pytorch-et");
  EXPECT_EQ(kind(file("e", "# nThread 1 nGpus 8\n#  size  count type redop time algbw busbw\n")), "nccl-tests");
}

std::string profiler_trace(int rank, int time_us) {
  return R"({"distributedInfo": {"rank": )" + std::to_string(rank) +
         R"json(, "world_size": 2}, "traceEvents": [{"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce()", "tid": 7,
         "ts": 1, "dur": )json" +
         std::to_string(time_us) +
         R"json(, "args": {"stream": 7, "Collective name": "allreduce", "dtype": "Float", "In msg nelems": 256,
         "Out msg nelems": 256, "Group size": 2, "Process Group Name": "0", "Process Group Ranks": "[0, 1]"}}]})json";
}

TEST_F(FileKinds, ProfilersTracesAndCommunicationLogsAreKnown) {
  EXPECT_EQ(kind(gzip_file("a", profiler_trace(0, 5))), "kineto");
  const std::string cut = gzip_file("cut", profiler_trace(0, 5) + std::string(100, ' '));
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 9);
  EXPECT_EQ(kind(cut), "kineto");
  EXPECT_EQ(
      kind(file("b", R"({"header": {"id": "0xa", "rank": 0, "n_ranks": 2}, "coll_perf": {"coll": "AllReduce"}})")),
      "communication-log");
  EXPECT_EQ(kind(file("c", R"({"version": "2.9", "pg_status": {}, "entries": []})")), "communication-log");
}

TEST_F(FileKinds, TracesOfSeveralRanksAreJoined) {
  std::vector<InspectedFile> files = {inspect_file(file("rank0.json", profiler_trace(0, 90))).value(),
                                      inspect_file(file("rank1.json", profiler_trace(1, 20))).value()};
  const auto together = inspect_together(files);
  ASSERT_EQ(together.size(), 1U);
  EXPECT_EQ(together[0].kind, "kineto-job");
  EXPECT_EQ(fact(together[0].summary, "calls"), SummaryValue(std::int64_t{1}));
  const auto arrivals = std::ranges::find(together[0].summary.tables, "arrivals", &SummaryTable::title);
  ASSERT_NE(arrivals, together[0].summary.tables.end());
  EXPECT_EQ(arrivals->rows[1][3], SummaryValue(std::int64_t{1}));       // rank 1 was last
  EXPECT_EQ(arrivals->rows[1][4], SummaryValue(Duration(70'000'000)));  // 70 us
  files.pop_back();
  EXPECT_TRUE(inspect_together(files).empty());
}

// As Notepad and PowerShell write texts.
TEST_F(FileKinds, AByteOrderMarkChangesNothing) {
  const std::string mark = "\xEF\xBB\xBF";
  const auto without_error = [&](const std::string& name, const std::string& content) {
    const auto inspected = inspect_file(file(name, mark + content));
    if (!inspected) return render(inspected.error());
    const Diagnostics& problems = inspected->summary.problems;
    return problems.has_errors() ? render(problems) : std::string(inspected->kind);
  };
  EXPECT_EQ(without_error("a.json", R"({"workload_graph": [{"Id": 1, "NodeType": 4}]})"), "chakra-json");
  EXPECT_EQ(without_error("b.json", profiler_trace(0, 5)), "kineto");
  EXPECT_EQ(without_error("c.json", R"({"schema": "1.0.1", "pid": 1, "nodes": []})"), "pytorch-et");
  EXPECT_EQ(
      without_error("d.json", R"({"header": {"id": "0xa", "rank": 0, "n_ranks": 2}, "coll_perf": {"coll": "AllReduce",)"
                              R"( "coll_sn": 1, "coll_msg_size_bytes": 64, "coll_exec_time_us": 9}})"),
      "communication-log");
  EXPECT_EQ(without_error("e.goal", "num_ranks 1\nrank 0 {\n  calc 5\n}\n"), "goal");
  EXPECT_EQ(without_error("f.csv", "size_bytes,time_oop_us\n1024,30\n"), "nccl-tests");
}

TEST_F(FileKinds, Utf16IsRefusedByItsName) {
  EXPECT_THAT(kind(file("a", std::string("\xFF\xFE{\0}\0", 6))), HasSubstr("it is UTF-16; save it as UTF-8"));
}

TEST_F(FileKinds, OtherFilesAreRefusedWithTheKnownKinds) {
  EXPECT_THAT(kind(file("a", "hello")), testing::AllOf(HasSubstr("no trace or log"), HasSubstr("Chakra")));
  EXPECT_THAT(kind(file("b", "")), HasSubstr("no trace or log"));
  EXPECT_THAT(kind("no/such/file"), HasSubstr("no such file"));
}

TEST_F(FileKinds, ASummaryCountsNodesCollectivesAndTime) {
  const FileSummary summary = inspect_file(file("t.0.et", chakra())).value().summary;
  EXPECT_EQ(fact(summary, "nodes"), SummaryValue(std::int64_t{3}));
  EXPECT_EQ(fact(summary, "computing on GPUs"), SummaryValue(Duration(3'000'000)));
  const auto table = std::ranges::find(summary.tables, "collectives", &SummaryTable::title);
  ASSERT_NE(table, summary.tables.end());
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->rows[0][3], SummaryValue(std::int64_t{2}));  // calls
  EXPECT_EQ(table->rows[0][4], SummaryValue(Bytes(2 << 20)));   // bytes
  EXPECT_FALSE(summary.problems.has_errors());
}

TEST_F(FileKinds, ProblemsOfTheGraphComeWithTheSummary) {
  const FileSummary summary = inspect_file(file("t.0.et", chakra(true))).value().summary;
  EXPECT_EQ(fact(summary, "nodes"), SummaryValue(std::int64_t{3}));
  EXPECT_THAT(render(summary.problems), HasSubstr("depends on node 99"));
}

TEST_F(FileKinds, APrefixStandsForAllRanks) {
  file("t.0.et", chakra());
  file("t.1.et", chakra());
  const InspectedFile job = inspect_file(prefix()).value();
  EXPECT_EQ(job.kind, "chakra-job");
  EXPECT_EQ(fact(job.summary, "ranks"), SummaryValue(std::int64_t{2}));
  EXPECT_EQ(fact(job.summary, "different traces"), SummaryValue(std::int64_t{1}));
  EXPECT_EQ(fact(job.summary, "nodes"), SummaryValue(std::int64_t{6}));
}

TEST_F(FileKinds, CollectivesOfPyTorchAreCounted) {
  const FileSummary summary = inspect_file(file("a", R"({"schema": "1.1.1-chakra.0.0.4", "nodes": [
      {"name": "record_param_comms", "attrs": [{"name": "collective_name", "type": "string", "value": "allreduce"}]},
      {"name": "record_param_comms", "inputs": [1, "wait"]}, {"name": "aten::mm"}]})"))
                                  .value()
                                  .summary;
  EXPECT_EQ(fact(summary, "communications"), SummaryValue(std::int64_t{2}));
  EXPECT_EQ(summary.tables.at(0).rows.size(), 2U);
}

// An operator of 5 us that calls another one, which launches a kernel; then the outer one launches a second kernel, and
// another thread a third. `numbered`: as newer profilers write it.
std::string profile_of_host(bool numbered) {
  const auto operation = [&](const char* name, int thread, int start, int time, int record) {
    return fmt::format(R"({{"ph": "X", "cat": "cpu_op", "name": "{}", "pid": 7, "tid": {}, "ts": {}, )"
                       R"("dur": {}, "args": {{{}}}}},)",
                       name, thread, start, time, numbered ? fmt::format(R"("Record function id": {})", record) : "");
  };
  const auto launched = [](int correlation, int thread, int start, int time) {
    return fmt::format(
        R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": {}, "ts": {}, "dur": 1,
             "args": {{"correlation": {}}}}},
           {{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": {}, "dur": {},
             "args": {{"correlation": {}, "stream": 7}}}},)",
        thread, start, correlation, start + 100, time, correlation);
  };
  return R"({"traceEvents": [)" + operation("aten::linear", 1, 10, 10, 3) + operation("aten::mm", 1, 11, 4, 4) +
         operation("aten::mm", 2, 30, 4, 5) + launched(1, 1, 12, 20) + launched(2, 1, 17, 3) + launched(3, 2, 31, 40) +
         R"({"ph": "M", "name": "end"}]})";
}

constexpr std::string_view kHostOperators = R"({"schema": "1.0.1", "pid": 7, "nodes": [
    {"name": "[pytorch|profiler|execution_graph|thread]", "id": 1, "rf_id": 0},
    {"name": "aten::mm", "id": 4, "rf_id": 5, "inputs": [[9, 8, 0, 16, 4, "cuda:0"]]},
    {"name": "aten::linear", "id": 2, "rf_id": 3, "inputs": [1]},
    {"name": "aten::mm", "id": 3, "rf_id": 4, "inputs": [[[9, 8, 0, 16, 4, "cuda:0"]]]}]})";

TEST_F(FileKinds, ATraceOfTheHostIsLinkedToTheProfileOfItsProcess) {
  for (const bool numbered : {false, true}) {
    const std::vector<InspectedFile> files = {inspect_file(file("host.json", std::string(kHostOperators))).value(),
                                              inspect_file(file("rank0.json", profile_of_host(numbered))).value()};
    const std::vector<InspectedFile> together = inspect_together(files);
    ASSERT_EQ(together.size(), 1U);
    EXPECT_EQ(together[0].kind, "pytorch-et-kineto");
    const FileSummary& summary = together[0].summary;
    EXPECT_EQ(fact(summary, "operators of the host"), SummaryValue(std::int64_t{3}));
    EXPECT_EQ(fact(summary, "of these in the profile"), SummaryValue(std::int64_t{3}));
    EXPECT_EQ(fact(summary, "of this by an operator"), SummaryValue(std::int64_t{3}));
    // The multiplications take 20 and 40 us, and what the outer operator launches itself 3.
    const std::vector<SummaryValue> mm = {std::string("aten::mm"), Bytes(64), std::int64_t{2}, std::int64_t{2},
                                          Duration(60'000'000)};
    const std::vector<SummaryValue> linear = {std::string("aten::linear"), Bytes(0), std::int64_t{1}, std::int64_t{1},
                                              Duration(3'000'000)};
    EXPECT_EQ(summary.tables.at(0).rows, (std::vector<std::vector<SummaryValue>>{mm, linear}));
  }
}

TEST_F(FileKinds, OneOfSeveralProfilesIsThatOfTheProcess) {
  std::string other = profile_of_host(false);
  for (std::size_t at = other.find("\"pid\": 7"); at != std::string::npos; at = other.find("\"pid\": 7")) {
    other.replace(at, 8, "\"pid\": 9");
  }
  const std::vector<InspectedFile> files = {inspect_file(file("host.json", std::string(kHostOperators))).value(),
                                            inspect_file(file("rank0.json", other)).value(),
                                            inspect_file(file("rank1.json", profile_of_host(false))).value()};
  const std::vector<InspectedFile> together = inspect_together(files);
  EXPECT_THAT(together.back().path, testing::EndsWith("rank1.json"));
}

TEST_F(FileKinds, ATruncatedTraceOfPyTorchIsAnError) {
  const FileSummary summary =
      inspect_file(file("a", R"({"schema": "1.0.1", "nodes": [{"name": "aten::mm"},)")).value().summary;
  EXPECT_TRUE(summary.problems.has_errors());
}

}  // namespace
}  // namespace ringwright::traces::file_kinds_test
