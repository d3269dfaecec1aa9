// Identical passes are written once and called: expanded, a step equals the one that was built pass by pass.
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "core/plan/segments.h"
#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "workload/builtin.h"

namespace ringwright::workload::pass_segments_test {
namespace {

using testing::IsEmpty;

// A task as text: its work, its stream, its dependencies. Tables may be numbered differently.
std::string describe(const TaskGraph& graph, const Program& program, const Task& task) {
  std::string text = fmt::format("{} on {} in {}:", graph.labels[task.label], task.stream, task.dimension.value);
  for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
    text += fmt::format(" {}", program.dependencies[task.first_dependency + d]);
  }
  if (task.kind == TaskKind::kCollective) {
    const CollectiveSpec& spec = graph.collectives[task.detail];
    return fmt::format("{}; {} of {}", text, to_string(spec.kind), spec.bytes.count());
  }
  if (task.kind != TaskKind::kCompute) {
    const MessageSpec& spec = graph.messages[task.detail];
    return fmt::format("{}; {} to {} on {}", text, spec.bytes.count(), spec.peer, spec.channel);
  }
  for (const Kernel& kernel : graph.works[task.detail].kernels) {
    text += fmt::format("; {} x {} of {}", kernel.launches, kernel.name, kernel.bytes.count());
  }
  return text;
}

void expect_same(const StepPlan& compact, const StepPlan& written, const std::string& job) {
  ASSERT_EQ(check_task_graph(compact.graph), "") << job;
  ASSERT_EQ(compact.graph.programs.size(), written.graph.programs.size());
  for (std::size_t p = 0; p < written.graph.programs.size(); ++p) {
    const Program& expected = written.graph.programs[p];
    const Program found = write_out(compact.graph, compact.graph.programs[p]);
    ASSERT_EQ(found.tasks.size(), expected.tasks.size()) << job;
    for (std::size_t i = 0; i < expected.tasks.size(); ++i) {
      ASSERT_EQ(describe(compact.graph, found, found.tasks[i]), describe(written.graph, expected, expected.tasks[i]))
          << job << ", program " << p << ", task " << i;
    }
  }
  EXPECT_EQ(compact.communication, written.communication) << job;
}

// The compression ratio of the compact form; 1 where nothing is shared.
double expect_exact(const std::string& text, std::int64_t ranks) {
  const JobText job(text, ranks);
  for (const std::string& problem : job.problems()) EXPECT_FALSE(problem.starts_with('E')) << problem << "\n" << text;
  const StepPlan compact = job.compact_plan();
  const StepPlan written = build_step(job.inputs(), Passes::kWrittenOut);
  EXPECT_THAT(written.graph.segments, IsEmpty());
  expect_same(compact, written, text);
  return static_cast<double>(written.graph.programs[0].tasks.size()) /
         static_cast<double>(compact.graph.programs[0].tasks.size());
}

std::string dense(const std::string& parallel, const std::string& training = "") {
  return small_model(8) + "training: {global_batch: 32" + training + "}\nparallel: {" + parallel + "}\n";
}

TEST(PassSegments, MakeAProgramAsShortAsItsSchedule) {
  const JobText job(dense("tp: 4, pp: 2, sequence_parallel: true"), 8);
  const StepPlan plan = job.compact_plan();
  // Stage 1: cleared gradients, 32 times (receive, gather on arrival is not needed, F, B, send), and the end of the
  // step: replicated gradients, norm, its sum over the model, update.
  EXPECT_EQ(plan.graph.programs[1].tasks.size(), 1U + 32U * 4U + 4U);
  EXPECT_GT(expect_exact(dense("tp: 4, pp: 2, sequence_parallel: true"), 8), 10.0);
}

TEST(PassSegments, AreSharedByStagesOfEqualLayers) {
  // Only the first and the last of four stages have passes of their own, and each calls with and without a preceding
  // wait.
  const StepPlan four = JobText(dense("tp: 2, pp: 4, sequence_parallel: true"), 8).compact_plan();
  const StepPlan eight = JobText(dense("tp: 1, pp: 8, sequence_parallel: false"), 8).compact_plan();
  EXPECT_LE(four.graph.segments.size(), 14U);
  EXPECT_LE(eight.graph.segments.size(), 14U);
}

TEST(PassSegments, OfEverySchedule) {
  for (const ScheduleEntry& schedule : schedules()) {
    std::string parallel = fmt::format("tp: 2, pp: 4, schedule: {}", schedule.name);
    if (schedule.name == "interleaved-1f1b") parallel += ", virtual_stages: 2";
    expect_exact(dense(parallel), 8);
  }
}

TEST(PassSegments, OfEveryStrategy) {
  for (const char* parallel :
       {"tp: 2, pp: 2, zero: {stage: 1}",
        "pp: 2, zero: {stage: 1, overlap_grad_reduce: true, overlap_param_gather: true}",
        "tp: 4, pp: 2, overlap_p2p_comm: true", "tp: 2, zero: {stage: 0, overlap_grad_reduce: true, bucket: 128KiB}",
        "zero: {stage: 2}", "zero: {stage: 3}", "fsdp: {}", "cp: 4", "cp: 4, cp_comm_type: all_gather",
        "cp: 4, cp_comm_type: a2a", "tp: 2, cp: 2, pp: 2", "zero: {stage: 1, offload_optimizer: {device: cpu}}",
        "tp: 2, cpu_offloading_num_layers: 2"}) {
    expect_exact(dense(parallel), 8);
    expect_exact(dense(parallel, ", recompute: full"), 8);
  }
}

TEST(PassSegments, OfExperts) {
  const std::string experts =
      "model: {num_layers: 4, hidden_size: 64, num_attention_heads: 8, vocab_size: 1000, seq_length: 32, num_experts: "
      "8, "
      "moe_router_topk: 2, moe_ffn_hidden_size: 32, moe_shared_expert_intermediate_size: 32}\n";
  for (const char* parallel :
       {"ep: 8, etp: 1", "ep: 4, etp: 1, pp: 2", "tp: 2, sequence_parallel: true, ep: 2, etp: 2, pp: 2",
        "ep: 8, etp: 1, moe_token_dispatcher_type: flex, moe_shared_expert_overlap: true",
        "ep: 4, etp: 1, moe_router_load: {deviation: 0.7}"}) {
    expect_exact(experts + "training: {global_batch: 32}\nparallel: {" + parallel + "}\n", 8);
  }
}

// Sizes drawn at random from those that divide 8 ranks and 8 layers.
TEST(PassSegments, OfLayoutsAtRandom) {
  RandomStream random(7, "pass segments");
  const auto draw = [&random](std::initializer_list<const char*> choices) {
    return std::string(choices.begin()[random.next_below(choices.size())]);
  };
  for (int round = 0; round < 40; ++round) {
    const std::string sizes = draw({"tp: 2, pp: 2", "tp: 1, pp: 4", "tp: 4, pp: 2", "tp: 2, pp: 4", "tp: 8", "tp: 2"});
    const std::string talk = draw({"", ", overlap_p2p_comm: true", ", scatter_gather_p2p: true"});
    const std::string zero = draw({"", ", zero: {stage: 1}",
                                   ", zero: {stage: 1, overlap_grad_reduce: true, "
                                   "overlap_param_gather: true, bucket: 64KiB}"});
    const std::string recompute = draw({"", ", recompute: full", ", recompute: selective"});
    expect_exact(dense(sizes + talk + zero, recompute), 8);
  }
}

}  // namespace
}  // namespace ringwright::workload::pass_segments_test
