#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include <gtest/gtest.h>

#include "validation/builtin.h"
#include "validation/systems/system_rows.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::systems_test {
namespace {

constexpr const char* kColumns = "id,name,run,scenario,set,base,figure,check,expected,tolerance,source,note\n";

class TableFile {
 public:
  explicit TableFile(const std::string& rows)
      : path_(testing::TempDir() + "ringwright_systems_" + std::to_string(::getpid()) + ".csv") {
    std::ofstream(path_) << kColumns << rows;
  }
  ~TableFile() { std::filesystem::remove(path_); }
  TableFile(const TableFile&) = delete;
  TableFile& operator=(const TableFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(Systems, EveryShippedRowMeetsItsCheck) {
  const auto outcome = validate_systems({});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
}

TEST(Systems, ShippedRowsHaveNamesOfTheirOwn) {
  const auto rows = read_system_rows(shipped_folder("systems") + "/systems.csv");
  ASSERT_TRUE(rows.has_value()) << render(rows.error());
  std::set<std::string> names;
  for (const SystemRow& row : *rows) EXPECT_TRUE(names.insert(row.id + " " + row.name).second) << row.id << row.name;
}

TEST(Systems, AFigureOutsideItsCheckFails) {
  // 8 billion parameters take 8 seconds a step on no machine of ours: the shipped scenario takes about 17 s.
  const TableFile table("A1,too fast,step,llama3-8b-8-h100,,,step_s,within,8,0.1,nobody,\n");
  const auto outcome = validate_systems({.files = {table.path()}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);
  EXPECT_NE(outcome->text.find("FAIL"), std::string::npos);
}

TEST(Systems, RatiosAreOfTheBaseOverTheRow) {
  // Recomputation adds a forward pass to a forward and a backward pass of twice its length: 4/3 at most.
  const TableFile table(
      "A1,without recomputation,step,llama3-8b-8-h100,training.recompute=none;training.global_batch=8,"
      "training.recompute=full;training.global_batch=8,step_s,direction,1.3,,arithmetic,\n"
      "A2,at most a third,step,llama3-8b-8-h100,training.recompute=none;training.global_batch=8,"
      "training.recompute=full;training.global_batch=8,step_s,at most,1.3334,,arithmetic,\n");
  const auto outcome = validate_systems({.files = {table.path()}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
}

TEST(Systems, RowsThatContradictThemselvesAreRefused) {
  const TableFile table(
      "A1,no reason,none,,,,,,,,,\n"
      "A2,no such figure,step,llama3-8b-8-h100,,,speed,exact,1,,me,\n"
      "A3,no tolerance,step,llama3-8b-8-h100,,,step_s,within,1,,me,\n"
      "A4,no ratio,step,llama3-8b-8-h100,,,step_s,direction,2,,me,\n"
      "A5,no scenario,step,,,,step_s,exact,1,,me,\n"
      "A6,no check,step,llama3-8b-8-h100,,,step_s,,,,me,\n");
  const auto rows = read_system_rows(table.path());
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().error_count(), 6U) << render(rows.error());
  for (const Diagnostic& one : rows.error().all()) EXPECT_EQ(one.code, "E560");
  EXPECT_EQ(rows.error().all().front().place.line, 2);
}

// The figure of a collective is that of its command: 2 (n - 1) / n of the bytes over the time.
TEST(Systems, CollectivesHaveTimesAndBusBandwidths) {
  const TableFile table(
      "A1,time,collective,dgx-a100,comm.library=gloo,comm.library=gloo,time_us all_reduce 1MiB,exact,1,,me,\n"
      "A2,bandwidth,collective,dgx-a100,comm.library=gloo,,busbw all_reduce 1MiB,at most,25,,me,\n");
  const auto outcome = validate_systems({.files = {table.path()}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_NE(outcome->markdown.find("ringwright collective dgx-a100 all_reduce -b 1048576 -e 1048576"),
            std::string::npos);
}

TEST(Systems, FiguresOfCollectivesNameACallAndASize) {
  const TableFile table(
      "A1,no size,collective,dgx-a100,,,busbw all_reduce,at most,1,,me,\n"
      "A2,no call,collective,dgx-a100,,,busbw all 1MiB,at most,1,,me,\n"
      "A3,empty,collective,dgx-a100,,,time_us all_reduce 0B,at most,1,,me,\n"
      "A4,of a step,collective,dgx-a100,,,step_s,at most,1,,me,\n");
  const auto rows = read_system_rows(table.path());
  ASSERT_FALSE(rows.has_value());
  EXPECT_EQ(rows.error().error_count(), 4U) << render(rows.error());
}

// Two jobs of all GPUs that come at once: the second waits for the first, 100 s, and 50 s are the mean.
TEST(Systems, ClustersAndProbesHaveFigures) {
  const std::string two =
      "\"cluster.hosts=1;jobs.count=2;jobs.gpus=[8];jobs.weights=[1];jobs.span=1s;jobs.median=100s;jobs.sigma=0;"
      "jobs.most=1\"";
  const TableFile table("A1,waiting,cluster,shared-week," + two + ",,waiting_s,within,50,0.01,me,\n" +
                        "A2,of a policy,cluster,shared-week," + two + ",,completion_s fifo,within,150,0.01,me,\n" +
                        "A3,GPUs,cluster,shared-week," + two + ",,peak_gpus,exact,8,,me,\n" +
                        "A4,found,probe,llama3-70b-hsdp-64-h100,,,localised,exact,1,,me,\n");
  const auto outcome = validate_systems({.files = {table.path()}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_NE(outcome->markdown.find("ringwright cluster shared-week --set 'cluster.hosts=1'"), std::string::npos);
  const TableFile wrong("A1,policy,cluster,shared-week,,,waiting_s no_policy,exact,1,,me,\n");
  const auto refused = validate_systems({.files = {wrong.path()}});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().all().front().code, "E561");
}

TEST(Systems, AFigureThatARunDoesNotHaveIsAMistake) {
  const TableFile table("A1,no pipeline,step,llama3-8b-8-h100,,,bubble_of_step,exact,1,,me,\n");
  const auto outcome = validate_systems({.files = {table.path()}});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_EQ(outcome.error().all().front().code, "E561");
}

}  // namespace
}  // namespace ringwright::validation::systems_test
