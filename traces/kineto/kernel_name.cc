#include "traces/kineto/kernel_name.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "traces/calls/recorded_call.h"

namespace ringwright::traces {
namespace {

std::string small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// Cuts the part out of the text; false where it is not in it.
bool cut(std::string& text, std::string_view part) {
  const std::size_t at = text.find(part);
  if (at == std::string::npos) return false;
  text.erase(at, part.size());
  return true;
}

struct NamedPart {
  std::string_view part;
  std::string_view name;
};

// Longer ones first.
constexpr std::array kAlgorithms = {NamedPart{"nvls_tree", "NVLS_TREE"},
                                    NamedPart{"nvlstree", "NVLS_TREE"},
                                    NamedPart{"collnet_direct", "COLLNET_DIRECT"},
                                    NamedPart{"collnetdirect", "COLLNET_DIRECT"},
                                    NamedPart{"collnet_chain", "COLLNET_CHAIN"},
                                    NamedPart{"collnetchain", "COLLNET_CHAIN"},
                                    NamedPart{"collnet", "COLLNET"},
                                    NamedPart{"nvls", "NVLS"},
                                    NamedPart{"ring", "RING"},
                                    NamedPart{"tree", "TREE"},
                                    NamedPart{"pat", "PAT"}};
constexpr std::array kKernelProtocols = {NamedPart{"ll128", "LL128"},
                                         NamedPart{"simple", "SIMPLE"},
                                         NamedPart{"ll", "LL"}};

// What precedes the operation in the names of all versions, in small letters.
constexpr std::array<std::string_view, 9> kNcclBegins = {"nccldevkernel_",    "ncclkernel_",    "ncclsymkdevkernel_",
                                                         "ncclsymdevkernel_", "rccldevkernel_", "rcclkernel_",
                                                         "ncclkernel",        "rccl",           "nccl"};

struct FamilyWord {
  std::string_view word;
  WorkFamily family;
};

// The first word that the name contains decides: specific words before those that other names contain as well.
constexpr std::array kFamilyWords = {
    FamilyWord{"flash", WorkFamily::kAttention},
    FamilyWord{"fmha", WorkFamily::kAttention},
    FamilyWord{"attention", WorkFamily::kAttention},
    FamilyWord{"attn", WorkFamily::kAttention},
    FamilyWord{"unified_kernel_3d", WorkFamily::kAttention},
    FamilyWord{"multi_tensor_apply", WorkFamily::kOptimizer},
    FamilyWord{"adam", WorkFamily::kOptimizer},
    FamilyWord{"_lamb", WorkFamily::kOptimizer},
    FamilyWord{"foreach", WorkFamily::kOptimizer},
    FamilyWord{"fprop", WorkFamily::kConvolution},
    FamilyWord{"dgrad", WorkFamily::kConvolution},
    FamilyWord{"wgrad", WorkFamily::kConvolution},
    FamilyWord{"convol", WorkFamily::kConvolution},
    FamilyWord{"conv2d", WorkFamily::kConvolution},
    FamilyWord{"winograd", WorkFamily::kConvolution},
    FamilyWord{"nchwtonhwc", WorkFamily::kConvolution},
    FamilyWord{"nhwctonchw", WorkFamily::kConvolution},
    FamilyWord{"layer_norm", WorkFamily::kNorm},
    FamilyWord{"layernorm", WorkFamily::kNorm},
    FamilyWord{"rms_norm", WorkFamily::kNorm},
    FamilyWord{"rmsnorm", WorkFamily::kNorm},
    FamilyWord{"batch_norm", WorkFamily::kNorm},
    FamilyWord{"batchnorm", WorkFamily::kNorm},
    FamilyWord{"bn_fw", WorkFamily::kNorm},
    FamilyWord{"bn_bw", WorkFamily::kNorm},
    FamilyWord{"groupnorm", WorkFamily::kNorm},
    FamilyWord{"group_norm", WorkFamily::kNorm},
    FamilyWord{"gammabeta", WorkFamily::kNorm},
    FamilyWord{"softmax", WorkFamily::kSoftmax},
    FamilyWord{"nll_loss", WorkFamily::kSoftmax},
    FamilyWord{"cross_entropy", WorkFamily::kSoftmax},
    FamilyWord{"gemm", WorkFamily::kGemm},
    FamilyWord{"gemv", WorkFamily::kGemm},
    FamilyWord{"cutlass", WorkFamily::kGemm},
    FamilyWord{"cublas", WorkFamily::kGemm},
    FamilyWord{"xmma", WorkFamily::kGemm},
    FamilyWord{"nvjet", WorkFamily::kGemm},
    FamilyWord{"cijk_", WorkFamily::kGemm},
    FamilyWord{"matmul", WorkFamily::kGemm},
    FamilyWord{"splitkreduce", WorkFamily::kGemm},
    FamilyWord{"splitk", WorkFamily::kGemm},
    FamilyWord{"moe", WorkFamily::kGemm},
    FamilyWord{"bmm_", WorkFamily::kGemm},
    FamilyWord{"dot_kernel", WorkFamily::kReduction},
    FamilyWord{"embedding", WorkFamily::kEmbedding},
    FamilyWord{"index", WorkFamily::kEmbedding},
    FamilyWord{"gather", WorkFamily::kEmbedding},
    FamilyWord{"scatter", WorkFamily::kEmbedding},
    FamilyWord{"permute", WorkFamily::kEmbedding},
    FamilyWord{"sort", WorkFamily::kSort},
    FamilyWord{"radix", WorkFamily::kSort},
    FamilyWord{"scan", WorkFamily::kSort},
    FamilyWord{"topk", WorkFamily::kSort},
    FamilyWord{"reduce", WorkFamily::kReduction},
    FamilyWord{"triton_red", WorkFamily::kReduction},
    FamilyWord{"triton_per", WorkFamily::kReduction},
    FamilyWord{"elementwise", WorkFamily::kElementwise},
    FamilyWord{"triton_poi", WorkFamily::kElementwise},
    FamilyWord{"catarray", WorkFamily::kElementwise},
    FamilyWord{"copy", WorkFamily::kElementwise},
    FamilyWord{"transpose", WorkFamily::kElementwise},
    FamilyWord{"fill", WorkFamily::kElementwise},
    FamilyWord{"dropout", WorkFamily::kElementwise},
    FamilyWord{"silu", WorkFamily::kElementwise},
    FamilyWord{"gelu", WorkFamily::kElementwise},
    FamilyWord{"relu", WorkFamily::kElementwise},
    FamilyWord{"rotary", WorkFamily::kElementwise},
    FamilyWord{"quant", WorkFamily::kElementwise},
    FamilyWord{"arange", WorkFamily::kElementwise},
};

constexpr std::array<std::string_view, 7> kOtherLibraries = {
    "nvshmem", "deep_ep", "cross_device_reduce", "multimem_", "one_shot_all", "two_shot_all", "symm_mem"};

}  // namespace

bool is_nccl_kernel(std::string_view kernel) {
  const std::string name = small_letters(kernel.substr(0, 48));
  return name.starts_with("nccl") || name.starts_with("rccl");
}

bool communicates(std::string_view kernel) {
  if (is_nccl_kernel(kernel)) return true;
  const std::string name = small_letters(kernel);
  return std::ranges::any_of(kOtherLibraries, [&](std::string_view word) { return contains(name, word); });
}

NcclKernelName parse_nccl_kernel(std::string_view kernel) {
  std::string rest = small_letters(kernel.substr(0, kernel.find('(')));
  for (const std::string_view begin : kNcclBegins) {
    if (!rest.starts_with(begin)) continue;
    rest.erase(0, begin.size());
    break;
  }
  NcclKernelName name{.operation = std::string(operation_of(rest)), .variant = ""};
  // "reduce" would be cut out of "reducescatter".
  std::string bare = name.operation;
  std::erase(bare, '_');
  if (!bare.empty()) static_cast<void>(cut(rest, bare));
  for (const NamedPart& algorithm : kAlgorithms) {
    if (!cut(rest, algorithm.part)) continue;
    name.variant = algorithm.name;
    break;
  }
  for (const NamedPart& protocol : kKernelProtocols) {
    if (!cut(rest, protocol.part)) continue;
    if (!name.variant.empty()) name.variant += "_";
    name.variant += protocol.name;
    break;
  }
  return name;
}

// Up to 2.10 a kernel has its first work as only argument, in 2.11 the communicator before it, later the work's address
// (src/collectives/device/common.h).
std::string_view nccl_of_kernel(std::string_view kernel) {
  if (!kernel.starts_with("ncclKernel_")) return {};
  if (kernel.ends_with("(ncclWorkElem)")) return "2.10";
  if (kernel.ends_with("(ncclDevComm*, ncclWorkElem)")) return "2.11";
  return {};
}

std::string_view to_string(WorkFamily family) {
  switch (family) {
    case WorkFamily::kCommunication: return "communication";
    case WorkFamily::kAttention: return "attention";
    case WorkFamily::kConvolution: return "convolution";
    case WorkFamily::kGemm: return "GEMM";
    case WorkFamily::kNorm: return "norm";
    case WorkFamily::kSoftmax: return "softmax, loss";
    case WorkFamily::kOptimizer: return "optimizer";
    case WorkFamily::kEmbedding: return "embedding, index";
    case WorkFamily::kSort: return "sort, scan";
    case WorkFamily::kReduction: return "reduction";
    case WorkFamily::kElementwise: return "elementwise";
    case WorkFamily::kOther: return "other";
  }
  return "";
}

WorkFamily family_of(std::string_view kernel) {
  if (communicates(kernel)) return WorkFamily::kCommunication;
  const std::string name = small_letters(kernel);
  // PyTorch's generic kernels name in their template arguments what they apply, which may be anything.
  const std::string_view function = std::string_view(name).substr(0, name.find('<'));
  if (contains(function, "elementwise_kernel")) return WorkFamily::kElementwise;
  if (contains(function, "native::reduce_kernel")) return WorkFamily::kReduction;
  for (const FamilyWord& entry : kFamilyWords) {
    if (contains(name, entry.word)) return entry.family;
  }
  return WorkFamily::kOther;
}

}  // namespace ringwright::traces
