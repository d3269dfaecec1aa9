// Exchanges of tensor-parallel ranks concurrent with their GEMMs, as whole scenarios: the hidden share, folded or not.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::tensor_overlap_test {
namespace {

std::string job(const std::string& parallel, const std::string& nvlink = "450GB/s") {
  return "model: {preset: llama3-70b, num_layers: 4}\ntraining: {global_batch: 2}\n"
         "parallel: {tp: 8, sequence_parallel: true" +
         parallel + "}\ncluster: {nodes: 1, node: {preset: dgx-h100, nvlink: {bandwidth: " + nvlink +
         "}}, fabric: {type: single_node}}\n";
}

Report report_of(const std::string& text) {
  const Scenario scenario = load(text);
  const auto simulation = assemble(scenario);
  return std::move(*simulate(scenario, *simulation, {}).report);
}

double exposed(const Report& report) {
  for (const DimensionTime& dimension : report.everywhere.dimensions) {
    if (dimension.name == "tp") return to_seconds(dimension.exposed);
  }
  return -1.0;
}

TEST(TensorOverlap, HidesMostOfTheExchanges) {
  const Report plain = report_of(job(""));
  const Report overlapped = report_of(job(", tp_comm_overlap: true"));
  EXPECT_LT(exposed(overlapped), 0.5 * exposed(plain));
  EXPECT_LT(overlapped.step_time.mean, plain.step_time.mean);
}

// On slow links GEMMs end long before chunks arrive: then little can be hidden, and nothing is gained for free.
TEST(TensorOverlap, HidesNoMoreThanThereIsToCompute) {
  const Report fast = report_of(job(", tp_comm_overlap: true"));
  const Report slow = report_of(job(", tp_comm_overlap: true", "20GB/s"));
  const Report plain = report_of(job("", "20GB/s"));
  EXPECT_GT(exposed(slow), 10.0 * exposed(fast));
  EXPECT_GT(exposed(slow), 0.5 * exposed(plain));
}

TEST(TensorOverlap, IsPlayedByOneRankForAll) {
  for (const char* more : {"", ", tp_comm_overlap_rs_dgrad: true", ", tp_comm_overlap_ag: false"}) {
    const std::string text = fmt::format(
        "{}training: {{global_batch: 16, recompute: selective}}\nparallel: {{tp: 4, pp: 2, dp: auto, "
        "sequence_parallel: "
        "true, tp_comm_overlap: true{}}}\ncluster: {{nodes: 2, node: {{preset: dgx-h100}}, fabric: {{type: "
        "rail_optimized}}}}\n",
        kTinyModel, more);
    const Scenario scenario = load(text);
    const Played folded = play(scenario, FoldMode::kFold);
    const Played whole = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.outcome, RunOutcome::kFinished);
    EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end) << more;
    EXPECT_EQ(folded.finished_at, whole.finished_at) << more;
    EXPECT_LE(folded.folding.ranks.count(), 4U) << more;
  }
}

}  // namespace
}  // namespace ringwright::configs::tensor_overlap_test
