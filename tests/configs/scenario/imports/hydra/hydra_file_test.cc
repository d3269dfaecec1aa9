#include "configs/scenario/imports/hydra/hydra_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/scenario/imports/hydra/imported_run.h"

namespace ringwright::configs::hydra_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(HydraFile, IsRecognisedByItsSections) {
  for (const char* text : {"model:\n  num_layers: 2\n", "# comment\ntrain: {global_batch_size: 8}\n",
                           "trainer:\n  num_nodes: 2\n", "ConfigContainer:\n  model: {}\n", "ddp: {bucket_size: 1}\n",
                           "INFO ...\n_target_: megatron.bridge.training.config.ConfigContainer\n"}) {
    EXPECT_TRUE(is_hydra_file(text)) << text;
  }
  for (const char* text : {"", "--num-layers 2\n", "#!/bin/bash\ncat <<END\nmodel: 2\nEND\npretrain --num-layers 2\n",
                           "ENV_VARS:\n  A: 1\nMODEL_ARGS:\n  --num-layers: 2\nmodel: gpt\n",
                           "model: building\n  num_layers ................... 2\n", "  model:\n"}) {
    EXPECT_FALSE(is_hydra_file(text)) << text;
  }
}

TEST(HydraFile, TheKindIsThatOfItsKeys) {
  // A name of Megatron-Core, one of NeMo, and a strategy of NeMo 2.
  EXPECT_EQ(ImportedRun("model:\n  hidden_size: 256\n  seq_length: 64\n").origins.at("model.activation"),
            "Megatron-Bridge's default");
  EXPECT_EQ(ImportedRun("model:\n  hidden_size: 256\n  encoder_seq_length: 64\n").origins.at("model.activation"),
            "NeMo's default");
  const ImportedRun recipe("trainer:\n  strategy: {tensor_model_parallel_size: 2}\n");
  EXPECT_THAT(recipe.messages(), IsEmpty());
  EXPECT_EQ(recipe.keys.at("parallel.tp"), "2");
}

TEST(HydraFile, WhatIsNoYamlIsAnErrorAtItsPlace) {
  EXPECT_THAT(ImportedRun("model:\n  num_layers: [2\n").messages(), ElementsAre(HasSubstr("2:15 E101")));
  EXPECT_THAT(ImportedRun("model:\n\tnum_layers: 2\n").messages(), ElementsAre(HasSubstr("E101: a tab")));
  EXPECT_THAT(ImportedRun("model:\n").messages(), ElementsAre(HasSubstr("E144: no key of it sets anything")));
}

TEST(HydraFile, LinesOfALogMayEndAsOnWindows) {
  const ImportedRun run(
      "rank 0\r\n_target_: megatron.bridge.training.config.ConfigContainer\r\nmodel:\r\n  num_layers: 4\r\n\r\n"
      "train:\r\n  global_batch_size: 8\r\n> done\r\n");
  EXPECT_THAT(run.messages(), IsEmpty());
  EXPECT_EQ(run.keys.at("training.global_batch"), "8");
}

}  // namespace
}  // namespace ringwright::configs::hydra_file_test
