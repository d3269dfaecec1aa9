// Pipeline stages on as many GPUs as each needs: the dynamic program of Alpa's inter-operator pass (Zheng et al., OSDI
// 2022, section 5).
//
//   T = sum_i t_i + (B - 1) max_i t_i
//
// for B microbatches, over every way to cut the layers into contiguous stages and to give each a submesh, so that the
// submeshes make up the machine. For each value that the longest stage may take, the least sum is found by a program
// over (first layer, GPUs left); values are tried from the smallest until the second term alone is too long.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace ringwright::workload {

struct SubmeshStage {
  std::size_t first = 0;  // layers first .. end - 1
  std::size_t end = 0;
  std::size_t submesh = 0;  // index into the sizes
  friend bool operator==(const SubmeshStage&, const SubmeshStage&) = default;
};

struct SubmeshProblem {
  std::size_t layers = 1;
  std::size_t gpus = 1;
  std::vector<std::size_t> submeshes;  // GPUs of each kind of submesh, above 0
  std::size_t microbatches = 1;
  // Seconds of a microbatch's passes through the stage; infinite where it does not fit.
  std::function<double(const SubmeshStage&)> seconds;
};

struct SubmeshPlan {
  std::vector<SubmeshStage> stages;
  double seconds = 0.0;  // T
};

// Nothing where no plan uses all layers and all GPUs, or none fits.
[[nodiscard]] std::optional<SubmeshPlan> plan_submeshes(const SubmeshProblem& problem);

}  // namespace ringwright::workload
