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
constexpr std::array kProtocols = {NamedPart{"ll128", "LL128"}, NamedPart{"simple", "SIMPLE"}, NamedPart{"ll", "LL"}};

// What precedes the operation in the names of all versions, in small letters.
constexpr std::array<std::string_view, 9> kNcclBegins = {"nccldevkernel_",    "ncclkernel_",    "ncclsymkdevkernel_",
                                                         "ncclsymdevkernel_", "rccldevkernel_", "rcclkernel_",
                                                         "ncclkernel",        "rccl",           "nccl"};

struct FamilyWord {
  std::string_view word;
  KernelFamily family;
};

// The first word that the name contains decides: specific words before those that other names contain as well.
constexpr std::array kFamilyWords = {
    FamilyWord{"flash", KernelFamily::kAttention},
    FamilyWord{"fmha", KernelFamily::kAttention},
    FamilyWord{"attention", KernelFamily::kAttention},
    FamilyWord{"attn", KernelFamily::kAttention},
    FamilyWord{"unified_kernel_3d", KernelFamily::kAttention},
    FamilyWord{"multi_tensor_apply", KernelFamily::kOptimizer},
    FamilyWord{"adam", KernelFamily::kOptimizer},
    FamilyWord{"_lamb", KernelFamily::kOptimizer},
    FamilyWord{"foreach", KernelFamily::kOptimizer},
    FamilyWord{"fprop", KernelFamily::kConvolution},
    FamilyWord{"dgrad", KernelFamily::kConvolution},
    FamilyWord{"wgrad", KernelFamily::kConvolution},
    FamilyWord{"convol", KernelFamily::kConvolution},
    FamilyWord{"conv2d", KernelFamily::kConvolution},
    FamilyWord{"winograd", KernelFamily::kConvolution},
    FamilyWord{"nchwtonhwc", KernelFamily::kConvolution},
    FamilyWord{"nhwctonchw", KernelFamily::kConvolution},
    FamilyWord{"layer_norm", KernelFamily::kNorm},
    FamilyWord{"layernorm", KernelFamily::kNorm},
    FamilyWord{"rms_norm", KernelFamily::kNorm},
    FamilyWord{"rmsnorm", KernelFamily::kNorm},
    FamilyWord{"batch_norm", KernelFamily::kNorm},
    FamilyWord{"batchnorm", KernelFamily::kNorm},
    FamilyWord{"bn_fw", KernelFamily::kNorm},
    FamilyWord{"bn_bw", KernelFamily::kNorm},
    FamilyWord{"groupnorm", KernelFamily::kNorm},
    FamilyWord{"group_norm", KernelFamily::kNorm},
    FamilyWord{"gammabeta", KernelFamily::kNorm},
    FamilyWord{"softmax", KernelFamily::kSoftmax},
    FamilyWord{"nll_loss", KernelFamily::kSoftmax},
    FamilyWord{"cross_entropy", KernelFamily::kSoftmax},
    FamilyWord{"gemm", KernelFamily::kGemm},
    FamilyWord{"gemv", KernelFamily::kGemm},
    FamilyWord{"cutlass", KernelFamily::kGemm},
    FamilyWord{"cublas", KernelFamily::kGemm},
    FamilyWord{"xmma", KernelFamily::kGemm},
    FamilyWord{"nvjet", KernelFamily::kGemm},
    FamilyWord{"cijk_", KernelFamily::kGemm},
    FamilyWord{"matmul", KernelFamily::kGemm},
    FamilyWord{"splitkreduce", KernelFamily::kGemm},
    FamilyWord{"splitk", KernelFamily::kGemm},
    FamilyWord{"moe", KernelFamily::kGemm},
    FamilyWord{"bmm_", KernelFamily::kGemm},
    FamilyWord{"dot_kernel", KernelFamily::kReduction},
    FamilyWord{"embedding", KernelFamily::kEmbedding},
    FamilyWord{"index", KernelFamily::kEmbedding},
    FamilyWord{"gather", KernelFamily::kEmbedding},
    FamilyWord{"scatter", KernelFamily::kEmbedding},
    FamilyWord{"permute", KernelFamily::kEmbedding},
    FamilyWord{"sort", KernelFamily::kSort},
    FamilyWord{"radix", KernelFamily::kSort},
    FamilyWord{"scan", KernelFamily::kSort},
    FamilyWord{"topk", KernelFamily::kSort},
    FamilyWord{"reduce", KernelFamily::kReduction},
    FamilyWord{"triton_red", KernelFamily::kReduction},
    FamilyWord{"triton_per", KernelFamily::kReduction},
    FamilyWord{"elementwise", KernelFamily::kElementwise},
    FamilyWord{"triton_poi", KernelFamily::kElementwise},
    FamilyWord{"catarray", KernelFamily::kElementwise},
    FamilyWord{"copy", KernelFamily::kElementwise},
    FamilyWord{"transpose", KernelFamily::kElementwise},
    FamilyWord{"fill", KernelFamily::kElementwise},
    FamilyWord{"dropout", KernelFamily::kElementwise},
    FamilyWord{"silu", KernelFamily::kElementwise},
    FamilyWord{"gelu", KernelFamily::kElementwise},
    FamilyWord{"relu", KernelFamily::kElementwise},
    FamilyWord{"rotary", KernelFamily::kElementwise},
    FamilyWord{"quant", KernelFamily::kElementwise},
    FamilyWord{"arange", KernelFamily::kElementwise},
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
  for (const NamedPart& protocol : kProtocols) {
    if (!cut(rest, protocol.part)) continue;
    if (!name.variant.empty()) name.variant += "_";
    name.variant += protocol.name;
    break;
  }
  return name;
}

std::string_view to_string(KernelFamily family) {
  switch (family) {
    case KernelFamily::kCommunication: return "communication";
    case KernelFamily::kAttention: return "attention";
    case KernelFamily::kConvolution: return "convolution";
    case KernelFamily::kGemm: return "GEMM";
    case KernelFamily::kNorm: return "norm";
    case KernelFamily::kSoftmax: return "softmax, loss";
    case KernelFamily::kOptimizer: return "optimizer";
    case KernelFamily::kEmbedding: return "embedding, index";
    case KernelFamily::kSort: return "sort, scan";
    case KernelFamily::kReduction: return "reduction";
    case KernelFamily::kElementwise: return "elementwise";
    case KernelFamily::kOther: return "other";
  }
  return "";
}

KernelFamily family_of(std::string_view kernel) {
  if (communicates(kernel)) return KernelFamily::kCommunication;
  const std::string name = small_letters(kernel);
  // PyTorch's generic kernels name in their template arguments what they apply, which may be anything.
  const std::string_view function = std::string_view(name).substr(0, name.find('<'));
  if (contains(function, "elementwise_kernel")) return KernelFamily::kElementwise;
  if (contains(function, "native::reduce_kernel")) return KernelFamily::kReduction;
  for (const FamilyWord& entry : kFamilyWords) {
    if (contains(name, entry.word)) return entry.family;
  }
  return KernelFamily::kOther;
}

}  // namespace ringwright::traces
