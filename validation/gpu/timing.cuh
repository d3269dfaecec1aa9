// How a launch is timed: warm-up, CUDA events around a batch of launches, many batches, the median and its confidence.
//
// After Hoefler and Belli, "Scientific benchmarking of parallel computing systems" (SC 2015): medians, not means; a
// nonparametric 95 % confidence interval from order statistics (rule 5 and section 3.1.3); measuring continues until
// the interval is narrow enough or the time allowed is used up, and the interval is reported in both cases.
#pragma once

#include <functional>

#include <cuda_runtime.h>

namespace ringwright::gpu {

struct Timing {
  double median_us = 0.0;  // of one launch
  double ci_low_us = 0.0;
  double ci_high_us = 0.0;
  int samples = 0;
};

// Graph: the launches of a sample are the nodes of a CUDA graph, so that the host does not limit the rate. Eager: they
// are issued one by one.
enum class LaunchMode { kGraph, kEager };
const char* to_string(LaunchMode mode);

struct TimingRules {
  LaunchMode mode = LaunchMode::kGraph;
  int warmups = 3;  // samples
  int least_samples = 11;
  int most_samples = 101;
  double narrow_enough = 0.01;  // half of the interval, of the median
  double sample_us = 400.0;     // a sample has as many launches as fill about this time
  int most_launches = 256;      // of a sample
  double most_seconds = 0.4;    // for one measurement
};

// `launch(stream, turn)` issues one launch; `turn` counts up, so that each can take another buffer.
using Launch = std::function<void(cudaStream_t stream, int turn)>;
Timing time_launches(const Launch& launch, const TimingRules& rules = {});

// The same from samples that the caller took, microseconds each.
Timing summarise(double* samples_us, int count);

}  // namespace ringwright::gpu
