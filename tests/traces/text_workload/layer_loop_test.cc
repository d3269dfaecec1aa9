#include "traces/text_workload/layer_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"

namespace ringwright::traces::layer_loop_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace literals;

// Two layers with distinct times and sizes, so that a task tells which phase it is.
constexpr std::string_view kRows =
    "\n2\n"
    "a -1 1 ALLGATHER 100 2 REDUCESCATTER 200 3 ALLREDUCE 300 0\n"
    "b -1 4 ALLREDUCE 400 5 ALLREDUCE 500 6 ALLREDUCE 600 9\n";

TextReplay replayed(const std::string& head, const TextMachine& machine, std::string_view rows = kRows) {
  const auto workload = parse_text_workload("w.txt", head + std::string(rows));
  if (!workload) throw std::runtime_error(render(workload.error()));
  auto replay = replay_text_workload(*workload, machine);
  if (!replay) throw std::runtime_error(render(replay.error()));
  EXPECT_EQ(check_task_graph(replay->graph), "");
  return std::move(*replay);
}

// "c1" computes for 1 ns, "tp400" is a collective of 400 bytes among tp; after it in brackets what it waits for.
std::vector<std::string> tasks_of(const TaskGraph& graph) {
  const Program& program = graph.programs.at(0);
  std::vector<std::string> names, texts;
  for (const Task& task : program.tasks) {
    const bool computes = task.kind == TaskKind::kCompute;
    names.push_back(computes ? "c" + std::to_string(graph.works[task.detail].recorded->count() / 1'000)
                             : graph.dimensions[task.dimension.index()].name +
                                   std::to_string(graph.collectives[task.detail].bytes.count()));
    std::vector<std::string> before;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      before.push_back(names[program.dependencies[task.first_dependency + d]]);
    }
    texts.push_back(names.back() + (before.empty() ? "" : "(" + join(before, " ") + ")"));
  }
  return texts;
}

// Gradients of weights are reduced while the backward pass goes on.
TEST(TextLoop, DataParallelComputesForwardAndReducesBackward) {
  EXPECT_THAT(tasks_of(replayed("DATA", {.ranks = 4}).graph),
              ElementsAre("c1", "c4", "c6", "dp600(c6)", "c9(dp600)", "c5", "c3", "dp300(c3)"));
}

TEST(TextLoop, CollectivesThatTheLoopDoesNotCallAreNamed) {
  EXPECT_THAT(render(replayed("DATA", {.ranks = 4}).warnings),
              HasSubstr("w.txt:1:1: warning[W623]: 4 collectives have no effect: DATA communicates after weight"));
  EXPECT_THAT(render(replayed("MODEL", {.ranks = 4}).warnings), HasSubstr("2 collectives have no effect: MODEL does"));
  EXPECT_TRUE(replayed("HYBRID_DATA_MODEL", {.ranks = 4}).warnings.all().empty());
}

// Of ASTRA-sim 1.0: an all-gather's size is that of one shard, here of 4.
TEST(TextLoop, ModelParallelWaitsForTheInputGradientAfterTheWeights) {
  EXPECT_THAT(tasks_of(replayed("MODEL", {.ranks = 4}).graph),
              ElementsAre("c1", "tp400(c1)", "c4(tp400)", "tp400(c4)", "c9(tp400)", "c5(c9)", "tp500(c5)", "c9(tp500)",
                          "c6", "c2(c9)", "c3"));
}

TEST(TextLoop, ATransformerWaitsForTheInputGradientAtOnce) {
  const TextReplay replay = replayed("HYBRID_TRANSFORMER model_parallel_NPU_group: 2", {.ranks = 4});
  EXPECT_THAT(tasks_of(replay.graph),
              ElementsAre("c1", "tp200(c1)", "c4(tp200)", "tp400(c4)", "c9(tp400)", "c5(c9)", "tp500(c5)", "c9(tp500)",
                          "c6(c9)", "dp600(c6)", "c9(dp600)", "c2", "tp200(c2)", "c3(tp200)", "dp300(c3)"));
}

// SimAI's size of an all-gather is the gathered buffer. Layer 1 recomputes layer 0.
TEST(TextLoop, RecomputationRunsForwardFromTheCheckpoint) {
  const TextReplay replay = replayed(
      "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 4 all_gpus: 4 checkpoints: 1 0 "
      "checkpoint_initiates: 1 1",
      {.ranks = 4});
  EXPECT_THAT(tasks_of(replay.graph),
              ElementsAre("c1", "tp100(c1)", "c4(tp100)", "tp400(c4)", "c9(tp400)", "c1(c9)", "tp100(c1)", "c5(tp100)",
                          "tp500(c5)", "c9(tp500)", "c6(c9)", "c2", "tp200(c2)", "c3(tp200)"));
}

TEST(TextLoop, InferenceIsTheForwardPass) {
  EXPECT_THAT(tasks_of(replayed("DISTRIBUTED_INFERENCE", {.ranks = 2}).graph),
              ElementsAre("c1", "tp200(c1)", "c4(tp200)", "tp400(c4)", "c9(tp400)"));
}

// 16 ranks, tp 2, pp 2, so 4 replicas; ep 2. Rank = (d * 2 + p) * 2 + t.
TEST(TextLoop, GroupsAreThoseOfSimAi) {
  constexpr std::string_view rows = "\n1\na -1 1 ALLREDUCE 1 1 ALLTOALL_EP 2 1 ALLREDUCE 3 0\n";
  const TextReplay replay =
      replayed("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 pp: 2 ep: 2 all_gpus: 16", {.ranks = 16}, rows);
  const std::vector<Dimension>& dimensions = replay.graph.dimensions;
  ASSERT_EQ(dimensions.size(), 3U);
  const auto group_of_rank_1 = [&](std::size_t dimension) {
    std::vector<int> ranks;
    for (const RankId rank : dimensions[dimension].groups[dimensions[dimension].group_of[1]]) {
      ranks.push_back(static_cast<int>(rank.index()));
    }
    return ranks;
  };
  EXPECT_EQ(dimensions[0].name, "tp");
  EXPECT_THAT(group_of_rank_1(0), ElementsAre(0, 1));
  EXPECT_EQ(dimensions[1].name, "ep");
  EXPECT_THAT(group_of_rank_1(1), ElementsAre(1, 5));
  EXPECT_EQ(dimensions[2].name, "dp");
  EXPECT_THAT(group_of_rank_1(2), ElementsAre(1, 5, 9, 13));
  EXPECT_TRUE(replay.warnings.all().size() == 1U);  // pp
}

TEST(TextLoop, HybridLoopsDivideAtTheHost) {
  const TextReplay replay = replayed("HYBRID_DATA_MODEL", {.ranks = 8, .gpus_per_host = 4});
  for (const Dimension& dimension : replay.graph.dimensions) {
    EXPECT_EQ(dimension.groups.size(), dimension.name == "tp" ? 2U : 4U) << dimension.name;
  }
}

TEST(TextLoop, GroupsOfOneCommunicateNothing) {
  EXPECT_THAT(tasks_of(replayed("DATA", {.ranks = 1}).graph), ElementsAre("c1", "c4", "c6", "c5", "c3"));
}

TEST(TextLoop, GroupsThatDoNotDivideTheMachineAreRefused) {
  const auto error = [](const std::string& head, std::int64_t ranks) {
    const auto workload = parse_text_workload("w.txt", head + std::string(kRows));
    const auto replay = replay_text_workload(*workload, {.ranks = ranks});
    return replay ? "no error" : render(replay.error());
  };
  EXPECT_THAT(error("HYBRID_TRANSFORMER", 8), HasSubstr("no model_parallel_NPU_group"));
  EXPECT_THAT(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 3", 8), HasSubstr("does not divide the 8 GPUs"));
  EXPECT_THAT(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 ep: 3", 8),
              HasSubstr("ep 3 does not divide the 4"));
  EXPECT_THAT(error("HYBRID_TRANSFORMER model_parallel_NPU_group: 2 all_gpus: 16", 8), HasSubstr("all_gpus is 16"));
}

}  // namespace
}  // namespace ringwright::traces::layer_loop_test
