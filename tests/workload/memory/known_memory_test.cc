// What earlier layouts found changes no memory, and is found once.
#include "workload/memory/known_memory.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/layout/pipeline_order.h"
#include "workload/memory/memory.h"
#include "workload/pipeline/schedule_check.h"

namespace ringwright::workload::known_memory_test {
namespace {

std::string job_text(const std::string& training, const std::string& parallel) {
  return small_model(16) +
         fmt::format("training: {{global_batch: 64, micro_batch: 1{}}}\nparallel: {{{}}}\n", training, parallel);
}

std::string described(const std::vector<StageMemory>& ledger) {
  std::string text;
  for (const StageMemory& stage : ledger) {
    text += fmt::format("stage {} largest {}:", stage.stage, stage.largest_weight.count());
    for (const MemoryItem& item : stage.items) text += fmt::format(" {} {},", item.name, item.bytes.count());
  }
  return text;
}

// Twice through layouts that differ in one choice from their neighbours; some have orders of passes of their own.
TEST(KnownMemory, LayoutsAreMeasuredTheSameAfterOthers) {
  LastOrder order;
  KnownMemory known(order);
  for (int turn = 0; turn < 2; ++turn) {
    for (const char* pipeline : {"pp: 4", "pp: 2", "pp: 4, virtual_stages: 2, schedule: interleaved-1f1b",
                                 "pp: 4, schedule: zb-h1", "pp: 2, tp: 2"}) {
      for (const char* recompute : {"", ", recompute: selective", ", recompute: full"}) {
        for (const char* sharding : {"", ", zero: {stage: 1}", ", zero: {stage: 2, reduce_every: microbatch_group}",
                                     ", fsdp: {}", ", cpu_offloading_num_layers: 1"}) {
          const JobText job(job_text(recompute, std::string(pipeline) + sharding), 8);
          if (!job.problems().empty()) continue;  // split passes and gathers
          EXPECT_EQ(described(memory_ledger(job.inputs(), {}, &known)), described(memory_ledger(job.inputs(), {})))
              << pipeline << recompute << sharding;
        }
      }
    }
  }
}

// A schedule of gathers depends on neither what is recomputed nor which passes are left out before it is asked.
TEST(KnownMemory, GathersArePlannedOnceForAllRecomputation) {
  LastOrder order;
  KnownMemory known(order);
  const std::vector<std::size_t> none;
  const GatherSchedule* first = nullptr;
  for (const char* recompute : {"", ", recompute: selective", ", recompute: full"}) {
    const JobText job(job_text(recompute, "pp: 2, fsdp: {}"), 8);
    ASSERT_TRUE(job.problems().empty()) << job.problems().front();
    known.begin(job.inputs());
    const StageContents& contents = known.contents(job.inputs(), 0);
    const std::vector<Slot> slots = release_first(pipeline_order(job.parallel, job.training).front());
    const GatherSchedule& schedule = known.gathers().of(
        contents.units.front(), {.parts = contents.parts, .training = job.training, .slots = slots, .cycles = none});
    if (first == nullptr) first = &schedule;
    EXPECT_EQ(&schedule, first) << recompute;
  }
}

// Neither of another split of tensors or layers, nor of another share of parameters.
TEST(KnownMemory, OtherContentsAreNoOnesContents) {
  const auto elements_of = [](KnownMemory& known, const std::string& parallel) {
    const JobText job(job_text("", parallel), 8);
    EXPECT_TRUE(job.problems().empty());
    known.begin(job.inputs());
    const StageContents& contents = known.contents(job.inputs(), 1);
    return fmt::format("{} elements, {} sets", count_elements(contents.parts), contents.units.size());
  };
  for (const char* parallel : {"pp: 2, tp: 2, dp: 2", "pp: 2, tp: 1, dp: 4", "pp: 2, tp: 2, dp: 2, fsdp: {}",
                               "pp: 2, tp: 2, dp: 2, layers_per_part: [5, 11]"}) {
    LastOrder order, own_order;
    KnownMemory known(order), own(own_order);
    static_cast<void>(elements_of(known, "pp: 2, tp: 2, dp: 2, layers_per_part: [7, 9]"));
    EXPECT_EQ(elements_of(known, parallel), elements_of(own, parallel));
  }
}

}  // namespace
}  // namespace ringwright::workload::known_memory_test
