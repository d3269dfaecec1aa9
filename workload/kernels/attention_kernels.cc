#include "workload/kernels/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "workload/kernels/fusions.h"
#include "workload/kernels/gathered_key_kernels.h"
#include "workload/kernels/pointwise_kernels.h"
#include "workload/kernels/ring_kernels.h"
#include "workload/kernels/rotary_kernels.h"
#include "workload/kernels/sparse_attention_kernels.h"
#include "workload/kernels/unfused_attention.h"
#include "workload/options/document_mix.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

// Scores of the first tokens of a sequence: of its whole documents and of the begun one. A token has as many as there
// are tokens before it, up to the window.
double scores_until(double tokens, double document, double window) {
  const auto of_begun = [&](double begun) {
    return begun < window ? 0.5 * begun * begun : window * begun - 0.5 * window * window;
  };
  const double whole = std::floor(tokens / document);
  return whole * of_begun(document) + of_begun(tokens - whole * document);
}

// This rank's share of a sequence's scores; with a causal mask alone (2i + 1) / c^2 for the i-th of c pieces.
double score_share(const KernelContext& context, std::int64_t pieces, std::int64_t documents) {
  const auto count = static_cast<double>(pieces);
  if (context.piece < 0) return 1.0 / count;
  if (documents == 1 && !context.windowed) return static_cast<double>(2 * context.piece + 1) / count / count;
  const auto all = static_cast<double>(context.shape.sequence);
  const double document = all / static_cast<double>(documents);
  const double window = context.windowed ? std::min(static_cast<double>(context.shape.window), document) : document;
  const double first = all / count * static_cast<double>(context.piece);
  return (scores_until(first + all / count, document, window) - scores_until(first, document, window)) /
         scores_until(all, document, window);
}

// All scores that this rank computes for one microbatch, in one kernel: its heads of its queries with all keys.
KernelMaker::Scores all_scores(const KernelMaker& make, const KernelContext& context) {
  const std::int64_t exchanged = context.cp / context.ulysses;  // ranks that split the queries
  const std::int64_t documents = attended_documents(context.training, make.shape.sequence);
  return {.queries = std::max<std::int64_t>(1, make.shape.sequence / (exchanged * documents)),
          .keys = make.shape.sequence / documents,
          .heads = make.heads / context.ulysses,
          .documents = documents,
          .share = score_share(context, exchanged, documents)};
}

// With the keys of one rank of the ring. A causal mask leaves half of the scores; with zig-zag order, half of every
// block.
enum class Block { kHalf, kFull };
KernelMaker::Scores block_scores(const KernelMaker& make, const KernelContext& context, Block block) {
  const std::int64_t tokens = make.shape.sequence / context.ring;
  const auto blocks = static_cast<double>(context.ring * context.ring);
  return {.queries = tokens,
          .keys = tokens,
          .heads = make.heads / context.ulysses,
          .share = (block == Block::kFull ? 2.0 : 1.0) / blocks,
          .masked = block == Block::kHalf,
          .casts = false};
}

// Exchanged heads (Transformer Engine, context_parallel.py: flash_attn_a2a_communicate): a tensor is copied into the
// order of its receivers before the exchange, and in zig-zag order its parts into that of the sequence after it. After
// attention the parts are copied first, then into the order of receivers, and what arrives into that of the heads. In
// fp8 a value has one byte.
enum class HeadsMove { kToAttention, kFromAttention };
void add_head_copies(KernelMaker& make, const KernelContext& context, HeadsMove move,
                     std::initializer_list<std::int64_t> columns) {
  if (context.ulysses == 1) return;
  const double value = bytes_per_element(context.training.fused.fp8_attention ? DataType::kFp8
                                                                              : context.training.precision);
  const int copies = (move == HeadsMove::kToAttention ? 1 : 2) + (context.zigzag ? 1 : 0);
  for (const std::int64_t width : columns) {
    for (int i = 0; i < copies; ++i) {
      make.stream(kCopy, "heads copy", make.tokens * width, {.other_bytes = 2.0 * value});
    }
  }
}

// Queries, keys and values of a ring are cast once, before its first step, and keys and values travel in fp8; backward,
// so is the gradient of the result (context_parallel.py: the quantizers of AttnFuncWithCPAndKVP2P).
void cast_for_ring(KernelMaker& make, const KernelContext& context, std::int64_t columns) {
  if (context.ring > 1) make.cast_for_attention(columns / context.ulysses);
}

void add_heads_to_attention(KernelMaker& make, const KernelContext& context) {
  add_head_copies(make, context, HeadsMove::kToAttention, {make.query, make.key, make.value});
  cast_for_ring(make, context, make.query + make.key + make.value);
}

void add_heads_from_attention(KernelMaker& make, const KernelContext& context) {
  add_head_copies(make, context, HeadsMove::kFromAttention, {make.context});
}

void add_core(KernelMaker& make, const KernelContext& context) {
  if (make.shape.indexer) return add_sparse_core(make);
  if (context.training.attention == AttentionKernel::kUnfused) return add_unfused(make, context);
  if (context.gathered_keys) add_keys_in_order(make, context);
  make.attention("attention", kAttentionForward, all_scores(make, context));
  if (context.gathered_keys) add_results_of_chunks(make);
}

void add_core_backward(KernelMaker& make, const KernelContext& context) {
  if (make.shape.indexer) return add_sparse_core_backward(make);
  if (context.training.attention == AttentionKernel::kUnfused) return add_unfused_backward(make, context);
  if (context.gathered_keys) add_keys_in_order(make, context);
  make.attention("attention backward", kAttentionBackward, all_scores(make, context));
  if (context.gathered_keys) add_gradients_of_chunks(make, context);
}

void add_qkv(KernelMaker& make) {
  if (make.shape.latent) {
    const LatentAttention& latent = *make.shape.latent;
    if (latent.query_rank > 0) {
      make.stream(kNorm, "query norm", make.local_tokens * latent.query_rank, {.values = 2});
      make.linear("query up", latent.query_rank, make.query);
    } else {
      make.linear("query", make.shape.hidden, make.query);
    }
    make.stream(kNorm, "key and value norm", make.local_tokens * latent.key_value_rank, {.values = 2});
    if (make.shape.indexer) {
      add_absorbed_queries(make);
    } else {
      make.linear("key and value up", latent.key_value_rank, make.heads * (latent.plain_size + latent.value_size));
    }
  } else {
    const std::int64_t columns = make.query + make.gate + make.key + make.value;
    make.linears("qkv", make.shape.hidden, {make.query + make.gate, make.key, make.value},
                 make.shape.adapters && make.shape.adapters->qkv);
    if (make.shape.adapters && make.shape.adapters->qkv) make.adapter(make.shape.hidden, columns);
    if (narrow_queries(make)) make.widen_results("qkv", -make.narrow_saving());
  }
  if (make.shape.query_key_norm) {
    make.stream(kNorm, "query and key norm", make.tokens * (make.query + make.key), {.values = 2});
  }
  add_rotary_embedding(make, "rotary embedding", RotaryPass::kForward);
  // The shared rotated part is written next to every head's own part.
  if (make.shape.latent && !make.shape.indexer)
    make.stream(kCopy, "key assembly", make.tokens * make.key, {.values = 2});
}

// Megatron-LM, attention.py: _apply_output_gate. Result and gate are read, their product written; backward both and the
// product's gradient are read, two gradients written.
void add_output_gate(KernelMaker& make, const char* name) {
  if (make.gate > 0) make.stream(kElementwise, name, make.tokens * make.context, {.values = 3});
}
void add_output_gate_backward(KernelMaker& make) {
  if (make.gate > 0) make.stream(kElementwise, "attention gate backward", make.tokens * make.context, {.values = 5});
}

// What attention wrote in fp8.
Cast context_cast(const KernelMaker& make) {
  return narrow_context(make) ? Cast::kTransposed : Cast::kApart;
}

void add_projection(KernelMaker& make) {
  add_output_gate(make, "attention gate");
  make.linear("attention projection", make.context, make.shape.hidden, context_cast(make));
  if (make.shape.adapters && make.shape.adapters->projection) make.adapter(make.context, make.shape.hidden);
}

// Latent attention may recompute its queries, keys and values before their gradients.
void add_projection_backward(KernelMaker& make, const KernelContext& context) {
  make.gathered_dgrad("attention projection dgrad", make.context, make.shape.hidden);
  if (narrow_context(make)) make.widen_results("attention projection dgrad", -make.narrow_saving());
  make.wgrad("attention projection wgrad", make.context, make.shape.hidden);
  if (make.shape.adapters && make.shape.adapters->projection) make.adapter_backward(make.context, make.shape.hidden);
  add_output_gate_backward(make);
  if (make.shape.latent && context.training.recomputes(&RecomputedModules::latent_projection)) add_qkv(make);
}

void add_qkv_backward(KernelMaker& make) {
  if (make.shape.indexer) {
    add_absorbed_queries_backward(make);
  } else if (make.shape.latent) {
    make.stream(kCopy, "key assembly backward", make.tokens * make.key, {.values = 2});
  }
  add_rotary_embedding(make, "rotary embedding backward", RotaryPass::kBackward);
  if (make.shape.query_key_norm) {
    make.stream(kNorm, "query and key norm backward", make.tokens * (make.query + make.key), {.values = 3});
  }
  if (make.shape.biases.qkv && !make.fused().bias_gradient) {
    make.stream(kElementwise, "qkv bias gradient", make.tokens * (make.query + make.gate + make.key + make.value),
                {.values = 1});
  }
}

void add_qkv_dgrad(KernelMaker& make) {
  if (!make.shape.latent) {
    const std::int64_t columns = make.query + make.gate + make.key + make.value;
    make.dgrads("qkv dgrad", make.shape.hidden, {make.query + make.gate, make.key, make.value},
                narrow_queries(make) ? Cast::kTransposed : Cast::kApart);
    if (make.shape.adapters && make.shape.adapters->qkv) make.adapter_backward(make.shape.hidden, columns);
    return;
  }
  const LatentAttention& latent = *make.shape.latent;
  const std::int64_t inputs = latent.query_rank > 0 ? latent.query_rank : make.shape.hidden;
  make.dgrad("query up dgrad", inputs, make.query);
  if (!make.shape.indexer)
    make.dgrad("key and value up dgrad", latent.key_value_rank, make.heads * (latent.plain_size + latent.value_size));
  make.stream(kNorm, "latent norms backward", make.local_tokens * (latent.query_rank + latent.key_value_rank),
              {.values = 3});
}

void add_qkv_wgrad(KernelMaker& make) {
  if (!make.shape.latent) {
    return make.wgrads("qkv wgrad", make.shape.hidden, {make.query + make.gate, make.key, make.value});
  }
  const LatentAttention& latent = *make.shape.latent;
  const std::int64_t inputs = latent.query_rank > 0 ? latent.query_rank : make.shape.hidden;
  make.wgrad("query up wgrad", inputs, make.query);
  if (!make.shape.indexer)
    make.wgrad("key and value up wgrad", latent.key_value_rank, make.heads * (latent.plain_size + latent.value_size));
}

void add_attention_norm_again(KernelMaker& make) {
  add_norm(make, "attention norm again", make.local_tokens * make.shape.hidden);
}

bool recomputes_core(const TrainingOptions& training) {
  return training.recompute == Recompute::kExceptSaved && !training.saved.core;
}
bool recomputes_projection(const TrainingOptions& training) {
  return training.recompute == Recompute::kOperators || !training.saved.projection;
}

// The MLP's norm reads it, except where attention and MLP are parallel.
void add_projection_again(KernelMaker& make) {
  if (make.shape.order != BlockOrder::kSequential) return;
  add_output_gate(make, "attention gate again");
  make.linear("attention projection again", make.context, make.shape.hidden, context_cast(make));
}

// Of every second GEMM the keys and the projection; queries, values and the core's result were saved.
void add_qkv_again(KernelMaker& make, const TrainingOptions& training) {
  if (training.recompute == Recompute::kOperators) {
    make.linears("keys again", make.shape.hidden, {make.key});
    add_rotary_embedding(make, "rotary embedding again", RotaryPass::kForward);
  } else if (!training.saved.qkv) {
    add_qkv(make);
  }
}

void add_again(KernelMaker& make, const KernelContext& context) {
  add_attention_norm_again(make);
  add_qkv_again(make, context.training);
  if (recomputes_core(context.training)) add_core(make, context);
  if (recomputes_projection(context.training)) add_projection_again(make);
}

void add_attention_backward(KernelMaker& make, const KernelContext& context) {
  if (context.training.recomputes_operators() && !context.recomputes_apart()) add_again(make, context);
  add_projection_backward(make, context);
  if (context.training.recomputes(&RecomputedModules::core_attention)) add_core(make, context);
  add_core_backward(make, context);
  add_qkv_backward(make);
}

}  // namespace

void add_attention_norm(KernelMaker& make) {
  add_norm(make, "attention norm", make.local_tokens * make.shape.hidden);
}

void add_latent_down(KernelMaker& make) {
  if (!make.shape.latent) return;
  const LatentAttention& latent = *make.shape.latent;
  const std::int64_t h = make.shape.hidden;
  if (latent.query_rank > 0) make.local_linear("query down", h, latent.query_rank);
  make.local_linear("key and value down", h, latent.key_value_rank + latent.rotated_size);
}

void add_latent_down_backward(KernelMaker& make) {
  if (!make.shape.latent) return;
  const LatentAttention& latent = *make.shape.latent;
  const std::int64_t h = make.shape.hidden;
  const std::int64_t compressed = latent.key_value_rank + latent.rotated_size;
  if (latent.query_rank > 0) {
    make.local_dgrad("query down dgrad", h, latent.query_rank);
    make.local_wgrad("query down wgrad", h, latent.query_rank);
  }
  make.local_dgrad("key and value down dgrad", h, compressed);
  make.local_wgrad("key and value down wgrad", h, compressed);
}

std::int64_t gathered_columns(const ModelShape& shape) {
  if (!shape.latent) return shape.hidden;
  const LatentAttention& latent = *shape.latent;
  const std::int64_t queries = latent.query_rank > 0 ? latent.query_rank : shape.hidden;
  return queries + latent.key_value_rank + latent.rotated_size;
}

void add_attention_sections(LayerSection section, const KernelContext& context, KernelMaker& make) {
  if (section == LayerSection::kQkv) {
    add_qkv(make);
    return add_heads_to_attention(make, context);
  }
  if (section == LayerSection::kCore) return add_core(make, context);
  if (section == LayerSection::kProjection) {
    add_heads_from_attention(make, context);
    return add_projection(make);
  }
  if (section == LayerSection::kAttentionNormAgain) return add_attention_norm_again(make);
  if (section == LayerSection::kQkvAgain) return add_qkv_again(make, context.training);
  if (section == LayerSection::kProjectionAgain) {
    if (recomputes_projection(context.training)) add_projection_again(make);
    return;
  }
  if (section == LayerSection::kHeadsToAttention) return add_heads_to_attention(make, context);
  if (section == LayerSection::kHeadsFromAttention) return add_heads_from_attention(make, context);
  if (section == LayerSection::kProjectionBackward) {
    add_projection_backward(make, context);
    add_head_copies(make, context, HeadsMove::kToAttention, {make.context});
    if (context.exchanges_result_again()) add_head_copies(make, context, HeadsMove::kToAttention, {make.context});
    return cast_for_ring(make, context, make.context);
  }
  if (section == LayerSection::kCoreBackward) return add_core_backward(make, context);
  if (section == LayerSection::kQkvBackward) {
    add_head_copies(make, context, HeadsMove::kFromAttention, {make.query, make.key, make.value});
    return add_qkv_backward(make);
  }
  if (section == LayerSection::kQkvDgrad) {
    if (context.training.recomputes(&RecomputedModules::norms)) add_attention_norm(make);
    return add_qkv_dgrad(make);
  }
  if (section == LayerSection::kQkvWgrad) return add_qkv_wgrad(make);
  if (section == LayerSection::kAttentionBackward) return add_attention_backward(make, context);
  if (section == LayerSection::kAttention) {
    add_qkv(make);
    add_core(make, context);
    return add_projection(make);
  }
  const bool full = section == LayerSection::kCoreFullBlock || section == LayerSection::kCoreFullBlockBackward;
  const bool forward = section == LayerSection::kCoreBlock || section == LayerSection::kCoreFullBlock;
  const KernelFamily family = forward ? kAttentionForward : kAttentionBackward;
  const RingPass pass = forward ? RingPass::kForward : RingPass::kBackward;
  add_ring_halves(make, context, pass);
  make.attention(forward ? "attention block" : "attention block backward", family,
                 block_scores(make, context, full ? Block::kFull : Block::kHalf));
  add_ring_merge(make, context, pass);
}

}  // namespace ringwright::workload
