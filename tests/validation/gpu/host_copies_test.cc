// Copies between GPU and host: read, fitted and scored, on rows made with constants that the fit must find again.
#include "validation/gpu/host_copies.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/scenario.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"

namespace ringwright::validation::host_copies_test {
namespace {

using namespace ringwright::literals;

constexpr const char* kHead =
    "# gpu: h200-sxm-141gb\n# source: a test\nmemory,direction,bytes,GB_per_s_each_way,time_us,ci_low_us,ci_high_us\n";

// `wobble` makes every second row that much slower.
std::string made_table(double wobble = 0.0) {
  const std::vector<DmaPathCosts> paths = {
      {.path = "pinned,host to device", .line = {.latency = 9_us, .rate = 55_GBps}},
      {.path = "pinned,both", .line = {.latency = 12_us, .rate = 48_GBps}},
      {.path = "pageable,device to host", .line = {.latency = 20_us, .rate = 11_GBps}}};
  std::string text = kHead;
  for (const DmaPathCosts& path : paths) {
    bool slower = false;
    for (std::int64_t bytes = 1 << 10; bytes <= 1 << 29; bytes *= 2) {
      const double seconds = path.line.seconds(Bytes(bytes)) * (slower ? 1.0 + wobble : 1.0);
      slower = !slower;
      text += fmt::format("{},{},,{:.6f},,\n", path.path, bytes, seconds * 1e6);
    }
  }
  return text;
}

TEST(HostCopies, TheFitFindsLatencyAndRateOfEachDirection) {
  const auto table = parse_host_copies("t.csv", made_table());
  ASSERT_TRUE(table) << render(table.error());
  const std::vector<DmaPathCosts> paths = fit_host_copies(*table);
  ASSERT_EQ(paths.size(), 3U);
  EXPECT_EQ(paths[0].path, "pinned, host to device");
  EXPECT_NEAR(to_seconds(paths[0].line.latency) * 1e6, 9.0, 0.3);
  EXPECT_NEAR(paths[0].line.rate.count(), 55e9, 1e9);
  EXPECT_NEAR(paths[2].line.rate.count(), 11e9, 0.2e9);
}

TEST(HostCopies, MistakesAreReportedWithTheirPlace) {
  const auto table =
      parse_host_copies("t.csv", std::string(kHead) + "pined,host to device,1024,,9,,\npinned,sideways,x,,9,,\n");
  ASSERT_FALSE(table);
  const std::string problems = render(table.error());
  EXPECT_THAT(problems, testing::HasSubstr("t.csv:4:1: error[E163]: memory 'pined' is unknown"));
  EXPECT_THAT(problems, testing::HasSubstr("did you mean 'pinned'?"));
  EXPECT_THAT(problems, testing::HasSubstr("direction 'sideways' is unknown"));
  EXPECT_THAT(problems, testing::HasSubstr("bytes is 'x'"));
}

TEST(HostCopies, AreScoredOnRowsThatWereHeldOut) {
  const std::string path = test::own_folder() + "host_copies.csv";
  std::ofstream(path) << made_table();
  const auto good = validate_host_copies({.files = {path}, .wants_page = true});
  ASSERT_TRUE(good) << render(good.error());
  EXPECT_TRUE(good->passed) << good->text;
  EXPECT_THAT(good->markdown, testing::HasSubstr("host-copies-h200-sxm-141gb.svg"));
  std::ofstream(path) << made_table(0.4);
  const auto bad = validate_host_copies({.files = {path}});
  ASSERT_TRUE(bad) << render(bad.error());
  EXPECT_FALSE(bad->passed);
}

TEST(HostCopies, AProfileStatesTheRateOfTheSlot) {
  const std::string path = test::own_folder() + "host_copies.csv";
  std::ofstream(path) << made_table();
  const auto outcome = calibrate_host_copies({.files = {path}});
  ASSERT_TRUE(outcome) << render(outcome.error());
  const auto machine = configs::load_machine_text("profile.yaml", outcome->profile);
  EXPECT_THAT(outcome->profile, testing::HasSubstr("gpu_bandwidth: 48"));
  EXPECT_FALSE(machine);  // a profile alone is no machine
  EXPECT_TRUE(validate_host_copies({}));  // the shipped tables
}

}  // namespace
}  // namespace ringwright::validation::host_copies_test
