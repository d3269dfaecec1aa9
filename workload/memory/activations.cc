#include "workload/memory/activations.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "workload/kernels/attention_kernels.h"
#include "workload/kernels/expert_kernels.h"
#include "workload/kernels/fusions.h"
#include "workload/kernels/sparse_attention_kernels.h"
#include "workload/memory/expert_activations.h"

namespace ringwright::workload {
namespace {

double value_bytes(const KernelContext& context) {
  return bytes_per_element(context.training.precision);
}

}  // namespace

double linear_input_bytes(const KernelContext& context) {
  switch (context.training.narrow) {
    case NarrowRecipe::kNvfp4: return 0.5 + 1.0 / 16.0;  // with the scales, which are an eighth of it
    case NarrowRecipe::kMxfp4: return 0.5 + 1.0 / 32.0;
    case NarrowRecipe::kNone: return value_bytes(context);
    case NarrowRecipe::kDelayed:
    case NarrowRecipe::kTensorwise:
    case NarrowRecipe::kRowwise:
    case NarrowRecipe::kBlockwise:
    case NarrowRecipe::kMxfp8: return bytes_per_element(DataType::kFp8);
  }
  return value_bytes(context);
}

namespace {

// Stored inputs of the two column-parallel GEMMs; a frozen GEMM needs none, its adapter does.
double kept_inputs(const KernelContext& context) {
  if (context.training.recomputes(&RecomputedModules::norms)) return 0.0;
  // Parallel halves with one norm read the same input.
  const bool one_input = context.shape.order == BlockOrder::kParallelOneNorm;
  if (!context.shape.adapters) return one_input ? 1.0 : 2.0;
  if (one_input) return context.shape.adapters->qkv || context.shape.adapters->mlp_up ? 1.0 : 0.0;
  return (context.shape.adapters->qkv ? 1.0 : 0.0) + (context.shape.adapters->mlp_up ? 1.0 : 0.0);
}
// Bytes per value of a token's hidden state: GEMM inputs in the GEMM's type and the norm's output in the working type.
double shared_with_norms(const KernelContext& context, const KernelMaker& sizes) {
  const bool cast = context.training.narrow != NarrowRecipe::kNone;
  const bool gathered = context.keep_gathered && sizes.tokens != sizes.local_tokens;
  if (!context.training.norm_keeps_output || cast || gathered) return 0.0;
  return kept_inputs(context) * value_bytes(context);
}
bool keeps_down_input(const KernelContext& context) {
  return !context.shape.adapters || context.shape.adapters->mlp_down;
}
Bytes whole_bytes(double bytes) {
  return Bytes(std::llround(bytes));
}

// Of the attention core: what selective recomputation saves.
double core_bytes_per_token(const KernelContext& context, const KernelMaker& sizes) {
  if (context.training.recomputes(&RecomputedModules::core_attention)) return 0.0;
  const auto heads = static_cast<double>(sizes.heads);
  if (context.training.attention == AttentionKernel::kFused) {
    const double sparse = context.shape.indexer ? sparse_core_bytes(sizes, value_bytes(context)) : 0.0;
    return 4.0 * heads + sparse;  // one fp32 statistic a row
  }
  // Probabilities; with dropout also their mask and the dropped-out probabilities.
  const double per_score = context.shape.attention_dropout ? 2.0 * value_bytes(context) + 1.0 : value_bytes(context);
  return per_score * heads * static_cast<double>(context.shape.sequence);
}

// Latent vectors are inputs of their norms, and the norms' results those of the GEMMs that follow. Where these are
// recomputed, what they start from is stored: the latent vectors and the rotated part of the keys, which is within the
// keys otherwise. Attention to latent vectors has the norm's result as its keys, which are counted with the queries.
// Queries without a latent vector start from the result of the layer's own norm. In values of the working type.
double latent_columns(const KernelContext& context, bool again) {
  const LatentAttention& latent = *context.shape.latent;
  const auto vectors = static_cast<double>(latent.query_rank + latent.key_value_rank);
  if (again) return vectors + static_cast<double>(latent.rotated_size);
  const double low = linear_input_bytes(context) / value_bytes(context);
  const bool from_output = context.training.norm_keeps_output && context.training.narrow == NarrowRecipe::kNone;
  const double inputs = from_output ? 0.0 : vectors;
  return inputs + low * (context.shape.indexer ? static_cast<double>(latent.query_rank) : vectors);
}

// Queries, keys, values and the projection's input, in fp8 or fp4 in addition to the core's result; latent attention
// also stores the latent vectors. In values of the working type.
double attention_columns(const KernelContext& context, const KernelMaker& sizes) {
  const bool again = context.shape.latent && context.training.recomputes(&RecomputedModules::latent_projection);
  const std::int64_t inputs = context.shape.indexer ? absorbed_columns(sizes) : sizes.query + sizes.key + sizes.value;
  auto columns = static_cast<double>(sizes.context + (again ? 0 : inputs));
  if (narrow_context(sizes)) {
    columns *= linear_input_bytes(context) / value_bytes(context);
  } else if (context.training.narrow != NarrowRecipe::kNone) {
    columns += static_cast<double>(sizes.context) * linear_input_bytes(context) / value_bytes(context);
  }
  // With gathered keys the results of a rank's two chunks are stored, and what the projection reads is a copy of them.
  const bool copied = context.gathered_keys && context.training.narrow == NarrowRecipe::kNone;
  if (copied && !context.training.recomputes(&RecomputedModules::core_attention)) {
    columns += static_cast<double>(sizes.context);
  }
  // A norm of queries and keys stores its input, and the core its result.
  if (context.shape.query_key_norm) columns += static_cast<double>(sizes.query + sizes.key);
  // The gate is stored, and in addition to the core's result the product, unless in a narrow type as above.
  const bool gated = sizes.gate > 0 && context.training.narrow == NarrowRecipe::kNone;
  columns += static_cast<double>(sizes.gate + (gated ? sizes.context : 0));
  if (context.shape.latent)
    columns += latent_columns(context, again) / (context.sequence_parallel ? static_cast<double>(context.tp) : 1.0);
  return columns;
}

// In values of the working type for each token, in addition to the inputs.
double mamba_columns(const KernelContext& context) {
  const MambaShape& mamba = context.shape.hybrid->mamba;
  const double low = linear_input_bytes(context) / value_bytes(context);
  const auto inner = static_cast<double>(mamba.inner() / context.tp);
  return static_cast<double>(mamba.projected() / context.tp) + (1.0 + low) * inner;
}

// The same of a Gated DeltaNet: the first GEMM's result; queries and keys after their norm, and repeated for all heads;
// copies of values and gates; decays in fp32, rates and the inverse triangles of the delta rule; its result, the norm's
// result and the last GEMM's input.
double delta_net_columns(const KernelContext& context) {
  const DeltaNetShape& net = *context.shape.delta_net;
  const double low = linear_input_bytes(context) / value_bytes(context);
  const bool repeats = net.value_heads != net.key_heads;
  const std::int64_t heads = net.value_heads / context.tp;
  const std::int64_t keys = 2 * (net.keys() / context.tp) + (repeats ? 2 * heads * net.key_size : 0);
  const auto values = static_cast<double>(net.values() / context.tp);
  const double norm = context.training.recomputes(&RecomputedModules::gated_norm) ? 0.0 : (1.0 + low) * values;
  const auto chunk = static_cast<double>(DeltaNetShape::kChunk);
  // With a decay for each channel: two triangles, decays before their sums, and the narrow GEMMs' inputs.
  const double of_each = net.channels ? 2.0 * chunk + 1.0 : chunk + 1.0 + 4.0 / value_bytes(context);
  std::int64_t columns = net.projected() / context.tp + keys;
  if (net.channels) columns += net.keys() / context.tp + net.channels->decay_rank + net.channels->gate_rank;
  return static_cast<double>(columns) + 3.0 * values + static_cast<double>(heads) * of_each + norm;
}

// Of a second half that is recomputed as a module only its input is stored: an MLP's is that of its norm, and
// that of experts the norm's result, unless norms are recomputed, too. None: it is not recomputed.
std::optional<double> kept_for_module(const KernelContext& context, MlpKind mlp) {
  const TrainingOptions& training = context.training;
  const bool experts = mlp == MlpKind::kExperts && training.recomputes(&RecomputedModules::experts);
  const bool dense = mlp == MlpKind::kDense && training.recomputes(&RecomputedModules::mlp);
  if (!experts && !dense) return std::nullopt;
  const double e = value_bytes(context);
  const double result = experts && !training.recomputes(&RecomputedModules::norms) ? e : 0.0;
  const double mask = context.shape.hidden_dropout ? 1.0 : 0.0;
  const double values = static_cast<double>(KernelMaker(context).local_tokens * context.shape.hidden);
  return values * (e + result + mask + (context.shape.sandwich_norm ? e : 0.0));
}

double kept_layer(const KernelContext& context, LayerHalves halves, WholeModules modules = WholeModules::kAsSet) {
  const KernelMaker sizes(context);
  const double e = value_bytes(context);
  const auto h = static_cast<double>(context.shape.hidden);
  const double mask = context.shape.hidden_dropout ? 1.0 : 0.0;
  // Inputs of two norms and of two column-parallel GEMMs, and two dropout masks: whole on every rank without sequence
  // parallelism. A norm whose backward pass starts from its output shares it with the next GEMM. Norms of parallel
  // halves read the same input, and one dropout follows their sum.
  const auto input_tokens = static_cast<double>(context.keep_gathered ? sizes.tokens : sizes.local_tokens);
  const double inputs = input_tokens * kept_inputs(context) * linear_input_bytes(context) * h;
  const double residuals = context.shape.order == BlockOrder::kSequential ? 2.0 : 1.0;
  const double outputs = context.shape.sandwich_norm ? 2.0 * e : 0.0;  // norms of the halves' results
  const double norms = std::max(0.0, residuals * e - shared_with_norms(context, sizes)) + outputs;
  const bool whole = halves.mixer != Mixer::kNone && halves.mlp != MlpKind::kNone;
  const double local =
      (whole ? 1.0 : 0.5) * (static_cast<double>(sizes.local_tokens) * (norms + residuals * mask) * h + inputs);
  // The activation's input and output in addition to the mixer's tensors.
  const double mlp = sizes.activation_input * static_cast<double>(sizes.gated_ffn) +
                     (keeps_down_input(context) ? linear_input_bytes(context) : 0.0) * static_cast<double>(sizes.ffn);
  double columns = 0.0;
  double core = 0.0;
  if (halves.mixer == Mixer::kAttention) {
    columns = e * attention_columns(context, sizes);
    core = core_bytes_per_token(context, sizes);
  }
  if (halves.mixer == Mixer::kMamba) columns = e * mamba_columns(context);
  if (halves.mixer == Mixer::kDeltaNet) columns = e * delta_net_columns(context);
  const auto module = modules == WholeModules::kAsSet ? kept_for_module(context, halves.mlp) : std::nullopt;
  if (module) return (whole ? 0.5 * local : 0.0) + static_cast<double>(sizes.tokens) * (columns + core) + *module;
  if (halves.mlp == MlpKind::kDense) columns += mlp;
  const double split = static_cast<double>(sizes.tokens) * (columns + core);
  return local + split + (halves.mlp == MlpKind::kExperts ? stored_by_experts(context, sizes, modules) : 0.0);
}

// Bytes of a logit that are stored for the backward pass, and additional bytes while the loss is computed.
struct LogitBytes {
  double kept = 0.0;
  double working = 0.0;
};
LogitBytes logit_bytes(const KernelContext& context) {
  const double value = value_bytes(context);
  switch (context.training.cross_entropy) {
    case CrossEntropy::kSplit:
    case CrossEntropy::kSplitFused: return {.kept = 4.0, .working = value};
    case CrossEntropy::kFused: return {.kept = value, .working = 0.0};
    case CrossEntropy::kEager: return {.kept = 4.0, .working = context.tp > 1 ? 12.0 : 8.0};
    case CrossEntropy::kCompiled: return {.kept = value, .working = value};
    case CrossEntropy::kChunked: return {};
  }
  return {};
}

// The layer's input, and the results of the GEMMs and of the core that are not recomputed.
double kept_operators(const KernelContext& context) {
  const KernelMaker sizes(context);
  const double e = value_bytes(context);
  const auto columns = static_cast<double>(sizes.query + sizes.gate + sizes.value + sizes.context + sizes.ffn);
  const double ends = 2.0 * e * static_cast<double>(sizes.local_tokens * context.shape.hidden);
  return ends + static_cast<double>(sizes.tokens) * (e * columns + core_bytes_per_token(context, sizes));
}

// The layer's input, and the results in the list.
double kept_results(const KernelContext& context) {
  const KernelMaker sizes(context);
  const SavedResults& saved = context.training.saved;
  const double e = value_bytes(context);
  const auto local = static_cast<double>(sizes.local_tokens * context.shape.hidden) * e;
  const auto columns = [&](bool kept, std::int64_t count) {
    return kept ? e * static_cast<double>(sizes.tokens * count) : 0.0;
  };
  const double core = saved.core ? static_cast<double>(sizes.tokens) * core_bytes_per_token(context, sizes) : 0.0;
  return local * (saved.projection ? 2.0 : 1.0) +
         columns(saved.qkv, sizes.query + sizes.gate + sizes.key + sizes.value) + columns(saved.core, sizes.context) +
         core + columns(saved.mlp_up, sizes.gated_ffn);
}

}  // namespace

Bytes layer_activations(const KernelContext& context, LayerHalves halves) {
  if (context.training.recompute == Recompute::kOperators) {
    return whole_bytes(std::min(kept_operators(context), kept_layer(context, halves)));
  }
  if (context.training.recompute == Recompute::kExceptSaved) {
    return whole_bytes(std::min(kept_results(context), kept_layer(context, halves)));
  }
  if (context.training.recompute != Recompute::kFull) return whole_bytes(kept_layer(context, halves));
  const KernelMaker sizes(context);
  const std::int64_t tokens = context.training.full.distributed ? sizes.tokens / context.tp : sizes.local_tokens;
  return whole_bytes(static_cast<double>(tokens * context.shape.hidden) * value_bytes(context));
}

Bytes stored_by_mlp(const KernelContext& context, LayerHalves halves) {
  return whole_bytes(kept_layer(context, halves) - kept_layer(context, {.mixer = halves.mixer, .mlp = MlpKind::kNone}));
}

Bytes recomputed_layer(const KernelContext& context, LayerHalves halves) {
  if (context.training.recompute == Recompute::kFull) return whole_bytes(kept_layer(context, halves));
  if (context.training.recompute == Recompute::kExceptSaved) {
    return whole_bytes(std::max(0.0, kept_layer(context, halves) - kept_results(context)));
  }
  if (context.training.recompute == Recompute::kSelective) {
    const double stored = kept_layer(context, halves, WholeModules::kStored);
    return whole_bytes(std::max(0.0, stored - kept_layer(context, halves)));
  }
  if (context.training.recompute != Recompute::kOperators) return Bytes(0);
  return whole_bytes(std::max(0.0, kept_layer(context, halves) - kept_operators(context)));
}

// Token ids, and the dropout's mask.
Bytes embedding_activations(const KernelContext& context) {
  const KernelMaker sizes(context);
  const std::int64_t mask = context.shape.hidden_dropout ? sizes.local_tokens * context.shape.hidden : 0;
  return Bytes(8 * sizes.tokens + mask);
}

// Of multi-token prediction (Megatron's multi_token_prediction.py): the next token's embedding, which a norm reads, and
// both norms' results joined, which the GEMM reads. The other norm's input is the input of a head's norm as well. Where
// its layer is recomputed from that input, so are the joined results.
Bytes predictor_activations(const KernelContext& context) {
  const KernelMaker sizes(context);
  const auto values = static_cast<double>(sizes.local_tokens * context.shape.hidden);
  const bool again = recomputed_predictor(context) > Bytes(0);
  return whole_bytes((again ? 1.0 : 3.0) * value_bytes(context) * values);
}

Bytes recomputed_predictor(const KernelContext& context) {
  const TrainingOptions& training = context.training;
  if (training.recompute != Recompute::kFull || training.full.method != RecomputeMethod::kUniform) return Bytes(0);
  const KernelMaker sizes(context);
  return whole_bytes(2.0 * value_bytes(context) * static_cast<double>(sizes.local_tokens * context.shape.hidden));
}

// Inputs of the final norm and of the output layer, and the loss's stored part of the logits.
Bytes head_activations(const KernelContext& context) {
  const KernelMaker sizes(context);
  const std::int64_t predicted = context.training.predicted_of(sizes.tokens);
  const std::int64_t gathered = context.keep_gathered ? sizes.tokens : sizes.local_tokens;
  const std::int64_t read = predicted < sizes.tokens ? predicted : gathered;
  double inputs = value_bytes(context) * static_cast<double>((sizes.local_tokens + read) * context.shape.hidden);
  // Fused with the output layer, the loss computes the gradients of its input and of its weights at once.
  if (context.training.cross_entropy == CrossEntropy::kChunked) {
    inputs += value_bytes(context) * static_cast<double>((predicted + sizes.vocabulary) * context.shape.hidden);
  }
  return whole_bytes(inputs + logit_bytes(context).kept * static_cast<double>(predicted * sizes.vocabulary));
}

// The loss's temporary memory. In chunks: as many tokens at a time as make their logits as large as the layer's input,
// in the working type and in fp32 (Liger-Kernel, fused_linear_cross_entropy.py).
Bytes head_workspace(const KernelContext& context) {
  const KernelMaker sizes(context);
  const std::int64_t predicted = context.training.predicted_of(sizes.tokens);
  if (context.training.cross_entropy == CrossEntropy::kChunked) {
    return whole_bytes((value_bytes(context) + 4.0) * static_cast<double>(predicted * context.shape.hidden));
  }
  return whole_bytes(logit_bytes(context).working * static_cast<double>(predicted * sizes.vocabulary));
}

Bytes head_cached(const KernelContext& context) {
  const KernelMaker sizes(context);
  const std::int64_t predicted = context.training.predicted_of(sizes.tokens);
  if (context.training.cross_entropy != CrossEntropy::kEager || value_bytes(context) >= 4.0) return Bytes(0);
  return whole_bytes(value_bytes(context) * static_cast<double>(predicted * sizes.vocabulary));
}

namespace {

// While the gradients of queries, keys and w are computed: w, u and what is left of it, states, their gradients, two
// gradients of values, and these three; and the gradient of the result.
double delta_net_workspace(const KernelContext& context) {
  const DeltaNetShape& net = *context.shape.delta_net;
  const std::int64_t heads = net.value_heads / context.tp;
  const std::int64_t states = net.key_size * net.value_size / DeltaNetShape::kChunk;  // for each token
  const std::int64_t columns = heads * (4 * net.key_size + 5 * net.value_size + 2 * states);
  // With a decay for each channel: sums of decays, three gradients of dk and two triangles in fp32.
  const std::int64_t in_fp32 = net.channels ? heads * (4 * net.key_size + 2 * DeltaNetShape::kChunk) : 0;
  return static_cast<double>(context.tokens()) *
         (value_bytes(context) * static_cast<double>(columns) + 4.0 * static_cast<double>(in_fp32));
}

}  // namespace

// Gradients of the MLP's output, its activation and its up GEMM are alive together.
Bytes gradient_workspace(const KernelContext& context, LayerHalves halves) {
  const KernelMaker sizes(context);
  if (halves.mixer == Mixer::kDeltaNet) {
    const Bytes mixer = whole_bytes(delta_net_workspace(context));
    if (halves.mlp == MlpKind::kNone) return mixer;
    return std::max(mixer, gradient_workspace(context, {.mlp = halves.mlp}));
  }
  if (context.shape.indexer && halves.mixer == Mixer::kAttention) {
    // The indexer's scores of all pairs, in fp32, from the GEMM to the choice.
    const double scores = 4.0 * static_cast<double>(sizes.tokens) * static_cast<double>(context.shape.sequence);
    KernelContext dense = context;
    dense.shape.indexer.reset();
    return std::max(whole_bytes(scores), gradient_workspace(dense, halves));
  }
  if (halves.mixer == Mixer::kMamba && halves.mlp == MlpKind::kNone) {
    const MambaShape& mamba = context.shape.hybrid->mamba;
    return whole_bytes(value_bytes(context) * static_cast<double>(sizes.tokens) *
                       static_cast<double>(context.shape.hidden + (mamba.projected() + mamba.inner()) / context.tp));
  }
  if (halves.mlp == MlpKind::kExperts) {
    const ExpertShape& experts = *context.shape.experts;
    const std::int64_t inputs = context.shape.activation == Activation::kSwiGlu ? 2 : 1;
    const std::int64_t columns = expert_hidden(context.shape) + (inputs + 1) * experts.ffn / context.experts.etp;
    return whole_bytes(value_bytes(context) * expert_rows(context) * static_cast<double>(columns));
  }
  return whole_bytes(value_bytes(context) *
                     static_cast<double>(sizes.tokens * (context.shape.hidden + sizes.ffn + sizes.gated_ffn)));
}

}  // namespace ringwright::workload
