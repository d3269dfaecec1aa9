#include "workload/parallel/overlapped_gemms.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "tests/workload/traffic.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::overlapped_gemms_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

JobText job(const std::string& parallel, const std::string& training = "", std::int64_t ranks = 4) {
  return JobText(small_model(2) + "training: {global_batch: 1" + training + "}\nparallel: {" + parallel + "}\n", ranks);
}
const std::string kPlain = "tp: 4, sequence_parallel: true";
const std::string kOverlapped = kPlain + ", tp_comm_overlap: true";

constexpr std::int64_t kActivation = 32 * 64 * 2;

std::vector<std::string> names_of(const StepPlan& plan) {
  return task_names(plan.graph, plan.graph.programs[0]);
}
std::int64_t count(const StepPlan& plan, const std::string& name) {
  return std::ranges::count(names_of(plan), name);
}

TEST(OverlappedGemms, TheSameIsComputed) {
  for (const char* training : {"", ", recompute: full", ", recompute: selective", ", fp8_recipe: delayed"}) {
    EXPECT_DOUBLE_EQ(job(kOverlapped, training).plan().hardware_flops.count(),
                     job(kPlain, training).plan().hardware_flops.count())
        << training;
  }
}

// The first half of the first layer: four GEMMs around the ring, then the kernels in between, then four chunks.
TEST(OverlappedGemms, PartsTravelAroundTheRingWhileGemmsRun) {
  const StepPlan plan = job(kOverlapped).plan();
  const std::vector<std::string> names = names_of(plan);
  const auto begin = std::ranges::find(names, "tp send part");
  ASSERT_NE(begin, names.end());
  EXPECT_THAT(std::vector<std::string>(begin, begin + 18),
              ElementsAre("tp send part", "tp receive part", "tp send part", "F0",  // the rank's own part
                          "tp receive part", "tp send part", "F0",                  // the second
                          "tp receive part", "F0", "F0",                            // the third and the last
                          "F0", "tp reduce_scatter chunk", "F0",                    // the core and chunk 0
                          "tp reduce_scatter chunk", "F0", "tp reduce_scatter chunk", "F0", "tp reduce_scatter chunk"));
}

TEST(OverlappedGemms, AGemmWaitsForItsPartAndAChunkForNone) {
  const StepPlan plan = job(kOverlapped).plan();
  const Program& program = plan.graph.programs[0];
  const std::vector<std::string> names = names_of(plan);
  const auto at = [&names](const char* name, int which) {
    std::size_t found = 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name && which-- == 0) found = i;
    }
    return found;
  };
  const std::size_t received = at("tp receive part", 0);
  EXPECT_EQ(names[received + 1], "tp send part");
  EXPECT_TRUE(waits_for(program, received + 1, received));   // forwarded as soon as it has arrived
  EXPECT_FALSE(waits_for(program, received + 2, received));  // the GEMM of the rank's own part
  EXPECT_TRUE(waits_for(program, received + 5, received));   // the GEMM of the received part
  const std::size_t chunk = at("tp reduce_scatter chunk", 0);
  EXPECT_FALSE(waits_for(program, chunk + 1, chunk));
  EXPECT_TRUE(waits_for(program, chunk + 7, chunk));  // the task after all chunks
}

// Each of a layer's four exchanges with an all-gather now has three messages of a quarter of it; of ten buffers of an
// activation (see StepBuilder.SequenceParallelismGathersColumnInputsAgain) four are messages.
TEST(OverlappedGemms, MessagesAndChunksAddUpToTheExchanges) {
  const StepPlan plain = job(kPlain).plan();
  const StepPlan overlapped = job(kOverlapped).plan();
  const std::int64_t layers = 2;
  EXPECT_EQ(count(plain, "tp all_gather") - count(overlapped, "tp all_gather"), layers * 4);
  EXPECT_EQ(count(overlapped, "tp send part"), layers * 4 * 3);
  EXPECT_EQ(count(overlapped, "tp receive part"), layers * 4 * 3);
  EXPECT_EQ(count(overlapped, "tp reduce_scatter chunk"), layers * 2 * 4);
  EXPECT_EQ(traffic(plain, 0, "tp") - traffic(overlapped, 0, "tp"), Bytes(layers * 4 * kActivation / 4));
}

// All messages have half the bytes where values of one byte travel around the ring instead of two; also the input that
// is gathered again with them; results are reduced as before.
TEST(OverlappedGemms, NarrowPartsTravelAroundTheRing) {
  const auto moved = [](const std::string& training) {
    return traffic(job(kOverlapped, ", fp8_recipe: delayed" + training).plan(), 0, "tp");
  };
  const std::int64_t layers = 2;
  const std::int64_t halved = 4 * 3 * kActivation / 4 + 2 * kActivation;  // a layer
  EXPECT_EQ(moved("") - moved(", fp8_gather: true"), Bytes(layers * halved / 2));
}

TEST(OverlappedGemms, EachPartCanBeLeftOut) {
  const StepPlan no_gather = job(kOverlapped + ", tp_comm_overlap_ag: false").plan();
  EXPECT_EQ(count(no_gather, "tp send part"), 0);
  EXPECT_EQ(count(no_gather, "tp all_gather"), count(job(kPlain).plan(), "tp all_gather"));
  const StepPlan no_scatter = job(kOverlapped + ", tp_comm_overlap_rs: false").plan();
  EXPECT_EQ(count(no_scatter, "tp reduce_scatter chunk"), 0);
  EXPECT_EQ(count(no_scatter, "tp reduce_scatter"), count(job(kPlain).plan(), "tp reduce_scatter"));
  const StepPlan gradients = job(kOverlapped + ", tp_comm_overlap_rs_dgrad: true").plan();
  EXPECT_EQ(count(gradients, "tp reduce_scatter chunk"), 2 * 4 * 4);  // of two layers: two forward, two backward
}

TEST(OverlappedGemms, PassesForWeightsExchangeNothing) {
  const std::string split = ", pp: 2, schedule: zb-h1";
  const auto sends = [](const std::string& parallel) {
    const JobText asked = job(parallel, "", 8);
    EXPECT_THAT(asked.problems(), IsEmpty());
    return count(asked.plan(), "tp send part");
  };
  EXPECT_EQ(sends(kOverlapped + split), sends(kOverlapped + ", pp: 2"));
}

TEST(OverlappedGemms, ContextParallelRanksExchangeInBetween) {
  const JobText asked = job(kOverlapped + ", cp: 2", "", 8);
  EXPECT_THAT(asked.problems(), IsEmpty());
  EXPECT_DOUBLE_EQ(asked.plan().hardware_flops.count(), job(kPlain + ", cp: 2", "", 8).plan().hardware_flops.count());
  EXPECT_EQ(count(asked.plan(), "tp send part"), 2 * 4 * 3);
}

TEST(OverlappedGemms, BuffersAreInMemory) {
  const auto buffers = [](const std::string& parallel) {
    return memory_ledger(job(parallel).inputs(), {}).front().of("user buffers");
  };
  EXPECT_EQ(buffers(kPlain), Bytes(0));
  EXPECT_EQ(buffers(kOverlapped), Bytes(10 * kActivation));
  EXPECT_EQ(buffers(kOverlapped + ", tp_comm_overlap_user_buffers: false"), Bytes(0));
  EXPECT_EQ(buffers(kOverlapped + ", tp_comm_overlap_ag: false"), Bytes(6 * kActivation));
  EXPECT_EQ(buffers(kOverlapped + ", tp_comm_overlap_rs_dgrad: true"), Bytes(8 * kActivation));
}

TEST(OverlappedGemms, InvalidSettingsAreReported) {
  EXPECT_THAT(job("tp: 4, tp_comm_overlap: true").problems(),
              ElementsAre("E147: parallel.tp_comm_overlap needs activations that are split along the sequence | set "
                          "parallel.sequence_parallel: true"));
  EXPECT_THAT(job("tp_comm_overlap: true", "", 1).problems(),
              ElementsAre("W131: parallel.tp_comm_overlap has no effect: tp is 1"));
  EXPECT_THAT(job(kPlain + ", tp_comm_overlap_ag: false").problems(),
              ElementsAre("W131: parallel.tp_comm_overlap_ag has no effect: tp_comm_overlap is off"));
}

const std::string kFused = kOverlapped + ", tp_comm_overlap_method: flux";

// Small GEMMs have one wave: nothing arrives or leaves before the kernel, which waits for all parts or stores all.
TEST(OverlappedGemms, AFusedKernelOfOneWaveIsNotDivided) {
  const StepPlan plan = job(kFused + ", tp_comm_overlap_tiles: 1").plan();
  const std::vector<std::string> names = names_of(plan);
  const auto begin = std::ranges::find(names, "tp send tiles");
  ASSERT_NE(begin, names.end());
  EXPECT_THAT(std::vector<std::string>(begin, begin + 9),
              ElementsAre("tp send tiles", "tp receive tiles", "tp send tiles", "tp receive tiles", "tp send tiles",
                          "tp receive tiles", "F0", "F0", "tp store tiles"));  // qkv; the core and the projection
  EXPECT_DOUBLE_EQ(plan.hardware_flops.count(), job(kPlain).plan().hardware_flops.count());
  EXPECT_EQ(check_task_graph(plan.graph), "");
}

// Of n ranks each sends n - 1 of n parts of an activation, in t pieces each: four gathers and two scatters a layer.
TEST(OverlappedGemms, TilesAddUpToTheExchanges) {
  const std::int64_t layers = 2;
  const StepPlan plan = job(kFused + ", tp_comm_overlap_tiles: 2").plan();
  EXPECT_EQ(count(plan, "tp send tiles"), layers * 4 * 3 * 2);
  EXPECT_EQ(count(plan, "tp store tiles"), layers * 2 * 3 * 2);
  EXPECT_EQ(count(plan, "tp receive tiles"), layers * 6 * 3 * 2);
  EXPECT_EQ(count(plan, "tp sum tiles"), layers * 2);
  const StepPlan gradients = job(kFused + ", tp_comm_overlap_tiles: 2, tp_comm_overlap_rs_dgrad: true").plan();
  EXPECT_EQ(count(gradients, "tp store tiles"), layers * 4 * 3 * 2);
}

}  // namespace
}  // namespace ringwright::workload::overlapped_products_test
