#include "configs/scenario/explanation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::explanation_test {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(Explanation, OfAKeySaysItsTypeAndMeaning) {
  EXPECT_THAT(explain("parallel.tp").page, HasSubstr("tensor"));
  EXPECT_THAT(explain("cluster.fabric.leaf.speed").page, HasSubstr("bandwidth"));
}

TEST(Explanation, OfAPresetSaysWhereItsNamesAre) {
  EXPECT_EQ(
      explain("cluster.node.gpu.preset").page,
      "cluster.node.gpu.preset: text\n"
      "  a name of 'ringwright list gpus', or the path of a file (*.yaml); the keys next to it override its values\n");
  EXPECT_THAT(explain("extends").page, HasSubstr("the name of a shipped scenario"));
  EXPECT_THAT(explain("preset").page, HasSubstr("ringwright list profiles"));
}

TEST(Explanation, OfAMapSaysThatANameStandsForIt) {
  EXPECT_THAT(explain("cluster.node").page, HasSubstr("{preset: NAME}; names: 'ringwright list nodes'"));
  EXPECT_THAT(explain("cluster.fabric").page, Not(HasSubstr("{preset: NAME}")));
}

TEST(Explanation, OfACodeComesFromTheFolderThatRaisesIt) {
  EXPECT_THAT(explain("E110").page, HasSubstr("unit"));
  EXPECT_THAT(explain("E131").page, HasSubstr("layers"));
}

TEST(Explanation, OfAVersionOfNcclGivesEachValueItsFileAndSource) {
  const std::string page = explain("nccl-2.18").page;
  EXPECT_THAT(page, ContainsRegex("rules.ring_ll_share +0.25 +2\\.[0-9]+.yaml:[0-9]+"));
  EXPECT_THAT(page, HasSubstr("github.com/NVIDIA/nccl"));
  EXPECT_THAT(explain("rccl").page, HasSubstr("rccl.yaml:"));
  EXPECT_EQ(explain("nccl-1.0").page, "");
  EXPECT_THAT(explain("nccl-1.0").near, Contains("nccl-2.20"));
}

TEST(Explanation, OfAnUnknownWordNamesTheNearest) {
  const Explanation unknown = explain("paralel.tp");
  EXPECT_EQ(unknown.page, "");
  EXPECT_THAT(unknown.near, Contains("parallel.tp"));
}

TEST(Explanation, TheSchemaKnowsTheKeysOfAllFolders) {
  const std::string schema = scenario_schema();
  for (const char* key : {"\"parallel\"", "\"nvlink\"", "\"oversubscription\"", "\"gemm_efficiency\"", "\"tuner\""}) {
    EXPECT_THAT(schema, HasSubstr(key));
  }
}

// The number of hosts, GPUs, sockets is the cluster's, which the schema does not know.
TEST(Explanation, TheSchemaKnowsNoBoundsOfTheCluster) {
  EXPECT_THAT(scenario_schema(), testing::Not(testing::ContainsRegex("\"maximum\": 0[,\n]")));
}

TEST(Explanation, OfAKeySaysWhenItHasNoEffect) {
  EXPECT_THAT(explain("faults.nic").page, HasSubstr("'collectives.model: closed_form' uses every link"));
  EXPECT_THAT(explain("hf").page, HasSubstr("model.hf: a text"));
}

// Flags of Megatron-LM, and keys of Megatron-Bridge and NeMo by their sections.
TEST(Explanation, OfARunsFileListsWhatIsRead) {
  const std::string page = explain("megatron").page;
  for (const char* name : {"--num-layers,", "--rampup-batch-size,", "Megatron-Bridge, keys of model that are read:",
                           "gated_linear_unit,", "NeMo, keys of model that are reported as not modelled:", "fsdp,",
                           "NeMo, sections without an effect on a step:"}) {
    EXPECT_NE(page.find(name), std::string::npos) << name;
  }
}

}  // namespace
}  // namespace ringwright::configs::explanation_test
