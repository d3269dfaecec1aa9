#include "configs/scenario/imports/huggingface/delta_nets.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/experts.h"
#include "configs/scenario/imports/huggingface/keys.h"

namespace ringwright::configs {
namespace {

// transformers, configuration_qwen3_next.py, configuration_qwen3_5.py, configuration_qwen3_5_moe.py.
struct DeltaNetFamily {
  std::string_view type;
  HfDefaults defaults;
  bool experts = false;
  bool dense_layers = false;         // some may lack experts: decoder_sparse_step, mlp_only_layers
  std::string_view predictors = {};  // the key of multi-token prediction
};
constexpr std::array kDeltaNetFamilies{
    DeltaNetFamily{.type = "qwen3_next",
                   .defaults = {.head_size = 256, .kv_heads = 2},
                   .experts = true,
                   .dense_layers = true,
                   .predictors = "num_nextn_predict_layers"},
    DeltaNetFamily{
        .type = "qwen3_5", .defaults = {.head_size = 256, .kv_heads = 4}, .predictors = "mtp_num_hidden_layers"},
    DeltaNetFamily{.type = "qwen3_5_moe",
                   .defaults = {.head_size = 256, .kv_heads = 2, .has_mlp = false},
                   .experts = true,
                   .predictors = "mtp_num_hidden_layers"}};

const DeltaNetFamily* find_delta_net_family(std::string_view type) {
  const auto found = std::ranges::find(kDeltaNetFamilies, type, &DeltaNetFamily::type);
  return found == kDeltaNetFamilies.end() ? nullptr : &*found;
}

workload::DeltaNetShape read_net(ConfigMap& config) {
  workload::DeltaNetShape net;
  net.key_heads = hf_size_or(config, "linear_num_key_heads", "heads of a Gated DeltaNet's queries and keys", 16);
  net.value_heads = hf_size_or(config, "linear_num_value_heads", "heads of a Gated DeltaNet's values", 32);
  net.key_size = hf_size_or(config, "linear_key_head_dim", "size of such a head's query and key", 128);
  net.value_size = hf_size_or(config, "linear_value_head_dim", "size of such a head's value", 128);
  net.kernel = hf_size_or(config, "linear_conv_kernel_dim", "tokens of the convolution before the delta rule", 4);
  if (net.value_heads % net.key_heads != 0) {
    config.error("linear_num_key_heads", "E460",
                 fmt::format("linear_num_key_heads = {} does not divide the {} heads of values", net.key_heads,
                             net.value_heads));
  }
  return net;
}

// Every n-th layer has attention: by layer_types, else by full_attention_interval. 1: all have; 0: none.
std::int64_t full_interval(ConfigMap& config, const workload::ModelShape& shape) {
  constexpr std::string_view kTypes = "layer_types";
  constexpr std::string_view kInterval = "full_attention_interval";
  const std::vector<std::string> types =
      config.texts({.name = kTypes, .doc = "linear_attention or full_attention, by layer"});
  const std::int64_t interval = hf_size_or(config, kInterval, "every n-th layer has attention", 4);
  if (types.empty()) return interval;
  std::vector<bool> linear;
  for (const std::string& type : types) linear.push_back(type == "linear_attention");
  const bool known = std::ranges::all_of(
      types, [](const std::string& type) { return type == "linear_attention" || type == "full_attention"; });
  const auto period = hf_full_period(linear);
  if (known && period && std::ssize(types) == shape.layers) return *period;
  config.error(kTypes, "E133",
               std::ssize(types) == shape.layers
                   ? std::string("the layers of full_attention are not every n-th of linear_attention")
                   : fmt::format("there are {} types for {} layers", types.size(), shape.layers),
               "describe the model with explicit sizes (model.hybrid_override_pattern: G and *)");
  return 0;
}

}  // namespace

bool is_hf_delta_net_family(std::string_view type) {
  return find_delta_net_family(type) != nullptr;
}

void read_hf_delta_net_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  const DeltaNetFamily& family = *find_delta_net_family(type);
  read_hf_decoder(config, family.defaults, shape);
  shape.biases = hf_attention_biases(config, false);
  shape.query_key_norm = true;
  shape.output_gate = true;
  if (family.experts) read_hf_qwen_experts(config, family.dense_layers, shape);
  if (family.experts && !family.defaults.has_mlp) shape.ffn = shape.experts->ffn;
  shape.predictors = config.integer(
      {.name = family.predictors, .doc = "layers of multi-token prediction", .fallback = 0, .min = 0, .max = 10'000});
  workload::DeltaNetShape net = read_net(config);
  net.full_every = full_interval(config, shape);
  if (config.documenting() || config.any_errors() || net.full_every == 1) return;
  if (net.full_every == 0) {
    config.error("layer_types", "E133", "no layer has full_attention",
                 "describe the model with explicit sizes (model.hybrid_override_pattern: G)");
    return;
  }
  shape.delta_net = net;
}

}  // namespace ringwright::configs
