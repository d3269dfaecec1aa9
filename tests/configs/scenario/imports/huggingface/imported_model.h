// A model that a test reads from the text of a config.json.
#pragma once

#include <string>

#include <fmt/format.h>

#include "configs/scenario/imports/huggingface/model_import.h"
#include "core/config/config_document.h"

namespace ringwright::configs {

struct Imported {
  workload::ModelShape shape;
  std::string problems;
};

inline Imported import_model(const std::string& json, int sequence = 4096) {
  ConfigDocument config = ConfigDocument::load_text("config.json", json).value();
  ConfigDocument scenario =
      ConfigDocument::load_text("job.yaml", fmt::format("model: {{seq_length: {}}}\n", sequence)).value();
  ConfigMap root = config.root();
  ConfigMap model = scenario.root().map("model", "the model");
  Imported imported{.shape = read_hf_model(root, model), .problems = {}};
  for (const ConfigLog* log : {&config.log(), &scenario.log()}) {
    for (const Diagnostic& found : log->diagnostics().all()) imported.problems += found.code + " " + found.message;
  }
  return imported;
}

}  // namespace ringwright::configs
