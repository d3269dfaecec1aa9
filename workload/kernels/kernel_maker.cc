#include "workload/kernels/kernel_maker.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "workload/kernels/fusions.h"
#include "workload/options/document_mix.h"

namespace ringwright::workload {
namespace {

Bytes whole(double bytes) {
  return Bytes(std::llround(bytes));
}
double gemm_flops(const Gemm& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k) *
         static_cast<double>(p.batch);
}

}  // namespace

KernelMaker::KernelMaker(const KernelContext& given)
    : shape(given.shape),
      tokens(given.tokens()),
      local_tokens(given.sequence_parallel ? tokens / given.tp : tokens),
      heads(given.shape.heads / given.tp),
      key_heads(given.shape.latent ? heads : kv_heads_per_rank(given.shape, given.tp)),
      query(heads * key_size(given.shape)),
      key(key_heads * key_size(given.shape)),
      value(key_heads * value_size(given.shape)),
      context(heads * value_size(given.shape)),
      gate(gate_columns(given.shape, given.tp)),
      ffn(given.shape.ffn / given.tp),
      gated_ffn(given.shape.activation == Activation::kSwiGlu ? 2 * ffn : ffn),
      vocabulary(padded_vocabulary(given.shape, given.tp) / given.tp),
      gradient_bytes(bytes_per_element(given.training.grad_reduce)),
      pointwise(given.training.pointwise),
      context_(given),
      gemm_type_(given.training.gemm_type()) {
  activation_input = bytes_per_element(casts_activation_input() ? DataType::kFp8 : given.training.precision);
}

void KernelMaker::add_gemm(std::string name, const Gemm& p, DataType type) {
  const auto operands = static_cast<double>((p.m * p.k + p.k * p.n) * p.batch) * bytes_per_element(type);
  const auto result = static_cast<double>(p.m * p.n * p.batch) * bytes_per_element(context_.training.precision);
  kernels_.push_back({.family = KernelFamily::kGemm,
                      .name = std::move(name),
                      .type = type,
                      .m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .batch = p.batch,
                      .role = p.role,
                      .flops = Flops(gemm_flops(p)),
                      .bytes = whole(operands + result)});
}

void KernelMaker::keep_precision() {
  gemm_type_ = context_.training.precision;
}

void KernelMaker::keep_predicted() {
  tokens = context_.training.predicted_of(tokens);
}

void KernelMaker::widen_results(std::string_view gemms, double bytes) {
  for (Kernel& kernel : kernels_) {
    if (kernel.family != KernelFamily::kGemm || kernel.name != gemms) continue;
    kernel.bytes = kernel.bytes + whole(bytes * static_cast<double>(kernel.m * kernel.n * kernel.batch));
  }
}

// An operand in the working type is cast; one that another kernel wrote in a narrow type has one layout, or both.
void KernelMaker::take_operand(double elements, Cast cast) {
  if (cast == Cast::kApart) return quantise(elements);
  if (cast == Cast::kWithin || context_.training.one_layout) return;
  bytes_only(KernelFamily::kCast, "transpose", 2.0 * bytes_per_element(gemm_type_) * elements, gemm_type_);
}

// Reads a tensor and writes it in the layouts that GEMMs read, since the weight gradient needs it transposed; a
// per-tensor scale takes a pass for the maximum, block scales are written next to the values. Row scales differ between
// the two GEMMs of a tensor, which sum along different sides: both passes run for each. NVFP4 has both (NVIDIA,
// "Pretraining Large Language Models with NVFP4", arXiv 2509.25149): a byte per 16 values, and one scale per tensor.
void KernelMaker::quantise(double elements, std::int64_t tensors) {
  const NarrowRecipe recipe = context_.training.narrow;
  if (recipe == NarrowRecipe::kNone || gemm_type_ == context_.training.precision) return;
  const double read = bytes_per_element(context_.training.precision);
  double each = read + narrow_bytes();
  if (recipe == NarrowRecipe::kTensorwise || recipe == NarrowRecipe::kNvfp4) each += read;
  if (recipe == NarrowRecipe::kRowwise) each = 2.0 * (2.0 * read + bytes_per_element(gemm_type_));
  const std::int64_t launches = tensors == 1 ? 1 : tensors * cast_kernels(recipe);
  bytes_only(KernelFamily::kCast, "quantise", elements * each / static_cast<double>(launches), gemm_type_);
  kernels_.back().launches = launches;
}

void KernelMaker::transpose_weights(double elements, std::int64_t matrices) {
  if (context_.training.one_layout) return;
  bytes_only(KernelFamily::kCast, "transpose weights",
             2.0 * bytes_per_element(gemm_type_) * elements / static_cast<double>(matrices), gemm_type_);
  kernels_.back().launches = matrices;
}

// A scale of the tensor or of each row takes a pass for the maximum.
void KernelMaker::cast_used_weights(double elements, std::int64_t matrices) {
  const NarrowRecipe recipe = context_.training.narrow;
  const bool twice =
      recipe == NarrowRecipe::kTensorwise || recipe == NarrowRecipe::kRowwise || recipe == NarrowRecipe::kNvfp4;
  const double read = (twice ? 2.0 : 1.0) * bytes_per_element(context_.training.precision);
  const std::int64_t launches = matrices * cast_kernels(recipe);
  bytes_only(KernelFamily::kCast, "cast weights",
             elements * (read + bytes_per_element(gemm_type_) + scale_bytes(recipe)) / static_cast<double>(launches),
             gemm_type_);
  kernels_.back().launches = launches;
}

void KernelMaker::cast_weights(double elements, std::int64_t matrices) {
  if (context_.training.gathers_narrow()) return transpose_weights(elements, matrices);
  quantise(elements, matrices);
  if (!kernels_.empty()) kernels_.back().name = "cast weights";
}

// Each rank casts its own part, and the gathered tensor is transposed for the weight gradient with a per-tensor scale;
// block scales are gathered with values of both layouts. (Transformer Engine, module/base.py, grad_output_preprocess:
// "cast, transpose for efficient gather"; torchao, float8_tensor_parallel.py.)
void KernelMaker::quantise_gathered(std::int64_t columns) {
  const TrainingOptions& training = context_.training;
  const bool parts = training.narrow_gather && context_.sequence_parallel && context_.tp > 1;
  if (!parts) return quantise(static_cast<double>(tokens * columns));
  if (gemm_type_ == training.precision) return;
  const bool transposed = training.narrow == NarrowRecipe::kTensorwise || training.narrow == NarrowRecipe::kDelayed;
  const double each = bytes_per_element(gemm_type_);
  quantise(static_cast<double>(local_tokens * columns));
  if (!transposed || training.one_layout) return;
  // The rank's part was counted with both layouts.
  bytes_only(KernelFamily::kCast, "transpose", static_cast<double>((tokens * 2 - local_tokens) * columns) * each,
             gemm_type_);
}

void KernelMaker::batched_gemm(std::string name, const Gemm& p) {
  add_gemm(std::move(name), p, context_.training.precision);
}

void KernelMaker::batched_gemm(std::string name, const Gemm& p, double bytes) {
  batched_gemm(std::move(name), p);
  kernels_.back().bytes = whole(bytes);
}

void KernelMaker::linear(std::string name, std::int64_t inputs, std::int64_t outputs, Cast cast) {
  take_operand(static_cast<double>(tokens * inputs), cast);
  add_gemm(std::move(name), {.m = tokens, .n = outputs, .k = inputs}, gemm_type_);
}

double KernelMaker::narrow_saving() const {
  return bytes_per_element(context_.training.precision) - bytes_per_element(gemm_type_);
}

double KernelMaker::narrow_bytes() const {
  return static_cast<double>(context_.training.layouts()) * bytes_per_element(gemm_type_) +
         2.0 * scale_bytes(context_.training.narrow);
}

// Weights that are stored in one layout.
void KernelMaker::transpose_for_dgrad(std::int64_t elements, std::int64_t matrices) {
  if (!context_.training.transposes_in_each_pass() || gemm_type_ == context_.training.precision) return;
  transpose_weights(static_cast<double>(elements), matrices);
}

void KernelMaker::dgrad(std::string name, std::int64_t inputs, std::int64_t outputs, Cast cast) {
  transpose_for_dgrad(inputs * outputs, 1);
  take_operand(static_cast<double>(tokens * outputs), cast);
  add_gemm(std::move(name), {.m = tokens, .n = inputs, .k = outputs, .role = GemmRole::kDgrad}, gemm_type_);
}

void KernelMaker::gathered_dgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  transpose_for_dgrad(inputs * outputs, 1);
  quantise_gathered(outputs);
  add_gemm(std::move(name), {.m = tokens, .n = inputs, .k = outputs, .role = GemmRole::kDgrad}, gemm_type_);
}

std::vector<std::int64_t> KernelMaker::weights_of(Widths outputs) const {
  if (!context_.training.separate_projections)
    return {std::accumulate(outputs.begin(), outputs.end(), std::int64_t{0})};
  std::vector<std::int64_t> widths(outputs);
  std::erase(widths, 0);
  return widths;
}

// An adapter takes the gathered input in the working type (Transformer Engine, return_layernorm_output_gathered).
void KernelMaker::linears(const std::string& name, std::int64_t inputs, Widths outputs, bool has_adapter) {
  if (has_adapter) {
    quantise(static_cast<double>(tokens * inputs));
  } else {
    quantise_gathered(inputs);
  }
  for (const std::int64_t width : weights_of(outputs)) {
    add_gemm(name, {.m = tokens, .n = width, .k = inputs}, gemm_type_);
  }
}

void KernelMaker::dgrads(const std::string& name, std::int64_t inputs, Widths outputs, Cast cast) {
  const std::vector<std::int64_t> widths = weights_of(outputs);
  for (const std::int64_t width : widths) dgrad(name, inputs, width, cast);
  for (std::size_t i = 1; i < widths.size(); ++i) {
    stream(KernelFamily::kElementwise, name + " sum", tokens * inputs, {.values = 3});
  }
}

void KernelMaker::wgrads(const std::string& name, std::int64_t inputs, Widths outputs) {
  for (const std::int64_t width : weights_of(outputs)) wgrad(name, inputs, width);
}

void KernelMaker::local_linear(std::string name, std::int64_t inputs, std::int64_t outputs) {
  quantise(static_cast<double>(local_tokens * inputs));
  add_gemm(std::move(name), {.m = local_tokens, .n = outputs, .k = inputs}, gemm_type_);
}

void KernelMaker::local_dgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  transpose_for_dgrad(inputs * outputs, 1);
  quantise(static_cast<double>(local_tokens * outputs));
  add_gemm(std::move(name), {.m = local_tokens, .n = inputs, .k = outputs, .role = GemmRole::kDgrad},
              gemm_type_);
}

void KernelMaker::wgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  weight_gradient(std::move(name), {.m = inputs, .n = outputs, .k = tokens});
}

void KernelMaker::local_wgrad(std::string name, std::int64_t inputs, std::int64_t outputs) {
  weight_gradient(std::move(name), {.m = inputs, .n = outputs, .k = local_tokens});
}

void KernelMaker::weight_gradient(std::string name, const Gemm& p) {
  if (shape.adapters) return;  // frozen
  const double operands = static_cast<double>(p.k * (p.m + p.n)) * bytes_per_element(gemm_type_);
  const std::int64_t elements = p.m * p.n;
  const bool fused = context_.training.gradient_sum == GradientSum::kFused;
  // Read, added and written; or written, to be added later.
  const double each = fused ? 2.0 * gradient_bytes : bytes_per_element(context_.training.precision);
  const double accumulated = each * static_cast<double>(elements);
  const std::string weight = name;
  kernels_.push_back({.family = KernelFamily::kGemm,
                      .name = std::move(name),
                      .type = gemm_type_,
                      .m = p.m,
                      .n = p.n,
                      .k = p.k,
                      .role = GemmRole::kWgrad,
                      .flops = Flops(gemm_flops(p)),
                      .bytes = whole(operands + accumulated)});
  if (!fused) add_gradient(weight, elements);
}

void KernelMaker::add_gradient(const std::string& name, std::int64_t elements) {
  constexpr double kFp32 = 4.0;
  if (context_.training.gradient_sum == GradientSum::kCopied) {
    stream(KernelFamily::kCast, name + " to fp32", elements, {.values = 1, .other_bytes = kFp32});
    return stream(KernelFamily::kElementwise, name + " sum", elements, {.values = 0, .other_bytes = 3.0 * kFp32});
  }
  stream(KernelFamily::kElementwise, name + " sum", elements, {.values = 1, .other_bytes = 2.0 * gradient_bytes});
}

// x A, then (x A) B, added to the result of the frozen GEMM.
void KernelMaker::adapter(std::int64_t inputs, std::int64_t outputs) {
  const std::int64_t rank = shape.adapters->rank;
  batched_gemm("adapter down", {.m = tokens, .n = rank, .k = inputs});
  batched_gemm("adapter up", {.m = tokens, .n = outputs, .k = rank});
  stream(KernelFamily::kElementwise, "adapter add", tokens * outputs, {.values = 3});
}

void KernelMaker::adapter_backward(std::int64_t inputs, std::int64_t outputs) {
  const std::int64_t rank = shape.adapters->rank;
  batched_gemm("adapter up dgrad", {.m = tokens, .n = rank, .k = outputs, .role = GemmRole::kDgrad});
  batched_gemm("adapter up wgrad", {.m = rank, .n = outputs, .k = tokens, .role = GemmRole::kWgrad});
  batched_gemm("adapter down wgrad", {.m = inputs, .n = rank, .k = tokens, .role = GemmRole::kWgrad});
  batched_gemm("adapter down dgrad", {.m = tokens, .n = inputs, .k = rank, .role = GemmRole::kDgrad});
  stream(KernelFamily::kElementwise, "adapter gradient add", tokens * inputs, {.values = 3});
}

double KernelMaker::asked_pairs() const { return document_pairs(shape, context_.training, context_.windowed); }

void KernelMaker::attention(std::string name, KernelFamily family, const Scores& scores) {
  const std::int64_t batch = context_.training.micro_batch * scores.heads;
  const double pairs = asked_pairs() * scores.share;
  // Two GEMMs for each pair of query and key; five in the backward pass.
  const double forward =
      2.0 * static_cast<double>(batch) * pairs * static_cast<double>(key_size(shape) + value_size(shape));
  const bool backward = family == KernelFamily::kAttentionBackward;
  // Forward: reads Q, K, V, writes O. Backward: reads Q, K, V, O, dO, writes dQ, dK, dV. One fp32 statistic per row.
  const std::int64_t keys = scores.keys * key_heads * scores.heads / heads;
  const auto values =
      static_cast<double>((scores.queries * scores.heads + keys) * (key_size(shape) + value_size(shape)));
  const auto statistics = static_cast<double>(scores.queries * scores.heads);
  const bool narrow = fused().fp8_attention;
  const bool is_cast = narrow && scores.casts && !(backward ? narrow_context(*this) : narrow_queries(*this));
  const bool causal = scores.masked && shape.masking == Masking::kCausal;
  if (is_cast) {
    // Queries, keys and values, and the result back into the working type; backward the gradient of the result.
    const double cast = backward ? static_cast<double>(scores.queries * scores.heads * value_size(shape)) : values;
    quantise(static_cast<double>(context_.training.micro_batch * scores.documents) * cast);
  }
  const double value = bytes_per_element(narrow_context(*this) ? DataType::kFp8 : context_.training.precision);
  const double moved = static_cast<double>(context_.training.micro_batch * scores.documents) *
                       ((backward ? 2.0 : 1.0) * values * value + 4.0 * statistics);
  kernels_.push_back(
      {.family = family,
       .name = std::move(name),
       .type = narrow ? DataType::kFp8 : context_.training.precision,
       .m = scores.queries,
       .n = scores.keys,
       .k = key_size(shape),
       .batch = batch * scores.documents,
       .mask = causal ? AttentionMask::kCausal : AttentionMask::kNone,
       .window = causal && context_.windowed && shape.window < scores.keys ? shape.window : 0,
       .flops = Flops(backward ? 2.5 * forward : forward),
       .bytes = whole(moved)});
}

void KernelMaker::cast_for_attention(std::int64_t columns) {
  if (fused().fp8_attention) quantise(static_cast<double>(tokens * columns));
}

void KernelMaker::grouped(std::string name, const Grouped& p) {
  const auto experts = static_cast<double>(p.experts);
  const auto inputs = static_cast<double>(p.inputs);
  const auto outputs = static_cast<double>(p.outputs);
  const bool wgrad = p.role == GemmRole::kWgrad;
  const bool dgrad = p.role == GemmRole::kDgrad;
  if (wgrad && shape.adapters) return;  // frozen
  if (dgrad) transpose_for_dgrad(p.experts * p.inputs * p.outputs, p.experts);
  if (!wgrad && p.casts) quantise(p.rows * (dgrad ? outputs : inputs), fused().grouped_mlp ? 1 : p.experts);
  const double operand = bytes_per_element(gemm_type_);
  const double result = bytes_per_element(context_.training.precision);
  // A weight gradient is added to the main gradient, read and written; or it is written, to be added later.
  const bool adds = context_.training.gradient_sum == GradientSum::kFused;
  const double summed = adds ? 2.0 * gradient_bytes : result;
  const double weights = experts * inputs * outputs * (wgrad ? summed : operand);
  const double rows_in_and_out = wgrad   ? operand * (inputs + outputs)
                                 : dgrad ? result * inputs + operand * outputs
                                         : operand * inputs + result * outputs;
  const auto rows = std::max<std::int64_t>(1, std::llround(std::ceil(p.rows / experts)));
  Kernel kernel{.family = KernelFamily::kGroupedGemm, .name = std::move(name), .type = gemm_type_};
  kernel.m = wgrad ? p.inputs : rows;
  kernel.n = dgrad ? p.inputs : p.outputs;
  kernel.k = wgrad ? rows : dgrad ? p.outputs : p.inputs;
  kernel.batch = p.experts;
  kernel.role = p.role;
  kernel.flops = Flops(2.0 * p.rows * inputs * outputs);
  kernel.bytes = whole(p.rows * (rows_in_and_out + p.fused_bytes) + weights);
  const std::string weight = kernel.name;
  kernels_.push_back(std::move(kernel));
  for_each_expert(p.experts);
  if (wgrad && !adds) add_gradient(weight, p.experts * p.inputs * p.outputs);
}

void KernelMaker::for_each_expert(std::int64_t experts) {
  if (fused().grouped_gemm) return;
  Kernel& kernel = kernels_.back();
  if (kernel.family == KernelFamily::kGroupedGemm) kernel.family = KernelFamily::kGemm;
  kernel.batch = 1;
  kernel.flops = Flops(kernel.flops.count() / static_cast<double>(experts));
  kernel.bytes = whole(static_cast<double>(kernel.bytes.count()) / static_cast<double>(experts));
  kernel.launches *= experts;
}

void KernelMaker::bytes_only(KernelFamily family, std::string name, double bytes, DataType type) {
  kernels_.push_back({.family = family, .name = std::move(name), .type = type, .bytes = whole(bytes)});
}

void KernelMaker::concurrent_copy(std::string name, double bytes) {
  bytes_only(KernelFamily::kCopy, std::move(name), bytes, precision());
  kernels_.back().concurrent = true;
}

void KernelMaker::read_by_host(std::string name, double bytes) {
  bytes_only(KernelFamily::kCopy, std::move(name), bytes, DataType::kFp32);
  kernels_.back().host_reads = true;
}

void KernelMaker::pace_by_host() {
  for (Kernel& kernel : kernels_) kernel.host_paced = true;
}

void KernelMaker::stream(KernelFamily family, std::string name, std::int64_t elements, const Touch& per_element) {
  const double each = per_element.values * bytes_per_element(context_.training.precision) + per_element.other_bytes;
  bytes_only(family, std::move(name), static_cast<double>(elements) * each, context_.training.precision);
}

}  // namespace ringwright::workload
