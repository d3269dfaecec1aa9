// Timing with events: see timing.cuh for the rules.
#include "timing.cuh"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "check.cuh"

namespace ringwright::gpu {
namespace {

class Stopwatch {
 public:
  Stopwatch() {
    check(cudaEventCreate(&begin_), "cudaEventCreate");
    check(cudaEventCreate(&end_), "cudaEventCreate");
  }
  ~Stopwatch() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  // Microseconds of what `work` puts on the stream.
  template <class Work>
  double time(cudaStream_t stream, Work&& work) {
    check(cudaEventRecord(begin_, stream), "cudaEventRecord");
    work();
    check(cudaEventRecord(end_, stream), "cudaEventRecord");
    check(cudaEventSynchronize(end_), "a measured kernel");
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t begin_{}, end_{};
};

// A batch of launches: issued each time, or captured once.
class Batch {
 public:
  Batch(const Launch& launch, LaunchMode mode, cudaStream_t stream) : launch_(launch), mode_(mode), stream_(stream) {}
  ~Batch() { forget(); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void resize(int launches) {
    forget();
    launches_ = launches;
    if (mode_ == LaunchMode::kEager) return;
    cudaGraph_t graph{};
    check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    issue();
    check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
    check(cudaGraphInstantiate(&executable_, graph, 0), "cudaGraphInstantiate");
    check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    check(cudaGraphUpload(executable_, stream_), "cudaGraphUpload");
  }
  void run() {
    if (executable_ != nullptr)
      check(cudaGraphLaunch(executable_, stream_), "cudaGraphLaunch");
    else
      issue();
  }

 private:
  void issue() {
    for (int i = 0; i < launches_; ++i) launch_(stream_, turn_++);
  }
  void forget() {
    if (executable_ != nullptr) check(cudaGraphExecDestroy(executable_), "cudaGraphExecDestroy");
    executable_ = nullptr;
  }

  const Launch& launch_;
  LaunchMode mode_;
  cudaStream_t stream_;
  cudaGraphExec_t executable_ = nullptr;
  int launches_ = 1;
  int turn_ = 0;
};

bool is_narrow(const Timing& timing, double narrow_enough) {
  return timing.ci_high_us - timing.ci_low_us <= 2.0 * narrow_enough * timing.median_us;
}

}  // namespace

const char* to_string(LaunchMode mode) {
  return mode == LaunchMode::kGraph ? "graph" : "eager";
}

Timing summarise(double* samples_us, int count) {
  std::sort(samples_us, samples_us + count);
  // Ranks of the 95 % interval of the median (normal approximation of the binomial, valid from about ten samples).
  const double half = 0.98 * std::sqrt(static_cast<double>(count));
  const int low = std::max(static_cast<int>(std::floor(count / 2.0 - half)), 0);
  const int high = std::min(static_cast<int>(std::ceil(count / 2.0 + half)), count - 1);
  const double median =
      count % 2 == 1 ? samples_us[count / 2] : 0.5 * (samples_us[count / 2 - 1] + samples_us[count / 2]);
  return {.median_us = median, .ci_low_us = samples_us[low], .ci_high_us = samples_us[high], .samples = count};
}

Timing time_launches(const Launch& launch, const TimingRules& rules) {
  using Clock = std::chrono::steady_clock;
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  Timing timing;
  {
    Stopwatch watch;
    launch(stream, 0);  // loads the module and lets libraries make their choices, before anything is captured
    check(cudaGetLastError(), "the first launch of a kernel");
    check(cudaStreamSynchronize(stream), "the first launch of a kernel");
    const double once = watch.time(stream, [&] { launch(stream, 1); });
    Batch batch(launch, rules.mode, stream);
    const int launches = std::clamp(static_cast<int>(rules.sample_us / std::max(once, 1.0)), 1, rules.most_launches);
    batch.resize(launches);
    for (int i = 0; i < rules.warmups; ++i) batch.run();
    check(cudaStreamSynchronize(stream), "a warm-up");
    std::vector<double> samples;
    const auto started = Clock::now();
    while (static_cast<int>(samples.size()) < rules.most_samples) {
      samples.push_back(watch.time(stream, [&] { batch.run(); }) / launches);
      const int count = static_cast<int>(samples.size());
      if (count < 3) continue;
      std::vector<double> copy = samples;
      timing = summarise(copy.data(), count);
      const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
      if (seconds > rules.most_seconds) break;
      if (count >= rules.least_samples && is_narrow(timing, rules.narrow_enough)) break;
    }
  }
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
  return timing;
}

}  // namespace ringwright::gpu
