#include "traces/nccl_tests/launcher_prefix.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::launcher_prefix_test {
namespace {

constexpr const char* kLines[] = {"# nThread 1 nGpus 1", "#  size  count  time  algbw", "8   2   29.82   0.00"};

[[nodiscard]] std::string with(const std::string& first, const std::string& second, const std::string& third) {
  return first + kLines[0] + "\n" + second + kLines[1] + "\n" + third + kLines[2] + "\n";
}
[[nodiscard]] std::string plain() {
  return with("", "", "");
}

TEST(LauncherPrefix, OfRanksAndTimesIsLeftOut) {
  EXPECT_EQ(as_printed(with("[1,0]<stdout>:", "[1,0]<stdout>:", "[1,0]<stdout>:")), plain());
  EXPECT_EQ(as_printed(with("2024-11-04T12:00:01.5Z ", "2024-11-04T12:00:02.123Z ", "2024-11-04T12:00:10.75Z ")),
            plain());
  EXPECT_EQ(as_printed(with("worker-0: ", "worker-0: ", "worker-12: ")), plain());
}

// srun --label pads the ranks; a row's own blanks go with those after the colon.
TEST(LauncherPrefix, OfPaddedRanksIsLeftOut) {
  EXPECT_EQ(as_printed(" 0: # a\n 0: #  size  time\n10:     8   29.82\n"), "# a\n#  size  time\n8   29.82\n");
}

TEST(LauncherPrefix, OtherLinesStay) {
  EXPECT_EQ(as_printed("NCCL version 2.23.4\n[1,0]<stdout>:# size time\nn1:1:1 [0] NCCL INFO x"),
            "NCCL version 2.23.4\n# size time\nn1:1:1 [0] NCCL INFO x");
}

TEST(LauncherPrefix, ColoursOfTerminalsAreLeftOut) {
  EXPECT_EQ(as_printed(with("\x1b[0m", "\x1b[1;32m", "\x1b[m")), plain());
  EXPECT_EQ(as_printed("a\x1b"), "a");
  EXPECT_EQ(as_printed("a\x1b[12\nb"), "a\nb");
}

TEST(LauncherPrefix, WithoutOneTheTextStaysAsItIs) {
  EXPECT_EQ(as_printed(plain()), plain());
  EXPECT_EQ(as_printed(""), "");
  EXPECT_EQ(as_printed("0: no heading\n"), "0: no heading\n");
}

}  // namespace
}  // namespace ringwright::traces::launcher_prefix_test
