#include "workload/model_config.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::array kNormalizations{Option{"rmsnorm", "root mean square only, one weight a channel"},
                                     Option{"layernorm", "mean and variance, weight and bias"}};
constexpr std::array kActivations{Option{"swiglu", "gated: SiLU(gate) * up"}, Option{"gelu", "one product, then GELU"}};
constexpr std::array kPositions{Option{"rotary", "rotates queries and keys"},
                                Option{"learned", "a table added to the word embedding"},
                                Option{"none", "no position embedding"}};
constexpr std::array kBiases{Option{"none", "no linear layer has a bias"},
                             Option{"qkv", "queries, keys and values only"},
                             Option{"all", "every linear layer of the blocks"}};

void read_sizes(ConfigMap& model, ModelShape& shape) {
  shape.layers = model.integer({.name = "num_layers", .doc = "transformer layers", .min = 1, .max = 10'000});
  shape.hidden =
      model.integer({.name = "hidden_size", .doc = "width of the residual stream", .min = 1, .max = 1'000'000});
  shape.heads =
      model.integer({.name = "num_attention_heads", .doc = "attention heads (of queries)", .min = 1, .max = 10'000});
  shape.kv_heads = model.integer({.name = "num_query_groups",
                                  .doc = "key-value heads; fewer than the heads: grouped-query attention",
                                  .fallback = shape.heads,
                                  .min = 1,
                                  .max = 10'000});
  shape.head_size = model.integer({.name = "kv_channels",
                                   .doc = "size of one head; hidden_size / num_attention_heads when not given",
                                   .fallback = std::max<std::int64_t>(1, shape.hidden / shape.heads),
                                   .min = 1,
                                   .max = 10'000});
  shape.ffn = model.integer({.name = "ffn_hidden_size",
                             .doc = "width of the MLP between its two products; 4 x hidden_size when not given",
                             .fallback = 4 * shape.hidden,
                             .min = 1,
                             .max = 10'000'000});
  shape.vocabulary =
      model.integer({.name = "vocab_size", .doc = "tokens in the vocabulary, unpadded", .min = 1, .max = 100'000'000});
  shape.sequence =
      model.integer({.name = "seq_length", .doc = "tokens in a training sequence", .min = 1, .max = 10'000'000});
  shape.vocabulary_multiple =
      model.integer({.name = "make_vocab_size_divisible_by",
                     .doc = "the vocabulary is padded to a multiple of this times parallel.tp, as Megatron does",
                     .fallback = 128,
                     .min = 1,
                     .max = 1'000'000});
}

void read_kinds(ConfigMap& model, ModelShape& shape) {
  const std::string norm = model.choice(
      {.name = "normalization", .doc = "the norm before attention and MLP", .fallback = "rmsnorm"}, kNormalizations);
  shape.normalization = norm == "layernorm" ? Normalization::kLayerNorm : Normalization::kRmsNorm;
  const std::string activation =
      model.choice({.name = "activation", .doc = "between the MLP's products", .fallback = "swiglu"}, kActivations);
  shape.activation = activation == "gelu" ? Activation::kGelu : Activation::kSwiGlu;
  const std::string positions = model.choice(
      {.name = "position_embedding", .doc = "how a token knows its place", .fallback = "rotary"}, kPositions);
  shape.positions = positions == "learned" ? Positions::kLearned
                    : positions == "none"  ? Positions::kNone
                                           : Positions::kRotary;
  const std::string biases =
      model.choice({.name = "bias", .doc = "which linear layers have a bias", .fallback = "none"}, kBiases);
  shape.biases = biases == "all" ? Biases::kAllLinear : biases == "qkv" ? Biases::kQkvOnly : Biases::kNone;
  const bool untied = model.boolean({.name = "untie_embeddings_and_output_weights",
                                     .doc = "the output layer has weights of its own",
                                     .fallback = true});
  shape.embeddings = untied ? Embeddings::kUntied : Embeddings::kTied;
  shape.query_key_norm =
      model.boolean({.name = "qk_layernorm", .doc = "a norm over each head's query and key", .fallback = false});
  shape.hidden_dropout =
      model.number({.name = "hidden_dropout",
                    .doc = "dropout probability after embedding, attention and MLP; only whether it is 0 matters",
                    .fallback = 0.0,
                    .min = 0.0,
                    .max = 1.0}) > 0.0;
  shape.attention_dropout =
      model.number({.name = "attention_dropout",
                    .doc = "dropout probability on attention probabilities; only whether it is 0 matters",
                    .fallback = 0.0,
                    .min = 0.0,
                    .max = 1.0}) > 0.0;
  if (shape.positions != Positions::kLearned && !model.documenting()) return;
  shape.max_positions = model.integer({.name = "max_position_embeddings",
                                       .doc = "rows of the learned position table; seq_length when not given",
                                       .fallback = shape.sequence,
                                       .min = 1,
                                       .max = 10'000'000});
}

}  // namespace

ModelShape read_model(ConfigMap& model) {
  ModelShape shape;
  shape.name = model.text({.name = "name", .doc = "what reports call the model", .fallback = "model"});
  read_sizes(model, shape);
  read_kinds(model, shape);
  if (shape.heads % shape.kv_heads != 0) {
    model.error("num_query_groups", "E132",
                fmt::format("{} = {} does not divide the {} attention heads", model.path_of("num_query_groups"),
                            shape.kv_heads, shape.heads));
    shape.kv_heads = shape.heads;
  }
  if (shape.positions == Positions::kLearned && shape.max_positions < shape.sequence) {
    model.error("seq_length", "E132",
                fmt::format("{} = {} is longer than the learned position table of {} rows", model.path_of("seq_length"),
                            shape.sequence, shape.max_positions),
                fmt::format("set {} to at least {}", model.path_of("max_position_embeddings"), shape.sequence));
  }
  return shape;
}

}  // namespace ringwright::workload
