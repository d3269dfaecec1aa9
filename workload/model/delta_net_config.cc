#include "workload/model/delta_net_config.h"

#include <array>
#include <string>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::string_view kVariant = "experimental_attention_variant";
constexpr std::string_view kFrequency = "linear_attention_freq";
constexpr std::array kVariants{Option{"none", "every layer has attention, or as hybrid_override_pattern says"},
                               Option{"gated_delta_net", "Gated DeltaNet in all layers but every n-th (Qwen3-Next)"}};

std::int64_t net_size(ConfigMap& model, std::string_view name, std::string_view doc, std::int64_t fallback) {
  return model.integer({.name = name, .doc = doc, .fallback = fallback, .min = 1, .max = 100'000});
}

DeltaNetShape read_net_sizes(ConfigMap& model) {
  DeltaNetShape net;
  net.key_heads =
      net_size(model, "linear_num_key_heads", "heads of a Gated DeltaNet's queries and keys", net.key_heads);
  net.value_heads = net_size(model, "linear_num_value_heads", "heads of a Gated DeltaNet's values", net.value_heads);
  net.key_size = net_size(model, "linear_key_head_dim", "size of such a head's query and key", net.key_size);
  net.value_size = net_size(model, "linear_value_head_dim", "size of such a head's value", net.value_size);
  net.kernel = net_size(model, "linear_conv_kernel_dim", "tokens of the convolution before the delta rule", net.kernel);
  return net;
}

// Of what the rest of the model is, without a counterpart in layers of Gated DeltaNet.
std::string not_with_delta_net(const ModelShape& shape) {
  if (shape.adapters) return "lora";
  if (shape.sandwich_norm) return "sandwich_norm";
  if (shape.masking == Masking::kBidirectional) return "attention_mask: bidirectional";
  return {};
}

bool is_consistent(ConfigMap& model, const ModelShape& shape, const DeltaNetShape& net, std::string_view key) {
  if (const std::string other = not_with_delta_net(shape); !other.empty()) {
    model.error(key, "E461", fmt::format("layers of Gated DeltaNet cannot be combined with {}", other));
    return false;
  }
  if (net.value_heads % net.key_heads == 0) return true;
  model.error("linear_num_key_heads", "E460",
              fmt::format("{} = {} does not divide the {} heads of values of a Gated DeltaNet",
                          model.path_of("linear_num_key_heads"), net.key_heads, net.value_heads));
  return false;
}

}  // namespace

void read_delta_net(ConfigMap& model, ModelShape& shape) {
  const bool by_frequency = model.choice({.name = kVariant,
                                          .doc = "what layers have instead of attention, as linear_attention_freq says",
                                          .fallback = "none"},
                                         kVariants) == "gated_delta_net";
  const bool by_letters =
      shape.hybrid && (shape.hybrid->order + shape.hybrid->predictor).find('G') != std::string::npos;
  if (!by_frequency && !by_letters && !model.documenting()) return;
  DeltaNetShape net = read_net_sizes(model);
  if (by_frequency || model.documenting()) {
    net.full_every = model.integer(
        {.name = kFrequency, .doc = "every n-th layer has attention, all others the variant", .min = 2, .max = 10'000});
  }
  if (by_frequency && shape.hybrid) {
    model.error(kVariant, "E461",
                fmt::format("{} cannot be combined with hybrid_override_pattern", model.path_of(kVariant)),
                "write G for layers of Gated DeltaNet there");
    return;
  }
  if (!by_frequency && !by_letters) return;
  if (is_consistent(model, shape, net, by_frequency ? kVariant : "hybrid_override_pattern")) shape.delta_net = net;
}

}  // namespace ringwright::workload
