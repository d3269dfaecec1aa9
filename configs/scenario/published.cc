#include "configs/scenario/published.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace ringwright::configs {
namespace {

void add_published(ConfigMap& map, const std::string& source, std::vector<PublishedFigure>& figures) {
  const auto add = [&](std::string_view key, PublishedQuantity quantity, double value) {
    if (map.has(key)) figures.push_back({.quantity = quantity, .value = value, .source = source});
  };
  // The defaults mean "not given"; add() checks whether the key is there.
  add("step_time", PublishedQuantity::kStepTime,
      to_seconds(
          map.duration({.name = "step_time", .doc = "measured time of a training step", .fallback = Duration(0)})));
  add("mfu", PublishedQuantity::kModelFlopUtilisation,
      map.percent({.name = "mfu", .doc = "published model FLOP utilisation", .fallback = 0.0, .min = 0.0, .max = 1.0}));
  add("model_flops_per_gpu", PublishedQuantity::kModelFlopRatePerGpu,
      map.flop_rate(
             {.name = "model_flops_per_gpu", .doc = "published model FLOP/s of one GPU", .fallback = FlopRate(0.0)})
          .count());
  add("tokens_per_s_per_gpu", PublishedQuantity::kTokensPerSecondPerGpu,
      map.number({.name = "tokens_per_s_per_gpu",
                  .doc = "published tokens per second of one GPU",
                  .fallback = 0.0,
                  .min = 0.0,
                  .max = 1e9}));
}

}  // namespace

std::vector<PublishedFigure> read_published(ConfigMap root) {
  std::vector<PublishedFigure> figures;
  for (ConfigMap& map :
       root.maps("published", "published measurements of this scenario, to compare the result with")) {
    const std::string source = map.text({.name = "source", .doc = "source of the figure"});
    add_published(map, source, figures);
  }
  return figures;
}

std::vector<std::string> changed_since_published(const ConfigDocument& document) {
  // Other sections state how the job is simulated, or what is made of the result.
  constexpr std::array<std::string_view, 14> kJob = {
      "model",       "training",    "parallel", "cluster", "megatron",   "workload",   "recommendation",
      "layer_table", "gpu_sharing", "jobs",     "faults",  "background", "checkpoint", "data_pipeline"};
  std::vector<std::string> keys = document.stronger_than("published");
  std::erase_if(keys, [&](const std::string& key) {
    return std::ranges::find(kJob, std::string_view(key).substr(0, key.find('.'))) == kJob.end();
  });
  return keys;
}

}  // namespace ringwright::configs
