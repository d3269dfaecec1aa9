#include "workload/kernels/sparse_attention_kernels.h"

#include <algorithm>
#include <cmath>

#include "workload/kernels/rotary_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kIndexFp32 = 4.0;
constexpr double kIndexInt64 = 8.0;
// PyTorch's radix select reads fp32 scores once for each of their bytes, and once more to gather those above the
// threshold (aten/src/ATen/native/cuda/TensorTopK.cu, mbtopk).
constexpr double kSelectReads = 5.0;

// Context-parallel ranks gather the keys of all tokens, tensor-parallel ones split heads of attention alone: each has
// the whole indexer and all tokens (Megatron-LM, dsa.py).
struct SparseSizes {
  explicit SparseSizes(const KernelMaker& make)
      : indexer(*make.shape.indexer),
        inputs(make.shape.latent->query_rank > 0 ? make.shape.latent->query_rank : make.shape.hidden),
        rank(make.shape.latent->key_value_rank),
        keys(rank + make.shape.latent->rotated_size),
        chosen(std::min(indexer.chosen, make.shape.sequence)),
        attended(std::max<std::int64_t>(
            1, std::llround(chosen_pairs(make.shape) / static_cast<double>(make.shape.sequence)))) {}

  const SparseIndexer& indexer;
  std::int64_t inputs;    // of the indexer's queries
  std::int64_t rank;      // r
  std::int64_t keys;      // r + p
  std::int64_t chosen;    // k
  std::int64_t attended;  // k', since the first tokens have fewer before them
};

double value_bytes_of(const KernelMaker& make) {
  return bytes_per_element(make.precision());
}
double real_of(std::int64_t count) {
  return static_cast<double>(count);
}

// Rotary embedding of a part of each index head and key, and the Hadamard rotation of all of them.
void add_index_rotations(KernelMaker& make, const SparseSizes& sizes, const std::string& pass) {
  const std::int64_t vectors = make.tokens * (sizes.indexer.heads + 1);
  add_rotation(make, "indexer rotary embedding" + pass, vectors * make.shape.latent->rotated_size);
  make.stream(kElementwise, "indexer Hadamard rotation" + pass, vectors * sizes.indexer.head_size, {.values = 2});
}

// Gathered keys are sorted from zig-zag order into that of the sequence, and so are their gradients.
void add_key_order(KernelMaker& make, const char* name, std::int64_t columns) {
  if (make.cp() > 1) make.stream(kCopy, name, make.tokens * make.cp() * columns, {.values = 2});
}

// A causal mask leaves half of the pairs to the scores; their matrix is whole.
void add_index(KernelMaker& make, const SparseSizes& sizes) {
  const SparseIndexer& indexer = sizes.indexer;
  const std::int64_t sequences = make.tokens * make.cp() / make.shape.sequence;
  const std::int64_t s = make.shape.sequence;
  make.linear("indexer queries", sizes.inputs, indexer.heads * indexer.head_size);
  make.linear("indexer keys", make.shape.hidden, indexer.head_size);
  make.linear("indexer weights", make.shape.hidden, indexer.heads);
  make.stream(kNorm, "indexer key norm", make.tokens * indexer.head_size, {.values = 2});
  add_index_rotations(make, sizes, "");
  add_key_order(make, "indexer key order", indexer.head_size);
  const double read =
      value_bytes_of(make) *
      real_of(make.tokens * (indexer.heads * indexer.head_size + make.cp() * indexer.head_size + indexer.heads));
  const double matrix = kIndexFp32 * real_of(make.tokens) * real_of(s);
  make.batched_gemm("indexer scores",
                    {.m = s / make.cp() * indexer.heads, .n = (s + 1) / 2, .k = indexer.head_size, .batch = sequences},
                    read + matrix);
  make.bytes_only(kSoftmax, "indexer top-k", kSelectReads * matrix + kIndexInt64 * real_of(make.tokens * sizes.chosen),
                  DataType::kFp32);
}

// The attention's probabilities of the chosen tokens, summed over heads: what the indexer's scores are compared with.
void add_index_target(KernelMaker& make, const SparseSizes& sizes, const char* name) {
  const double read = value_bytes_of(make) * real_of(make.tokens * (make.heads + 1) * sizes.keys);
  make.batched_gemm(name, {.m = make.heads, .n = sizes.attended, .k = sizes.keys, .batch = make.tokens},
                    read + kIndexFp32 * real_of(make.tokens * sizes.chosen));
}

void add_index_loss(KernelMaker& make, const SparseSizes& sizes) {
  if (!sizes.indexer.loss) return;
  add_index_target(make, sizes, "indexer target");
  make.stream(kSoftmax, "indexer loss", make.tokens * sizes.chosen, {.other_bytes = 2.0 * kIndexFp32});
}

// Target and scores are computed again; then the gradients of index queries and keys.
void add_index_backward(KernelMaker& make, const SparseSizes& sizes) {
  if (!sizes.indexer.loss) return;
  const SparseIndexer& indexer = sizes.indexer;
  add_index_target(make, sizes, "indexer target again");
  make.stream(kSoftmax, "indexer loss backward", make.tokens * sizes.chosen, {.other_bytes = 3.0 * kIndexFp32});
  const double vectors = value_bytes_of(make) * real_of(make.tokens * (indexer.heads + 1) * indexer.head_size);
  make.batched_gemm("indexer scores backward",
                    {.m = indexer.heads, .n = sizes.attended, .k = 3 * indexer.head_size, .batch = make.tokens},
                    2.0 * vectors + kIndexFp32 * real_of(make.tokens * sizes.chosen));
  add_key_order(make, "indexer key gradient order", indexer.head_size);
  add_index_rotations(make, sizes, " backward");
  make.stream(kNorm, "indexer key norm backward", make.tokens * indexer.head_size, {.values = 3});
  make.wgrad("indexer queries wgrad", sizes.inputs, indexer.heads * indexer.head_size);
  make.wgrad("indexer keys wgrad", make.shape.hidden, indexer.head_size);
  make.wgrad("indexer weights wgrad", make.shape.hidden, indexer.heads);
}

// Gradients that autograd computes for a part of a weight, added to those of the step.
void add_absorbed_gradient(KernelMaker& make, const char* name, std::int64_t elements) {
  make.stream(kElementwise, name, elements, {.values = 1, .other_bytes = 2.0 * make.gradient_bytes});
}

}  // namespace

void add_absorbed_queries(KernelMaker& make) {
  const SparseSizes sizes(make);
  make.batched_gemm("query absorption",
                    {.m = make.tokens, .n = sizes.rank, .k = make.shape.latent->plain_size, .batch = make.heads});
  make.stream(kCopy, "query and latent assembly", make.tokens * (make.heads + 1) * sizes.keys, {.values = 2});
}

void add_absorbed_queries_backward(KernelMaker& make) {
  const SparseSizes sizes(make);
  const std::int64_t plain = make.shape.latent->plain_size;
  make.stream(kCopy, "query and latent assembly backward", make.tokens * (make.heads + 1) * sizes.keys, {.values = 2});
  make.batched_gemm("query absorption dgrad",
                    {.m = make.tokens, .n = plain, .k = sizes.rank, .batch = make.heads, .role = GemmRole::kDgrad});
  make.batched_gemm("query absorption wgrad",
                    {.m = plain, .n = sizes.rank, .k = make.tokens, .batch = make.heads, .role = GemmRole::kWgrad});
  add_absorbed_gradient(make, "query absorption gradient", make.heads * plain * sizes.rank);
}

void add_sparse_core(KernelMaker& make) {
  const SparseSizes sizes(make);
  add_key_order(make, "latent key order", sizes.keys);
  add_index(make, sizes);
  add_index_loss(make, sizes);
  const double moved =
      value_bytes_of(make) * real_of(make.tokens * (make.heads * (sizes.keys + sizes.rank) + sizes.keys)) +
      real_of(make.tokens) * (kIndexFp32 * real_of(make.heads) + kIndexInt64 * real_of(sizes.chosen));
  make.batched_gemm("sparse attention",
                    {.m = make.heads, .n = sizes.attended, .k = sizes.keys + sizes.rank, .batch = make.tokens}, moved);
  make.batched_gemm("values up",
                    {.m = make.tokens, .n = make.shape.latent->value_size, .k = sizes.rank, .batch = make.heads});
}

void add_sparse_core_backward(KernelMaker& make) {
  const SparseSizes sizes(make);
  const std::int64_t value = make.shape.latent->value_size;
  make.batched_gemm("values up dgrad",
                    {.m = make.tokens, .n = sizes.rank, .k = value, .batch = make.heads, .role = GemmRole::kDgrad});
  make.batched_gemm("values up wgrad",
                    {.m = sizes.rank, .n = value, .k = make.tokens, .batch = make.heads, .role = GemmRole::kWgrad});
  add_absorbed_gradient(make, "values up gradient", make.heads * value * sizes.rank);
  // Gradients of the latent vectors are summed in fp32.
  const double moved =
      value_bytes_of(make) * real_of(make.tokens * make.heads * 2 * (sizes.keys + sizes.rank)) +
      real_of(make.tokens) * (2.0 * kIndexFp32 * real_of(sizes.keys) + kIndexInt64 * real_of(sizes.chosen));
  make.batched_gemm("sparse attention backward",
                    {.m = make.heads, .n = sizes.attended, .k = 3 * sizes.keys + 2 * sizes.rank, .batch = make.tokens},
                    moved);
  add_key_order(make, "latent key gradient order", sizes.keys);
  add_index_backward(make, sizes);
}

double sparse_core_bytes(const KernelMaker& make, double value_bytes) {
  const SparseSizes sizes(make);
  const SparseIndexer& indexer = sizes.indexer;
  const double choice = kIndexInt64 * real_of(sizes.chosen);
  if (!indexer.loss) return choice;
  const std::int64_t inputs = make.tp() > 1 ? make.shape.hidden + sizes.inputs : 0;  // gathered
  const std::int64_t keys = make.cp() * indexer.head_size;
  return choice + value_bytes * real_of(indexer.heads * indexer.head_size + keys + indexer.heads + inputs);
}

// Queries before and after absorption, latent vectors with their rotated part, and the result before the values.
std::int64_t absorbed_columns(const KernelMaker& make) {
  const SparseSizes sizes(make);
  return make.heads * (make.shape.latent->plain_size + sizes.keys + sizes.rank) + make.cp() * sizes.keys;
}

std::int64_t index_inputs(const ModelShape& shape) {
  return shape.hidden + (shape.latent->query_rank > 0 ? shape.latent->query_rank : shape.hidden);
}

std::int64_t latent_keys(const ModelShape& shape) {
  return shape.latent->key_value_rank + shape.latent->rotated_size;
}

}  // namespace ringwright::workload
