// A training job from YAML text: the maps that the workload's readers take, without a cluster around them.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_document.h"
#include "core/plan/segments.h"
#include "tests/paths.h"
#include "workload/model_config.h"
#include "workload/step_builder.h"

namespace ringwright::workload {

class JobText {
 public:
  JobText(const std::string& text, std::int64_t ranks, int host_ranks = 8)
      : document_(ConfigDocument::load_text("job.yaml", text,
                                            {.overrides = {},
                                             .presets = {{.path = "model", .folder = "models"}},
                                             .share_folders = {ringwright::share_dir()}})
                      .value()) {
    ConfigMap root = document_.root();
    ConfigMap model = root.map("model", "the model");
    ConfigMap training_map = root.map("training", "the training");
    ConfigMap parallel_map = root.map("parallel", "the layout");
    shape = read_model(model);
    training = read_training_options(training_map);
    const World world{.ranks = ranks, .described = "cluster.nodes (job.yaml:99)", .host_ranks = host_ranks};
    parallel = read_parallel_options(
        parallel_map,
        {.shape = shape, .training = training, .model_map = model, .training_map = training_map, .world = world});
    document_.check_all_read();
  }

  [[nodiscard]] std::vector<std::string> problems() const {
    std::vector<std::string> result;
    for (const Diagnostic& diagnostic : document_.log().diagnostics().all()) {
      std::string text = diagnostic.code + ": " + diagnostic.message;
      if (!diagnostic.hint.empty()) text += " | " + diagnostic.hint;
      result.push_back(text);
    }
    return result;
  }
  // Keys that were given and have no effect.
  [[nodiscard]] std::vector<std::string> ignored() const {
    std::vector<std::string> paths;
    for (const IgnoredKey& key : document_.log().ignored()) paths.push_back(key.path);
    return paths;
  }
  [[nodiscard]] StepInputs inputs() const { return {.shape = shape, .training = training, .parallel = parallel}; }
  [[nodiscard]] StepPlan compact_plan() const { return build_step(inputs()); }
  // With all segments written out.
  [[nodiscard]] StepPlan plan() const {
    StepPlan plan = compact_plan();
    plan.graph.programs = write_out_programs(plan.graph);
    plan.graph.segments.clear();
    return plan;
  }

  ModelShape shape;
  TrainingOptions training;
  ParallelOptions parallel;

 private:
  ConfigDocument document_;
};

// A dense model with small, different sizes: h 64, 8 heads of 8, 4 key-value heads, f 96, V 1000 (padded to 1024),
// s 32.
inline std::string small_model(int layers) {
  return "model: {num_layers: " + std::to_string(layers) +
         ", hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96, vocab_size: 1000,"
         " seq_length: 32}\n";
}

}  // namespace ringwright::workload
