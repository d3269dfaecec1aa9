#include "workload/model/delta_net_config.h"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::string_view kVariant = "experimental_attention_variant";
constexpr std::string_view kFrequency = "linear_attention_freq";
constexpr std::string_view kLayers = "full_attn_layers";
constexpr std::array<std::string_view, 2> kRanks{"kda_f_lora_rank", "kda_gate_lora_rank"};
constexpr std::array kVariants{
    Option{"none", "every layer has attention, or as hybrid_override_pattern says"},
    Option{"gated_delta_net", "Gated DeltaNet in all layers but every n-th (Qwen3-Next)"},
    Option{"kimi_delta_attention", "the same with a decay for each channel of a key (Kimi Linear)"}};

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

// Widths of narrow GEMMs, which the other variant does not have.
void read_channels(ConfigMap& model, bool by_channel, DeltaNetShape& net) {
  if (!by_channel && !model.documenting()) {
    for (const std::string_view key : kRanks) {
      if (!model.has(key)) continue;
      static_cast<void>(model.setting(key));
      model.warn(
          key, "W131",
          fmt::format("{} has no effect: {} is not kimi_delta_attention", model.path_of(key), model.path_of(kVariant)));
    }
    return;
  }
  const auto rank = [&](std::string_view name, std::string_view doc) {
    return model.integer({.name = name, .doc = doc, .fallback = 0, .min = 0, .max = 1'000'000});
  };
  ChannelDecay channels;
  channels.decay_rank = rank(kRanks[0], "Kimi Delta Attention: width between the two GEMMs of its decays; 0: one GEMM");
  channels.gate_rank = rank(kRanks[1], "the same of its output gates");
  if (by_channel) net.channels = channels;
}

// Every n-th layer has attention, or those of a list.
void read_placement(ConfigMap& model, const ModelShape& shape, DeltaNetShape& net) {
  const std::vector<std::int64_t> layers =
      model.integers({.name = kLayers,
                      .doc = "layers with attention, counted from 1; the other layers have the variant of "
                             "experimental_attention_variant. Instead of linear_attention_freq",
                      .min = 1,
                      .max = 10'000});
  if (layers.empty() || model.documenting()) {
    net.full_every = model.integer(
        {.name = kFrequency, .doc = "every n-th layer has attention, the others the variant", .min = 2, .max = 10'000});
    return;
  }
  if (model.has(kFrequency)) {
    static_cast<void>(model.setting(kFrequency));
    model.error(
        kLayers, "E460",
        fmt::format("{} and {} both place layers with attention", model.path_of(kLayers), model.path_of(kFrequency)),
        "remove one of them");
  }
  std::int64_t last = 0;
  for (const std::int64_t layer : layers) {
    if (layer <= last || layer > shape.layers) {
      model.error(kLayers, "E460",
                  fmt::format("{}: layer {} does not follow layer {} among {} layers", model.path_of(kLayers), layer,
                              last, shape.layers),
                  "list layers in order, counted from 1");
      return;
    }
    last = layer;
    net.full_layers.push_back(layer - 1);
  }
}

bool is_consistent(ConfigMap& model, const ModelShape& shape, const DeltaNetShape& net, std::string_view key) {
  if (const std::string other = not_with_delta_net(shape); !other.empty()) {
    model.error(key, "E461", fmt::format("layers of Gated DeltaNet cannot be combined with {}", other));
    return false;
  }
  if (net.channels && net.value_heads != net.key_heads) {
    model.error("linear_num_key_heads", "E460",
                fmt::format("{} = {} differs from the {} heads of values: Kimi Delta Attention has as many",
                            model.path_of("linear_num_key_heads"), net.key_heads, net.value_heads));
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
  const std::string variant = model.choice({.name = kVariant,
                                            .doc = "what layers have instead of attention, as linear_attention_freq "
                                                   "or full_attn_layers says",
                                            .fallback = "none"},
                                           kVariants);
  const bool by_frequency = variant != "none";
  const bool by_letters =
      shape.hybrid && (shape.hybrid->order + shape.hybrid->predictor).find('G') != std::string::npos;
  if (!by_frequency && !by_letters && !model.documenting()) return;
  DeltaNetShape net = read_net_sizes(model);
  read_channels(model, variant == "kimi_delta_attention", net);
  if (by_frequency || model.documenting()) read_placement(model, shape, net);
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
