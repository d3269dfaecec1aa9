// The scan in chunks of Q tokens (Dao and Gu, arXiv 2405.21060, section 6, listing 1), kernel by kernel as mamba_ssm
// runs it (ops/triton/ssd_combined.py). Forward, for H heads of P channels, G groups and states of N: the scores C B'
// (2 G Q N per token), the state that each chunk adds (2 H N P), the states passed from chunk to chunk, and the scan
// (2 H P (Q + N): within the chunk, and from the state before it). The backward pass computes the convolution, the
// scores and the states again, and has two GEMMs for each of these; what the time steps decay costs one more of Q Q P.
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

// On this rank.
struct ScanSizes {
  explicit ScanSizes(const KernelMaker& make)
      : mamba(make.shape.hybrid->mamba),
        heads(mamba.heads / make.tp()),
        groups(mamba.groups / make.tp()),
        inner(mamba.inner() / make.tp()),
        convolved(mamba.convolved() / make.tp()),
        projected(mamba.projected() / make.tp()),
        chunks((make.tokens + mamba.chunk - 1) / mamba.chunk),
        tokens(make.tokens) {}

  [[nodiscard]] std::int64_t states() const { return chunks * inner * mamba.state; }
  [[nodiscard]] std::int64_t scores() const { return chunks * groups * mamba.chunk * mamba.chunk; }
  [[nodiscard]] std::int64_t shared() const { return tokens * groups * mamba.state; }  // B or C

  const MambaShape& mamba;
  std::int64_t heads, groups, inner, convolved, projected;
  std::int64_t chunks, tokens;
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
}

void add_scan(KernelMaker& make, const KernelContext& context, const ScanSizes& sizes) {
  const MambaShape& mamba = sizes.mamba;
  add_states(make, context, sizes);
  make.batched_gemm("mamba scan",
                    {.m = mamba.chunk,
                     .n = mamba.head_size,
                     .k = mamba.chunk + mamba.state,
                     .batch = sizes.chunks * sizes.heads},
                    moved(context, 2 * sizes.tokens * sizes.inner + sizes.shared() + sizes.states(), sizes.scores()));
}

void add_scan_backward(KernelMaker& make, const KernelContext& context, const ScanSizes& sizes) {
  const MambaShape& mamba = sizes.mamba;
  const std::int64_t of_heads = sizes.chunks * sizes.heads;
  const std::int64_t channels = sizes.tokens * sizes.inner;
  const auto gemm = [&](const char* name, const Gemm& shape, double bytes) {
    make.batched_gemm(name, shape, bytes);
  };
  add_states(make, context, sizes);
  gemm("mamba states backward", {.m = mamba.head_size, .n = mamba.state, .k = mamba.chunk, .batch = of_heads},
       moved(context, channels + sizes.shared(), sizes.states()));
  make.stream(kElementwise, "mamba state passing backward", sizes.states(),
              {.values = 2, .other_bytes = kStateBytes});
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

void add_mamba(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make);
  make.linears("mamba in", make.shape.hidden, {sizes.projected});
  add_convolution(make, sizes, "mamba convolution");
  add_scan(make, context, sizes);
  make.stream(kNorm, "mamba gated norm", sizes.tokens * sizes.inner, {.values = 3});
  make.linear("mamba out", sizes.inner, make.shape.hidden);
}

// The norm's result and its gate's gradients; x, B and C are convolved again.
void add_mamba_backward(KernelMaker& make, const KernelContext& context) {
  const ScanSizes sizes(make);
  make.gathered_dgrad("mamba out dgrad", sizes.inner, make.shape.hidden);
  make.wgrad("mamba out wgrad", sizes.inner, make.shape.hidden);
  make.stream(kNorm, "mamba gated norm backward", sizes.tokens * sizes.inner, {.values = 5});
  add_convolution(make, sizes, "mamba convolution again");
  add_scan_backward(make, context, sizes);
  make.stream(kElementwise, "mamba convolution backward", sizes.tokens * sizes.convolved, {.values = 4});
}

constexpr std::array kMambaSections{LayerSection::kMambaNorm,     LayerSection::kMamba,
                                    LayerSection::kMambaResidual, LayerSection::kMambaResidualBackward,
                                    LayerSection::kMambaBackward, LayerSection::kMambaDgrad,
                                    LayerSection::kMambaWgrad,    LayerSection::kMambaNormBackward};

}  // namespace

bool is_of_mamba(LayerSection section) { return std::ranges::find(kMambaSections, section) != kMambaSections.end(); }

void add_mamba_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  const std::int64_t projected = make.shape.hybrid->mamba.projected() / make.tp();
  if (section == LayerSection::kMambaNorm) return add_norm(make, "mamba norm", elements);
  if (section == LayerSection::kMamba) return add_mamba(make, context);
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

}  // namespace ringwright::workload
