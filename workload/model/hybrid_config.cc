#include "workload/model/hybrid_config.h"

#include <algorithm>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

std::int64_t mamba_size(ConfigMap& model, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return model.integer({.name = name, .doc = doc, .fallback = fallback, .min = 1, .max = 1'000'000});
}

MambaShape read_mamba(ConfigMap& model, const ModelShape& shape) {
  MambaShape mamba;
  mamba.head_size = mamba_size(model, "mamba_head_dim", "channels of a Mamba-2 head", mamba.head_size);
  mamba.heads = mamba_size(model, "mamba_num_heads",
                           "heads of a Mamba-2 layer; 2 x hidden_size / mamba_head_dim when not given",
                           std::max<std::int64_t>(1, 2 * shape.hidden / mamba.head_size));
  mamba.groups = mamba_size(model, "mamba_num_groups", "groups of heads that share B and C", mamba.groups);
  mamba.state = mamba_size(model, "mamba_state_dim", "size of a channel's state", mamba.state);
  mamba.chunk = mamba_size(model, "mamba_chunk_size", "tokens of a chunk of the scan", mamba.chunk);
  mamba.kernel = mamba_size(model, "mamba_conv_kernel", "tokens of the convolution before the scan", mamba.kernel);
  return mamba;
}

constexpr std::string_view kPredictorKey = "mtp_hybrid_override_pattern";

std::string read_predictor_letters(ConfigMap& model, const ModelShape& shape) {
  std::string letters = model.text({.name = kPredictorKey,
                                    .doc = "letters of a layer of multi-token prediction of a hybrid model: a mixer, "
                                           "an MLP, or both in this order",
                                    .fallback = ""});
  if (letters.empty() || shape.predictors > 0 || model.documenting()) return letters;
  model.warn(kPredictorKey, "W131", fmt::format("{} has no effect: mtp_num_layers is 0", model.path_of(kPredictorKey)));
  return {};
}

// Of what the rest of the model is, without a counterpart in hybrid models.
std::string not_hybrid(const ModelShape& shape) {
  if (shape.adapters) return "lora";
  if (shape.sandwich_norm) return "sandwich_norm";
  if (shape.masking == Masking::kBidirectional) return "attention_mask: bidirectional";
  return {};
}

}  // namespace

std::string problem_of_predictor(const std::string& letters, const ModelShape& shape) {
  if (letters.empty()) return "mtp_num_layers of a hybrid model needs the letters of such a layer";
  const std::optional<LayerHalves> halves = halves_of_predictor(letters);
  if (!halves) {
    return fmt::format(
        "a layer of multi-token prediction is a mixer (M, *), an MLP (-, E), or both in this order, "
        "not '{}'",
        letters);
  }
  if (halves->mlp == MlpKind::kExperts && !shape.experts) return "E needs num_experts";
  return {};
}

std::string problem_of_order(const std::string& order, const ModelShape& shape) {
  for (std::size_t at = 0; at < order.size(); ++at) {
    if (halves_of_letter(order[at])) continue;
    return fmt::format("'{}' (letter {}) is no kind of layer", order[at], at + 1);
  }
  if (order.size() != static_cast<std::size_t>(shape.layers)) {
    return fmt::format("there are {} letters for {} layers", order.size(), shape.layers);
  }
  if (order.find('E') != std::string::npos && !shape.experts) return "E needs num_experts";
  if (order.find('E') == std::string::npos && shape.experts) return "num_experts needs a layer E";
  return {};
}

void read_hybrid(ConfigMap& model, ModelShape& shape) {
  const std::string order =
      model.text({.name = "hybrid_override_pattern",
                  .doc = "a hybrid model's layers, a letter for each: M Mamba-2, G Gated "
                         "DeltaNet, * attention, - MLP, E experts; each has one norm and one residual. Empty: every "
                         "layer has attention and an MLP",
                  .fallback = ""});
  if (order.empty() && !model.documenting()) return;
  const MambaShape mamba = read_mamba(model, shape);
  const std::string predictor = read_predictor_letters(model, shape);
  if (order.empty()) return;
  if (const std::string problem = problem_of_order(order, shape); !problem.empty()) {
    model.error("hybrid_override_pattern", "E460",
                fmt::format("{}: {}", model.path_of("hybrid_override_pattern"), problem),
                "letters: M Mamba-2, G Gated DeltaNet, * attention, - MLP, E experts; one for each of num_layers");
    return;
  }
  if (const std::string other = not_hybrid(shape); !other.empty()) {
    model.error("hybrid_override_pattern", "E461",
                fmt::format("{} cannot be combined with {}", model.path_of("hybrid_override_pattern"), other));
    return;
  }
  if ((order + predictor).find('M') != std::string::npos && mamba.heads % mamba.groups != 0) {
    model.error("mamba_num_groups", "E460",
                fmt::format("{} = {} does not divide the {} heads of a Mamba-2 layer",
                            model.path_of("mamba_num_groups"), mamba.groups, mamba.heads));
    return;
  }
  if (shape.experts && (shape.experts->dense_layers > 0 || shape.experts->every > 1)) {
    const std::string_view key = shape.experts->dense_layers > 0 ? "first_k_dense_replace" : "moe_layer_freq";
    model.warn(key, "W131",
               fmt::format("{} has no effect: hybrid_override_pattern places experts", model.path_of(key)));
  }
  if (shape.predictors > 0) {
    if (const std::string problem = problem_of_predictor(predictor, shape); !problem.empty()) {
      model.error(kPredictorKey, "E460", fmt::format("{}: {}", model.path_of(kPredictorKey), problem),
                  "write \"*E\" for attention and experts");
      return;
    }
  }
  shape.hybrid = HybridShape{.order = order, .predictor = predictor, .mamba = mamba};
}

}  // namespace ringwright::workload
