#include "traces/nccl_tests/collective_log.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace ringwright::traces::collective_log_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::Not;

// The output of nccl-tests since 2.11: two halves, "#wrong", lines of NCCL's own log in between.
constexpr std::string_view kPrinted =
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 32 step: 2(factor) warmup iters: 5 iters: 20 agg iters: 1 validation: 1 "
    "graph: 0\n"
    "#\n"
    "# Using devices\n"
    "#  Rank  0 Group  0 Pid   100 on     n1 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  1 Group  0 Pid   101 on     n1 device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  2 Group  0 Pid   102 on     n2 device  0 [0000:1b:00] NVIDIA H100 80GB HBM3\n"
    "#  Rank  3 Group  0 Pid   103 on     n2 device  1 [0000:43:00] NVIDIA H100 80GB HBM3\n"
    "NCCL version 2.23.4+cuda12.4\n"
    "#\n"
    "#                                                              out-of-place                       in-place\n"
    "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw "
    "#wrong\n"
    "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"
    "           8             2     float     sum      -1    29.82    0.00    0.00      0    29.51    0.00    0.00     "
    " 0\n"
    "n1:100:140 [0] NCCL INFO Channel 00/0 : 0[0] -> 1[1]\n"
    "          16             4     float     sum      -1    30.00    0.00    0.00    N/A    29.70    0.00    0.00    "
    "N/A\n"
    "# Out of bounds values : 0 OK\n"
    "# Avg bus bandwidth    : 0\n";

[[nodiscard]] CollectiveLogReading reading(const std::string& name, std::string_view text) {
  auto result = read_collective_log_text(name, text);
  EXPECT_TRUE(result.has_value()) << (result ? "" : render(result.error()));
  return result ? *result : CollectiveLogReading{};
}

[[nodiscard]] std::string refusal(std::string_view text) {
  const auto result = read_collective_log_text("some.log", text);
  EXPECT_FALSE(result.has_value());
  return result ? "" : render(result.error());
}

// 1 MiB in 36.4 us are 28.8 GB/s. In milliseconds they would be a thousand times less.
TEST(PrintedLog, WarnsOfTimesThatContradictTheirBandwidth) {
  const std::string head = "#       size         count      type   redop    root     time   algbw   busbw\n";
  const auto said = [&](const std::string& row) { return render(reading("all_reduce.log", head + row).warnings); };
  EXPECT_THAT(said("     1048576        262144     float     sum      -1    36.40   28.81   50.41\n"),
              Not(HasSubstr("W234")));
  EXPECT_THAT(said("     1048576        262144     float     sum      -1    0.0364   28.81   50.41\n"),
              HasSubstr("1048576 bytes in 0.0364 us are 2.881e+04 GB/s, and its algbw is 28.81"));
  EXPECT_THAT(said("          16             4     float     sum      -1    29.82    0.00    0.00\n"),
              Not(HasSubstr("W234")));
}

TEST(PrintedLog, TellsItsTestByTheCommandThatAScriptEchoed) {
  const std::string command = "+ mpirun -np 16 ./reduce_scatter/build/all_gather_perf -b 8 -e 1G -f 2\n";
  EXPECT_EQ(reading("x.log", command + std::string(kPrinted)).log.operation, "all_gather");
}

TEST(PrintedLog, OfOurOwnTellsTheMachineThatWasPlayed) {
  const std::string head =
      "# Collective test starting: all_reduce_perf\n# simulated cluster: dgx-h100\n# simulated set: cluster.nodes=2\n"
      "# simulated ranks: 16\n# simulated hosts: 2\n# simulated gpus_per_process: 1\n# simulated warmup: 0\n"
      "# simulated iterations: 3\n#       size         count      type   redop    root      time    algbw    busbw\n"
      "           8             2     float     sum      -1     29.82    0.00    0.00\n# Avg bus bandwidth    : 0\n";
  const CollectiveLogReading result = reading("x.log", head);
  EXPECT_TRUE(result.warnings.all().empty());
  EXPECT_EQ(result.log.operation, "all_reduce");
  EXPECT_EQ(result.log.ranks, 16);
  ASSERT_TRUE(result.log.played.has_value());
  EXPECT_EQ(result.log.played->cluster, "dgx-h100");
  EXPECT_EQ(result.log.played->settings, std::vector<std::string>{"cluster.nodes=2"});
  EXPECT_EQ(result.log.played->iterations, 3);
}

TEST(PrintedLog, TellsMachineAndTimes) {
  const CollectiveLogReading result = reading("all_reduce_2n.log", kPrinted);
  EXPECT_TRUE(result.warnings.all().empty());
  const CollectiveLog& log = result.log;
  EXPECT_EQ(log.operation, "all_reduce");
  EXPECT_EQ(log.gpu, "NVIDIA H100 80GB HBM3");
  EXPECT_EQ(log.ranks, 4);
  EXPECT_EQ(log.nodes, 2);
  EXPECT_EQ(log.gpus_per_node, 2);
  EXPECT_EQ(log.version_of_library, "2.23.4");
  EXPECT_EQ(log.fact("gpus_per_process"), "1");
  ASSERT_EQ(log.rows.size(), 2u);
  EXPECT_EQ(log.rows[0].size, 8_B);
  EXPECT_EQ(log.rows[0].out_of_place, Duration(29'820'000));
  EXPECT_EQ(log.rows[1].in_place, Duration(29'700'000));
  EXPECT_EQ(log.rows[1].line, 15);
}

TEST(PrintedLog, OldVersionsHaveNoRootAndPrintAnErrorInsteadOfACount) {
  const CollectiveLogReading result = reading(
      "all_reduce.log",
      "#   Rank  0 Pid  44534 on   dgx1 device  0 [0x06] Tesla V100-SXM2-16GB\n"
      "#                                                     out-of-place                       in-place\n"
      "#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n"
      "     1048576        262144   float     sum    88.00   11.92   20.85  2e-07    87.00   12.05   21.09  2e-07\n"
      "# Out of bounds values : 0 OK\n");
  EXPECT_TRUE(result.warnings.all().empty());
  EXPECT_EQ(result.log.rows.at(0).out_of_place, 88_us);
  EXPECT_EQ(result.log.rows.at(0).in_place, 87_us);
}

TEST(PrintedLog, ProcessesTellHowManyGpusAThreadDrivesWhereTheLineOfTheThreadsIsCutOff) {
  const std::string rows =
      "#       size         count    type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
      "#wrong\n"
      "     1048576        262144   float     sum      -1    88.00   11.92   20.85       0    87.00   12.05   21.09    "
      "   0\n"
      "# Out of bounds values : 0 OK\n";
  const auto ranks = [](int first, int second, const char* host) {
    return "#  Rank  0 Group  0 Pid " + std::to_string(first) + " on n1 device  0 [0000:1b:00] NVIDIA H100\n" +
           "#  Rank  1 Group  0 Pid " + std::to_string(second) + " on " + host +
           " device  1 [0000:43:00] NVIDIA H100\n";
  };
  EXPECT_EQ(reading("all_reduce.log", ranks(100, 100, "n1") + rows).log.fact("gpus_per_process"), "2");
  EXPECT_EQ(reading("all_reduce.log", ranks(100, 101, "n1") + rows).log.fact("gpus_per_process"), "1");
  // Two hosts may give the same number to their processes.
  EXPECT_EQ(reading("all_reduce.log", ranks(100, 100, "n2") + rows).log.fact("gpus_per_process"), "1");
}

// Old versions leave that of the root empty as well.
TEST(PrintedLog, TestsWithoutAReductionLeaveItsColumnEmpty) {
  const std::string heading =
      "#       size         count    type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  "
      "#wrong\n";
  const auto row_of = [&](const std::string& row) {
    const CollectiveLogReading result = reading("all_gather.log", heading + row + "# Avg bus bandwidth    : 20\n");
    EXPECT_EQ(result.log.rows.size(), 1U);
    return result.log.rows.empty() ? CollectiveRow{} : result.log.rows[0];
  };
  const CollectiveRow rooted = row_of(
      "     1048576         32768   float              -1    45.00   23.30   20.39       0    46.00   22.80   19.95    "
      " "
      "  0\n");
  EXPECT_EQ(rooted.out_of_place, 45_us);
  EXPECT_EQ(rooted.root, -1);
  const CollectiveRow old = row_of(
      "     2097152         65536   float                    50.00   41.94   36.70       0    51.00   41.12   35.98    "
      " "
      "  0\n");
  EXPECT_EQ(old.out_of_place, 50_us);
  EXPECT_EQ(old.in_place, 51_us);
}

TEST(PrintedLog, MoreColumnsAreFoundByTheirNames) {
  const CollectiveLogReading result =
      reading("all_reduce.log",
              "# Collective test starting: broadcast_perf\n"
              "#       size         count      type   redop    root     time   algbw   busbw  i_min  i_max #wrong\n"
              "        1024           256     float    none       0    12.50    0.08    0.08   12.0   13.0      0\n"
              "# Avg bus bandwidth    : 0.08\n");
  EXPECT_EQ(result.log.operation, "broadcast");
  EXPECT_EQ(result.log.rows.at(0).out_of_place, Duration(12'500'000));
  EXPECT_FALSE(result.log.rows.at(0).in_place.has_value());
}

TEST(PrintedLog, ACutRowIsReportedWithItsLineAndTheRestIsUsed) {
  const std::string cut(kPrinted.substr(0, kPrinted.find("    N/A")));
  const CollectiveLogReading result = reading("all_reduce.log", cut);
  EXPECT_EQ(result.log.rows.size(), 1u);
  const std::string warnings = render(result.warnings);
  EXPECT_THAT(warnings, HasSubstr("all_reduce.log:15:1: warning[W232]"));
  EXPECT_THAT(warnings, HasSubstr("W233"));
}

TEST(PrintedLog, WrongValuesAreReported) {
  std::string wrong(kPrinted);
  wrong.replace(wrong.find("0 OK"), 4, "3 FAILED");
  EXPECT_THAT(render(reading("all_reduce.log", wrong).warnings), HasSubstr("W234"));
}

TEST(PrintedLog, WithoutAHeadingItIsNone) {
  EXPECT_THAT(refusal("hello\n"), HasSubstr("E231"));
  EXPECT_THAT(refusal(""), HasSubstr("E231"));
  EXPECT_THAT(refusal("{\"version\": 3, \"results\": [{\"size\": 1e308024}]}"), HasSubstr("is too large"));
}

// As `>>` of two runs leaves it, or mpirun of a test that was built without MPI.
TEST(PrintedLog, SeveralRunsInOneFileAreRefused) {
  EXPECT_THAT(refusal(std::string(kPrinted) + std::string(kPrinted)),
              HasSubstr(":21:1: error[E231]: rank 0 is listed again: the log holds several runs"));
}

TEST(PrintedLog, AnImpossibleTimeIsNotReplacedByItsBandwidth) {
  const std::string head = "#       size         count      type   redop    root     time   algbw   busbw\n";
  for (const std::string time : {"-5", "1e400"}) {
    EXPECT_THAT(refusal(head + "     1048576     262144     float     sum      -1    " + time + "   28.81   50.41\n"),
                HasSubstr("the row of 1048576 bytes has no time and is left out"));
  }
}

TEST(PrintedLog, ASizeBeyondAllNumbersIsNamed) {
  const std::string head = "#       size         count      type   redop    root     time   algbw   busbw\n";
  EXPECT_THAT(refusal(head + "99999999999999999999999  1  float  sum  -1  5  28.81  50.41\n"),
              HasSubstr("'99999999999999999999999' is no number of bytes"));
}

constexpr std::string_view kTable =
    "# source: somewhere\n"
    "# collective: all_reduce\n"
    "# gpu: NVIDIA GH200\n"
    "# nodes: 2\n"
    "# gpus_per_node: 4\n"
    "# ranks: 8\n"
    "# nic: 4 x HPE Slingshot 11 200 Gb/s\n"
    "# library_version: 2.22.3 (ROCm 6.4.2)\n"
    "size_bytes,count,type,redop,root,time_oop_us,algbw_oop_GBps,busbw_oop_GBps,time_ip_us,algbw_ip_GBps,busbw_ip_"
    "GBps\n"
    "1024,256,float,sum,-1,18.74,0,0,,,\n"
    "1000000,250000,float,sum,-1,,2.0,3.5,,,\n"
    "2048,512,float,sum,-1,,,,,,\n";

TEST(TableLog, TellsItsFactsAndTimes) {
  const CollectiveLogReading result = reading("alps.csv", kTable);
  EXPECT_EQ(result.log.ranks, 8);
  EXPECT_EQ(result.log.version_of_library, "2.22.3");
  EXPECT_EQ(result.log.fact("nic"), "4 x HPE Slingshot 11 200 Gb/s");
  ASSERT_EQ(result.log.rows.size(), 2u);
  EXPECT_EQ(result.log.rows[0].time(), Duration(18'740'000));
  // 1 MB at 2 GB/s of algorithm bandwidth.
  EXPECT_EQ(result.log.rows[1].time(), 500_us);
}

TEST(TableLog, ARowWithoutATimeIsReportedAndLeftOut) {
  EXPECT_THAT(render(reading("alps.csv", kTable).warnings), HasSubstr("alps.csv:12:1: warning[W232]"));
}

constexpr std::string_view kJson = R"({"version": 3, "args": ["build/all_gather_perf", "-b", "8", "-g", "4"],
 "env": ["USER=somebody", "NCCL_ALGO=Ring"], "nccl_version": "22703",
 "config": {"devices": [{"rank": 0, "hostname": "a", "device_info": "NVIDIA B200"},
                        {"rank": 1, "hostname": "b", "device_info": "NVIDIA B200"}]},
 "results": [{"size": 1024, "count": 128, "type": "float", "redop": "none", "root": " -1",
              "out_of_place": {"time": 14.5, "alg_bw": 0.07, "bus_bw": 0.03, "nwrong": "0"},
              "in_place": {"time": "nan", "alg_bw": "nan"}},
             {"size": 2048, "count": 256, "out_of_place": {"time": "nan"}}]})";

TEST(JsonLog, TellsMachineAndTimes) {
  const CollectiveLogReading result = reading("x.json", kJson);
  EXPECT_EQ(result.log.operation, "all_gather");
  EXPECT_EQ(result.log.nodes, 2);
  EXPECT_EQ(result.log.gpu, "NVIDIA B200");
  EXPECT_EQ(result.log.version_of_library, "2.27.3");
  EXPECT_EQ(result.log.fact("gpus_per_process"), "4");
  ASSERT_EQ(result.log.rows.size(), 1u);
  EXPECT_EQ(result.log.rows[0].time(), Duration(14'500'000));
  EXPECT_EQ(result.log.rows[0].root, -1);
  EXPECT_FALSE(result.log.rows[0].in_place.has_value());
  EXPECT_THAT(render(result.warnings), HasSubstr("result 2 has no size or no time"));
}

TEST(JsonLog, KeepsOfTheEnvironmentOnlyWhatIsNccls) {
  EXPECT_EQ(reading("x.json", kJson).log.fact("env"), "NCCL_ALGO=Ring");
}

TEST(JsonLog, AFileThatBreaksOffIsReportedWithItsPlace) {
  EXPECT_THAT(refusal(kJson.substr(0, kJson.size() - 40)), HasSubstr("some.log:8:"));
}

TEST(CollectiveLog, AMissingFileIsReported) {
  const auto result = read_collective_log("/nowhere/x.log");
  ASSERT_FALSE(result.has_value());
  EXPECT_THAT(render(result.error()), HasSubstr("E230"));
}

std::string table_of(std::string_view head, std::string_view rows) {
  return "# collective: all_reduce\n" + std::string(head) + "size_bytes,time_oop_us\n" + std::string(rows);
}

TEST(CollectiveLog, RowsOfSizesThatNoBufferHasAreLeftOut) {
  const auto log = reading("x.csv", table_of("# ranks: 8\n", "9223372036854775807,10\n1024,10\n"));
  ASSERT_EQ(log.log.rows.size(), 1U);
  EXPECT_EQ(log.log.rows.front().size, 1_KiB);
  EXPECT_THAT(render(log.warnings), HasSubstr("the row of 9223372036854775807 bytes is left out"));
}

TEST(CollectiveLog, TimesThatNoClockHasAreLeftOut) {
  const auto log = reading("x.csv", table_of("# ranks: 8\n", "64,1e300\n128,1e-300\n256,nan\n1024,10\n"));
  ASSERT_EQ(log.log.rows.size(), 1U);
  EXPECT_EQ(log.log.rows.front().time(), 10_us);
}

TEST(CollectiveLog, RanksThatNoMachineHasAreRefused) {
  for (const char* head : {"# ranks: 2000000000\n", "# ranks: -8\n", "# nodes: 100000000\n# gpus_per_node: 100\n"}) {
    EXPECT_THAT(refusal(table_of(head, "1024,10\n")), HasSubstr("each must be at most 1000000")) << head;
  }
}

TEST(CollectiveLog, MoreRowsThanAnyoneWaitsForAreRefused) {
  std::string rows;
  for (int row = 0; row < 10'001; ++row) rows += "1024,10\n";
  EXPECT_THAT(refusal(table_of("# ranks: 8\n", rows)), HasSubstr("has 10001 rows; at most 10000 can be simulated"));
}

TEST(CollectiveLog, NoTextBreaksTheReaders) {
  // Every prefix of each form is read or refused, never worse.
  for (const std::string_view whole : {kPrinted, kTable, kJson}) {
    for (std::size_t length = 0; length < whole.size(); ++length) {
      const auto result = read_collective_log_text("x", whole.substr(0, length));
      if (result) {
        EXPECT_FALSE(result->log.rows.empty());
      } else {
        EXPECT_TRUE(result.error().has_errors());
      }
    }
  }
}

TEST(CollectiveLog, ACompressedLogIsRead) {
  const std::string path = testing::TempDir() + "collective_log_test.csv.gz";
  const gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "# collective: all_reduce\nsize_bytes,time_oop_us\n1024,30\n");
  gzclose(file);
  const auto reading = read_collective_log(path);
  ASSERT_TRUE(reading) << render(reading.error());
  EXPECT_EQ(reading->log.rows.size(), 1U);
}

TEST(CollectiveLog, ATablesNumbersAndColumnsAreChecked) {
  const auto mistake = [](const std::string& text) {
    const auto reading = read_collective_log_text("x.csv", text);
    return reading ? std::string() : render(reading.error());
  };
  const std::string rows = "size_bytes,time_oop_us\n1024,30\n";
  EXPECT_EQ(mistake("# nodes: 2\n# ranks: 16 of 32\n" + rows), "");
  EXPECT_THAT(mistake("# nodes: two\n# ranks: 8\n" + rows), HasSubstr("'# nodes: two' states no whole number"));
  EXPECT_THAT(mistake("size_bytes,time_oop_us,time_oop_us\n1024,30,31\n"), HasSubstr("two columns 'time_oop_us'"));
}

}  // namespace
}  // namespace ringwright::traces::collective_log_test
