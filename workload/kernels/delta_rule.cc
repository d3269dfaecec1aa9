// The delta rule in chunks of C tokens (Yang et al., arXiv 2412.06464, section 3.3), kernel by kernel as
// flash-linear-attention 0.5 runs it (ops/gated_delta_rule/chunk.py). FLOPs for each token and head, 2 dk dv for a
// product with a state, 2 C d within a chunk:
//
//     keys' products and inverse of their triangle      C, dk; the inverse's own arithmetic is small
//     w and u, from keys and values                     C, dk + dv
//     states, chunk after chunk                         2 states: w times a state, keys' products with what is left
//     result                                            a state; C, dk + dv
//
// Backward, w, u and the states are computed again; gradients of values within the chunk take C, dk + dv; those of
// states three states, chunk after chunk; those of queries, keys and w three states and C, 3 dk + dv; those of w and u
// C, 5 dk + 2 dv + 2 C. Bytes: each tensor once for each kernel; states are written in the working type.
//
// With a decay for each channel (ops/kda/chunk_fwd.py, chunk_bwd.py) decays are read with keys, queries' products with
// keys are made and stored with those of keys, and the backward pass takes C, 2 dv for values, three states and C,
// 2 dk + 2 dv + 2 C in one kernel, and C, 4 dk for queries and keys in another, with gradients in fp32.
//
// Triton's kernels are costed as batched GEMMs of those sizes. A block goes through the chunks of its sequence one
// after another for the states: they are GEMMs of dk x dv, as long as the sequence, in steps (serial_kernels.cc).
// docs/hybrid-models.md compares the sums with measurements.
#include "workload/kernels/delta_rule.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr std::int64_t kChunk = DeltaNetShape::kChunk;

// Bytes of so many values of the working type, and of decays.
double moved(const KernelContext& context, const NetSizes& sizes, std::int64_t values) {
  return static_cast<double>(values) * bytes_per_element(context.training.precision) +
         static_cast<double>(sizes.tokens * sizes.decays) * kRateBytes;
}

class DeltaRule {
 public:
  DeltaRule(KernelMaker& make, const KernelContext& context, const NetSizes& sizes)
      : make_(make),
        context_(context),
        sizes_(sizes),
        k_(sizes.tokens * sizes.repeated),
        v_(sizes.tokens * sizes.values) {}

  void forward() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    if (sizes_.net.channels) return forward_by_channel();
    in_chunks("delta net triangle", kChunk, dk, k_ + sizes_.triangles());
    states_from_keys(2 * k_);
    in_chunks("delta net result", dv, dk + kChunk + kChunk * dk / dv, 2 * k_ + 2 * v_ + sizes_.states());
  }

  void backward() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    const std::int64_t all = sizes_.states();
    if (sizes_.net.channels) return backward_by_channel();
    states_from_keys(2 * k_);
    in_chunks("delta net values gradient", dk + dv, kChunk, 2 * k_ + 2 * v_);
    through_sequences("delta net states backward", 3, 3 * k_ + 3 * v_ + all);
    in_chunks("delta net queries and keys gradient", dk, 3 * dv + 3 * kChunk + kChunk * dv / dk,
              5 * k_ + 3 * v_ + 2 * all);
    in_chunks("delta net w and u gradient", kChunk, 5 * dk + 2 * dv + 2 * kChunk, 5 * k_ + 3 * v_ + sizes_.triangles());
    make_.stream(kElementwise, "delta net keys gradient sum", k_, {.values = 3});
  }

 private:
  // The triangle is one of keys' products with keys, and one of queries' with them; decayed keys are written with w.
  void forward_by_channel() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    in_chunks("delta net triangle", kChunk, 2 * dk, 2 * k_ + 2 * sizes_.triangles());
    states_from_keys(3 * k_);
    in_chunks("delta net result", dv, dk + kChunk, k_ + 2 * v_ + sizes_.triangles() + sizes_.states());
  }

  void backward_by_channel() {
    const std::int64_t dk = sizes_.net.key_size;
    const std::int64_t dv = sizes_.net.value_size;
    const std::int64_t all = sizes_.states();
    const std::int64_t triangles = sizes_.triangles();
    const auto in_fp32 = static_cast<std::int64_t>(4.0 / bytes_per_element(context_.training.precision));
    states_from_keys(5 * k_);
    in_chunks("delta net values gradient", 2 * dv, kChunk, 3 * v_ + (1 + in_fp32) * triangles);
    through_sequences("delta net states backward", 3, 3 * k_ + 3 * v_ + all);
    in_chunks("delta net queries, keys and w gradient", dk,
              3 * dv + 2 * kChunk + (2 * kChunk * dv + 2 * kChunk * kChunk) / dk,
              (2 + 3 * in_fp32) * k_ + 5 * v_ + 2 * all + (1 + in_fp32) * triangles);
    in_chunks("delta net queries and keys gradient", dk, 4 * kChunk, (2 + 6 * in_fp32) * k_ + 2 * in_fp32 * triangles);
    make_.stream(kCast, "delta net queries and keys gradient cast", 2 * k_, {.values = 1, .other_bytes = kRateBytes});
  }

  // Queries' and keys' gradients need these again. `keys`: values of queries and keys that are read and written.
  void states_from_keys(std::int64_t keys) {
    const std::int64_t both = sizes_.net.key_size + sizes_.net.value_size;
    in_chunks("delta net w and u", both, kChunk, keys + 2 * v_ + sizes_.triangles());
    through_sequences("delta net states", 2, 2 * k_ + 2 * v_ + sizes_.states());
  }

  void in_chunks(const char* name, std::int64_t n, std::int64_t k, std::int64_t values) {
    make_.batched_gemm(name, {.m = kChunk, .n = n, .k = k, .batch = sizes_.chunks * sizes_.heads},
                       moved(context_, sizes_, values));
  }

  // `products` of a state for each token.
  void through_sequences(const char* name, std::int64_t products, std::int64_t values) {
    make_.batched_gemm(name,
                       {.m = sizes_.net.key_size,
                        .n = sizes_.net.value_size,
                        .k = products * sizes_.chunks / sizes_.sequences * kChunk,
                        .batch = sizes_.sequences * sizes_.heads},
                       moved(context_, sizes_, values));
    make_.in_steps(sizes_.chunks / sizes_.sequences);
  }

  KernelMaker& make_;
  const KernelContext& context_;
  const NetSizes& sizes_;
  std::int64_t k_;  // values of keys, for all heads
  std::int64_t v_;
};

}  // namespace

void add_delta_rule(KernelMaker& make, const KernelContext& context, const NetSizes& sizes) {
  DeltaRule(make, context, sizes).forward();
}

void add_delta_rule_backward(KernelMaker& make, const KernelContext& context, const NetSizes& sizes) {
  DeltaRule(make, context, sizes).backward();
}

}  // namespace ringwright::workload
