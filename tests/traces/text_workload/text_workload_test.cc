#include "traces/text_workload/text_workload.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::traces::text_workload_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace literals;

constexpr std::string_view kAicb =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 8 ep: 2 pp: 1 vpp: 4 ga: 3 all_gpus: 32 "
    "checkpoints: 2 0 1 checkpoint_initiates: 1 1 pp_comm: 0\n"
    "2\n"
    "embedding -1\t556 ALLREDUCE 16777216  1 NONE 0  1 ALLGATHER_DP_EP 4096  7\n"
    "moe -1 10 ALLTOALL_EP 1024 20 REDUCESCATTER 2048 30 NONE 0 0\n";

std::string error_of(std::string_view text) {
  const auto workload = parse_text_workload("w.txt", text);
  return workload ? "no error" : render(workload.error());
}

TEST(TextWorkload, IsReadAsAicbWritesIt) {
  const auto workload = parse_text_workload("w.txt", kAicb);
  ASSERT_TRUE(workload) << render(workload.error());
  EXPECT_EQ(workload->loop, TextLoop::kTransformerRecompute);
  EXPECT_EQ(workload->tensor, 8);
  EXPECT_EQ(workload->expert, 2);
  EXPECT_EQ(workload->accumulation, 3);
  EXPECT_EQ(workload->gpus, 32);
  EXPECT_THAT(workload->checkpoints, ElementsAre(0, 1));
  EXPECT_THAT(workload->initiates, ElementsAre(1));
  ASSERT_EQ(workload->layers.size(), 2U);
  const TextLayer& first = workload->layers[0];
  EXPECT_EQ(first.name, "embedding");
  EXPECT_EQ(first.forward.compute, 556_ns);
  EXPECT_EQ(first.forward.call, (TextCall{.kind = CollectiveKind::kAllReduce, .bytes = 16_MiB}));
  EXPECT_EQ(first.weight_gradient.call.group, TextGroup::kExpertData);
  EXPECT_EQ(first.weight_gradient.call.kind, CollectiveKind::kAllGather);
  EXPECT_EQ(first.update, 7_ns);
  EXPECT_EQ(workload->layers[1].forward.call.group, TextGroup::kExpert);
}

// The bytes of a NONE count for nothing.
TEST(TextWorkload, NoneIsNoCommunication) {
  const auto workload = parse_text_workload("w.txt", "DATA\n1\na -1 1 NONE 512 1 NONE 0 1 NONE 9 0\n");
  ASSERT_TRUE(workload);
  EXPECT_EQ(workload->layers[0].forward.call, TextCall());
}

TEST(TextWorkload, IsRecognisedByItsFirstWord) {
  EXPECT_TRUE(looks_like_text_workload(kAicb));
  EXPECT_TRUE(looks_like_text_workload("DATA\n2\n"));
  EXPECT_TRUE(looks_like_text_workload("MICRO\n1\n"));
  EXPECT_FALSE(looks_like_text_workload("DATA of last week\n2\n"));
  EXPECT_FALSE(looks_like_text_workload(""));
}

TEST(TextWorkload, MistakesNameTheirLine) {
  EXPECT_THAT(error_of("DATA\n2\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n"), HasSubstr("ends after 1 of 2 rows"));
  EXPECT_THAT(error_of("DATA\n1\na -1 1 NONE 0\n"),
              HasSubstr("w.txt:3:1: error[E622]: a row has 12 words, and this one 5"));
  EXPECT_THAT(error_of("DATA\n1\na -1 -1 NONE 0 1 NONE 0 1 NONE 0 0\n"), HasSubstr("'-1' is no time"));
  EXPECT_THAT(error_of("DATA\n1\na -1 1 SUM 8 1 NONE 0 1 NONE 0 0\n"), HasSubstr("'SUM' is no communication"));
  EXPECT_THAT(error_of("DATA\n0\n"), HasSubstr("the number of rows"));
  EXPECT_THAT(error_of(""), HasSubstr("no training loop"));
  EXPECT_THAT(error_of("HYBRID_DLRM\n1\n"), HasSubstr("HYBRID_DLRM is not simulated"));
  EXPECT_THAT(error_of("DATA colour: 3\n1\n"), HasSubstr("'colour:' in the first line is unknown"));
  EXPECT_THAT(error_of("DATA ep: 0\n1\n"), HasSubstr("'ep' needs a whole number"));
}

TEST(TextWorkload, RowsBeyondTheirNumberAreAMistake) {
  const std::string row = "a -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n";
  EXPECT_THAT(error_of("DATA\n1\n" + row + row), HasSubstr("more rows than the 1"));
}

TEST(TextWorkload, RecomputationNeedsItsCheckpoint) {
  const std::string rows = "\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 0\n";
  const std::string head = "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 1 ";
  EXPECT_THAT(error_of(head + "checkpoint_initiates: 1 0" + rows), HasSubstr("no checkpoint is at or before it"));
  EXPECT_THAT(error_of(head + "checkpoints: 1 5" + rows),
              HasSubstr("layer 5 of the first line is not among the 1 rows"));
  EXPECT_THAT(error_of(head + "checkpoints: 2 5" + rows), HasSubstr("announces 2 layers and lists 1"));
}

}  // namespace
}  // namespace ringwright::traces::text_workload_test
