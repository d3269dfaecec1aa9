#include "workload/edge_kernels.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kFp32 = 4.0;

std::int64_t logits(const KernelMaker& make) {
  return make.tokens * make.vocabulary;
}

// Cross-entropy as Megatron's unfused vocab_parallel_cross_entropy: logits are cast to fp32 and then each of max,
// shift, exp, sum and division goes over them once.
void add_loss_backward(KernelMaker& make) {
  make.stream(kSoftmax, "cross-entropy backward", logits(make), {.other_bytes = 2 * kFp32});
  make.stream(kCast, "logits gradient cast", logits(make), {.values = 1, .other_bytes = kFp32});
}

// The framework writes a dense gradient of the whole table for every microbatch and adds it to the main gradient.
void add_embedding_wgrad(KernelMaker& make) {
  if (make.shape.adapters) return;  // frozen
  const std::int64_t h = make.shape.hidden;
  make.stream(kEmbedding, "embedding scatter", make.tokens * h, {.values = 3});
  make.stream(kEmbedding, "embedding gradient", make.vocabulary * h,
              {.values = 2, .other_bytes = 2 * make.gradient_bytes});
  if (make.shape.positions == Positions::kLearned) {
    make.stream(kEmbedding, "position embedding gradient", make.local_tokens * h, {.values = 1});
  }
}

}  // namespace

void add_embedding_pieces(Piece piece, const KernelContext& context, KernelMaker& make) {
  const std::int64_t local = make.local_tokens * context.shape.hidden;
  if (piece == Piece::kEmbeddingGather) {
    make.stream(kEmbedding, "embedding gather", make.tokens * context.shape.hidden, {.values = 2});
  } else if (piece == Piece::kEmbeddingFinish) {
    if (context.shape.positions == Positions::kLearned) {
      make.stream(kElementwise, "position embedding add", local, {.values = 3});
    }
    if (context.shape.hidden_dropout) {
      make.stream(kElementwise, "embedding dropout", local, {.values = 2, .other_bytes = 1});
    }
  } else if (piece == Piece::kEmbeddingFinishBackward) {
    if (context.shape.hidden_dropout) {
      make.stream(kElementwise, "embedding dropout backward", local, {.values = 2, .other_bytes = 1});
    }
  } else {
    add_embedding_wgrad(make);
  }
}

void add_head_pieces(Piece piece, KernelMaker& make) {
  make.keep_precision();
  const std::int64_t h = make.shape.hidden;
  const std::int64_t local = make.local_tokens * h;
  if (piece == Piece::kFinalNorm) return make.stream(kNorm, "final norm", local, {.values = 2});
  if (piece == Piece::kFinalNormBackward) return make.stream(kNorm, "final norm backward", local, {.values = 3});
  if (piece == Piece::kLogits) return make.linear("logits", h, make.vocabulary);
  if (piece == Piece::kLogitsDgrad) return make.dgrad("logits dgrad", h, make.vocabulary);
  if (piece == Piece::kLogitsWgrad) return make.wgrad("logits wgrad", h, make.vocabulary);
  if (piece == Piece::kLossBackward) return add_loss_backward(make);
  if (piece == Piece::kLossMax) {
    make.stream(kCast, "logits cast", logits(make), {.values = 1, .other_bytes = kFp32});
    make.stream(kSoftmax, "logits max", logits(make), {.other_bytes = kFp32});
  } else if (piece == Piece::kLossTarget) {
    make.stream(kSoftmax, "logits shift", logits(make), {.other_bytes = 2 * kFp32});
  } else if (piece == Piece::kLossSum) {
    make.stream(kSoftmax, "logits exp", logits(make), {.other_bytes = 2 * kFp32});
    make.stream(kSoftmax, "logits sum", logits(make), {.other_bytes = kFp32});
  } else {
    make.stream(kSoftmax, "logits divide", logits(make), {.other_bytes = 2 * kFp32});
  }
}

// Norms of the residual stream and of the next token's embedding, and the product of both to one vector. The head's
// logits and loss are those of the model.
void add_predictor_pieces(Piece piece, KernelMaker& make) {
  const std::int64_t h = make.shape.hidden;
  const std::int64_t local = make.local_tokens * h;
  if (piece == Piece::kPredictorInput) {
    make.stream(kEmbedding, "predictor embedding gather", local, {.values = 2});
    make.stream(kNorm, "predictor norms", 2 * local, {.values = 2});
    return make.linear("predictor projection", 2 * h, h / make.tp());
  }
  make.dgrad("predictor projection dgrad", 2 * h, h / make.tp());
  make.wgrad("predictor projection wgrad", 2 * h, h / make.tp());
  make.stream(kNorm, "predictor norms backward", 2 * local, {.values = 3});
  add_embedding_wgrad(make);
}

}  // namespace ringwright::workload
