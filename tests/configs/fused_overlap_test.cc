// GEMMs fused with their exchange (Flux) in whole scenarios: what is exposed, against the two other ways and bounds.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::fused_overlap_test {
namespace {

const std::string kNone;
const std::string kChunks = ", tp_comm_overlap: true";
const std::string kFused = ", tp_comm_overlap: true, tp_comm_overlap_method: flux";

std::string job(const std::string& parallel, const std::string& nvlink = "450GB/s", int tokens = 8192) {
  return fmt::format(
      "model: {{preset: llama3-70b, num_layers: 8, seq_length: {}}}\ntraining: {{global_batch: 1}}\n"
      "parallel: {{tp: 8, sequence_parallel: true{}}}\n"
      "cluster: {{nodes: 1, node: {{preset: dgx-h100, nvlink: {{bandwidth: {}}}}}, fabric: {{type: single_node}}}}\n",
      tokens, parallel, nvlink);
}

Report report_of(const std::string& text) {
  const Scenario scenario = load(text);
  return std::move(*simulate(scenario, FoldMode::kFold)->report);
}

double exposed(const Report& report) {
  for (const DimensionTime& dimension : report.everywhere.dimensions) {
    if (dimension.name == "tp") return to_seconds(dimension.exposed);
  }
  return 0.0;
}

// The paper's metric: effective communication time over that without overlap. Chunks also make GEMMs slower, which
// counts as communication; shares of one kernel add up to it.
double effective(const Report& report, const Report& plain) {
  return exposed(report) + to_seconds(report.everywhere.computing - plain.everywhere.computing);
}

TEST(FusedOverlap, SharesOfOneKernelTakeItsTime) {
  const Report plain = report_of(job(kNone));
  const Report fused = report_of(job(kFused));
  // The local sums are on the stream of the exchange. Each share is rounded down to whole picoseconds.
  EXPECT_NEAR(to_seconds(fused.everywhere.computing), to_seconds(plain.everywhere.computing),
              0.03 * to_seconds(plain.everywhere.computing));
}

// arXiv 2406.06858, section 5: fused >= chunked >= none, and up to 96 % of the communication is hidden.
TEST(FusedOverlap, HidesMoreThanChunksAndChunksMoreThanNothing) {
  const Report plain = report_of(job(kNone));
  const double none = effective(plain, plain);
  const double chunks = effective(report_of(job(kChunks)), plain);
  const double fused = effective(report_of(job(kFused)), plain);
  RecordProperty("overlap_efficiency_chunks", fmt::format("{:.3f}", 1.0 - chunks / none));
  RecordProperty("overlap_efficiency_fused", fmt::format("{:.3f}", 1.0 - fused / none));
  EXPECT_LT(chunks, none);
  EXPECT_LT(fused, chunks);
  EXPECT_GT(1.0 - fused / none, 0.5);
  EXPECT_LE(1.0 - fused / none, 0.96 + 0.04);
}

// Few rows: chunks have GEMMs of less than a wave each, one kernel has them all.
TEST(FusedOverlap, FewRowsPenaliseChunks) {
  const Report plain = report_of(job(kNone, "450GB/s", 1024));
  const double chunks = effective(report_of(job(kChunks, "450GB/s", 1024)), plain);
  const double fused = effective(report_of(job(kFused, "450GB/s", 1024)), plain);
  EXPECT_LT(fused, chunks);
}

// A slow link is never faster than its bytes: the exposed time grows to that of the exchange.
TEST(FusedOverlap, HidesNoMoreThanThereIsToCompute) {
  const double slow = exposed(report_of(job(kFused, "20GB/s")));
  const double plain = exposed(report_of(job(kNone, "20GB/s")));
  EXPECT_GT(slow, 0.5 * plain);
  EXPECT_GT(slow, 10.0 * exposed(report_of(job(kFused))));
}

TEST(FusedOverlap, TimeFallsWithBandwidth) {
  Duration before = report_of(job(kFused, "10GB/s")).step_time.mean;
  for (const char* speed : {"50GB/s", "150GB/s", "450GB/s", "900GB/s"}) {
    const Duration now = report_of(job(kFused, speed)).step_time.mean;
    EXPECT_LE(now, before) << speed;
    before = now;
  }
}

TEST(FusedOverlap, IsPlayedByOneRankForAll) {
  for (const char* more : {"", ", tp_comm_overlap_tiles: 1", ", tp_comm_overlap_rs: false",
                           ", tp_comm_overlap_ag: false", ", tp_comm_overlap_rs_dgrad: true"}) {
    const std::string text = fmt::format(
        "{}training: {{global_batch: 16, recompute: selective}}\nparallel: {{tp: 4, pp: 2, dp: auto, "
        "sequence_parallel: true{}{}}}\ncluster: {{nodes: 2, node: {{preset: dgx-h100}}, fabric: {{type: "
        "rail_optimized}}}}\n",
        kTinyModel, kFused, more);
    const Scenario scenario = load(text);
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
    EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << more;
    EXPECT_EQ(folded.finished_at, whole.finished_at) << more;
    EXPECT_LE(folded.folding.ranks.count(), 4U) << more;
  }
}

// The same bytes cross the links as by a ring: each rank sends (n - 1) / n of an activation for each exchange.
TEST(FusedOverlap, SendsTheSameBytes) {
  const auto sent = [](const std::string& parallel) {
    return static_cast<double>(play(load(job(parallel + ", tp_comm_overlap_rs_dgrad: true"))).sent(0, "tp").count());
  };
  EXPECT_NEAR(sent(kFused) / sent(kChunks), 1.0, 1e-3);
}

}  // namespace
}  // namespace ringwright::configs::fused_overlap_test
