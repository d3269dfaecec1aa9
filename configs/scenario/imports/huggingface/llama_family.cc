#include "configs/scenario/imports/huggingface/llama_family.h"

#include <algorithm>
#include <array>

#include "configs/scenario/imports/huggingface/keys.h"

namespace ringwright::configs {
namespace {

// Which linear layers have biases, by the family's modeling_*.py.
enum class BiasKey {
  kNone,
  kAlwaysQkv,   // the file does not list them
  kAttention,   // attention_bias: all four linear layers
  kAll,         // attention_bias, and mlp_bias for the MLP
  kQkv,         // attention_bias: queries, keys and values
  kSeparate,    // attention_bias, attention_out_bias, mlp_bias
  kInternLm,    // bias: the attention's
  kEverywhere,  // use_bias: all linear layers
};

// Which layers have a window.
enum class Windows {
  kNone,
  kAll,      // sliding_window in all layers
  kLate,     // use_sliding_window: from max_window_layers on, or by layer_types
  kPattern,  // all but every n-th
};

struct LlamaFamily {
  std::string_view type;
  HfDefaults defaults;
  BiasKey biases = BiasKey::kNone;
  bool attention_bias = false;  // where the file has none
  bool query_key_norm = false;
  bool sandwich_norm = false;
  Windows windows = Windows::kNone;
  std::int64_t window = 0;  // where the file has none
  std::int64_t period = 0;  // of kPattern, where the file has none
};

constexpr auto kTied = workload::Embeddings::kTied;

// transformers, configuration_*.py and modeling_*.py. Phi-3 and InternLM2 store queries, keys and values as one matrix,
// which costs the same; OLMo 2 has its two norms after attention and MLP instead of before.
constexpr std::array kLlamaFamilies{
    LlamaFamily{.type = "llama", .defaults = {}, .biases = BiasKey::kAll},
    LlamaFamily{.type = "mistral", .defaults = {.kv_heads = 8}, .windows = Windows::kAll, .window = 4096},
    LlamaFamily{.type = "phi3", .defaults = {}, .windows = Windows::kAll},
    LlamaFamily{.type = "qwen2", .defaults = {}, .biases = BiasKey::kAlwaysQkv, .windows = Windows::kLate},
    LlamaFamily{.type = "qwen3",
                .defaults = {.head_size = 128},
                .biases = BiasKey::kAttention,
                .query_key_norm = true,
                .windows = Windows::kLate},
    LlamaFamily{.type = "olmo2", .defaults = {}, .biases = BiasKey::kAttention, .query_key_norm = true},
    LlamaFamily{.type = "olmo3",
                .defaults = {},
                .biases = BiasKey::kAttention,
                .query_key_norm = true,
                .windows = Windows::kPattern,
                .window = 4096,
                .period = 4},
    LlamaFamily{.type = "internlm2", .defaults = {}, .biases = BiasKey::kInternLm, .attention_bias = true},
    LlamaFamily{
        .type = "smollm3", .defaults = {.embeddings = kTied}, .biases = BiasKey::kAll, .windows = Windows::kLate},
    LlamaFamily{.type = "granite", .defaults = {}, .biases = BiasKey::kAll},
    LlamaFamily{
        .type = "seed_oss", .defaults = {.head_size = 128}, .biases = BiasKey::kSeparate, .attention_bias = true},
    LlamaFamily{
        .type = "ernie4_5", .defaults = {.head_size = 128, .embeddings = kTied}, .biases = BiasKey::kEverywhere},
    LlamaFamily{.type = "glm", .defaults = {.head_size = 128}, .biases = BiasKey::kQkv, .attention_bias = true},
    LlamaFamily{.type = "glm4", .defaults = {.head_size = 128}, .biases = BiasKey::kQkv, .sandwich_norm = true},
    LlamaFamily{.type = "gemma", .defaults = {.head_size = 256, .embeddings = kTied}, .biases = BiasKey::kAttention},
    LlamaFamily{.type = "gemma2",
                .defaults = {.head_size = 256, .embeddings = kTied},
                .biases = BiasKey::kAttention,
                .sandwich_norm = true,
                .windows = Windows::kPattern,
                .window = 4096,
                .period = 2},
    LlamaFamily{.type = "gemma3_text",
                .defaults = {.head_size = 256, .embeddings = kTied},
                .biases = BiasKey::kAttention,
                .query_key_norm = true,
                .sandwich_norm = true,
                .windows = Windows::kPattern,
                .window = 4096,
                .period = 6},
};

const LlamaFamily* find_family(std::string_view type) {
  const auto found = std::ranges::find(kLlamaFamilies, type, &LlamaFamily::type);
  return found == kLlamaFamilies.end() ? nullptr : &*found;
}

bool has_mlp_bias(ConfigMap& config) {
  return config.boolean({.name = "mlp_bias", .doc = "biases in the MLP", .fallback = false});
}

workload::Biases read_family_biases(ConfigMap& config, const LlamaFamily& family) {
  workload::Biases biases;
  switch (family.biases) {
    case BiasKey::kNone: break;
    case BiasKey::kAlwaysQkv: return workload::kQkvBiases;
    case BiasKey::kAttention: return hf_attention_biases(config, family.attention_bias);
    case BiasKey::kAll:
      biases = hf_attention_biases(config, family.attention_bias);
      biases.mlp = has_mlp_bias(config);
      break;
    case BiasKey::kQkv: biases.qkv = hf_attention_biases(config, family.attention_bias).qkv; break;
    case BiasKey::kSeparate:
      biases.qkv = hf_attention_biases(config, family.attention_bias).qkv;
      biases.projection = config.boolean(
          {.name = "attention_out_bias", .doc = "a bias of the attention's projection", .fallback = false});
      biases.mlp = has_mlp_bias(config);
      break;
    case BiasKey::kInternLm: {
      const bool all = config.boolean({.name = "bias", .doc = "biases of the attention", .fallback = true});
      return all ? workload::kAttentionBiases : workload::kNoBiases;
    }
    case BiasKey::kEverywhere: {
      const bool all = config.boolean({.name = "use_bias", .doc = "biases of the linear layers", .fallback = false});
      return all ? workload::kAllBiases : workload::kNoBiases;
    }
  }
  return biases;
}

}  // namespace

bool is_hf_llama_family(std::string_view type) {
  return find_family(type) != nullptr;
}

void read_hf_llama_family(ConfigMap& config, std::string_view type, workload::ModelShape& shape) {
  const LlamaFamily& family = *find_family(type);
  read_hf_decoder(config, family.defaults, shape);
  shape.biases = read_family_biases(config, family);
  shape.query_key_norm = family.query_key_norm;
  shape.sandwich_norm = family.sandwich_norm;
  if (type == "phi3") {
    shape.hidden_dropout = hf_has_dropout(config, "resid_pdrop", "dropout after attention and MLP", 0.0);
  }
  if (family.windows == Windows::kAll) read_hf_window(config, family.window, shape);
  if (family.windows == Windows::kLate) read_hf_late_window(config, shape);
  if (family.windows == Windows::kPattern) read_hf_window_pattern(config, family.window, family.period, shape);
}

}  // namespace ringwright::configs
