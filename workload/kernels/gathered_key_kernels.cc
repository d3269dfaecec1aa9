#include "workload/kernels/gathered_key_kernels.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

using enum KernelFamily;

// Keys and values are separate tensors.
void for_both(KernelMaker& make, const KernelContext& context, KernelFamily family, const char* name, double share,
              double values) {
  for (const std::int64_t columns : {make.key, make.value}) {
    const auto elements = static_cast<double>(make.tokens * columns * context.cp);
    make.stream(family, name, std::llround(share * elements), {.values = values});
  }
}

}  // namespace

std::int64_t gathered_key_columns(const KernelMaker& sizes, const KernelContext& context) {
  return context.cp * (sizes.key + sizes.value);
}

// Chunks i and 2c - 1 - i of 2c under a causal mask end at i + 1 and 2c - i: 2c + 1 chunks of keys, for every rank.
double keys_of_chunks(const KernelContext& context) {
  if (context.shape.masking == Masking::kBidirectional) return 2.0;
  const double chunk = 0.5 / static_cast<double>(context.cp);
  const double causal = 1.0 + chunk;
  if (!context.windowed) return causal;
  const double window = static_cast<double>(context.shape.window) / static_cast<double>(context.shape.sequence);
  return std::min(causal, 2.0 * (chunk + window));
}

void add_keys_in_order(KernelMaker& make, const KernelContext& context) {
  for_both(make, context, kCopy, "keys in order", 1.0, 2.0);
}

void add_results_of_chunks(KernelMaker& make) {
  make.stream(kCopy, "results of chunks", make.tokens * make.context, {.values = 2});
}

void add_gradients_of_chunks(KernelMaker& make, const KernelContext& context) {
  make.stream(kCopy, "query gradients of chunks", make.tokens * make.query, {.values = 2});
  for_both(make, context, kCopy, "clear key gradients", 1.0, 1.0);
  for_both(make, context, kElementwise, "key gradients of chunks", keys_of_chunks(context), 3.0);
  for_both(make, context, kCopy, "key gradients in rank order", 1.0, 2.0);
}

}  // namespace ringwright::workload
