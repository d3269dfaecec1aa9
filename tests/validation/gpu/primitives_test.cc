// Rings among thread blocks: read, simulated and fitted. The rows here are made by the executor with constants of their
// own, which the fit must find again.
#include "validation/gpu/primitives_play.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/gpu_preset.h"
#include "configs/scenario/scenario.h"
#include "tests/support/own_folder.h"
#include "validation/builtin.h"
#include "validation/gpu/primitives_table.h"
#include "validation/kernels/gpu_tables.h"

namespace ringwright::validation::primitives_test {
namespace {

using namespace ringwright::literals;

constexpr const char* kHead =
    "# gpu: h200-sxm-141gb\n# source: a test\n"
    "graph,protocol,ranks,channels,threads,slots,slot_bytes,bytes,time_us,ci_low_us,ci_high_us\n";

// The GPU of the head: tables made with another one are not met.
const workload::GpuSpec& gpu() {
  static const workload::GpuSpec spec = configs::load_gpu("h200-sxm-141gb", {}).value().gpu;
  return spec;
}

std::string made_table(const PrimitiveCosts& costs) {
  std::vector<MeasuredExchange> rows;
  for (const int channels : {1, 4}) {
    for (std::int64_t bytes = 4096; bytes <= 64 << 20; bytes *= 8) {
      rows.push_back({.ranks = 4, .channels = channels, .threads = 512, .slot = 512_KiB, .bytes = Bytes(bytes)});
    }
  }
  const std::vector<double> seconds = play_rings(rows, costs, gpu());
  std::string text = kHead;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    text += fmt::format("ring,Simple,4,{},512,8,{},{},{:.6f},,\n", rows[i].channels, rows[i].slot.count(),
                        rows[i].bytes.count(), seconds[i] * 1e6);
  }
  return text;
}

TEST(PrimitivesTable, ReadsRingsAndCountsRowsThatAreNotSimulated) {
  const auto table = parse_primitives_table("t.csv", std::string(kHead) + "ring,LL,8,4,512,8,65536,1048576,50,49,51\n"
                                                                          "tree,LL,8,4,512,8,65536,1048576,50,,\n"
                                                                          "ring,LL128,8,4,512,4,614400,1048576,50,,\n");
  ASSERT_TRUE(table) << render(table.error());
  ASSERT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->left_out, 2U);
  EXPECT_EQ(table->rows[0].protocol, Protocol::kLl);
  EXPECT_EQ(table->rows[0].chunk(), 32_KiB);  // half of an LL slot is flags
  EXPECT_EQ(exchange_label(table->rows[0]), "ll, 8 ranks, 4 channels of 512 threads, slots of 64 KiB, 1 MiB");
}

TEST(PrimitivesTable, MistakesAreReportedWithTheirPlace) {
  const auto table = parse_primitives_table("t.csv", std::string(kHead) + "ring,LL64,1,4,512,8,65536,1048576,fast,,\n");
  ASSERT_FALSE(table);
  const std::string problems = render(table.error());
  EXPECT_THAT(problems, testing::HasSubstr("protocol 'LL64' is unknown"));
  EXPECT_THAT(problems, testing::HasSubstr("t.csv:4:11: error[E163]: ranks is 1 and must be between 2 and 4096"));
  EXPECT_THAT(problems, testing::HasSubstr("time_us is 'fast'"));
  EXPECT_FALSE(parse_primitives_table("t.csv", std::string(kHead) + "tree,LL,8,4,512,8,65536,1048576,50,,\n"));
}

// Two ranks, one channel, one chunk each: launch, and 2 (n - 1) = 2 steps of a primitive and a hop, and the last
// primitive.
TEST(PrimitivesPlay, ASmallRingIsLaunchStepsAndHops) {
  const std::vector<MeasuredExchange> rows = {
      {.ranks = 2, .channels = 1, .threads = 512, .slot = 512_KiB, .bytes = Bytes(4096)}};
  const PrimitiveCosts costs{.launch = 10_us, .hop = 2_us, .primitive = 1_us, .rate = Bandwidth(1e12)};
  EXPECT_NEAR(play_rings(rows, costs, gpu()).front() * 1e6, 10.0 + 3 * 1.0 + 2 * 2.0, 0.1);  // and its bytes
}

MeasuredExchange simple_ring(int ranks, int channels, Bytes bytes) {
  return {.ranks = ranks, .channels = channels, .threads = 512, .slot = 512_KiB, .bytes = bytes};
}

// Blocks of one GPU share its memory: twice as many channels are faster, and less than twice as fast, until memory is
// all that counts: 3 bytes of it for each byte that a rank passes on, at the copies' share of its bandwidth.
TEST(PrimitivesPlay, ThreadBlocksShareTheMemoryOfTheirGpu) {
  const std::vector<MeasuredExchange> rows = {simple_ring(8, 1, 64_MiB), simple_ring(8, 4, 64_MiB),
                                              simple_ring(8, 16, 64_MiB), simple_ring(8, 64, 64_MiB)};
  const PrimitiveCosts costs{.launch = 1_us, .hop = 1_us, .primitive = Duration(100'000), .rate = 30_GBps};
  const std::vector<double> seconds = play_rings(rows, costs, gpu());
  EXPECT_GT(seconds[0] / seconds[1], 2.0);
  EXPECT_LT(seconds[0] / seconds[1], 4.0);
  EXPECT_GT(seconds[1] / seconds[2], 1.2);
  const double memory = gpu().memory_bandwidth.count() * gpu().kernels[workload::KernelConstant::kStreamShare];
  const double least = 3.0 * 2 * 7 * (64 << 20) / memory;  // 14 steps of an eighth, on 8 ranks
  EXPECT_GT(seconds[3], least);
  EXPECT_LT(seconds[3], 1.3 * least);
}

// Small rings stay in the last-level cache, and a byte takes them less time.
TEST(PrimitivesPlay, RingsThatFitTheCacheAreFaster) {
  const std::vector<MeasuredExchange> rows = {simple_ring(8, 4, 256_KiB), simple_ring(8, 4, 32_MiB)};
  const PrimitiveCosts costs{.launch = 1_ns, .hop = 1_ns, .primitive = 1_ns, .rate = 30_GBps};
  const std::vector<double> seconds = play_rings(rows, costs, gpu());
  const double speed = gpu().kernels[workload::KernelConstant::kStreamCacheSpeed];
  EXPECT_GT(seconds[1] / seconds[0], 128.0 * 1.2);
  EXPECT_LT(seconds[1] / seconds[0], 128.0 * speed * 1.02);
}

TEST(PrimitivesPlay, TheFitFindsTheConstantsThatMadeTheRows) {
  const PrimitiveCosts truth{.launch = 9_us, .hop = Duration(500'000), .primitive = Duration(700'000), .rate = 40_GBps};
  const auto table = parse_primitives_table("t.csv", made_table(truth));
  ASSERT_TRUE(table) << render(table.error());
  const PrimitivesFit fit = fit_primitives(table->rows, Protocol::kSimple, gpu());
  EXPECT_LT(fit.error, 0.03);
  EXPECT_NEAR(fit.costs.rate.count(), 40e9, 4e9);
}

TEST(ValidatePrimitives, ScoresEachProtocolAndWritesAProfile) {
  const std::string path = test::own_folder() + "primitives.csv";
  std::ofstream(path) << made_table(
      {.launch = 9_us, .hop = Duration(500'000), .primitive = Duration(700'000), .rate = 40_GBps});
  const auto outcome = validate_primitives({.files = {path}, .wants_page = true});
  ASSERT_TRUE(outcome) << render(outcome.error());
  EXPECT_TRUE(outcome->passed) << outcome->text;
  EXPECT_THAT(outcome->text, testing::HasSubstr("simple  launch "));
  EXPECT_THAT(outcome->markdown, testing::HasSubstr("primitives-h200-sxm-141gb.svg"));
  const auto calibrated = calibrate_primitives({.files = {path}});
  ASSERT_TRUE(calibrated) << render(calibrated.error());
  const auto machine = configs::load_machine_text(
      "profile.yaml",
      calibrated->profile + "cluster: {nodes: 1, node: {preset: dgx-h100}}\ncollectives: {model: chunks}\n");
  ASSERT_TRUE(machine) << render(machine.error()) << calibrated->profile;
  EXPECT_NEAR(machine->comm.costs.of(Protocol::kSimple).rate.count(), 40e9, 4e9);
}

TEST(GpuTables, WithoutATableStatesHowToMeasureOne) {
  const auto tables = tables_of({}, "decompression");
  ASSERT_FALSE(tables);
  EXPECT_THAT(render(tables.error()), testing::HasSubstr("measure_gpu --families decompression"));
}

}  // namespace
}  // namespace ringwright::validation::primitives_test
