// Kernels that cast and copy sharded parameters around their gathers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"

namespace ringwright::workload::gathered_copies_test {
namespace {

using testing::IsEmpty;

// One microbatch on four ranks.
JobText job_of(const std::string& parallel) {
  return JobText(small_model(4) + fmt::format("training: {{global_batch: 4}}\nparallel: {{{}}}\n", parallel), 4);
}

// Bytes of the kernels of this name in the program of a step.
std::int64_t copied(const std::string& parallel, const std::string& name) {
  const JobText job = job_of(parallel);
  EXPECT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  std::int64_t bytes = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCompute) continue;
    for (const Kernel& kernel : plan.graph.works[task.detail].kernels) {
      if (kernel.name == name) bytes += kernel.bytes.count();
    }
  }
  return bytes;
}

std::int64_t gathered_bytes(const std::string& parallel) {
  const StepPlan plan = job_of(parallel).plan();
  std::int64_t bytes = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCollective) continue;
    const CollectiveSpec& spec = plan.graph.collectives[task.detail];
    if (spec.kind == CollectiveKind::kAllGather) bytes += spec.bytes.count();
  }
  return bytes;
}

// PyTorch, _fsdp_collectives.py and _flat_param.py: shards in fp32 are cast to bf16 for each of two gathers; FSDP2 also
// copies them into the gather's buffer, and all parameters out of it, the ends being one unit that stays gathered.
TEST(GatheredCopies, Fsdp2CopiesWhatItGathersAndFsdp1GathersInPlace) {
  const std::string fsdp = "fsdp: {wrap_ends: true, sharding_strategy: full_shard";
  const std::int64_t psi = job_of(fsdp + "}").plan().stage_parameters[0];
  const std::int64_t gathered = gathered_bytes(fsdp + "}") / 2;
  EXPECT_GT(gathered, psi);
  EXPECT_EQ(copied(fsdp + "}", "cast shard"), gathered / 4 * (4 + 2));
  EXPECT_EQ(copied(fsdp + "}", "copy shard"), gathered / 4 * 2 * 2);
  EXPECT_EQ(copied(fsdp + "}", "copy gathered parameters"), gathered * 2 * 2);
  EXPECT_EQ(copied(fsdp + ", version: 1}", "cast shard"), gathered / 4 * (4 + 2));
  EXPECT_EQ(copied(fsdp + ", version: 1}", "copy shard"), 0);
  EXPECT_EQ(copied(fsdp + ", version: 1}", "copy gathered parameters"), 0);
}

// DeepSpeed, partition_parameters.py: AllGatherCoalescedHandle copies each of several parameters out of one gather; a
// single one (embedding and output layer here) is gathered in place. Shards have the working type already.
TEST(GatheredCopies, DeepSpeedCopiesWhatOneCallGathersForSeveralWeights) {
  const std::string zero =
      "zero: {stage: 3, stage3_max_reuse_distance: 0, stage3_param_persistence_threshold: 0, gather_calls: ";
  const std::int64_t all = copied(zero + "layers}", "copy gathered parameters");
  EXPECT_GT(all, 0);
  EXPECT_LT(all, 2 * gathered_bytes(zero + "layers}"));
  EXPECT_EQ(copied(zero + "layers}", "cast shard"), 0);
  EXPECT_EQ(copied(zero + "weights}", "copy gathered parameters"), 0);
}

}  // namespace
}  // namespace ringwright::workload::gathered_copies_test
