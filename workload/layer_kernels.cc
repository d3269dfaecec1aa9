#include "workload/layer_kernels.h"

#include "workload/edge_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kMask = 1.0;  // a dropout mask has one byte an element

void add_norm(KernelMaker& make, std::string name) {
  make.stream(kNorm, std::move(name), make.local_tokens * make.shape.hidden, {.values = 2});
}

// Reads input and output gradient, writes the input's gradient; then adds the gradient that came around the block.
void add_norm_backward(KernelMaker& make, const std::string& name) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  make.stream(kNorm, name + " backward", elements, {.values = 3});
  make.stream(kElementwise, "residual gradient", elements, {.values = 3});
}

void add_residual(KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  if (make.shape.hidden_dropout) {
    make.stream(kElementwise, "bias dropout add", elements, {.values = 3, .other_bytes = kMask});
    return;
  }
  make.stream(kElementwise, "residual add", elements, {.values = 3});
}

void add_residual_backward(KernelMaker& make) {
  const std::int64_t elements = make.local_tokens * make.shape.hidden;
  if (make.shape.hidden_dropout) {
    make.stream(kElementwise, "dropout backward", elements, {.values = 2, .other_bytes = kMask});
  }
  if (make.shape.biases == Biases::kAllLinear) make.stream(kElementwise, "bias gradient", elements, {.values = 1});
}

void add_rotation(KernelMaker& make, const char* name) {
  if (make.shape.positions != Positions::kRotary) return;
  make.stream(kElementwise, name, make.tokens * (make.query + make.key_value), {.values = 2});
}

std::int64_t scores(const KernelMaker& make) {
  return make.tokens * make.shape.sequence * make.heads;
}

void add_core(KernelMaker& make, const KernelContext& context) {
  if (context.training.attention == AttentionKernel::kFused) {
    make.attention("attention", kAttentionForward);
    return;
  }
  const std::int64_t s = make.shape.sequence;
  const std::int64_t d = make.shape.head_size;
  const std::int64_t batch = context.training.micro_batch * make.heads;
  make.batched_product("attention scores", {.m = s, .n = s, .k = d, .batch = batch});
  make.stream(kSoftmax, "attention softmax", scores(make), {.values = 2});
  if (make.shape.attention_dropout) {
    make.stream(kElementwise, "attention dropout", scores(make), {.values = 2, .other_bytes = kMask});
  }
  make.batched_product("attention over values", {.m = s, .n = d, .k = s, .batch = batch});
  make.stream(kCopy, "attention context copy", make.tokens * make.query, {.values = 2});
}

void add_core_backward(KernelMaker& make, const KernelContext& context) {
  if (context.training.attention == AttentionKernel::kFused) {
    make.attention("attention backward", kAttentionBackward);
    return;
  }
  const std::int64_t s = make.shape.sequence;
  const std::int64_t d = make.shape.head_size;
  const std::int64_t batch = context.training.micro_batch * make.heads;
  make.stream(kCopy, "attention context copy", make.tokens * make.query, {.values = 2});
  make.batched_product("attention probabilities dgrad", {.m = s, .n = s, .k = d, .batch = batch});
  make.batched_product("attention values dgrad", {.m = s, .n = d, .k = s, .batch = batch});
  if (make.shape.attention_dropout) {
    make.stream(kElementwise, "attention dropout backward", scores(make), {.values = 2, .other_bytes = kMask});
  }
  make.stream(kSoftmax, "attention softmax backward", scores(make), {.values = 3});
  make.batched_product("attention queries dgrad", {.m = s, .n = d, .k = s, .batch = batch});
  make.batched_product("attention keys dgrad", {.m = s, .n = d, .k = s, .batch = batch});
}

void add_attention(KernelMaker& make, const KernelContext& context) {
  make.linear("qkv", make.shape.hidden, make.query + 2 * make.key_value);
  if (make.shape.query_key_norm) {
    make.stream(kNorm, "query and key norm", make.tokens * (make.query + make.key_value), {.values = 2});
  }
  add_rotation(make, "rotary embedding");
  add_core(make, context);
  make.linear("attention projection", make.query, make.shape.hidden);
}

void add_attention_backward(KernelMaker& make, const KernelContext& context) {
  make.dgrad("attention projection dgrad", make.query, make.shape.hidden);
  make.wgrad("attention projection wgrad", make.query, make.shape.hidden);
  if (context.training.recompute == Recompute::kSelective) add_core(make, context);
  add_core_backward(make, context);
  add_rotation(make, "rotary embedding backward");
  if (make.shape.query_key_norm) {
    make.stream(kNorm, "query and key norm backward", make.tokens * (make.query + make.key_value), {.values = 3});
  }
  if (make.shape.biases != Biases::kNone) {
    make.stream(kElementwise, "qkv bias gradient", make.tokens * (make.query + 2 * make.key_value), {.values = 1});
  }
}

void add_mlp(KernelMaker& make) {
  make.linear("mlp up", make.shape.hidden, make.gated_ffn);
  // SwiGLU reads gate and up and writes one; GELU reads one (with its bias) and writes one.
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  make.stream(kElementwise, gated ? "swiglu" : "gelu", make.tokens * make.ffn, {.values = gated ? 3.0 : 2.0});
  make.linear("mlp down", make.ffn, make.shape.hidden);
}

void add_mlp_down_backward(KernelMaker& make) {
  make.dgrad("mlp down dgrad", make.ffn, make.shape.hidden);
  make.wgrad("mlp down wgrad", make.ffn, make.shape.hidden);
  const bool gated = make.shape.activation == Activation::kSwiGlu;
  make.stream(kElementwise, gated ? "swiglu backward" : "gelu backward", make.tokens * make.ffn,
              {.values = gated ? 5.0 : 3.0});
  if (make.shape.biases == Biases::kAllLinear) {
    make.stream(kElementwise, "mlp up bias gradient", make.tokens * make.gated_ffn, {.values = 1});
  }
}

void add_layer_piece(Piece piece, const KernelContext& context, KernelMaker& make) {
  const std::int64_t h = make.shape.hidden;
  const std::int64_t qkv = make.query + 2 * make.key_value;
  switch (piece) {
    case Piece::kAttentionNorm: return add_norm(make, "attention norm");
    case Piece::kAttention: return add_attention(make, context);
    case Piece::kMlpNorm: return add_norm(make, "mlp norm");
    case Piece::kMlp: return add_mlp(make);
    case Piece::kAttentionResidual:
    case Piece::kMlpResidual: return add_residual(make);
    case Piece::kAttentionResidualBackward:
    case Piece::kMlpResidualBackward: return add_residual_backward(make);
    case Piece::kMlpDownBackward: return add_mlp_down_backward(make);
    case Piece::kMlpUpDgrad: return make.dgrad("mlp up dgrad", h, make.gated_ffn);
    case Piece::kMlpUpWgrad: return make.wgrad("mlp up wgrad", h, make.gated_ffn);
    case Piece::kMlpNormBackward: return add_norm_backward(make, "mlp norm");
    case Piece::kAttentionBackward: return add_attention_backward(make, context);
    case Piece::kQkvDgrad: return make.dgrad("qkv dgrad", h, qkv);
    case Piece::kQkvWgrad: return make.wgrad("qkv wgrad", h, qkv);
    case Piece::kAttentionNormBackward: return add_norm_backward(make, "attention norm");
    case Piece::kEmbeddingGather:
    case Piece::kEmbeddingFinish:
    case Piece::kEmbeddingFinishBackward:
    case Piece::kEmbeddingWgrad: return add_embedding_pieces(piece, context, make);
    case Piece::kFinalNorm:
    case Piece::kLogits:
    case Piece::kLossMax:
    case Piece::kLossTarget:
    case Piece::kLossSum:
    case Piece::kLossFinish:
    case Piece::kLossBackward:
    case Piece::kLogitsDgrad:
    case Piece::kLogitsWgrad:
    case Piece::kFinalNormBackward: return add_head_pieces(piece, make);
  }
}

}  // namespace

KernelContext make_kernel_context(const ModelShape& shape, const TrainingOptions& training,
                                  const ParallelOptions& parallel) {
  return {.shape = shape, .training = training, .tp = parallel.tp, .sequence_parallel = parallel.sequence_parallel};
}

std::vector<Kernel> kernels_of(Piece piece, const KernelContext& context) {
  KernelMaker make(context);
  add_layer_piece(piece, context, make);
  return make.take();
}

}  // namespace ringwright::workload
