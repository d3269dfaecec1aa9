#include "validation/nccl/nccl_logs.h"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"

namespace ringwright::validation::nccl_logs_test {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kRow = "size_bytes,time_oop_us\n1024,30\n";

std::string write(const std::string& name, const std::string& text) {
  const std::string path = test::own_folder() + name;
  std::ofstream(path) << text;
  return path;
}

TEST(NcclLogs, ACollectiveThatTheLogContradictsIsRefused) {
  const std::string log = write("nccl_logs_test.csv", "# collective: all_reduce\n" + std::string(kRow));
  const auto read = read_nccl_logs({log}, "all_gather");
  ASSERT_FALSE(read);
  EXPECT_THAT(render(read.error()),
              HasSubstr("error[E244]: the log is of all_reduce, and --collective states all_gather"));
  EXPECT_TRUE(read_nccl_logs({log}, "all_reduce"));
}

TEST(NcclLogs, ACollectiveThatOnlyTheNameContradictsHoldsWithAWarning) {
  const std::string log = write("nccl_logs_test_all_reduce.csv", std::string(kRow));
  const auto read = read_nccl_logs({log}, "all_gather");
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->logs[0].operation, "all_gather");
  EXPECT_THAT(render(read->warnings), HasSubstr("warning[W244]: the log's name is that of all_reduce"));
  EXPECT_TRUE(read_nccl_logs({log}, "all_reduce")->warnings.all().empty());
}

TEST(NcclLogs, ACollectiveThatNothingStatesIsThatOfTheOption) {
  const auto read = read_nccl_logs({write("nccl_logs_test_plain.csv", std::string(kRow))}, "all_gather");
  ASSERT_TRUE(read) << render(read.error());
  EXPECT_EQ(read->logs[0].operation, "all_gather");
  EXPECT_TRUE(read->warnings.all().empty());
}

TEST(NcclLogs, ALogThatIsGivenTwiceCountsOnce) {
  const std::string head = "# collective: all_reduce\nsize_bytes,time_oop_us\n1024,30\n";
  const std::string log = write("nccl_logs_test_first.csv", head + "2048,31\n");
  const std::string copy = write("nccl_logs_test_copy.csv", "# nic: none\n" + head + "2048,31\n");
  const std::string other = write("nccl_logs_test_other.csv", head + "2048,32\n");
  for (const std::string& second : {log, copy}) {
    const auto read = read_nccl_logs({log, second});
    ASSERT_TRUE(read) << render(read.error());
    EXPECT_EQ(read->logs.size(), 1U);
    EXPECT_THAT(render(read->warnings), HasSubstr("warning[W247]: the log has the times of '" + log + "'"));
  }
  EXPECT_EQ(read_nccl_logs({log, other})->logs.size(), 2U);
}

// One time of two runs may agree by chance.
TEST(NcclLogs, LogsOfOneRowThatAgreeAreTwo) {
  const std::string text = "# collective: all_reduce\n" + std::string(kRow);
  const std::string log = write("nccl_logs_test_one.csv", text);
  EXPECT_EQ(read_nccl_logs({log, write("nccl_logs_test_two.csv", text)})->logs.size(), 2U);
  EXPECT_EQ(read_nccl_logs({log, log})->logs.size(), 1U);
}

}  // namespace
}  // namespace ringwright::validation::nccl_logs_test
