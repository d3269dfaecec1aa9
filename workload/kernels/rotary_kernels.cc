#include "workload/kernels/rotary_kernels.h"

#include <algorithm>
#include <utility>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kRotaryFp32 = 4.0;

// Transformer Engine's kernels for whole heads take angles, those for latent attention cosines and sines, which hold
// YaRN's factor.
bool is_unfused(const KernelMaker& make) {
  return !make.fused().rotary || (make.shape.positions == Positions::kYarn && !make.shape.latent);
}

// With latent attention only a part of each head, and one key for all heads.
std::int64_t rotated_queries(const KernelMaker& make) {
  return make.shape.latent ? make.heads * make.shape.latent->rotated_size : make.query;
}
std::int64_t rotated_keys(const KernelMaker& make) {
  return make.shape.latent ? make.shape.latent->rotated_size : make.key;
}

// Cosines and sines of the angles, scaled and cast, of each position; microbatches and heads share them.
void add_angles(KernelMaker& make, const std::string& name) {
  const std::int64_t channels = make.shape.latent ? make.shape.latent->rotated_size : make.shape.head_size;
  const std::int64_t angles = std::max<std::int64_t>(1, make.shape.sequence / make.cp()) * channels;
  for (const char* const function : {": cosine", ": sine"}) {
    make.stream(kElementwise, name + function, angles, {.other_bytes = 2 * kRotaryFp32});
    make.stream(kElementwise, name + function + " scaled", angles, {.other_bytes = 2 * kRotaryFp32});
    make.stream(kCast, name + function + " cast", angles, {.values = 1, .other_bytes = kRotaryFp32});
  }
}

// x cos + cat(-x2, x1) sin, and cat with the columns that are not rotated. Latent attention reads pairs of neighbours
// (rotary_interleaved), which are first written as halves.
void add_chain(KernelMaker& make, const std::string& name, std::int64_t elements) {
  add_angles(make, name);
  if (make.shape.latent) make.stream(kCopy, name + ": halves", elements, {.values = 2});
  make.stream(kElementwise, name + ": negative half", elements, {.values = 1});
  make.stream(kCopy, name + ": rotated halves", elements, {.values = 2});
  make.stream(kElementwise, name + ": times cosine", elements, {.values = 2});
  make.stream(kElementwise, name + ": times sine", elements, {.values = 2});
  make.stream(kElementwise, name + ": sum", elements, {.values = 3});
  make.stream(kCopy, name + ": all columns", elements, {.values = 2});
}

// The gradient of the columns that are not rotated is written as zeros, though there are none, and added.
void add_chain_backward(KernelMaker& make, const std::string& name, std::int64_t elements) {
  make.stream(kElementwise, name + ": times cosine", elements, {.values = 2});
  make.stream(kElementwise, name + ": times sine", elements, {.values = 2});
  make.stream(kElementwise, name + ": negative half", elements, {.values = 1});
  make.stream(kCopy, name + ": rotated halves", elements, {.values = 2});
  make.stream(kElementwise, name + ": sum", elements, {.values = 3});
  if (make.shape.latent) make.stream(kCopy, name + ": halves", elements, {.values = 2});
  make.stream(kCopy, name + ": zeros", elements, {.values = 1});
  make.stream(kElementwise, name + ": sum with zeros", elements, {.values = 3});
}

}  // namespace

void add_rotation(KernelMaker& make, const std::string& name, std::int64_t elements) {
  if (make.pointwise == Pointwise::kFused) return make.stream(kElementwise, name, elements, {.values = 2});
  make.stream(kCast, name + ": to fp32", elements, {.values = 1, .other_bytes = kRotaryFp32});
  make.stream(kElementwise, name + ": product", elements, {.other_bytes = 2 * kRotaryFp32});
  make.stream(kCast, name + ": from fp32", elements, {.values = 1, .other_bytes = kRotaryFp32});
}

void add_rotary_embedding(KernelMaker& make, const std::string& name, RotaryPass pass) {
  if (!rotates(make.shape)) return;
  const std::int64_t queries = rotated_queries(make);
  const std::int64_t keys = rotated_keys(make);
  if (!is_unfused(make)) return add_rotation(make, name, make.tokens * (queries + keys));
  for (const auto& [columns, of] : {std::pair{queries, " of queries"}, std::pair{keys, " of keys"}}) {
    if (pass == RotaryPass::kForward) add_chain(make, name + of, make.tokens * columns);
    if (pass == RotaryPass::kBackward) add_chain_backward(make, name + of, make.tokens * columns);
  }
  // The rotated part of latent attention's queries is written next to the other part.
  if (make.shape.latent) make.stream(kCopy, name + ": query assembly", make.tokens * make.query, {.values = 2});
}

}  // namespace ringwright::workload
