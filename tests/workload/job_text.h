// A training job from YAML text: the maps for the workload's readers, without a cluster.
#pragma once

#include <string>
#include <vector>

#include "core/config/config_document.h"
#include "workload/step/step_builder.h"

namespace ringwright::workload {

class JobText {
 public:
  JobText(const std::string& text, std::int64_t ranks, int host_ranks = 8);
  ~JobText();
  JobText(const JobText&) = delete;
  JobText& operator=(const JobText&) = delete;

  [[nodiscard]] std::vector<std::string> problems() const;
  // Keys that are set and have no effect.
  [[nodiscard]] std::vector<std::string> ignored() const;
  [[nodiscard]] std::vector<std::string> assumed() const;
  [[nodiscard]] StepInputs inputs() const;
  [[nodiscard]] StepPlan compact_plan() const;
  // With all segments written out.
  [[nodiscard]] StepPlan plan() const;

  ModelShape shape;
  TrainingOptions training;
  ParallelOptions parallel;

 private:
  ConfigDocument document_;
};

// A dense model with small, different sizes: h 64, 8 heads of 8, 4 key-value heads, f 96, V 1000 (padded to 1024),
// s 32.
[[nodiscard]] std::string small_model(int layers);

}  // namespace ringwright::workload
