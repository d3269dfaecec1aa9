#include "traces/kineto/operator_kernels.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "core/base/units.h"
#include "traces/kineto/element_type.h"

namespace ringwright::traces {
namespace {

using Inputs = std::span<const OperatorInput>;
// What an operator reads and writes.
enum class Access : std::uint8_t {
  kMap,          // all inputs are read, one output of their broadcast shape is written
  kPredicate,    // the same; the output is boolean
  kWithMask,     // as kMap, and a boolean for each element of the output
  kInPlace,      // all inputs are read, the first one is written
  kFill,         // the first input is written
  kCopy,         // the second input is read, the first one is written
  kReduce,       // the first input is read
  kJoin,         // a list of tensors is read, and written as one
  kAdam,         // parameters and two moments are read and written, gradients are read
  kGather,       // rows of the first input at the indices of the last one
  kMatrix,       // GEMM of the first two inputs
  kAddedMatrix,  // of the second and third
  kAttention,
};

struct OperatorRule {
  std::string_view name;
  Access access;
  KernelFamily family = KernelFamily::kElementwise;
};

using enum KernelFamily;

// Names and order of inputs: PyTorch's aten/src/ATen/native/native_functions.yaml.
constexpr std::array kOperatorRules = {
    OperatorRule{"aten::mm", Access::kMatrix, kGemm},
    OperatorRule{"aten::bmm", Access::kMatrix, kGemm},
    OperatorRule{"aten::addmm", Access::kAddedMatrix, kGemm},
    OperatorRule{"aten::baddbmm", Access::kAddedMatrix, kGemm},
    OperatorRule{"aten::add", Access::kMap},
    OperatorRule{"aten::sub", Access::kMap},
    OperatorRule{"aten::rsub", Access::kMap},
    OperatorRule{"aten::mul", Access::kMap},
    OperatorRule{"aten::div", Access::kMap},
    OperatorRule{"aten::neg", Access::kMap},
    OperatorRule{"aten::abs", Access::kMap},
    OperatorRule{"aten::exp", Access::kMap},
    OperatorRule{"aten::log", Access::kMap},
    OperatorRule{"aten::pow", Access::kMap},
    OperatorRule{"aten::sqrt", Access::kMap},
    OperatorRule{"aten::rsqrt", Access::kMap},
    OperatorRule{"aten::reciprocal", Access::kMap},
    OperatorRule{"aten::sin", Access::kMap},
    OperatorRule{"aten::cos", Access::kMap},
    OperatorRule{"aten::tanh", Access::kMap},
    OperatorRule{"aten::sigmoid", Access::kMap},
    OperatorRule{"aten::relu", Access::kMap},
    OperatorRule{"aten::gelu", Access::kMap},
    OperatorRule{"aten::silu", Access::kMap},
    OperatorRule{"aten::clamp", Access::kMap},
    OperatorRule{"aten::clamp_min", Access::kMap},
    OperatorRule{"aten::maximum", Access::kMap},
    OperatorRule{"aten::minimum", Access::kMap},
    OperatorRule{"aten::where", Access::kMap},
    OperatorRule{"aten::addcmul", Access::kMap},
    OperatorRule{"aten::addcdiv", Access::kMap},
    OperatorRule{"aten::masked_fill", Access::kMap},
    OperatorRule{"aten::threshold_backward", Access::kMap},
    OperatorRule{"aten::tanh_backward", Access::kMap},
    OperatorRule{"aten::sigmoid_backward", Access::kMap},
    OperatorRule{"aten::gelu_backward", Access::kMap},
    OperatorRule{"aten::silu_backward", Access::kMap},
    OperatorRule{"aten::native_dropout_backward", Access::kMap},
    OperatorRule{"aten::native_dropout", Access::kWithMask},
    OperatorRule{"aten::eq", Access::kPredicate},
    OperatorRule{"aten::ne", Access::kPredicate},
    OperatorRule{"aten::lt", Access::kPredicate},
    OperatorRule{"aten::le", Access::kPredicate},
    OperatorRule{"aten::gt", Access::kPredicate},
    OperatorRule{"aten::ge", Access::kPredicate},
    OperatorRule{"aten::add_", Access::kInPlace},
    OperatorRule{"aten::sub_", Access::kInPlace},
    OperatorRule{"aten::mul_", Access::kInPlace},
    OperatorRule{"aten::div_", Access::kInPlace},
    OperatorRule{"aten::sqrt_", Access::kInPlace},
    OperatorRule{"aten::relu_", Access::kInPlace},
    OperatorRule{"aten::clamp_", Access::kInPlace},
    OperatorRule{"aten::addcmul_", Access::kInPlace},
    OperatorRule{"aten::addcdiv_", Access::kInPlace},
    OperatorRule{"aten::masked_fill_", Access::kInPlace},
    OperatorRule{"aten::fill_", Access::kFill, kCopy},
    OperatorRule{"aten::zero_", Access::kFill, kCopy},
    OperatorRule{"aten::copy_", Access::kCopy, kCopy},
    OperatorRule{"aten::cat", Access::kJoin, kCopy},
    OperatorRule{"aten::sum", Access::kReduce},
    OperatorRule{"aten::mean", Access::kReduce},
    OperatorRule{"aten::amax", Access::kReduce},
    OperatorRule{"aten::max", Access::kReduce},
    OperatorRule{"aten::min", Access::kReduce},
    OperatorRule{"aten::argmax", Access::kReduce},
    OperatorRule{"aten::all", Access::kReduce},
    OperatorRule{"aten::any", Access::kReduce},
    OperatorRule{"aten::norm", Access::kReduce},
    OperatorRule{"aten::linalg_vector_norm", Access::kReduce},
    OperatorRule{"aten::native_layer_norm", Access::kMap, kNorm},
    OperatorRule{"aten::native_layer_norm_backward", Access::kMap, kNorm},
    OperatorRule{"aten::_fused_rms_norm", Access::kMap, kNorm},
    OperatorRule{"aten::_softmax", Access::kMap, kSoftmax},
    OperatorRule{"aten::_log_softmax", Access::kMap, kSoftmax},
    OperatorRule{"aten::_softmax_backward_data", Access::kMap, kSoftmax},
    OperatorRule{"aten::_log_softmax_backward_data", Access::kMap, kSoftmax},
    OperatorRule{"aten::embedding", Access::kGather, kEmbedding},
    OperatorRule{"aten::index_select", Access::kGather, kEmbedding},
    OperatorRule{"aten::_fused_adam_", Access::kAdam, kOptimizer},
    OperatorRule{"aten::_fused_adamw_", Access::kAdam, kOptimizer},
    OperatorRule{"aten::_flash_attention_forward", Access::kAttention, kAttentionForward},
    OperatorRule{"aten::_flash_attention_backward", Access::kAttention, kAttentionBackward},
    OperatorRule{"aten::_efficient_attention_forward", Access::kAttention, kAttentionForward},
    OperatorRule{"aten::_scaled_dot_product_cudnn_attention", Access::kAttention, kAttentionForward},
};

// Where attention has its inputs: the queries (keys and values follow) and the mask. `heads_first`: sizes are
// sequences, heads, tokens, width; else heads and tokens are exchanged.
struct AttentionInputs {
  std::string_view name;
  std::size_t queries = 0, mask = 0;
  bool heads_first = false;
};
constexpr std::array kAttentionInputs = {
    AttentionInputs{"aten::_flash_attention_forward", 0, 8, false},
    AttentionInputs{"aten::_flash_attention_backward", 1, 11, false},
    AttentionInputs{"aten::_efficient_attention_forward", 0, 9, false},
    AttentionInputs{"aten::_scaled_dot_product_cudnn_attention", 0, 6, true},
};

// Every operator of the host is looked up.
constexpr auto kRulesByName = [] {
  auto rules = kOperatorRules;
  std::ranges::sort(rules, {}, &OperatorRule::name);
  return rules;
}();

const OperatorRule* rule_of(std::string_view name) {
  const auto found = std::ranges::lower_bound(kRulesByName, name, {}, &OperatorRule::name);
  return found == kRulesByName.end() || found->name != name ? nullptr : &*found;
}

// Empty where the size of an element is not known.
std::optional<double> bytes_of(const OperatorInput& input) {
  if (input.elements == 0) return 0.0;
  const auto size = element_bytes(input.type);
  if (!size) return std::nullopt;
  return static_cast<double>(input.elements) * *size;
}

std::optional<double> bytes_of(Inputs inputs) {
  double sum = 0.0;
  for (const OperatorInput& input : inputs) {
    const auto bytes = bytes_of(input);
    if (!bytes) return std::nullopt;
    sum += *bytes;
  }
  return sum;
}

struct OutputShape {
  double elements = 0.0;
  int element_bytes = 0;  // of the widest input: PyTorch's type promotion
};

// Sizes are aligned at the last dimension; 1 stands for any.
std::optional<OutputShape> broadcast(Inputs inputs) {
  std::array<std::int64_t, 8> sizes{};
  OutputShape shape;
  for (const OperatorInput& input : inputs) {
    if (input.sizes.empty()) continue;
    if (input.sizes.size() > sizes.size()) return std::nullopt;
    shape.element_bytes = std::max(shape.element_bytes, element_bytes(input.type).value_or(0));
    for (std::size_t i = 0; i < input.sizes.size(); ++i) {
      sizes[i] = std::max(sizes[i], input.sizes[input.sizes.size() - 1 - i]);
    }
  }
  if (shape.element_bytes == 0) return std::nullopt;
  shape.elements = 1.0;
  for (const std::int64_t size : sizes) shape.elements *= static_cast<double>(std::max<std::int64_t>(size, 1));
  return shape;
}

std::optional<double> gathered_bytes(Inputs inputs) {
  if (inputs.size() < 2 || inputs[0].sizes.size() != 2) return std::nullopt;
  const bool selects = inputs.size() > 2 && inputs[1].sizes.empty();  // index_select names a dimension between
  if (selects && !inputs[1].value.empty() && inputs[1].value != "0") return std::nullopt;
  const OperatorInput& indices = inputs[selects ? 2 : 1];
  const auto table = bytes_of(inputs[0]), index = bytes_of(indices);
  if (!table || !index || inputs[0].sizes[0] <= 0) return std::nullopt;
  return 2.0 * *table / static_cast<double>(inputs[0].sizes[0]) * static_cast<double>(indices.elements) + *index;
}

std::optional<double> adam_bytes(Inputs inputs) {
  constexpr std::size_t kLists = 4;  // parameters, gradients, first and second moments
  if (inputs.size() < kLists) return std::nullopt;
  const auto all = bytes_of(inputs.first(kLists)), gradients = bytes_of(inputs[1]);
  if (!all || !gradients) return std::nullopt;
  return 2.0 * *all - *gradients;
}

std::optional<double> mapped_bytes(Access access, Inputs inputs) {
  const auto read = bytes_of(inputs);
  const auto output = broadcast(inputs);
  if (!read || !output) return std::nullopt;
  double written = output->elements * output->element_bytes;
  if (access == Access::kPredicate) written = output->elements;
  if (access == Access::kWithMask) written += output->elements;
  return *read + written;
}

std::optional<double> moved_bytes(Access access, Inputs inputs) {
  const auto first = bytes_of(inputs[0]);
  if (!first || !(*first > 0.0)) return std::nullopt;
  switch (access) {
    case Access::kMap:
    case Access::kPredicate:
    case Access::kWithMask: return mapped_bytes(access, inputs);
    case Access::kInPlace: {
      const auto read = bytes_of(inputs);
      return read ? std::optional(*read + *first) : std::nullopt;
    }
    case Access::kFill:
    case Access::kReduce: return first;
    case Access::kCopy: {
      if (inputs.size() < 2) return std::nullopt;
      const auto read = bytes_of(inputs[1]);
      return read ? std::optional(*first + *read) : std::nullopt;
    }
    case Access::kJoin: return 2.0 * *first;
    case Access::kAdam: return adam_bytes(inputs);
    case Access::kGather: return gathered_bytes(inputs);
    case Access::kMatrix:
    case Access::kAddedMatrix:
    case Access::kAttention: return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Kernel> stream_kernel(const OperatorRule& rule, Inputs inputs) {
  const auto bytes = moved_bytes(rule.access, inputs);
  if (!bytes) return std::nullopt;
  Kernel kernel{.family = rule.family, .name = std::string(rule.name), .bytes = scale(Bytes(1), *bytes)};
  if (rule.access == Access::kGather) kernel.m = static_cast<std::int64_t>(*bytes_of(inputs[0]));
  return kernel;
}

std::optional<Kernel> gemm_kernel(const OperatorRule& rule, Inputs factors) {
  if (factors.size() < 2) return std::nullopt;
  const auto& left = factors[0].sizes;
  const auto& right = factors[1].sizes;
  const auto type = data_type_of(factors[0].type);
  if (!type || left.size() != right.size() || left.size() < 2 || left.size() > 3) return std::nullopt;
  const bool batched = left.size() == 3;
  const std::size_t row = batched ? 1 : 0;
  Kernel kernel{.family = kGemm,
                .name = std::string(rule.name),
                .type = *type,
                .m = left[row],
                .n = right[row + 1],
                .k = left[row + 1],
                .batch = batched ? left[0] : 1};
  if (kernel.batch <= 0 || kernel.m <= 0 || kernel.n <= 0 || kernel.k <= 0 || right[row] != kernel.k) {
    return std::nullopt;
  }
  const auto m = static_cast<double>(kernel.m), n = static_cast<double>(kernel.n), k = static_cast<double>(kernel.k);
  const auto batch = static_cast<double>(kernel.batch);
  kernel.flops = Flops(2.0 * m * n * k * batch);
  kernel.bytes = scale(Bytes(1), (m * k + k * n + m * n) * batch * bytes_per_element(*type));
  return kernel;
}

// "True", "False"; of efficient attention the number of a kind of mask, 0 is none.
std::optional<AttentionMask> mask_of(const std::string& value) {
  if (value == "False" || value == "0") return AttentionMask::kNone;
  if (value == "True" || value == "1" || value == "2") return AttentionMask::kCausal;
  return std::nullopt;
}

std::optional<Kernel> attention_kernel(const OperatorRule& rule, Inputs inputs) {
  const auto* const where = std::ranges::find(kAttentionInputs, rule.name, &AttentionInputs::name);
  if (inputs.size() <= where->mask) return std::nullopt;
  const OperatorInput& queries = inputs[where->queries];
  const OperatorInput& keys = inputs[where->queries + 1];
  const auto mask = mask_of(inputs[where->mask].value);
  const auto type = data_type_of(queries.type);
  if (!mask || !type || queries.sizes.size() != 4 || keys.sizes.size() != 4) return std::nullopt;
  const std::size_t tokens = where->heads_first ? 2 : 1;
  const std::size_t heads = where->heads_first ? 1 : 2;
  Kernel kernel{.family = rule.family,
                .name = std::string(rule.name),
                .type = *type,
                .m = queries.sizes[tokens],
                .n = keys.sizes[tokens],
                .k = queries.sizes[3],
                .batch = queries.sizes[0] * queries.sizes[heads],
                .mask = *mask};
  if (queries.elements <= 0 || keys.elements <= 0) return std::nullopt;
  const double scores = static_cast<double>(kernel.m) * static_cast<double>(kernel.n) *
                        static_cast<double>(kernel.batch) * (*mask == AttentionMask::kCausal ? 0.5 : 1.0);
  // Two GEMMs forward; five backward, one of them recomputes the scores (arXiv 2307.08691).
  const double gemms = rule.family == kAttentionForward ? 2.0 : 5.0;
  kernel.flops = Flops(gemms * 2.0 * scores * static_cast<double>(kernel.k));
  const double passes = rule.family == kAttentionForward ? 2.0 : 4.0;  // also gradients, and the result's
  kernel.bytes =
      scale(Bytes(1), passes * static_cast<double>(queries.elements + keys.elements) * bytes_per_element(*type));
  return kernel;
}

}  // namespace

bool has_known_work(std::string_view name) {
  return rule_of(name) != nullptr;
}

std::optional<Kernel> kernel_of_operator(std::string_view name, std::span<const OperatorInput> inputs) {
  const OperatorRule* const rule = rule_of(name);
  if (rule == nullptr || inputs.empty()) return std::nullopt;
  if (rule->access == Access::kMatrix) return gemm_kernel(*rule, inputs);
  if (rule->access == Access::kAddedMatrix) return gemm_kernel(*rule, inputs.subspan(1));
  if (rule->access == Access::kAttention) return attention_kernel(*rule, inputs);
  return stream_kernel(*rule, inputs);
}

bool uses_tf32(std::string_view kernel) {
  return kernel.find("tf32") != std::string_view::npos || kernel.find("tensorop_s1688") != std::string_view::npos;
}

}  // namespace ringwright::traces
