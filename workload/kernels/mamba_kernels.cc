// The scan in chunks of Q tokens (Dao and Gu, arXiv 2405.21060, section 6, listing 1), kernel by kernel as mamba_ssm
// runs it (ops/triton/ssd_combined.py). Forward, for H heads of P channels, G groups and states of N: the scores C B'
// (2 G Q N per token), the state that each chunk adds (2 H N P), the states passed from chunk to chunk, and the scan
// (2 H P (Q + N): within the chunk, and from the state before it). The backward pass computes the convolution, the
// scores and the states again, and has two GEMMs for each of these; what the time steps decay costs one more of Q Q P.
//
// States are passed by blocks that go through the chunks of a sequence, documents or not, and load each chunk's state
// when the one before is done (ops/triton/ssd_state_passing.py).
//
// Triton's kernels are costed as batched GEMMs of those sizes with the bytes that they read and write; scores and
// states are fp32 in memory. No table of these kernels was measured.
#include "workload/kernels/mamba_kernels.h"

#include <algorithm>
#include <array>

#include "workload/kernels/pointwise_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kStateBytes = 4.0;

// On this rank. Context-parallel ranks exchange heads for tokens before the convolution and after the scan: each has
// whole sequences of its heads, and B and C of at least one group (Megatron-LM, ssm/mamba_context_parallel.py).
struct ScanSizes {
  ScanSizes(const KernelMaker& make, const KernelContext& context)
      : mamba(make.shape.hybrid->mamba),
        heads(mamba.heads / (make.tp() * context.cp)),
        groups(std::max<std::int64_t>(1, mamba.groups / (make.tp() * context.cp))),
        inner(mamba.inner() / (make.tp() * context.cp)),
        convolved(inner + 2 * groups * mamba.state),
        tokens(make.tokens * context.cp),
        chunks((tokens + mamba.chunk - 1) / mamba.chunk),
        steps((tokens / context.training.micro_batch + mamba.chunk - 1) / mamba.chunk) {}

  [[nodiscard]] std::int64_t states() const { return chunks * inner * mamba.state; }
  [[nodiscard]] std::int64_t scores() const { return chunks * groups * mamba.chunk * mamba.chunk; }
  [[nodiscard]] std::int64_t shared() const { return tokens * groups * mamba.state; }  // B or C

  const MambaShape& mamba;
  std::int64_t heads, groups, inner, convolved;
  std::int64_t tokens, chunks;
  std::int64_t steps;  // chunks of a sequence
};

// Bytes of so many values of the working type, and of states and scores in fp32.
double moved(const KernelContext& context, std::int64_t values, std::int64_t in_fp32) {
  return static_cast<double>(values) * bytes_per_element(context.training.precision) +
         static_cast<double>(in_fp32) * kStateBytes;
}

void add_convolution(KernelMaker& make, const ScanSizes& sizes, const char* name) {
  make.stream(kElementwise, name, sizes.tokens * sizes.convolved, {.values = 2});
}

// Time steps and their sums over a chunk, scores, states of chunks and before chunks.
void add_states(KernelMaker& make, const KernelContext& context, const ScanSizes& sizes) {
  const auto& [heads, head_size, groups, state, chunk, kernel] = sizes.mamba;
  make.stream(kElementwise, "mamba time steps", sizes.tokens * sizes.heads, {.values = 1, .other_bytes = 8.0});
  make.batched_gemm("mamba scores", {.m = chunk, .n = chunk, .k = state, .batch = sizes.chunks * sizes.groups},
                    moved(context, 2 * sizes.shared(), sizes.scores()));
  make.batched_gemm("mamba chunk states", {.m = head_size, .n = state, .k = chunk, .batch = sizes.chunks * sizes.heads},
                    moved(context, sizes.tokens * sizes.inner + sizes.shared(), sizes.states()));
  make.stream(kElementwise, "mamba state passing", sizes.states(), {.values = 1, .other_bytes = kStateBytes});
  make.in_steps(sizes.steps);
}

void add_scan(KernelMaker& make, const KernelContext& context, const ScanSizes& sizes) {
  const MambaShape& mamba = sizes.mamba;
  add_states(make, context, sizes);
  make.batched_gemm(
      "mamba scan",
      {.m = mamba.chunk, .n = mamba.head_size, .k = mamba.chunk + mamba.state, .batch = sizes.chunks * sizes.heads},
      moved(context, 2 * sizes.tokens * sizes.inner + sizes.shared() + sizes.states(), sizes.scores()));
}

void add_scan_backward(KernelMaker& make, const KernelContext& context, const ScanSizes& sizes) {
  const MambaShape& mamba = sizes.mamba;
  const std::int64_t of_heads = sizes.chunks * sizes.heads;
  const std::int64_t channels = sizes.tokens * sizes.inner;
  const auto gemm = [&](const char* name, const Gemm& shape, double bytes) { make.batched_gemm(name, shape, bytes); };
  add_states(make, context, sizes);
  gemm("mamba states backward", {.m = mamba.head_size, .n = mamba.state, .k = mamba.chunk, .batch = of_heads},
       moved(context, channels + sizes.shared(), sizes.states()));
  make.stream(kElementwise, "mamba state passing backward", sizes.states(), {.values = 2, .other_bytes = kStateBytes});
  make.in_steps(sizes.steps);
  gemm("mamba input gradient",
       {.m = mamba.chunk, .n = mamba.head_size, .k = mamba.chunk + mamba.state, .batch = of_heads},
       moved(context, 3 * channels + sizes.shared() + sizes.states(), sizes.scores()));
  for (const char* name : {"mamba B gradient", "mamba C gradient"}) {
    gemm(name, {.m = mamba.chunk, .n = mamba.state, .k = mamba.head_size, .batch = of_heads},
         moved(context, channels + sizes.states(), sizes.shared()));
  }
  for (const char* name : {"mamba score gradient", "mamba decay gradient"}) {
    gemm(name, {.m = mamba.chunk, .n = mamba.chunk, .k = mamba.head_size, .batch = of_heads},
         moved(context, 2 * channels, sizes.scores()));
  }
  for (const char* name : {"mamba B gradient of scores", "mamba C gradient of scores"}) {
    gemm(name, {.m = mamba.chunk, .n = mamba.state, .k = mamba.chunk, .batch = sizes.chunks * sizes.groups},
         moved(context, 2 * sizes.shared(), sizes.scores() + sizes.shared()));
  }
}

// Of a token before the exchange: groups that several ranks need are repeated.
std::int64_t exchanged_columns(const ScanSizes& sizes, const KernelContext& context) {
  return context.cp * (sizes.inner + sizes.convolved + sizes.heads);
}

// Parts are sorted by receiver, and those that arrive joined, in zig-zag order also into that of the sequence.
void add_exchange_copies(KernelMaker& make, const KernelContext& context, std::int64_t columns, int joins) {
  if (context.cp == 1) return;
  const int copies = 1 + joins + (context.zigzag ? 1 : 0);
  for (int i = 0; i < copies; ++i) make.stream(kCopy, "mamba heads copy", make.tokens * columns, {.values = 2});
}

std::int64_t inner_columns(const KernelMaker& make) {
  return make.shape.hybrid->mamba.inner() / make.tp();
}

void add_mamba_in(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make, context);
  const MambaShape& mamba = sizes.mamba;
  make.linears("mamba in", make.shape.hidden, {mamba.projected() / make.tp()});
  if (sizes.groups * context.cp * make.tp() > mamba.groups) {
    make.stream(kCopy, "mamba groups repeated", make.tokens * 2 * sizes.groups * context.cp * mamba.state,
                {.values = 2});
  }
  add_exchange_copies(make, context, exchanged_columns(sizes, context), 1);
}

void add_mamba_scan(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make, context);
  add_convolution(make, sizes, "mamba convolution");
  add_scan(make, context, sizes);
}

void add_mamba_out(KernelMaker& make, const KernelContext& context) {
  add_exchange_copies(make, context, inner_columns(make), 0);
  make.stream(kNorm, "mamba gated norm", make.tokens * inner_columns(make), {.values = 3});
  make.linear("mamba out", inner_columns(make), make.shape.hidden);
}

// The norm's result and its gate's gradients.
void add_mamba_out_backward(KernelMaker& make, const KernelContext& context) {
  make.gathered_dgrad("mamba out dgrad", inner_columns(make), make.shape.hidden);
  make.wgrad("mamba out wgrad", inner_columns(make), make.shape.hidden);
  make.stream(kNorm, "mamba gated norm backward", make.tokens * inner_columns(make), {.values = 5});
  add_exchange_copies(make, context, inner_columns(make), 0);
}

// x, B and C are convolved again.
void add_mamba_scan_backward(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make, context);
  add_convolution(make, sizes, "mamba convolution again");
  add_scan_backward(make, context, sizes);
  make.stream(kElementwise, "mamba convolution backward", sizes.tokens * sizes.convolved, {.values = 4});
}

void add_mamba_in_backward(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make, context);
  add_exchange_copies(make, context, exchanged_columns(sizes, context), 1);
  if (sizes.groups * context.cp * make.tp() > sizes.mamba.groups) {
    make.stream(kElementwise, "mamba groups gradient sum",
                make.tokens * 2 * sizes.groups * context.cp * sizes.mamba.state, {.values = 2});
  }
}

void add_mamba(KernelMaker& make, const KernelContext& context) {
  add_mamba_in(make, context);
  add_mamba_scan(make, context);
  add_mamba_out(make, context);
}

void add_mamba_backward(KernelMaker& make, const KernelContext& context) {
  add_mamba_out_backward(make, context);
  add_mamba_scan_backward(make, context);
  add_mamba_in_backward(make, context);
}

constexpr std::array kMambaSections{LayerSection::kMambaNorm,         LayerSection::kMamba,
                                    LayerSection::kMambaIn,           LayerSection::kMambaScan,
                                    LayerSection::kMambaOut,          LayerSection::kMambaOutBackward,
                                    LayerSection::kMambaScanBackward, LayerSection::kMambaInBackward,
                                    LayerSection::kMambaResidual,     LayerSection::kMambaResidualBackward,
                                    LayerSection::kMambaBackward,     LayerSection::kMambaDgrad,
                                    LayerSection::kMambaWgrad,        LayerSection::kMambaNormBackward};

}  // namespace

bool is_of_mamba(LayerSection section) {
  return std::ranges::find(kMambaSections, section) != kMambaSections.end();
}

void add_mamba_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  const std::int64_t projected = make.shape.hybrid->mamba.projected() / make.tp();
  if (section == LayerSection::kMambaNorm) return add_norm(make, "mamba norm", elements);
  if (section == LayerSection::kMamba) return add_mamba(make, context);
  if (section == LayerSection::kMambaIn) return add_mamba_in(make, context);
  if (section == LayerSection::kMambaScan) return add_mamba_scan(make, context);
  if (section == LayerSection::kMambaOut) return add_mamba_out(make, context);
  if (section == LayerSection::kMambaOutBackward) return add_mamba_out_backward(make, context);
  if (section == LayerSection::kMambaScanBackward) return add_mamba_scan_backward(make, context);
  if (section == LayerSection::kMambaInBackward) return add_mamba_in_backward(make, context);
  if (section == LayerSection::kMambaResidual) return add_residual(make);
  if (section == LayerSection::kMambaResidualBackward) {
    const bool biased = make.shape.biases == kAllBiases;
    return add_residual_backward(make, biased ? OutputBias::kAdded : OutputBias::kNone);
  }
  if (section == LayerSection::kMambaBackward) return add_mamba_backward(make, context);
  if (section == LayerSection::kMambaWgrad) return make.wgrads("mamba in wgrad", make.shape.hidden, {projected});
  if (section == LayerSection::kMambaDgrad) {
    if (context.training.recomputes(&RecomputedModules::norms)) add_norm(make, "mamba norm", elements);
    return make.dgrads("mamba in dgrad", make.shape.hidden, {projected});
  }
  add_norm_backward(make, "mamba norm", elements);
  add_residual_gradient(make, elements);
}

std::vector<std::int64_t> mamba_exchange(const KernelContext& context) {
  const KernelMaker make(context);
  const ScanSizes sizes(make, context);
  const std::int64_t shared = sizes.groups * sizes.mamba.state * context.cp;
  return {inner_columns(make), inner_columns(make), shared, shared, sizes.heads * context.cp};
}

std::int64_t mamba_result(const KernelContext& context) {
  return inner_columns(KernelMaker(context));
}

}  // namespace ringwright::workload
