// Kernels that cast and copy sharded parameters around their gathers.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/traffic.h"
#include "workload/layout/stage_chunks.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::gathered_copies_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// One microbatch on four ranks.
JobText job_of(const std::string& parallel, const std::string& training = "") {
  return JobText(
      small_model(4) + fmt::format("training: {{global_batch: 4{}}}\nparallel: {{{}}}\n", training, parallel), 4);
}

// Bytes of the kernels of this name in the program of a step.
std::int64_t copied(const std::string& parallel, const std::string& name, const std::string& training = "") {
  const JobText job = job_of(parallel, training);
  EXPECT_THAT(job.problems(), IsEmpty());
  const StepPlan plan = job.plan();
  std::int64_t bytes = 0;
  for (const Task& task : plan.graph.programs.front().tasks) {
    if (task.kind != TaskKind::kCompute) continue;
    for (const Kernel& kernel : plan.graph.works[task.detail].kernels) {
      if (kernel.name == name) bytes += kernel.bytes.count() * kernel.launches;
    }
  }
  return bytes;
}

std::int64_t gathered_bytes_of(const std::string& parallel, const std::string& training = "") {
  return gathered_bytes(job_of(parallel, training).plan());
}

// PyTorch, _fsdp_collectives.py and _flat_param.py: shards in fp32 are cast to bf16 for each of two gathers; FSDP2 also
// copies them into the gather's buffer, and all parameters out of it, the ends being one unit that stays gathered.
TEST(GatheredCopies, Fsdp2CopiesWhatItGathersAndFsdp1GathersInPlace) {
  const std::string fsdp = "fsdp: {wrap_ends: true, sharding_strategy: full_shard";
  const std::int64_t psi = job_of(fsdp + "}").plan().stage_parameters[0];
  const std::int64_t gathered = gathered_bytes_of(fsdp + "}") / 2;
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
  EXPECT_LT(all, 2 * gathered_bytes_of(zero + "layers}"));
  EXPECT_EQ(copied(zero + "layers}", "cast shard"), 0);
  EXPECT_EQ(copied(zero + "weights}", "copy gathered parameters"), 0);
}

std::int64_t matrix_elements(const JobText& job) {
  return layer_matrices(stage_chunks(job.shape, job.parallel, 0), 1, Matrices::kAll).elements;
}

// torchao, float8_linear.py: sharded weights have no place for their copy in fp8. Each pass reads them twice, for the
// maximum and for the cast, and writes them; a backward pass that recomputes its layer does so twice.
TEST(GatheredCopies, ShardedWeightsAreCastWhereverTheyAreUsed) {
  const std::string fsdp = "fsdp: {}";
  const std::int64_t matrices = matrix_elements(job_of(fsdp));
  EXPECT_EQ(copied(fsdp, "cast weights", ", fp8_recipe: tensorwise"), 2 * matrices * (2 + 2 + 1));
  EXPECT_EQ(copied(fsdp, "cast weights", ", fp8_recipe: rowwise"), 2 * matrices * (2 + 2 + 1));
  EXPECT_EQ(copied(fsdp, "cast weights", ", fp8_recipe: delayed"), 2 * matrices * (2 + 1));
  EXPECT_EQ(copied(fsdp, "cast weights", ", fp8_recipe: tensorwise, recompute: full"), 3 * matrices * (2 + 2 + 1));
  EXPECT_EQ(copied(fsdp, "cast weights"), 0);
}

// torchao's enable_fsdp_float8_all_gather: matrices of layers are cast before the gather, travel and are copied in one
// byte, and are transposed for their gradients.
TEST(GatheredCopies, Fsdp2MayGatherMatricesInFp8) {
  const std::string fsdp = "fsdp: {wrap_ends: true}";
  const std::string wide = ", fp8_recipe: tensorwise";
  const std::string narrow = wide + ", fp8_param_gather: true";
  const std::int64_t twice = 2 * matrix_elements(job_of(fsdp));  // forward and backward
  EXPECT_EQ(gathered_bytes_of(fsdp, wide) - gathered_bytes_of(fsdp, narrow), twice);
  EXPECT_EQ(copied(fsdp, "copy gathered parameters", wide) - copied(fsdp, "copy gathered parameters", narrow),
            2 * twice);
  EXPECT_EQ(copied(fsdp, "cast shard", wide) - copied(fsdp, "cast shard", narrow), twice / 4);
  EXPECT_EQ(copied(fsdp, "cast weights", narrow), 0);
  EXPECT_EQ(copied(fsdp, "transpose weights", narrow), twice / 2 * 2);
  const auto held = [&](const std::string& training) {
    return memory_ledger(job_of(fsdp, training).inputs(), {}).front().of("gathered parameters");
  };
  EXPECT_LT(held(narrow), held(wide));
}

TEST(GatheredCopies, OnlyOneScaleOfATensorCanBeGatheredInFp8) {
  for (const std::string parallel : {"fsdp: {version: 1}", "zero: {stage: 3}"}) {
    EXPECT_THAT(job_of(parallel, ", fp8_recipe: tensorwise, fp8_param_gather: true").problems(),
                ElementsAre(HasSubstr("sharded parameters are gathered in the working type")));
  }
  EXPECT_THAT(job_of("fsdp: {}", ", fp8_recipe: mxfp8, fp8_param_gather: true").problems(),
              ElementsAre(HasSubstr("FSDP gathers only tensors with one scale in fp8")));
}

}  // namespace
}  // namespace ringwright::workload::gathered_copies_test
