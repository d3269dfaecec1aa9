#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workload/job_text.h"
#include "tests/workload/task_names.h"
#include "workload/memory/activations.h"
#include "workload/parallel/tensor.h"

namespace ringwright::workload::parallel_block_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

std::string model(const std::string& more) {
  return "model: {num_layers: 2, hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 256, "
         "vocab_size: 1024, seq_length: 128" +
         more + "}\n";
}
const std::string kOneNorm = ", parallel_attention_mlp: true";
const std::string kTwoNorms = kOneNorm + ", num_ln_in_parallel_attn: 2";

struct Layer {
  std::vector<std::string> forward;
  std::vector<std::string> backward;
  std::vector<std::string> forward_kernels;
  std::vector<std::string> backward_kernels;
};

template <class Emit>
std::vector<std::string> names_of(const JobText& job, std::vector<std::string>& kernels, Emit emit) {
  GraphTables tables;
  SectionTable sections(tables, make_kernel_context(job.shape, job.training, job.parallel));
  ContextParallel context(sections, job.parallel, {}, 0);
  const CommStream calls{.dimension = DimensionId(0), .stream = 1};
  TensorParallel tensor(sections, context, {.calls = calls, .tiles = {}});
  ProgramWriter writer(tables, "stage 0");
  writer.name_work({.label = "work", .work = "work"});
  emit(tensor, writer);
  const Program program = writer.finish(2);
  TaskGraph graph;
  tables.move_into(graph);
  const std::vector<std::string> names = task_names(graph, program);
  for (std::size_t task = 0; task < names.size(); ++task) {
    if (names[task] != "work") continue;
    std::ranges::copy(kernel_names(graph, program.tasks[task]), std::back_inserter(kernels));
  }
  return names;
}

Layer layer_of(const std::string& more, const std::string& parallel = "") {
  const JobText job(model(more) + "training: {global_batch: 8}\nparallel: {tp: 2" + parallel + "}\n", 2);
  EXPECT_THAT(job.problems(), testing::IsEmpty());
  Layer layer;
  layer.forward = names_of(job, layer.forward_kernels, [](TensorParallel& tensor, ProgramWriter& writer) {
    tensor.attention_forward(writer);
    tensor.mlp_forward(writer);
  });
  layer.backward = names_of(job, layer.backward_kernels, [](TensorParallel& tensor, ProgramWriter& writer) {
    tensor.mlp_backward(writer);
    tensor.attention_backward(writer);
  });
  return layer;
}

std::ptrdiff_t count_of(const std::vector<std::string>& names, const char* name) {
  return std::ranges::count(names, name);
}

TEST(ParallelBlock, ReducesOnceInEachPass) {
  const Layer layer = layer_of(kOneNorm);
  EXPECT_THAT(layer.forward, ElementsAre("work", "tp all_reduce", "work"));
  EXPECT_EQ(count_of(layer.backward, "tp all_reduce"), 1);
  const Layer sequential = layer_of("");
  EXPECT_EQ(count_of(sequential.forward, "tp all_reduce"), 2);
  EXPECT_EQ(count_of(sequential.backward, "tp all_reduce"), 2);
}

TEST(ParallelBlock, GathersTheInputAndTheGradientOnce) {
  const Layer layer = layer_of(kOneNorm, ", sequence_parallel: true");
  EXPECT_EQ(count_of(layer.forward, "tp all_gather"), 1);
  EXPECT_EQ(count_of(layer.forward, "tp reduce_scatter"), 1);
  // The gradient of the result, and the input again for the weight gradients of both halves.
  EXPECT_EQ(count_of(layer.backward, "tp all_gather"), 2);
  EXPECT_EQ(count_of(layer.backward, "tp reduce_scatter"), 1);
}

// GPT-NeoX: the norms' results differ, and with them the gathered inputs and the reduced gradients.
TEST(ParallelBlock, WithTwoNormsOnlyTheResultIsReducedOnce) {
  const Layer layer = layer_of(kTwoNorms, ", sequence_parallel: true");
  EXPECT_EQ(count_of(layer.forward, "tp all_gather"), 2);
  EXPECT_EQ(count_of(layer.forward, "tp reduce_scatter"), 1);
  EXPECT_EQ(count_of(layer.backward, "tp all_gather"), 3);
  EXPECT_EQ(count_of(layer.backward, "tp reduce_scatter"), 2);
}

TEST(ParallelBlock, HasOneNormAndOneResidual) {
  const Layer layer = layer_of(kOneNorm);
  EXPECT_THAT(layer.forward_kernels, Contains("attention norm"));
  EXPECT_THAT(layer.forward_kernels, Not(Contains("mlp norm")));
  EXPECT_EQ(count_of(layer.forward_kernels, "residual add"), 1);
  EXPECT_EQ(count_of(layer.forward_kernels, "attention and mlp sum"), 1);
  EXPECT_EQ(count_of(layer.backward_kernels, "attention and mlp gradient sum"), 1);
  EXPECT_EQ(count_of(layer_of(kTwoNorms).forward_kernels, "mlp norm"), 1);
}

// The GEMMs are those of a sequential layer.
TEST(ParallelBlock, ComputesTheSameGemms) {
  const auto gemms = [](const std::vector<std::string>& kernels) {
    std::vector<std::string> names;
    std::ranges::copy_if(kernels, std::back_inserter(names), [](const std::string& name) {
      return name.starts_with("qkv") || name.starts_with("mlp up") || name.starts_with("mlp down") ||
             name.starts_with("attention projection");
    });
    return names;
  };
  EXPECT_EQ(gemms(layer_of(kOneNorm).forward_kernels), gemms(layer_of("").forward_kernels));
  EXPECT_EQ(gemms(layer_of(kOneNorm).backward_kernels), gemms(layer_of("").backward_kernels));
}

// bf16: sequential layers store the inputs of two norms and of two GEMMs, 8 bytes of each value of the hidden state;
// parallel ones with one norm half of that, with two norms the layer's input once and the inputs of two GEMMs.
TEST(ParallelBlock, StoresItsInputOnce) {
  const auto stored = [](const std::string& more) {
    const JobText job(model(more) + "training: {global_batch: 1}\nparallel: {}\n", 1);
    const KernelContext context = make_kernel_context(job.shape, job.training, job.parallel);
    return layer_activations(context, halves_of(job.shape, 0)).count();
  };
  constexpr std::int64_t kHidden = 128 * 64;
  EXPECT_EQ(stored("") - stored(kOneNorm), 4 * kHidden);
  EXPECT_EQ(stored("") - stored(kTwoNorms), 2 * kHidden);
}

TEST(ParallelBlock, IsOfDenseLayersWithAttention) {
  const JobText job(model(kOneNorm + ", num_experts: 4, moe_router_topk: 2") + "training: {global_batch: 8}\n", 1);
  EXPECT_THAT(job.problems(), Contains(testing::HasSubstr("model.parallel_attention_mlp is of layers")));
}

}  // namespace
}  // namespace ringwright::workload::parallel_block_test
