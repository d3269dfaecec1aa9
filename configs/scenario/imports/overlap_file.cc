// Transformer Engine's user buffers from a file (--tp-comm-overlap-cfg of Megatron-LM): how each GEMM's exchange
// overlaps with it, as values of a scenario.
//
// Names and methods: github.com/NVIDIA/TransformerEngine, pytorch/module/base.py (initialize_ub). Ours has one setting
// for both GEMMs of a kind.
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
    Option{"ring_exchange", "chunks circulate in a ring while GEMMs of received chunks run"},
    Option{"pipeline", "the GEMM is split, and each part is scattered while the next one runs"},
    Option{"bulk", "the exchange runs concurrently with another whole GEMM"}};

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

// GEMMs whose exchange is configured together.
struct Kind {
  std::array<const char*, 2> gemms;
  std::string_view key;                     // our key that enables it; empty: there is no choice
  std::array<std::string_view, 2> methods;  // methods that enable it; the first is simulated
  std::string_view otherwise;             // what any other method means here
};
constexpr std::array kKinds{
    Kind{{"qkv_fprop", "fc1_fprop"},
         "tp_comm_overlap_ag",
         {"ring_exchange", ""},
         "the input is gathered before its GEMM"},
    Kind{{"proj_dgrad", "fc2_dgrad"}, "", {"ring_exchange", ""}, "tp_comm_overlap_ag sets it"},
    Kind{{"proj_fprop", "fc2_fprop"},
         "tp_comm_overlap_rs",
         {"pipeline", "ring_exchange"},
         "the result is scattered after its GEMM"},
    Kind{{"qkv_dgrad", "fc1_dgrad"}, "tp_comm_overlap_rs_dgrad", {"pipeline", "ring_exchange"}, ""},
    Kind{{"qkv_wgrad", "fc1_wgrad"}, "", {"bulk", ""}, "the gradient of the input is scattered concurrently"},
};

// The first value of a setting holds; differing ones are reported.
class OverlapSettings {
 public:
  explicit OverlapSettings(Imports& imports) : imports_(imports) {}

  void set(ConfigMap& gemm, std::string_view name, std::string_view key, const std::string& value) {
    const std::string start = fmt::format("parallel.{}=", key);
    const auto known = std::ranges::find_if(
        imports_.values, [&](const ImportedValue& earlier) { return earlier.setting.starts_with(start); });
    if (known == imports_.values.end())
      return imports_.set(start.substr(0, start.size() - 1), value, gemm.origin(name));
    if (known->setting == start + value) return;
    gemm.warn(name, "W136",
                 fmt::format("{} is not modelled for one GEMM: {} from {} applies to all", gemm.path_of(name),
                             known->setting, known->origin));
  }

 private:
  Imports& imports_;
};

void read_gemm(ConfigMap gemm, const Kind& kind, OverlapSettings& settings) {
  if (gemm.has("method")) {
    const std::string method =
        gemm.choice({.name = "method", .doc = "how it is exchanged", .fallback = "bulk"}, kMethods);
    const bool listed = std::ranges::find(kind.methods, method) != kind.methods.end();
    const bool bulk_gradients = method == "bulk" && kind.otherwise.empty();
    if (!kind.key.empty()) settings.set(gemm, "method", kind.key, listed ? "true" : "false");
    if (!listed && !bulk_gradients) {
      gemm.warn("method", "W136",
                   fmt::format("{}: {} is not modelled: {}", gemm.path_of("method"), method, kind.otherwise));
    }
    if (listed && method != kind.methods[0]) {
      gemm.warn("method", "W136",
                   fmt::format("{}: {} is not modelled: it is simulated as {}", gemm.path_of("method"), method,
                               kind.methods[0]));
    }
  }
  if (gemm.has("num_splits")) {
    const std::int64_t splits =
        gemm.integer({.name = "num_splits", .doc = "parts of the GEMM", .fallback = 4, .min = 1, .max = 64});
    settings.set(gemm, "num_splits", "tp_comm_overlap_num_splits", fmt::format("{}", splits));
  }
  for (const char* key : kHow)
    gemm.ignore(key, "how kernels of an exchange share the GPU is not modelled per GEMM");
}

}  // namespace

void read_tensor_overlap(ConfigMap file, Imports& imports) {
  OverlapSettings settings(imports);
  for (const Kind& kind : kKinds) {
    for (const char* name : kind.gemms) {
      if (is_given(file, name)) read_gemm(file.map(name, "one GEMM"), kind, settings);
    }
  }
}

}  // namespace ringwright::configs
