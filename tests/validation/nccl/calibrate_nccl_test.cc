#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/collective_run.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/fit/platform_constants.h"

namespace ringwright::validation::calibrate_nccl_test {
namespace {

using namespace literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kPlan = "comm.plan={algorithm: ring, protocol: simple, channels: 24}";

// A machine with known constants, so that a fit can be compared with the truth.
[[nodiscard]] configs::Scenario machine(const std::string& text, std::vector<std::string> overrides) {
  auto scenario =
      configs::load_machine_text("machine.yaml", text, {.overrides = std::move(overrides), .share_folders = {}});
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

[[nodiscard]] Duration time_of(const configs::Scenario& scenario, Bytes size) {
  configs::CollectiveBench bench(scenario);
  auto result = bench.run({.bytes = size});
  if (!result) throw std::runtime_error(render(result.error()));
  return result->time;
}

class Calibration : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(test::own_folder()) / "ringwright-calibration";
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string measured_on(const configs::Scenario& truth) const {
    const std::string path = (folder_ / "all_reduce.csv").string();
    std::ofstream file(path);
    file << "# collective: all_reduce\n# gpu: NVIDIA A100-SXM4-80GB\n# nodes: 1\n# gpus_per_node: 8\n# ranks: 8\n# "
            "nic: none\n"
            "size_bytes,count,type,redop,root,time_oop_us\n";
    for (const Bytes size : {1_KiB, 4_KiB, 16_KiB, 64_KiB, 256_KiB, 4_MiB, 32_MiB, 64_MiB, 96_MiB, 128_MiB, 512_MiB}) {
      file << fmt::format("{},{},float,sum,-1,{:.6f}\n", size.count(), size.count() / 4,
                          to_seconds(time_of(truth, size)) * 1e6);
    }
    return path;
  }

  std::filesystem::path folder_;
};

TEST_F(Calibration, FindsThePlatformThatMadeTheMeasurements) {
  const std::string dgx = "collectives: {model: chunks}\ncluster: {node: {preset: dgx-a100}}\n";
  const configs::Scenario truth = machine(
      dgx, {kPlan, "comm.costs.launch=12us", "cluster.node.nvlink.efficiency=70%", "comm.costs.simple.primitive=3us"});
  const auto outcome =
      calibrate_nccl({.files = {measured_on(truth)}, .overrides = {kPlan}, .cluster = {}, .classes = "none"});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_THAT(outcome->profile, HasSubstr("evidence: calibrated"));
  // What no row felt (LL, the network) is not in the profile.
  EXPECT_THAT(outcome->profile, Not(HasSubstr("ll:")));
  EXPECT_THAT(outcome->profile, Not(HasSubstr("network")));
  // A fit is verified on sizes that it has not used.
  std::ofstream(folder_ / "profile.yaml") << outcome->profile;
  const configs::Scenario fitted = machine("extends: " + (folder_ / "profile.yaml").string() + "\n" + dgx, {kPlan});
  for (const Bytes size : {8_KiB, 1_MiB, 16_MiB, 256_MiB}) {
    EXPECT_NEAR(ratio(time_of(fitted, size), time_of(truth, size)), 1.0, 0.1) << to_string(size);
  }
}

// Times that no platform has: the profile is written, and does not pass.
TEST_F(Calibration, AFitThatLeavesMuchOverDoesNotPass) {
  const std::string path = (folder_ / "odd.csv").string();
  std::ofstream(path) << "# collective: all_reduce\n# gpu: NVIDIA A100-SXM4-80GB\n# nodes: 1\n# gpus_per_node: 8\n"
                         "# ranks: 8\n# nic: none\nsize_bytes,count,type,redop,root,time_oop_us\n"
                         "1024,256,float,sum,-1,30\n2048,512,float,sum,-1,900\n4096,1024,float,sum,-1,30\n"
                         "8192,2048,float,sum,-1,900\n";
  const auto outcome = calibrate_nccl({.files = {path}, .overrides = {kPlan}, .cluster = {}});
  ASSERT_TRUE(outcome.has_value()) << render(outcome.error());
  EXPECT_FALSE(outcome->passed);
  EXPECT_THAT(render(outcome->warnings), HasSubstr("W363"));
}

TEST_F(Calibration, AMissingLogIsReported) {
  const auto outcome = calibrate_nccl({.files = {"/nowhere/x.log"}, .overrides = {}, .cluster = {}});
  ASSERT_FALSE(outcome.has_value());
  EXPECT_THAT(render(outcome.error()), HasSubstr("E230"));
}

TEST(PlatformConstants, AreFewAndTheirTextsAreReadBack) {
  EXPECT_LE(platform_constants().size(), 18u);
  for (const PlatformConstant& constant : platform_constants()) {
    const configs::Scenario scenario = machine(
        "cluster: {nodes: 2, node: {preset: dgx-a100}}\ncollectives: {model: chunks}\n",
        {fmt::format("{}={}", constant.path, value_text(constant, constant.low))});
    EXPECT_FALSE(scenario.document.log().diagnostics().has_errors()) << constant.path;
  }
}

}  // namespace
}  // namespace ringwright::validation::calibrate_nccl_test
