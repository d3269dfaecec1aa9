#include "traces/inspector/communication_log.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"
#include "traces/calls/joined_calls.h"
#include "traces/calls/slow_groups.h"
#include "traces/inspector/log_summary.h"

namespace ringwright::traces::communication_log_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;

struct Record {
  const char* communicator = "0xa";
  int rank = 0;
  int ranks = 8;
  const char* operation = "AllReduce";
  int sequence = 1;
  long long bytes = 1'048'576;
  int time_us = 100;
  const char* more = "";
};

std::string line(const Record& record) {
  return fmt::format(R"({{"header": {{"id": "{}", "rank": {}, "n_ranks": {}, "nnodes": 1}}, "metadata": {{)"
                     R"("hostname": "host-a", "pid": {}}}, "coll_perf": {{"coll": "{}", "coll_sn": {}, )"
                     R"("coll_msg_size_bytes": {}, "coll_exec_time_us": {}{}}}}}{})",
                     record.communicator, record.rank, record.ranks, 100 + record.rank, record.operation,
                     record.sequence, record.bytes, record.time_us, record.more, "\n");
}

CommunicationLog read(const std::string& text) {
  auto log = read_communication_log_text("host-a.log", text);
  EXPECT_TRUE(log.has_value()) << (log ? "" : render(log.error()));
  return log ? std::move(*log) : CommunicationLog();
}

std::string mistakes(const std::string& text) {
  const auto log = read_communication_log_text("host-a.log", text);
  return log ? "" : render(log.error());
}

TEST(InspectorLog, ReadsObjectsPrettyPrintedAndOneALine) {
  // The example of the plugin's README: 17 GB in 61974 us is 277.21 GB/s.
  const auto log = read(R"({
    "header": {"id": "0x7f8c496ae9f661", "rank": 2, "n_ranks": 8, "nnodes": 1},
    "metadata": {"inspector_output_format_version": "v4.0", "hostname": "example", "pid": 1639453},
    "coll_perf": {"coll": "AllReduce", "coll_sn": 1407, "coll_msg_size_bytes": 17179869184,
                  "coll_exec_time_us": 61974, "coll_algobw_gbs": 277.210914, "coll_busbw_gbs": 485.119099}
  })" + line({.rank = 2, .sequence = 1408}));
  ASSERT_EQ(log.processes.size(), 2u);  // another host
  const RecordedCall& call = log.processes[0].calls[0];
  EXPECT_EQ(call.operation, "all_reduce");
  EXPECT_EQ(call.time, 61'974_us);
  const CallRates rates = rates_of(call.operation, 8, call.bytes, call.time);
  EXPECT_NEAR(rates.algbw, 277.210914, 1e-5);
  EXPECT_NEAR(rates.busbw, 485.119099, 1e-5);
}

TEST(InspectorLog, SizesOfSharedBuffersAreThoseOfOneRank) {
  // The plugin's own example: ReduceScatter of 65536 B a rank over 32 ranks in 110 us is 19.065 GB/s.
  const auto log = read(line({.ranks = 32, .operation = "ReduceScatter", .bytes = 65'536, .time_us = 110}));
  const RecordedCall& call = log.processes[0].calls[0];
  EXPECT_EQ(call.bytes, 2_MiB);
  EXPECT_NEAR(rates_of(call.operation, 32, call.bytes, call.time).algbw, 19.065018, 1e-5);
}

TEST(InspectorLog, JoinsRanksByCommunicatorAndNumber) {
  const auto log =
      read(line({.rank = 0, .sequence = 5, .time_us = 90}) + line({.rank = 1, .sequence = 5, .time_us = 40}) +
           line({.communicator = "0xb", .rank = 1, .sequence = 5, .time_us = 10}));
  const auto joined = join_calls(log.processes);
  ASSERT_EQ(joined.calls.size(), 2u);
  EXPECT_EQ(joined.calls[0].shortest, 40_us);
  EXPECT_EQ(joined.calls[0].last_rank, 1);
}

TEST(InspectorLog, ProcessesHaveTheRankOfTheirLargestCommunicator) {
  const auto log = read(line({.communicator = "0xb", .rank = 3, .ranks = 4}) +
                        R"({"header": {"id": "0xc", "rank": 11, "n_ranks": 16}, "metadata": {"hostname": "host-a", )"
                        R"("pid": 103}, "coll_perf": {"coll": "AllGather", "coll_sn": 1, "coll_exec_time_us": 5}})");
  ASSERT_EQ(log.processes.size(), 1u);
  EXPECT_EQ(log.processes[0].rank, 11);
}

TEST(InspectorLog, CountsKeysThatItDoesNotKnow) {
  const auto log =
      read(line({.more = R"(, "coll_colour": 3)"}) + line({.sequence = 2, .more = R"(, "coll_colour": 4)"}));
  EXPECT_EQ(log.unknown_keys.at("coll_colour"), 2u);
  EXPECT_EQ(log.unknown_keys.size(), 1u);
}

TEST(InspectorLog, ReadsAlgorithmAndProtocolOfNewerVersions) {
  const auto log = read(line({.more = R"(, "coll_algo": "RING", "coll_proto": "LL128")"}));
  EXPECT_EQ(log.processes[0].calls[0].kernel, "RING_LL128");
}

TEST(InspectorLog, MessagesDoNotShareTheNumbersOfCollectives) {
  const auto log = read(line({.rank = 0}) +
                        R"({"header": {"id": "0xa", "rank": 0, "n_ranks": 8}, "metadata": {"hostname": "host-a", )"
                        R"("pid": 100}, "p2p_perf": {"p2p": "Send", "p2p_sn": 1, "p2p_msg_size_bytes": 64, )"
                        R"("p2p_exec_time_us": 9}})");
  ASSERT_EQ(log.processes[0].groups.size(), 2u);
  EXPECT_EQ(log.processes[0].groups[1].id, "0xa messages of rank 0");
  EXPECT_EQ(log.processes[0].calls[1].operation, "send");
}

TEST(InspectorLog, CountsDroppedCallsAndRecordsWithoutTime) {
  const auto log = read(line({.time_us = 0}) + line({.sequence = 2}) +
                        R"({"header": {"id": "0xa", "rank": 0}, "dump_stats": {"coll_dropped_since_last_dump": 7}})");
  EXPECT_EQ(log.without_time, 1u);
  EXPECT_EQ(log.records, 2u);
  EXPECT_EQ(log.dropped, 7u);
}

TEST(InspectorLog, ACutLogIsUsedUpToItsEnd) {
  const std::string text = line({}) + line({.sequence = 2});
  const auto log = read(text.substr(0, text.size() - 20));
  EXPECT_EQ(log.processes[0].calls.size(), 1u);
  EXPECT_THAT(render(log.warnings), HasSubstr("warning[W262]: the log is cut off at byte"));
}

TEST(InspectorLog, NamesWhatIsNoLog) {
  EXPECT_THAT(mistakes("NCCL INFO"), HasSubstr("error[E261]: 'host-a.log' is no communication log"));
  EXPECT_THAT(mistakes("{\"a\": 1}"), HasSubstr("holds no call of a collective"));
  EXPECT_THAT(mistakes("\x80\x04\x95"), HasSubstr("error[E263]: 'host-a.log' is a pickle"));
}

TEST(InspectorLog, AFolderIsAllOfItsFiles) {
  const auto folder = std::filesystem::path(test::own_folder()) / "logs";
  std::filesystem::create_directories(folder / "job");
  std::ofstream(folder / "a.log") << line({.rank = 1, .more = R"(, "x": 1)"});
  std::ofstream(folder / "job" / "b.log") << line({.rank = 0});
  const auto log = read_communication_logs({folder.string()});
  ASSERT_TRUE(log.has_value());
  ASSERT_EQ(log->processes.size(), 2u);
  EXPECT_EQ(log->processes[0].rank, 0);
  EXPECT_THAT(render(log->warnings), HasSubstr("1 keys are not known and have no effect: x (1 times)"));
  std::filesystem::remove_all(folder);
}

// A copy of rank 1's file: its calls are no calls of a third rank, and none counts twice.
TEST(InspectorLog, CallsThatARankRepeatsCountOnce) {
  const auto folder = std::filesystem::path(test::own_folder()) / "copies";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.log") << line({.rank = 0}) << line({.rank = 0, .sequence = 2});
  for (const char* const copy : {"b.log", "c.log"}) {
    std::ofstream(folder / copy) << line({.rank = 1}) << line({.rank = 1, .sequence = 2, .time_us = 40});
  }
  std::ofstream(folder / "d.log") << line({.rank = 0, .sequence = 2}) << line({.rank = 0, .sequence = 3});
  const auto log = read_communication_logs({folder.string(), (folder / "a.log").string()});
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->repeated, 5u);  // 2 of c, 1 of d, 2 of a that is named again
  EXPECT_THAT(render(log->warnings), HasSubstr("5 of 10 records repeat a call of the same rank"));
  const auto joined = join_calls(log->processes);
  ASSERT_EQ(joined.calls.size(), 3u);
  EXPECT_EQ(joined.calls[0].recorded, 2);
  EXPECT_EQ(joined.calls[1].recorded, 2);
  EXPECT_EQ(joined.calls[2].recorded, 1);
  std::filesystem::remove_all(folder);
}

TEST(InspectorLog, ARankThatTheCommunicatorDoesNotHaveIsLeftOut) {
  const auto folder = std::filesystem::path(test::own_folder()) / "beyond";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.log") << line({.rank = 7}) << line({.rank = 8}) << line({.rank = 11});
  const auto log = read_communication_logs({folder.string()});
  ASSERT_TRUE(log.has_value());
  EXPECT_EQ(log->processes.size(), 1u);
  EXPECT_THAT(render(log->warnings), HasSubstr("2 of 3 records are left out: their rank is not below the ranks"));
  std::filesystem::remove_all(folder);
}

// Ranks 0 and 1 state two sizes of call 1; call 2 is of rank 0 alone.
TEST(InspectorLog, ContradictionsAndCallsOfOneRankAreCounted) {
  const FileSummary summary = summarise_communication_log(
      read(line({.rank = 0}) + line({.rank = 1, .bytes = 64}) + line({.rank = 0, .sequence = 2})));
  const auto fact = [&](std::string_view name) {
    const auto found = std::ranges::find(summary.facts, name, &SummaryFact::name);
    return found == summary.facts.end() ? SummaryValue("none") : found->value;
  };
  EXPECT_EQ(fact("records that contradict"), SummaryValue(std::int64_t{1}));
  EXPECT_EQ(fact("calls of one rank only"), SummaryValue(std::int64_t{2}));
}

TEST(FlightRecorder, ReadsCompletedCallsAndNamesTheOthers) {
  const auto log = read(R"({"version": "2.9", "rank": 3, "pg_config": {"0": {"desc": "default_pg", "ranks": "[0, 3]"}},
    "entries": [
      {"process_group": ["0", "default_pg"], "collective_seq_id": 7, "profiling_name": "nccl:all_reduce",
       "input_sizes": [[3, 4], [2]], "input_dtypes": ["Float", "Float"], "output_sizes": [[3, 4], [2]],
       "state": "completed", "duration_ms": 0.25},
      {"process_group": ["0", "default_pg"], "collective_seq_id": 8, "profiling_name": "nccl:broadcast",
       "input_sizes": [[8]], "input_dtypes": ["Float"], "output_sizes": [[8]], "state": "started"}]})");
  EXPECT_EQ(log.kind, CommunicationLogKind::kFlightRecorder);
  ASSERT_EQ(log.processes.size(), 1u);
  EXPECT_EQ(log.processes[0].rank, 3);
  ASSERT_EQ(log.processes[0].calls.size(), 1u);
  EXPECT_EQ(log.processes[0].calls[0].bytes, Bytes(56));  // 14 elements of 4 bytes
  EXPECT_EQ(log.processes[0].calls[0].time, 250_us);
  EXPECT_EQ(log.processes[0].groups[0].size, 2);
  ASSERT_EQ(log.unfinished.size(), 1u);
  const FileSummary summary = summarise_communication_log(log);
  const auto table = std::ranges::find(summary.tables, "unfinished calls", &SummaryTable::title);
  ASSERT_NE(table, summary.tables.end());
  const std::vector<SummaryValue> row{std::int64_t{3}, "0", "broadcast", std::int64_t{8}, "started"};
  EXPECT_THAT(table->rows, testing::ElementsAre(row));
}

TEST(SlowGroups, AreThoseAboveTheUsualTimeOfTheirSize) {
  std::string text;
  for (const char* communicator : {"0xa", "0xb", "0xc", "0xd"}) text += line({.communicator = communicator});
  text += line({.communicator = "0xe", .time_us = 150});
  text += line({.communicator = "0xf", .bytes = 64, .time_us = 900});  // no other with this size
  const auto log = read(text);
  const auto slow = slow_groups(join_calls(log.processes), 0.2);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0].median, 150_us);
  EXPECT_EQ(slow[0].usual, 100_us);
  EXPECT_THAT(slow_groups_text(join_calls(log.processes), 0.2),
              HasSubstr("0xe: all_reduce of 1048576 B takes 150.0 us, 50 % more than the 100.0 us usual in 5"));
}

}  // namespace
}  // namespace ringwright::traces::communication_log_test
