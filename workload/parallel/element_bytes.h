// The bytes of one element of what data parallelism exchanges.
#pragma once

#include <cstdint>

#include "workload/options/training_options.h"

namespace ringwright::workload {

struct ElementBytes {
  explicit ElementBytes(const TrainingOptions& training)
      : parameter(static_cast<std::int64_t>(bytes_per_element(training.precision))),
        matrix(training.gathers_narrow() ? 1 : parameter),
        gradient(static_cast<std::int64_t>(bytes_per_element(training.grad_reduce))) {}

  std::int64_t parameter;
  std::int64_t matrix;  // a parameter of a layer's GEMM
  std::int64_t gradient;
};

}  // namespace ringwright::workload
