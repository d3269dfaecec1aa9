#include "workload/memory/exchange_workspace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "workload/memory/memory.h"

namespace ringwright::workload::exchange_workspace_test {
namespace {

// Llama 3 8B with 32 ranks and 131,072 tokens, 4096 on each: queries and results of 4096 columns, keys and values of
// 2048 together. The MLP stores its input, its norm's, two of 14336 and the activation's.
JobText job_with(const std::string& exchange, const std::string& training = "") {
  return JobText("model: {preset: llama3-8b, seq_length: 131072}\ntraining: {global_batch: 8" + training +
                     "}\nparallel: {cp: 32, cp_comm_type: " + exchange + "}\n",
                 32);
}
KernelContext context_with(const std::string& exchange, const std::string& training = "") {
  const JobText job = job_with(exchange, training);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  return make_kernel_context(job.shape, job.training, job.parallel);
}
Bytes columns(double count) {
  return Bytes(static_cast<std::int64_t>(4096 * 2 * count));
}
constexpr double kMlp = 2 * 4096 + 3 * 14336;

// All keys and values, the sums of their gradients, and the gradients of two chunks, 65/64 of that; three tensors of
// the rank's tokens.
TEST(ExchangeWorkspace, AllKeysAndTheirGradientsAreAliveTogether) {
  const KernelContext context = context_with("all_gather");
  EXPECT_EQ(backward_exchange_workspace(context), columns((2.0 + 65.0 / 64.0) * 32 * 2048 + 3 * 4096 - kMlp));
  EXPECT_EQ(forward_exchange_workspace(context), Bytes(0));
}

// The blocks of all ranks, the results of all steps, and their sum.
TEST(ExchangeWorkspace, ARingKeepsAllBlocksAndResults) {
  const Bytes ring = columns(32 * (2048 + 4096) + 4096 - kMlp);
  EXPECT_EQ(forward_exchange_workspace(context_with("p2p")), ring);
  EXPECT_EQ(backward_exchange_workspace(context_with("p2p")), Bytes(0));
  EXPECT_EQ(backward_exchange_workspace(context_with("p2p", ", recompute: full")), ring);
  EXPECT_EQ(backward_exchange_workspace(context_with("p2p", ", recompute: selective")), ring);
  EXPECT_EQ(forward_exchange_workspace(context_with("all_gather_blocks")), Bytes(0));
}

TEST(ExchangeWorkspace, ARingInFp8KeepsResultsInFp32) {
  const KernelContext plain = context_with("p2p", ", fp8_recipe: delayed");
  const KernelContext narrow = context_with("p2p", ", fp8_recipe: delayed, fp8_dot_product_attention: true");
  EXPECT_EQ(forward_exchange_workspace(narrow) - forward_exchange_workspace(plain), columns(33 * 4096 - 32 * 2048 / 2));
}

// The ring's buffers exceed the MLP's gradients (its output, its activation and its up GEMM), which are in the peak of
// a first stage otherwise: its last forward pass is then the fullest moment.
TEST(ExchangeWorkspace, IsPartOfThePeak) {
  const auto held = [](const std::string& exchange, std::string_view name) {
    const JobText job(
        "model: {preset: llama3-8b, seq_length: 131072}\ntraining: {global_batch: 8}\n"
        "parallel: {pp: 2, cp: 32, cp_comm_type: " +
            exchange + "}\n",
        64);
    EXPECT_THAT(job.problems(), testing::IsEmpty());
    return memory_ledger(job.inputs(), {}).front().of(name);
  };
  EXPECT_EQ(held("p2p", "context-parallel buffers"), columns(32 * (2048 + 4096) + 4096 - kMlp));
  EXPECT_EQ(held("p2p", "activation gradients"), Bytes(0));
  EXPECT_EQ(held("all_gather_blocks", "context-parallel buffers"), Bytes(0));
  EXPECT_EQ(held("all_gather_blocks", "activation gradients"), columns(4096 + 3 * 14336));
}

}  // namespace
}  // namespace ringwright::workload::exchange_workspace_test
