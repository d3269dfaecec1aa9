// Transformer Engine's user buffers as a file says them (--tp-comm-overlap-cfg of Megatron-LM): how each product's
// exchange runs beside it, as values of a scenario.
//
// Names and methods: github.com/NVIDIA/TransformerEngine, pytorch/module/base.py (initialize_ub). Ours has one answer
// for both products of a kind.
#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "configs/scenario/imports/imports.h"

namespace ringwright::configs {
namespace {

constexpr std::array kMethods{
    Option{"ring_exchange", "parts go round a ring while products of what is there run"},
    Option{"pipeline", "the product is cut, and each part is scattered while the next one runs"},
    Option{"bulk", "the exchange runs beside a whole other product"}};

constexpr std::array kHow = {"num_sm",
                             "cga_size",
                             "set_sm_margin",
                             "aggregate",
                             "atomic_gemm",
                             "fp8_buf",
                             "use_ce",
                             "comm_priority",
                             "gemm_priority",
                             "is_reduce_scatter",
                             "pipeline_rs_overlap_first_gemm"};

// What the products of one kind exchange in the same way.
struct Kind {
  std::array<const char*, 2> products;
  std::string_view key;                     // of ours that says whether; empty: there is no choice
  std::array<std::string_view, 2> methods;  // by which that is true; the first is played
  std::string_view else_played;             // what else means here
};
constexpr std::array kKinds{
    Kind{{"qkv_fprop", "fc1_fprop"},
         "tp_comm_overlap_ag",
         {"ring_exchange", ""},
         "the input is gathered before its product"},
    Kind{{"proj_dgrad", "fc2_dgrad"}, "", {"ring_exchange", ""}, "tp_comm_overlap_ag speaks for it"},
    Kind{{"proj_fprop", "fc2_fprop"},
         "tp_comm_overlap_rs",
         {"pipeline", "ring_exchange"},
         "the result is scattered after its product"},
    Kind{{"qkv_dgrad", "fc1_dgrad"}, "tp_comm_overlap_rs_dgrad", {"pipeline", "ring_exchange"}, ""},
    Kind{{"qkv_wgrad", "fc1_wgrad"}, "", {"bulk", ""}, "the gradient of the input is scattered beside it"},
};

// The first that is said of a setting holds; what differs from it is told.
class Settings {
 public:
  explicit Settings(Imports& imports) : imports_(imports) {}

  void say(ConfigMap& product, std::string_view name, std::string_view key, const std::string& value) {
    const std::string start = fmt::format("parallel.{}=", key);
    const auto known = std::ranges::find_if(
        imports_.values, [&](const ImportedValue& earlier) { return earlier.setting.starts_with(start); });
    if (known == imports_.values.end())
      return imports_.set(start.substr(0, start.size() - 1), value, product.origin(name));
    if (known->setting == start + value) return;
    product.warn(name, "W136",
                 fmt::format("{} is not modelled for one product: {}, as {} says, holds for all", product.path_of(name),
                             known->setting, known->origin));
  }

 private:
  Imports& imports_;
};

void read_gemm(ConfigMap product, const Kind& kind, Settings& settings) {
  if (product.has("method")) {
    const std::string method =
        product.choice({.name = "method", .doc = "how it is exchanged", .fallback = "bulk"}, kMethods);
    const bool listed = std::ranges::find(kind.methods, method) != kind.methods.end();
    const bool bulk_gradients = method == "bulk" && kind.else_played.empty();
    if (!kind.key.empty()) settings.say(product, "method", kind.key, listed ? "true" : "false");
    if (!listed && !bulk_gradients) {
      product.warn("method", "W136",
                   fmt::format("{}: {} is not modelled: {}", product.path_of("method"), method, kind.else_played));
    }
    if (listed && method != kind.methods[0]) {
      product.warn("method", "W136",
                   fmt::format("{}: {} is not modelled: it is played as {}", product.path_of("method"), method,
                               kind.methods[0]));
    }
  }
  if (product.has("num_splits")) {
    const std::int64_t splits =
        product.integer({.name = "num_splits", .doc = "parts of the product", .fallback = 4, .min = 1, .max = 64});
    settings.say(product, "num_splits", "tp_comm_overlap_num_splits", fmt::format("{}", splits));
  }
  for (const char* key : kHow)
    product.ignore(key, "how kernels of an exchange share the GPU is not modelled by product");
}

}  // namespace

void read_tensor_overlap(ConfigMap file, Imports& imports) {
  Settings settings(imports);
  for (const Kind& kind : kKinds) {
    for (const char* name : kind.products) {
      if (file.has(name)) read_gemm(file.map(name, "one product"), kind, settings);
    }
  }
}

}  // namespace ringwright::configs
