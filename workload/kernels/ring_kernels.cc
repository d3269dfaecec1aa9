#include "workload/kernels/ring_kernels.h"

#include <cmath>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

// Share of the ring's steps that process a half, and of the rows that a mean step merges.
double halved(const KernelContext& context) {
  const bool halves = context.zigzag && context.shape.masking == Masking::kCausal;
  const auto ring = static_cast<double>(context.ring);
  return halves ? (ring - 1.0) / ring : 0.0;
}

double merged_rows(const KernelContext& context) {
  return 1.0 - 0.25 * halved(context);
}

std::int64_t ring_elements(const KernelMaker& make, const KernelContext& context, std::int64_t columns, double share) {
  return std::llround(static_cast<double>(make.tokens * columns) * share / static_cast<double>(context.ulysses));
}

// Memory traffic for each value. Eager: the block's result to fp32, its difference from the sum, that times the weight,
// and the sum; a gradient is added to its sum. Joining reads and writes both halves.
constexpr double kMergeCompiled = 4 + 2 + 4;
constexpr double kMergeEager = 6 + 12 + 8 + 12;
constexpr double kAddGradient = 4 + 2 + 4;
constexpr double kJoin = 4 + 4;

// The halves of half of those steps are of the queries, of the others of keys and values.
void merge_in_fp32(KernelMaker& make, const KernelContext& context, const char* name, std::int64_t columns,
                   double merge_bytes) {
  const double joins = 0.5 * halved(context) * kJoin;
  make.stream(kElementwise, name, ring_elements(make, context, columns, 1.0),
              {.other_bytes = merged_rows(context) * merge_bytes + joins});
}

void add_pytorch_merge(KernelMaker& make, const KernelContext& context, RingPass pass) {
  const bool eager = context.training.pointwise == Pointwise::kEager;
  if (pass == RingPass::kForward) {
    return merge_in_fp32(make, context, "ring merge of results", make.context, eager ? kMergeEager : kMergeCompiled);
  }
  merge_in_fp32(make, context, "ring merge of query gradients", make.query, kAddGradient);
  const double joined = eager ? kJoin : 0.0;  // into one message
  merge_in_fp32(make, context, "ring merge of key and value gradients", make.query + make.context,
                kAddGradient + joined);
}

}  // namespace

void add_ring_halves(KernelMaker& make, const KernelContext& context, RingPass pass) {
  if (context.gathered_blocks || halved(context) <= 0.0) return;
  const std::int64_t queries = pass == RingPass::kBackward ? make.query + 2 * make.context : make.query;
  const std::int64_t columns = queries + make.key + make.value;
  make.stream(kCopy, "ring halves", ring_elements(make, context, columns, 0.25 * halved(context)), {.values = 2});
}

void add_ring_merge(KernelMaker& make, const KernelContext& context, RingPass pass) {
  if (context.gathered_blocks) return add_pytorch_merge(make, context, pass);
  const auto merge = [&](const char* name, KernelFamily family, std::int64_t columns, double values) {
    make.stream(family, name, ring_elements(make, context, columns, merged_rows(context)), {.values = values});
  };
  if (pass == RingPass::kForward) return merge("ring merge of results", kElementwise, make.context, 3);
  merge("ring merge of query gradients", kElementwise, make.query, 3);
  merge("ring join of key and value gradients", kCopy, make.key + make.value, 2);
  merge("ring merge of key and value gradients", kElementwise, make.key + make.value, 3);
}

}  // namespace ringwright::workload
