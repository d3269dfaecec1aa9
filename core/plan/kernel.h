// The work of a GPU: kernels in families, and the work of one compute task as a list of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.h"

namespace ringwright {

enum class DataType { kFp32, kTf32, kBf16, kFp16, kFp8, kFp4 };

[[nodiscard]] std::string_view to_string(DataType type);
// Storage of one element; fp4 is 0.5.
[[nodiscard]] double bytes_per_element(DataType type);

enum class KernelFamily {
  kGemm,               // m x n x k, batch
  kGroupedGemm,        // GEMMs of `batch` experts with their own weights, m rows each on average
  kAttentionForward,   // fused attention (FlashAttention-like)
  kAttentionBackward,
  kNorm,               // RMSNorm, LayerNorm
  kElementwise,        // activation, residual, dropout, bias, rotary embedding
  kSoftmax,            // softmax and cross-entropy
  kEmbedding,          // gather and scatter-add
  kOptimizer,
  kCast,
  kCopy,
};

[[nodiscard]] std::string_view to_string(KernelFamily family);

// Which GEMM of a linear layer y = x W it is: libraries lay out the operands differently for each and reach different
// speeds (TN, NN and NT in cuBLAS notation).
enum class GemmRole { kForward, kDgrad, kWgrad };

[[nodiscard]] std::string_view to_string(GemmRole role);

enum class AttentionMask { kNone, kCausal };

// How the host issues a kernel: as an operator of the framework; as one turn of a loop, as a library's or that over a
// list of tensors; or together with another kernel, which has the host's time of both.
enum class KernelIssue { kOperator, kLoop, kTogether };

struct Kernel {
  KernelFamily family = KernelFamily::kGemm;
  std::string name;              // "qkv", "mlp up dgrad": what a profile would call it
  DataType type = DataType::kBf16;
  // GEMM: m, n, k of one of `batch` GEMMs. Attention: m = query length, n = key length, k = head size, batch =
  // sequences x heads of this rank. Lookups of rows at random: m = bytes of their tables. Others: 0.
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  GemmRole role = GemmRole::kForward;
  AttentionMask mask = AttentionMask::kNone;
  std::int64_t window = 0;       // of causal attention, the tokens that a query attends to, itself included; 0: all
  Flops flops;                   // of one launch; of causal attention only what mask and window leave
  Bytes bytes;                   // read and written from device memory by one launch, lower bound
  std::int64_t launches = 1;     // launches in this work
  // Tiles of a larger kernel that communicates as its tiles are computed: flops and bytes are one of so many equal
  // shares, sizes and launch are those of the whole kernel, and so is the time, of which this is a share.
  int share_of = 1;
  // Steps that a thread block goes through one after another, since each needs the result of the one before; 0: none.
  // Of a GEMM, each takes an equal part of k, and the result is carried from step to step.
  std::int64_t serial_steps = 0;
  bool host_reads = false;       // the host waits for its result before it issues the next kernel
  // On another stream, next to kernels that compute: it costs these the multiprocessors that draw its bytes.
  bool concurrent = false;
  bool host_paced = false;       // the host issues it after such a wait, with no lead over the device
  KernelIssue issue = KernelIssue::kOperator;
};

// The kernel of which this one is a share.
[[nodiscard]] Kernel whole_kernel(const Kernel& share);

// The work of one compute task: kernels that run one after another on the compute stream.
struct Work {
  std::string name;
  std::vector<Kernel> kernels;
  // As long as a trace says, whatever else the GPU does: compute models are not asked, and there are no kernels.
  std::optional<Duration> recorded = {};
  int gpu = 0;  // which of the cluster's kinds of GPUs computes it (core/plan/gpu_kinds.h)
};

[[nodiscard]] Flops total_flops(const Work& work);

}  // namespace ringwright
