// Precision in a DeepSpeed configuration: the types of weights, of sums of gradients, and of what is communicated.
//
// github.com/deepspeedai/DeepSpeed, runtime/engine.py (get_data_types, _do_optimizer_sanity_check) and config.py.
#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>

#include "configs/scenario/imports/imports.h"

namespace ringwright::configs {
namespace {

constexpr std::array kCommunicationTypes = {Option{"fp32", "4 bytes"}, Option{"bf16", "2 bytes"},
                                            Option{"fp16", "2 bytes"}};
constexpr std::array kSumTypes = {Option{"fp32", ""},    Option{"float32", ""},  Option{"float", ""},
                                  Option{"bf16", ""},    Option{"bfloat16", ""}, Option{"fp16", ""},
                                  Option{"float16", ""}, Option{"half", ""}};

// "true", "false" or "auto". DeepSpeed takes 1 and 0 as well.
std::string enabled(ConfigMap block) {
  std::string word = block.text({.name = "enabled", .doc = "on or off", .fallback = std::string("false")});
  if (word == "1") word = "true";
  if (word == "0") word = "false";
  if (word != "true" && word != "false" && word != "auto") {
    block.error("enabled", "E105", fmt::format("'{}' must be true or false, not '{}'", block.path_of("enabled"), word));
  }
  for (const char* key : {"fp16_master_weights_and_grads", "bf16_master_weights_and_grads", "bf16_optimizer_states"}) {
    if (block.has(key) && block.boolean({.name = key, .doc = "a type of the optimizer's values"})) {
      block.warn(
          key, "W134",
          fmt::format("{} is not modelled: master weights and the optimizer's state are fp32", block.path_of(key)));
    }
  }
  block.ignore_rest("loss scaling is not modelled");
  return word;
}

// Of sums of gradients: "fp32", "bf16", "fp16"; empty: not given.
std::string sum_type(ConfigMap& file) {
  if (!is_given(file, "data_types")) return {};
  ConfigMap types = file.map("data_types", "types of values");
  std::string type;
  if (types.has("grad_accum_dtype")) {
    type = types.choice({.name = "grad_accum_dtype", .doc = "in which gradients are summed"}, kSumTypes);
  }
  types.ignore_rest("not modelled");
  if (type.starts_with("b")) return "bf16";
  if (type == "fp32" || type == "float32" || type == "float") return "fp32";
  return type.empty() ? type : "fp16";
}

// In what the optimizer trains: DeepSpeed's BF16_Optimizer sums and reduces gradients in fp32, and its state is sharded
// as in stage 1. All others up to stage 2 leave the sum to PyTorch.
enum class Sums { kOpen, kPyTorch, kBf16Optimizer };

Sums sums_of(ConfigMap& file, const std::string& precision, std::int64_t stage) {
  const std::string type = sum_type(file);
  const bool offloads =
      file.has("zero_optimization") && file.map("zero_optimization", "sharding").has("offload_optimizer");
  if (precision == "bf16" && stage == 0 && type == "bf16") {
    file.error("data_types", "E141", "DeepSpeed sums in fp32 without ZeRO, and data_types.grad_accum_dtype is bf16",
               "set zero_optimization.stage, or leave grad_accum_dtype out");
  }
  const bool own = precision == "bf16" && (stage == 0 || (stage == 1 && type == "fp32" && !offloads));
  if (own) return Sums::kBf16Optimizer;
  if (!type.empty() && !precision.empty() && type != precision) {
    file.warn("data_types", "W134",
              fmt::format("data_types.grad_accum_dtype = {} is not modelled here: gradients are summed in {}", type,
                          precision));
  }
  return precision.empty() || stage < 0 || stage > 2 ? Sums::kOpen : Sums::kPyTorch;
}

struct Precision {
  std::string name;  // empty: none is enabled
  std::string origin;
  bool left_open = false;
};

Precision read_types(ConfigMap& file, const BatchWorld& world) {
  Precision precision{.name = {}, .origin = {}, .left_open = world.has_precision};
  for (const std::string_view key : {"bf16", "bfloat16", "fp16"}) {
    if (!is_given(file, key)) continue;
    const std::string on = enabled(file.map(key, "precision"));
    precision.left_open = precision.left_open || on == "auto";
    if (on != "true") continue;
    // DeepSpeed itself: "bfloat16 and fp16 modes cannot be simultaneously enabled" (runtime/config.py).
    if (precision.name == "bf16" && key == "fp16") {
      file.error(key, "E141", "bf16 and fp16 are both enabled", "enable one of them");
    }
    precision.name = key == "fp16" ? "fp16" : "bf16";
    precision.origin = file.origin(key);
  }
  return precision;
}

}  // namespace

// Of the block `zero_optimization`; -1: left to the workload.
std::int64_t deepspeed_stage(ConfigMap& file, const BatchWorld& world) {
  const std::int64_t without = world.has_stage ? -1 : 0;
  if (!file.has("zero_optimization")) return without;
  ConfigMap zero = file.map("zero_optimization", "sharding");
  if (!zero.has("stage")) return without;
  return zero.integer_or({.name = "stage", .doc = "of ZeRO", .min = 0, .max = 3}, "auto").value_or(-1);
}

bool uses_bf16_optimizer(const Imports& imports) {
  return std::ranges::any_of(
      imports.values, [](const auto& value) { return value.setting == "training.gradient_accumulation=copied"; });
}

void read_deepspeed_precision(ConfigMap file, const BatchWorld& world, Imports& imports) {
  const auto& [precision, origin, left_open] = read_types(file, world);
  if (!precision.empty()) {
    imports.set("training.precision", precision, origin);
  } else if (!left_open && !file.documenting()) {
    file.warn("", "W134",
              "neither bf16 nor fp16 is enabled: DeepSpeed then trains in the type of the model's weights, often fp32; "
              "bf16 is assumed",
              "enable one of them, or set training.precision in the scenario");
  }
  const Sums sums = sums_of(file, precision, deepspeed_stage(file, world));
  const bool own = sums == Sums::kBf16Optimizer;
  if (sums != Sums::kOpen) imports.set("training.gradient_accumulation", own ? "copied" : "separate", origin);
  if (own) imports.set("parallel.zero.stage", "1", origin);
  imports.know("communication_data_type", "training.grad_reduce_dtype");
  // Gradients are sent in the model's own type unless set otherwise.
  if (is_given(file, "communication_data_type")) {
    const std::string type =
        file.choice({.name = "communication_data_type", .doc = "of gradients"}, kCommunicationTypes);
    imports.set("training.grad_reduce_dtype", type == "fp32" ? "fp32" : "bf16", file.origin("communication_data_type"));
    return;
  }
  if (!precision.empty()) imports.set("training.grad_reduce_dtype", own ? "fp32" : "bf16", origin);
}

}  // namespace ringwright::configs
