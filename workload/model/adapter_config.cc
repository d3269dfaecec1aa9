#include "workload/model/adapter_config.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace ringwright::workload {

void read_adapters(ConfigMap& model, ModelShape& shape) {
  ConfigMap lora = model.map("lora", "low-rank adapters: the model is frozen and only the adapters are trained");
  const std::int64_t rank = lora.integer({.name = "rank",
                                          .doc = "width of the adapters; 0: none, all weights are trained",
                                          .fallback = 0,
                                          .min = 0,
                                          .max = 10'000'000});
  const std::vector<std::string> targets =
      lora.texts({.name = "target_modules",
                  .doc = "linear layers with an adapter: linear_qkv, linear_proj, linear_fc1, "
                         "linear_fc2"});
  if (rank == 0) {
    if (!targets.empty()) {
      lora.warn("target_modules", "W131",
                fmt::format("{} has no effect: the rank is 0", lora.path_of("target_modules")));
    }
    return;
  }
  LowRankAdapters adapters{.rank = rank};
  if (targets.empty()) {
    lora.assume("target_modules", "linear_qkv, linear_proj", "the attention's linear layers, as in MLPerf Training");
    adapters.qkv = adapters.projection = true;
  }
  for (const std::string& target : targets) {
    if (target == "linear_qkv") {
      adapters.qkv = true;
    } else if (target == "linear_proj") {
      adapters.projection = true;
    } else if (target == "linear_fc1") {
      adapters.mlp_up = true;
    } else if (target == "linear_fc2") {
      adapters.mlp_down = true;
    } else {
      lora.error("target_modules", "E132", fmt::format("'{}' is not a linear layer", target),
                 "use linear_qkv, linear_proj, linear_fc1, linear_fc2");
    }
  }
  if (shape.latent && adapters.qkv) {
    lora.error("target_modules", "E132", "latent attention has no single GEMM linear_qkv to adapt",
               "set target_modules: [linear_proj]");
    adapters.qkv = false;
  }
  if (shape.experts && (adapters.mlp_up || adapters.mlp_down)) {
    lora.error("target_modules", "E132", "adapters of experts are not modelled",
               "set target_modules: [linear_qkv, linear_proj]");
    adapters.mlp_up = adapters.mlp_down = false;
  }
  shape.adapters = adapters;
}

}  // namespace ringwright::workload
