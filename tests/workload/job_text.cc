// Reads the training jobs of tests.
#include "tests/workload/job_text.h"

#include "core/plan/segments.h"
#include "tests/paths.h"
#include "workload/model/model_config.h"

namespace ringwright::workload {

JobText::JobText(const std::string& text, std::int64_t ranks, int host_ranks)
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

JobText::~JobText() = default;

std::vector<std::string> JobText::problems() const {
  std::vector<std::string> result;
  for (const Diagnostic& diagnostic : document_.log().diagnostics().all()) {
    std::string text = diagnostic.code + ": " + diagnostic.message;
    if (!diagnostic.hint.empty()) text += " | " + diagnostic.hint;
    result.push_back(text);
  }
  return result;
}

std::vector<std::string> JobText::ignored() const {
  std::vector<std::string> paths;
  for (const IgnoredKey& key : document_.log().ignored()) paths.push_back(key.path);
  return paths;
}

std::vector<std::string> JobText::assumed() const {
  std::vector<std::string> lines;
  for (const Assumption& each : document_.log().assumptions()) {
    lines.push_back(each.path + " = " + each.value + ": " + each.why);
  }
  return lines;
}

StepInputs JobText::inputs() const { return {.shape = shape, .training = training, .parallel = parallel}; }

StepPlan JobText::compact_plan() const { return build_step(inputs()); }

StepPlan JobText::plan() const {
  StepPlan plan = compact_plan();
  plan.graph.programs = write_out_programs(plan.graph);
  plan.graph.segments.clear();
  return plan;
}

std::string small_model(int layers) {
  return "model: {num_layers: " + std::to_string(layers) +
         ", hidden_size: 64, num_attention_heads: 8, num_query_groups: 4, ffn_hidden_size: 96, vocab_size: 1000,"
         " seq_length: 32}\n";
}

}  // namespace ringwright::workload
