#include "workload/kernels/edge_kernels.h"

#include "workload/kernels/pointwise_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kEdgeFp32 = 4.0;

std::int64_t logits(const KernelMaker& make) {
  return make.tokens * make.vocabulary;
}

// Cross-entropy, forward. Split: Megatron's vocab_parallel_cross_entropy casts logits to fp32, and then each of max,
// shift, exp, sum and division passes over them once. Eager: PyTorch casts them, and its log-softmax reads a row that
// no cache holds for the maximum, for the sum and for the result (SoftMax.cu). Fused: they are read once (flash-attn's
// xentropy.py), compiled twice, for the sum and for the result; and chunk by chunk their gradient is written at once
// (Liger's fused_linear_cross_entropy.py).
void add_split_loss(LayerSection section, KernelMaker& make) {
  if (section == LayerSection::kLossMax) {
    make.stream(kCast, "logits cast", logits(make), {.values = 1, .other_bytes = kEdgeFp32});
    make.stream(kSoftmax, "logits max", logits(make), {.other_bytes = kEdgeFp32});
  } else if (section == LayerSection::kLossTarget) {
    make.stream(kSoftmax, "logits shift", logits(make), {.other_bytes = 2 * kEdgeFp32});
  } else if (section == LayerSection::kLossSum) {
    make.stream(kSoftmax, "logits exp", logits(make), {.other_bytes = 2 * kEdgeFp32});
    make.stream(kSoftmax, "logits sum", logits(make), {.other_bytes = kEdgeFp32});
  } else {
    make.stream(kSoftmax, "logits divide", logits(make), {.other_bytes = 2 * kEdgeFp32});
  }
}

// fused_cross_entropy.py of Megatron-Core: cast with max; shift, exponential and sum; division.
void add_split_fused_loss(LayerSection section, KernelMaker& make) {
  if (section == LayerSection::kLossMax) {
    make.stream(kCast, "logits cast, max", logits(make), {.values = 1, .other_bytes = kEdgeFp32});
  } else if (section == LayerSection::kLossTarget) {
    make.stream(kSoftmax, "logits exp, sum", logits(make), {.other_bytes = 2 * kEdgeFp32});
  } else if (section == LayerSection::kLossFinish) {
    make.stream(kSoftmax, "logits divide", logits(make), {.other_bytes = 2 * kEdgeFp32});
  }
}

void add_eager_loss(const std::string& of, KernelMaker& make) {
  make.stream(kCast, of + "logits cast", logits(make), {.values = 1, .other_bytes = kEdgeFp32});
  make.stream(kSoftmax, of + "log-softmax", logits(make), {.other_bytes = 4 * kEdgeFp32});
}

void add_loss(LayerSection section, const TrainingOptions& training, KernelMaker& make) {
  const CrossEntropy kind = training.cross_entropy;
  if (section == LayerSection::kLossFinish) {
    for (std::int64_t i = 0; i < training.loss_metrics; ++i) add_eager_loss("metric's ", make);
  }
  if (kind == CrossEntropy::kSplit) return add_split_loss(section, make);
  if (kind == CrossEntropy::kSplitFused) return add_split_fused_loss(section, make);
  if (section != LayerSection::kLossMax) return;
  if (kind == CrossEntropy::kEager) return add_eager_loss("", make);
  const double values = kind == CrossEntropy::kFused ? 1.0 : kind == CrossEntropy::kCompiled ? 2.0 : 3.0;
  make.stream(kSoftmax, "cross-entropy", logits(make), {.values = values});
}

void add_loss_backward(CrossEntropy kind, KernelMaker& make) {
  if (kind == CrossEntropy::kChunked) return;
  if (kind == CrossEntropy::kSplitFused) {
    return make.stream(kSoftmax, "cross-entropy backward", logits(make), {.values = 1, .other_bytes = kEdgeFp32});
  }
  if (kind == CrossEntropy::kFused || kind == CrossEntropy::kCompiled) {
    return make.stream(kSoftmax, "cross-entropy backward", logits(make), {.values = 2});
  }
  if (kind == CrossEntropy::kEager) {
    make.stream(kElementwise, "loss backward", logits(make), {.other_bytes = kEdgeFp32});
    make.stream(kSoftmax, "log-softmax backward", logits(make), {.other_bytes = 4 * kEdgeFp32});
  } else {
    make.stream(kSoftmax, "cross-entropy backward", logits(make), {.other_bytes = 2 * kEdgeFp32});
  }
  make.stream(kCast, "logits gradient cast", logits(make), {.values = 1, .other_bytes = kEdgeFp32});
}

// The framework writes a dense gradient of the whole table per microbatch and adds it to the main gradient.
void add_embedding_wgrad(KernelMaker& make) {
  if (make.shape.adapters) return;  // frozen
  const std::int64_t h = make.shape.hidden;
  make.stream(kEmbedding, "embedding scatter", make.tokens * h, {.values = 3});
  if (make.copies_gradients()) {
    make.stream(kEmbedding, "embedding gradient", make.vocabulary * h, {.values = 1});
    make.add_gradient("embedding gradient", make.vocabulary * h);
  } else {
    make.stream(kEmbedding, "embedding gradient", make.vocabulary * h,
                {.values = 2, .other_bytes = 2 * make.gradient_bytes});
  }
  if (make.shape.positions == Positions::kLearned) {
    make.stream(kEmbedding, "position embedding gradient", make.tokens * h, {.values = 1});
  }
}

}  // namespace

void add_embedding_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  const std::int64_t local = make.local_tokens * context.shape.hidden;
  if (section == LayerSection::kEmbeddingGather) {
    make.stream(kEmbedding, "embedding gather", make.tokens * context.shape.hidden, {.values = 2});
  } else if (section == LayerSection::kEmbeddingFinish) {
    if (context.shape.positions == Positions::kLearned) {
      make.stream(kElementwise, "position embedding add", make.tokens * context.shape.hidden, {.values = 3});
    }
    if (context.shape.hidden_dropout) {
      make.stream(kElementwise, "embedding dropout", local, {.values = 2, .other_bytes = 1});
    }
  } else if (section == LayerSection::kEmbeddingFinishBackward) {
    if (context.shape.hidden_dropout) {
      make.stream(kElementwise, "embedding dropout backward", local, {.values = 2, .other_bytes = 1});
    }
  } else {
    add_embedding_wgrad(make);
  }
}

void add_head_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  if (!make.fused().fp8_logits) make.keep_precision();
  const std::int64_t h = make.shape.hidden;
  const std::int64_t local = make.local_tokens * h;
  if (section == LayerSection::kFinalNorm) return add_norm(make, "final norm", local);
  if (section == LayerSection::kFinalNormBackward) return add_norm_backward(make, "final norm", local);
  const std::int64_t all = make.tokens;
  make.keep_predicted();
  if (section == LayerSection::kLogits) {
    if (make.tokens < all) make.stream(kCopy, "predicted tokens", make.tokens * h, {.values = 2});
    return make.linear("logits", h, make.vocabulary);
  }
  if (section == LayerSection::kLogitsDgrad) {
    make.dgrad("logits dgrad", h, make.vocabulary);
    if (make.tokens == all) return;
    // The gradient of all tokens is cleared, and those of the predicted ones are written into it.
    make.stream(kCopy, "clear gradients of tokens", all * h, {.values = 1});
    return make.stream(kCopy, "gradients of predicted tokens", make.tokens * h, {.values = 2});
  }
  if (section == LayerSection::kLogitsWgrad) return make.wgrad("logits wgrad", h, make.vocabulary);
  if (section == LayerSection::kLossBackward) return add_loss_backward(context.training.cross_entropy, make);
  add_loss(section, context.training, make);
}

// Norms of the residual stream and of the next token's embedding, and the GEMM that maps both to one vector. Embedding,
// logits and loss are those of the model.
void add_predictor_sections(LayerSection section, KernelMaker& make) {
  const std::int64_t h = make.shape.hidden;
  const std::int64_t local = make.local_tokens * h;
  const std::int64_t columns = h / make.tp();
  if (section == LayerSection::kPredictorInput) {
    make.stream(kNorm, "predictor norms", 2 * local, {.values = 2});
    return make.linear("predictor projection", 2 * h, columns);
  }
  if (section == LayerSection::kPredictorDgrad) return make.dgrad("predictor projection dgrad", 2 * h, columns);
  if (section == LayerSection::kPredictorWgrad) return make.wgrad("predictor projection wgrad", 2 * h, columns);
  make.stream(kNorm, "predictor norms backward", 2 * local, {.values = 3});
}

}  // namespace ringwright::workload
