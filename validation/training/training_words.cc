#include "validation/training/training_words.h"

#include <array>
#include <cctype>
#include <charconv>
#include <utility>
#include <vector>

namespace ringwright::validation {
namespace {

std::string plain(std::string_view text) {
  std::string result;
  for (const char c : text) {
    result += c == '_' || c == '-' ? ' ' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

struct NumberAt {
  double value = 0.0;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The next number that is not inside a word such as "mt43244" or "v4".
std::optional<NumberAt> next_number(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size(); ++at) {
    if (!is_digit(text[at])) continue;
    const bool in_word = at > 0 && (std::isalpha(static_cast<unsigned char>(text[at - 1])) != 0);
    NumberAt number{.value = 0.0, .begin = at, .end = at};
    const auto [rest, error] = std::from_chars(text.data() + at, text.data() + text.size(), number.value);
    number.end = static_cast<std::size_t>(rest - text.data());
    if (error == std::errc() && (!in_word || text[at - 1] == 'x')) return number;
    at = number.end;
  }
  return std::nullopt;
}

std::string_view after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] == ' ') ++at;
  return text.substr(std::min(at, text.size()));
}

// The section that lists the cards for traffic between GPUs, where the text lists several sorts: "Compute: ..." or,
// between east and west, "... and ... for EW".
std::string_view compute_part(std::string_view text) {
  if (text.ends_with("for ew"))
    return text.substr(text.rfind(" and ") == std::string_view::npos ? 0 : text.rfind(" and "));
  const std::size_t word = text.find("compute:");
  if (word == std::string_view::npos) return text;
  text.remove_prefix(word + 8);
  return text.substr(0, text.find(','));
}

}  // namespace

bool says(std::string_view text, std::string_view words) {
  return plain(text).find(plain(words)) != std::string::npos;
}

std::optional<NicWords> read_nics(std::string_view words) {
  const std::string all = plain(words);
  if (all.find("data bandwidth") != std::string::npos) return std::nullopt;  // of PCIe, not of the cards
  const std::string_view text = compute_part(all);
  std::optional<int> count;
  std::size_t at = 0;
  while (const auto number = next_number(text, at)) {
    const std::string_view rest = after_blanks(text, number->end);
    at = number->end;
    if (rest.starts_with('x')) count = static_cast<int>(number->value);
    if (!rest.starts_with('g')) continue;
    if (count) return NicWords{.count = *count, .gbps = number->value};
    if (text.find("per node") == std::string_view::npos) return std::nullopt;
    // Cards of 200 Gb/s were the fastest when such sums were written (A100, HDR InfiniBand).
    return NicWords{.count = static_cast<int>(number->value / 200.0), .gbps = 200.0, .divided = true};
  }
  return std::nullopt;
}

std::string read_precision(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kNames = {{
      {"fp4", "fp4"},
      {"fp8", "fp8"},
      {"bf16", "bf16"},
      {"bfloat16", "bf16"},
      {"fp16", "fp16"},
      {"float16", "fp16"},
      {"fp32", "fp32"},
      {"float32", "fp32"},
      {"tf32", "fp32"},
      {"16 mixed", "fp16"},
  }};
  for (const auto& [words, name] : kNames) {
    if (says(text, words)) return std::string(name);
  }
  return {};
}

std::string read_fp8_recipe(std::string_view text) {
  if (says(text, "mxfp8") || says(text, "mx")) return "mxfp8";
  if (says(text, "block") || says(text, "fp8 sc") || says(text, "subchannel")) return "blockwise";
  // A scale for each row costs the passes that one for the tensor does.
  if (says(text, "rowwise")) return "rowwise";
  // Megatron-Bridge: FP8-CS scales by the present maximum, FP8-DS by earlier ones.
  for (const std::string_view words : {"tensorwise", "current", "fp8 cs", "(cs)"}) {
    if (says(text, words)) return "tensorwise";
  }
  return says(text, "delayed") || says(text, "fp8 ds") || says(text, "(ds)") ? "delayed" : "";
}

RecomputeWords read_recompute(std::string_view text) {
  if (text.empty() || says(text, "selective/none")) return RecomputeWords::kUnsaid;
  if (says(text, "none (not stated)")) return RecomputeWords::kNone;
  if (says(text, "not stated")) return RecomputeWords::kUnsaid;
  if (says(text, "selective layer") || says(text, "layer)")) return RecomputeWords::kSelectiveLayers;
  if (says(text, "selective op") || says(text, "selective (op")) return RecomputeWords::kSelectiveOps;
  if (says(text, "selective (toml default)")) return RecomputeWords::kSelectiveOps;  // torchtitan's default is "op"
  if (says(text, "selective") || !read_recomputed_modules(text).empty()) return RecomputeWords::kSelective;
  if (says(text, "full")) return RecomputeWords::kFull;
  return says(text, "none") ? RecomputeWords::kNone : RecomputeWords::kUnsaid;
}

int read_layer_period(std::string_view text) {
  const auto number = next_number(text, 0);
  return number && number->value >= 1.0 ? static_cast<int>(number->value) : 2;
}

std::vector<std::string> read_recomputed_modules(std::string_view text) {
  std::vector<std::string> modules;
  for (const std::string_view name : {"core_attn", "layernorm", "mla_up_proj", "moe_act"}) {
    if (says(text, name)) modules.emplace_back(name);
  }
  return modules;
}

Sharding read_sharding(std::string_view text) {
  Sharding result;
  const std::string lower = plain(text);
  if (const std::size_t at = lower.find("fsdp="); at != std::string::npos) {
    if (const auto number = next_number(lower, at)) result.degree = static_cast<int>(number->value);
  }
  result.fsdp = says(text, "fsdp") || says(text, "full_shard");
  result.offloads_optimizer = says(text, "offload");
  if (says(text, "shard_grad_op")) {
    result.what = ShardingWords::kParameters;
    result.keeps_parameters = true;
  } else if (result.fsdp || says(text, "zero 3")) {
    result.what = ShardingWords::kParameters;
  } else if (says(text, "zero 2")) {
    result.what = ShardingWords::kGradients;
  } else if (says(text, "zero 1") || says(text, "distributed optimizer")) {
    result.what = ShardingWords::kOptimizer;
  } else if (says(text, "none") || says(text, "zero 0")) {
    result.what = ShardingWords::kNone;
  }
  return result;
}

OverlapWords read_overlap(std::string_view text) {
  OverlapWords result;
  const auto flag = [&](std::optional<bool>& field, std::string_view words, bool value) {
    if (says(text, words)) field = value;
  };
  if (text.starts_with("none") || text.starts_with("off")) {
    result.grad_reduce = result.param_gather = result.tensor = false;
  }
  for (const std::string_view words : {"overlap_grad_sync", "overlap-grad-reduce", "OVERLAP_GRAD_REDUCE=True"}) {
    flag(result.grad_reduce, words, true);
  }
  for (const std::string_view words : {"overlap_param_sync", "overlap-param-gather", "OVERLAP_PARAM_GATHER=True"}) {
    flag(result.param_gather, words, true);
  }
  flag(result.grad_reduce, "no DP overlap", false);
  flag(result.grad_reduce, "no DP all-reduce overlap", false);
  for (const std::string_view words : {"ub_tp_comm_overlap", "tp-comm-overlap", "AsyncTP", "async TP"}) {
    flag(result.tensor, words, true);
  }
  for (const std::string_view words : {"no TP overlap", "vanilla TP", "TP_COMM_OVERLAP=0", "TP_COMM_OVERLAP=False"}) {
    flag(result.tensor, words, false);
  }
  flag(result.p2p, "overlap_p2p_comm", true);
  flag(result.p2p, "PP p2p overlap", true);
  flag(result.compiled, "compile", true);
  for (const std::string_view words : {"CUDA_GRAPH=1", "CUDA_GRAPH=True", "CUDA graphs"}) {
    result.graphs = result.graphs || says(text, words);
  }
  result.bf16_gradients = says(text, "grad_sync bf16");
  const std::string lower = plain(text);
  for (const std::string_view key : {"bucket cap mb ", "bucket cap mb="}) {
    const std::size_t found = lower.find(key);
    if (found == std::string::npos) continue;
    if (const auto number = next_number(lower, found + key.size() - 1)) result.bucket_mb = number->value;
  }
  return result;
}

std::string read_schedule_name(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kNames = {{
      {"zb 1p", "zb-h1"},
      {"zb h1", "zb-h1"},
      {"zb 2p", "zb-h2"},
      {"zb h2", "zb-h2"},
      {"1f1b i", "interleaved-1f1b"},
      {"interleaved", "interleaved-1f1b"},
      {"gpipe", "gpipe"},
      {"1f1b", "1f1b"},
  }};
  for (const auto& [words, name] : kNames) {
    if (says(text, words)) return std::string(name);
  }
  return {};
}

}  // namespace ringwright::validation
