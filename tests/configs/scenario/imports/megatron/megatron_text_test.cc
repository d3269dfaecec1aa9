#include "configs/scenario/imports/megatron/megatron_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::configs::megatron_text_test {
namespace {

using testing::ElementsAre;

struct Read {
  ConfigSource source{.name = "run.sh", .kind = SourceKind::kFile, .path = {}, .lines = {}};
  Diagnostics problems;
  MegatronText text;
  explicit Read(std::string_view content) : text(read_megatron_text(content, source, problems)) {}

  [[nodiscard]] std::vector<std::string> flags() const {
    std::vector<std::string> result;
    for (const MegatronFlag& flag : text.flags) {
      std::string all = flag.name;
      for (const MegatronWord& value : flag.values) all += " " + value.text;
      result.push_back(all);
    }
    return result;
  }
};

TEST(MegatronText, AScriptHasFlagsWithAndWithoutValues) {
  const Read read(
      "torchrun --nnodes 2 pretrain_gpt.py \\\n  --num-layers=24 --bf16 \\\n  --hidden_size 1024 > log 2>&1\n");
  EXPECT_EQ(read.text.spelling, MegatronSpelling::kShell);
  EXPECT_THAT(read.flags(), ElementsAre("nnodes 2 pretrain_gpt.py", "num-layers 24", "bf16", "hidden-size 1024"));
}

TEST(MegatronText, ALogHasArgumentsWithDots) {
  const Read read(
      "[rank0] ------ arguments ------\n  bf16 ............................... True\n"
      "0:   tensor_model_parallel_size ......... 8\n  window_size ........................ None\n");
  EXPECT_EQ(read.text.spelling, MegatronSpelling::kArguments);
  EXPECT_THAT(read.flags(), ElementsAre("bf16 True", "tensor-model-parallel-size 8", "window-size None"));
}

// argparse stores --no-X under a name of its own: False where it is given.
TEST(MegatronText, ALogHasNegativeFlagsByTheirArguments) {
  EXPECT_THAT(Read("  bf16 .................... True\n  apply_rope_fusion ................ False\n"
                   "  gradient_accumulation_fusion ......... False\n")
                  .flags(),
              ElementsAre("bf16 True", "no-rope-fusion", "no-gradient-accumulation-fusion"));
  EXPECT_THAT(Read("  bf16 .................... True\n  apply_rope_fusion ................ True\n"
                   "  gradient_accumulation_fusion ......... True\n")
                  .flags(),
              ElementsAre("bf16 True"));
}

TEST(MegatronText, ATestCaseHasArgumentsAndAnEnvironment) {
  const Read read(
      "ENV_VARS:\n  NCCL_ALGO: Ring\n  NNODES: '2'\nMODEL_ARGS:\n  --num-layers: 12  # as small as can be\n"
      "  --use-distributed-optimizer: true\nTEST_TYPE: regular\n");
  EXPECT_EQ(read.text.spelling, MegatronSpelling::kTestCase);
  EXPECT_THAT(read.flags(), ElementsAre("num-layers 12", "use-distributed-optimizer true"));
  EXPECT_EQ(read.text.variables.at("NNODES").text, "2");
  EXPECT_EQ(read.text.flags[0].values[0].line, 5);
  EXPECT_EQ(read.text.flags[0].values[0].column, 17);
}

TEST(MegatronText, TextWithoutFlagsIsRefused) {
  EXPECT_THAT(Read("hello\n").problems.all(), testing::SizeIs(1));
  EXPECT_THAT(Read("").problems.all(), testing::SizeIs(1));
}

TEST(MegatronText, DiagnosticsShowTheLine) {
  const Read read("run --num-layers 24\n");
  const Diagnostic diagnostic = at_word(read.source, read.text.flags[0].values[0], "E144", "no");
  EXPECT_EQ(diagnostic.place.line, 1);
  EXPECT_EQ(diagnostic.place.column, 18);
}

}  // namespace
}  // namespace ringwright::configs::megatron_text_test
