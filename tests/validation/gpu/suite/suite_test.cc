// The measurements themselves on an invented device: launches are within its limits, its memory suffices, nothing is
// left behind, and an interrupted run continues where it was.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "device.cuh"
#include "suite.cuh"
#include "tests/support/own_folder.h"

namespace ringwright::gpu::suite_test {
namespace {

using emulation::Device;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

std::string empty_folder(const std::string& name) {
  const std::string folder = test::own_folder() + name;
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder);
  return folder;
}

// The copy-block kernel, the only one that asks for shared memory, runs concurrently with the host; of other kernels
// the first and the last block are run.
Device::Treatment treatment_of(const emulation::Launch& launch) {
  return launch.shared_bytes > 0 ? Device::Treatment::kBackground : Device::Treatment::kEnds;
}

struct Run {
  Extent extent = Extent::kDefault;
  std::string folder;
  int asks_until_time_is_up = -1;  // none: never
};

struct Seen {
  std::vector<std::string> progress, troubles;
  int asks = 0;
};

Seen measure(const std::string& family, const Run& run) {
  Seen seen;
  const Suite suite{
      .folder = run.folder,
      .header_lines = describe_device(""),
      .extent = run.extent,
      .time_is_up = [&] { return ++seen.asks > run.asks_until_time_is_up && run.asks_until_time_is_up >= 0; },
      .progress = [&](const std::string& what) { seen.progress.push_back(what); },
      .trouble = [&](const std::string& what) { seen.troubles.push_back(what); }};
  for (const Family& known : families()) {
    if (known.name == family) known.measure(suite);
  }
  return seen;
}

struct Rows {
  std::vector<std::string> columns;
  std::vector<std::map<std::string, std::string>> rows;
};
std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',')
      cells.emplace_back();
    else
      cells.back() += c;
  }
  return cells;
}
Rows rows_of(const std::string& path) {
  Rows result;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> cells = split(line);
    if (result.columns.empty()) {
      result.columns = cells;
      continue;
    }
    EXPECT_EQ(cells.size(), result.columns.size()) << line;
    auto& row = result.rows.emplace_back();
    for (std::size_t i = 0; i < std::min(cells.size(), result.columns.size()); ++i) row[result.columns[i]] = cells[i];
  }
  return result;
}
std::set<std::string> lines_of(const std::string& path) {
  std::set<std::string> lines;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) EXPECT_TRUE(line == "#" || lines.insert(line).second) << line;
  return lines;
}

// Collectives among blocks are run elsewhere, with small buffers; here they would take minutes, and zeros sum up to
// zeros.
Device& device_for(const std::string& family) {
  Device& device = emulation::fresh_device();
  if (family != "primitives") device.treatment = treatment_of;
  return device;
}

int measurements(const Seen& seen) {
  return static_cast<int>(
      std::ranges::count_if(seen.progress, [](const std::string& what) { return !what.starts_with("skipped"); }));
}

bool runs_copy_blocks(const std::string& family) {
  return family == "interference";
}

class SuiteFamily : public testing::TestWithParam<std::string> {};

TEST_P(SuiteFamily, MeasuresAllWithinTheLimitsOfTheDevice) {
  Device& device = device_for(GetParam());
  const std::string folder = empty_folder("whole");
  const Extent extent = runs_copy_blocks(GetParam()) ? Extent::kQuick : Extent::kDefault;
  const Seen seen = measure(GetParam(), {.extent = extent, .folder = folder});
  EXPECT_THAT(seen.troubles, IsEmpty());
  EXPECT_THAT(device.complaints, IsEmpty());
  EXPECT_EQ(device.used_bytes, 0U);
  EXPECT_EQ(emulation::left_behind(), "");
  const Rows table = rows_of(folder + "/" + GetParam() + ".csv");
  EXPECT_GE(table.rows.size(), 5U);
  for (const auto& row : table.rows) {
    for (const auto& [column, cell] : row) {
      EXPECT_TRUE(column != "time_us" || std::stod(cell) > 0.0) << cell;
    }
  }
  RecordProperty("rows", static_cast<int>(table.rows.size()));
  RecordProperty("most_GB", static_cast<int>(device.most_used_bytes / 1'000'000'000));
}

// The time is up again and again, each time after a few more questions.
TEST_P(SuiteFamily, GoesOnWhereItWasCutShort) {
  const Extent extent = Extent::kQuick;
  device_for(GetParam());
  const std::string whole = empty_folder("whole");
  const Seen at_once = measure(GetParam(), {.extent = extent, .folder = whole});
  device_for(GetParam());
  const std::string parts = empty_folder("parts");
  int measured = 0;
  int runs = 0;
  for (bool done = false; !done && runs < 500; ++runs) {
    const Seen seen = measure(GetParam(), {.extent = extent, .folder = parts, .asks_until_time_is_up = 4 * runs});
    measured += measurements(seen);
    done = seen.asks <= 4 * runs;
  }
  EXPECT_LT(runs, 500);
  EXPECT_GT(runs, 1);
  EXPECT_EQ(measured, measurements(at_once));
  EXPECT_EQ(emulation::left_behind(), "");
  const std::string file = "/" + GetParam() + ".csv";
  EXPECT_EQ(rows_of(parts + file).rows.size(), rows_of(whole + file).rows.size());
  lines_of(parts + file);  // none twice
}

TEST_P(SuiteFamily, EndsWithAnErrorWhenALaunchIsRefused) {
  if (GetParam() == "host_copies") return;  // launches nothing
  Device& device = emulation::fresh_device();
  device.fail_launch = 7;
  const std::string folder = empty_folder("refused");
  EXPECT_EXIT(measure(GetParam(), {.extent = Extent::kQuick, .folder = folder}), testing::ExitedWithCode(1),
              "error: .*(invalid configuration|CUBLAS_STATUS_EXECUTION_FAILED)");
}

INSTANTIATE_TEST_SUITE_P(All, SuiteFamily,
                         testing::Values("gemm", "grouped_gemm", "elementwise", "training", "memory", "host_copies",
                                         "launches", "primitives", "interference", "offload"));

TEST(Suite, EveryFamilyIsTested) {
  EXPECT_EQ(families().size(), 10U);
}

// 48 GEMMs of 1 ms keep the compute stream busy for 48 ms, and 2^28 B at 50 GB/s take 5369 us: copies are timed by
// themselves, and not until computing has ended.
TEST(Offload, TimesCopiesByThemselvesDuringLongComputation) {
  Device& device = emulation::fresh_device();
  device.launch_us = 1000.0;
  const std::string folder = empty_folder("offload");
  measure("offload", {.folder = folder});
  int side_files = 0;
  for (const auto& row : rows_of(folder + "/offload.csv").rows) {
    EXPECT_NEAR(std::stod(row.at("compute_us")), row.at("compute") == "none" ? 0.0 : 48e3, 1.0);
    if (row.at("traffic") != "both") continue;
    ++side_files;
    EXPECT_NEAR(std::stod(row.at("down_us")), 5368.7, 1.0);
    EXPECT_NEAR(std::stod(row.at("up_us")), 5368.7, 1.0);
  }
  EXPECT_EQ(side_files, 4);
}

TEST(Gemm, LeavesOutWhatFp8CannotDo) {
  emulation::fresh_device();
  const std::string folder = empty_folder("gemm");
  const Seen seen = measure("gemm", {.folder = folder});
  EXPECT_THAT(seen.progress, Contains(HasSubstr("skipped: no fp8 GEMM")));
  int fp8 = 0;
  for (const auto& row : rows_of(folder + "/gemm.csv").rows) {
    if (row.at("dtype") != "fp8") continue;
    ++fp8;
    for (const char* size : {"m", "n", "k"}) EXPECT_EQ(std::stoi(row.at(size)) % 16, 0);
  }
  EXPECT_GT(fp8, 200);
}

// Gradients are added in full, as frameworks have it.
TEST(Gemm, ForwardGemmsInFp8ComeWithAndWithoutFastSums) {
  emulation::fresh_device();
  const std::string folder = empty_folder("gemm_fast");
  measure("gemm", {.extent = Extent::kQuick, .folder = folder});
  int fast = 0, plain = 0;
  for (const auto& row : rows_of(folder + "/gemm.csv").rows) {
    if (row.at("dtype") != "fp8" || row.at("layout") != "TN") continue;
    (row.at("op") == "cublasLt fast sums" ? fast : plain) += 1;
  }
  EXPECT_GT(fast, 0);
  EXPECT_EQ(fast, plain);
  for (const auto& row : rows_of(folder + "/gemm.csv").rows) {
    EXPECT_TRUE(row.at("op") != "cublasLt fast sums" || row.at("layout") == "TN");
  }
}

// The device computes nothing, and only the first group's inputs are not zero: ring LL is reported and left out, the
// rest continues.
TEST(Primitives, AWrongSumIsReportedAndNotWritten) {
  Device& device = emulation::fresh_device();
  device.treatment = [](const emulation::Launch& launch) {
    return launch.cooperative ? Device::Treatment::kNone : Device::Treatment::kEnds;
  };
  const std::string folder = empty_folder("primitives");
  const Seen seen = measure("primitives", {.extent = Extent::kQuick, .folder = folder});
  ASSERT_EQ(seen.troubles.size(), 1U);
  EXPECT_THAT(seen.troubles[0], HasSubstr("wrong sum by ring LL, 8 ranks, 2 channels"));
  const Rows table = rows_of(folder + "/primitives.csv");
  EXPECT_GE(table.rows.size(), 5U);
  for (const auto& row : table.rows) EXPECT_TRUE(row.at("graph") == "tree" || row.at("protocol") != "LL");
}

TEST(Device, IsKnownByTheLongestName) {
  const std::map<std::string, std::string> keys = {
      {"NVIDIA H200", "h200-sxm-141gb"},      {"NVIDIA H100 80GB HBM3", "h100-sxm5-80gb"},
      {"NVIDIA H100 PCIe", "h100-pcie-80gb"}, {"NVIDIA H200 NVL", "h200-nvl-141gb"},
      {"NVIDIA GH200 480GB", "gh200-96gb"},   {"NVIDIA GB200", "gb200"},
      {"NVIDIA B200", "b200-sxm-192gb"},      {"NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"}};
  for (const auto& [name, key] : keys) {
    emulation::fresh_device().name = name;
    EXPECT_EQ(describe_device("").front(), "gpu: " + key);
  }
}

TEST(Device, ASliceOrAStrangerIsRefused) {
  emulation::fresh_device().name = "NVIDIA H100 80GB HBM3 MIG 3g.40gb";
  EXPECT_EXIT(describe_device(""), testing::ExitedWithCode(2), "a slice of a GPU");
  emulation::fresh_device().name = "NVIDIA Unheard-of";
  EXPECT_EXIT(describe_device(""), testing::ExitedWithCode(2), "no shipped GPU is known");
  EXPECT_EQ(describe_device("mine").front(), "gpu: mine");
}

}  // namespace
}  // namespace ringwright::gpu::suite_test
