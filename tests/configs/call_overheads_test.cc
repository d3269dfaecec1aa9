// Steps that begin as late as kernels demand take, alone, what the kernels take.
#include "configs/call_overheads.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/collective_run.h"
#include "tests/configs/played.h"

namespace ringwright::configs {
namespace {

using namespace ringwright::literals;

constexpr const char* kCluster =
    "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 4, leaf: {ports: 8}, "
    "spine: {ports: 8}}}\n";

Scenario machine(const std::string& collectives) {
  auto scenario = load_machine_text("machine.yaml", "version: 1\n" + std::string(kCluster) + "collectives: {" + collectives + "}\n");
  if (!scenario) throw std::runtime_error(render(scenario.error()));
  return std::move(*scenario);
}

Duration time_of(const Scenario& scenario, CollectiveOperation operation, Bytes bytes) {
  CollectiveBench bench(scenario);
  const auto result = bench.run({.operation = operation, .bytes = bytes});
  if (!result) throw std::runtime_error(render(result.error()));
  return result->time;
}

TEST(CallOverheads, MakeStepsTakeWhatKernelsTake) {
  const Scenario kernels = machine("model: chunks");
  const Scenario plain = machine("model: steps, overhead: none");
  const Scenario steps = machine("model: steps, overhead: kernels");
  for (const CollectiveOperation operation : {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather,
                                              CollectiveOperation::kReduceScatter, CollectiveOperation::kAllToAll}) {
    for (const Bytes bytes : {8_KiB, 4_MiB, 256_MiB}) {
      const Duration expected =
          std::max(time_of(kernels, operation, bytes), time_of(plain, operation, bytes));
      EXPECT_EQ(time_of(steps, operation, bytes), expected) << to_string(operation) << " of " << to_string(bytes);
    }
  }
}

std::string job(const std::string& collectives) {
  return std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {tp: 4, pp: 2, dp: auto, sequence_parallel: true}\n" +
         kCluster + "simulate: {network: flow}\ncollectives: {" + collectives + "}\n";
}

// Every call of the report took its steps' time and the overhead of its size.
TEST(CallOverheads, AreInTrainingSteps) {
  const Scenario scenario = load(job("overhead: kernels"));
  const auto simulation = assemble(scenario);
  const Played with = play(scenario);
  const Played without = play(load(job("overhead: none")));
  EXPECT_GT(with.time(), without.time());
  const DimensionId tp(with.dimension("tp"));
  const GroupLayout& layout = with.graph.layouts[with.graph.dimensions[tp.index()].layout_of_group.front()];
  const CollectiveSpec& spec = with.graph.collectives.front();
  const Duration overhead = simulation->call_overhead()->of({.kind = spec.kind, .bytes = spec.bytes, .layout = &layout, .dimension = tp});
  EXPECT_GT(overhead, 1_us);
  EXPECT_LT(overhead, 50_us);
}

TEST(CallOverheads, FoldExactly) {
  for (const char* collectives : {"overhead: kernels", "overhead: kernels, tuner: nccl"}) {
    const Scenario scenario = load(job(collectives));
    const Played folded = play(scenario, FoldMode::kFold);
    const Played all = play(scenario, FoldMode::kNoFold);
    EXPECT_EQ(folded.finished_at, all.finished_at);
    EXPECT_LT(folded.folding.ranks.count(), all.folding.ranks.count());
  }
}

TEST(CallOverheads, AreIgnoredWithAWordOnOtherRungs) {
  for (const char* rung : {"closed_form", "chunks"}) {
    const Scenario scenario = load(job(fmt::format("model: {}, overhead: kernels", rung)));
    EXPECT_EQ(assemble(scenario)->call_overhead(), nullptr);
    ASSERT_FALSE(scenario.document.log().ignored().empty()) << rung;
    EXPECT_EQ(scenario.document.log().ignored().front().path, "collectives.overhead");
  }
}

TEST(CallOverheads, TakeTheConstantsOfComm) {
  const Scenario plain = load(job("overhead: kernels"));
  const Scenario slow = load(job("overhead: kernels") + "comm: {costs: {launch: 500us}}\n");
  EXPECT_GT(play(slow).time(), play(plain).time() + 400_us);
}

}  // namespace
}  // namespace ringwright::configs
