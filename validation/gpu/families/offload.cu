// Optimizer offload over the host link: gradients go down and parameters come up, each alone, both at once, and
// concurrent with a GEMM that runs the whole time; and the slowdown of the GEMM.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "cublas_gemm.cuh"
#include "launch.cuh"
#include "memory_access.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_offload(const Suite& suite);

namespace {

constexpr std::size_t kBytes = 256UL << 20U;  // in one direction, in buckets
constexpr int kGemms = 48;
constexpr std::uint64_t kGateNanoseconds = 2'000'000;  // more than the host needs to issue 48 GEMMs and 128 copies

__global__ void hold(std::uint64_t time) {
  const std::uint64_t began = nanoseconds();
  while (nanoseconds() - began < time) {
  }
}

enum class Traffic { kNone, kDown, kUp, kBoth };

class Bench {
 public:
  Bench() : product_({4096, 4096, 4096}), gradients_(kBytes), parameters_(kBytes) {
    check(cudaMallocHost(&host_gradients_, kBytes), "cudaMallocHost");
    check(cudaMallocHost(&host_parameters_, kBytes), "cudaMallocHost");
    for (cudaStream_t* stream : {&compute_, &down_, &up_}) {
      check(cudaStreamCreateWithFlags(stream, cudaStreamNonBlocking), "cudaStreamCreate");
    }
    check(cudaEventCreateWithFlags(&gate_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~Bench() {
    cudaEventDestroy(gate_);
    for (cudaStream_t stream : {compute_, down_, up_}) cudaStreamDestroy(stream);
    cudaFreeHost(host_gradients_);
    cudaFreeHost(host_parameters_);
  }
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  struct Times {
    double compute_us = 0.0, down_us = 0.0, up_us = 0.0;
  };
  // All work is issued while the streams wait at a gate, so that everything starts together; each stream is timed by
  // its own events, recorded before any is waited for.
  Times run(Traffic traffic, bool with_compute, std::size_t bucket) {
    Span compute(compute_), down(down_), up(up_);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    enqueue(hold, {1, 1}, compute_, kGateNanoseconds);
    check(cudaEventRecord(gate_, compute_), "cudaEventRecord");
    for (cudaStream_t stream : {down_, up_}) check(cudaStreamWaitEvent(stream, gate_), "cudaStreamWaitEvent");
    compute.begin();
    down.begin();
    up.begin();
    for (int i = 0; with_compute && i < kGemms; ++i) product_.launch(compute_, i);
    for (std::size_t at = 0; at < kBytes; at += bucket) {
      const std::size_t bytes = std::min(bucket, kBytes - at);
      if (traffic == Traffic::kDown || traffic == Traffic::kBoth) {
        check(cudaMemcpyAsync(host_gradients_ + at, gradients_.as<char>() + at, bytes, cudaMemcpyDeviceToHost, down_),
              "down");
      }
      if (traffic == Traffic::kUp || traffic == Traffic::kBoth) {
        check(cudaMemcpyAsync(parameters_.as<char>() + at, host_parameters_ + at, bytes, cudaMemcpyHostToDevice, up_),
              "up");
      }
    }
    for (Span* span : {&compute, &down, &up}) span->end();
    return {.compute_us = compute.microseconds(), .down_us = down.microseconds(), .up_us = up.microseconds()};
  }

 private:
  class Span {
   public:
    explicit Span(cudaStream_t stream) : stream_(stream) {
      check(cudaEventCreate(&begin_), "cudaEventCreate");
      check(cudaEventCreate(&end_), "cudaEventCreate");
    }
    ~Span() {
      cudaEventDestroy(begin_);
      cudaEventDestroy(end_);
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    void begin() { check(cudaEventRecord(begin_, stream_), "cudaEventRecord"); }
    void end() { check(cudaEventRecord(end_, stream_), "cudaEventRecord"); }
    [[nodiscard]] double microseconds() const {
      check(cudaEventSynchronize(end_), "a copy or a GEMM");
      float milliseconds = 0.0F;
      check(cudaEventElapsedTime(&milliseconds, begin_, end_), "cudaEventElapsedTime");
      return 1e3 * static_cast<double>(milliseconds);
    }

   private:
    cudaStream_t stream_;
    cudaEvent_t begin_{}, end_{};
  };

  CublasGemm product_;
  Buffer gradients_, parameters_;
  char* host_gradients_ = nullptr;
  char* host_parameters_ = nullptr;
  cudaStream_t compute_{}, down_{}, up_{};
  cudaEvent_t gate_{};
};

struct TrafficName {
  Traffic traffic;
  const char* name;
};

std::string median_of(std::vector<double> values) {
  return text(summarise(values.data(), static_cast<int>(values.size())).median_us);
}

}  // namespace

void measure_offload(const Suite& suite) {
  Table table =
      suite.table("offload", {"traffic", "compute", "bytes", "bucket_bytes"}, {"compute_us", "down_us", "up_us"});
  if (suite.time_is_up()) return;
  Bench bench;
  for (const std::size_t bucket : {4UL << 20U, 64UL << 20U}) {
    for (const TrafficName& traffic :
         {TrafficName{Traffic::kNone, "none"}, TrafficName{Traffic::kDown, "gradients down"},
          TrafficName{Traffic::kUp, "parameters up"}, TrafficName{Traffic::kBoth, "both"}}) {
      for (const bool with_compute : {false, true}) {
        if (suite.time_is_up()) return;
        if (traffic.traffic == Traffic::kNone && !with_compute) continue;
        Row row = {{"traffic", traffic.name},
                   {"compute", with_compute ? "gemm bf16 4096x4096x4096" : "none"},
                   {"bytes", text(static_cast<long long>(kBytes))},
                   {"bucket_bytes", text(static_cast<long long>(bucket))}};
        if (table.has(row)) continue;
        bench.run(traffic.traffic, with_compute, bucket);
        std::vector<double> compute, down, up;
        for (int i = 0; i < 11; ++i) {
          const Bench::Times times = bench.run(traffic.traffic, with_compute, bucket);
          compute.push_back(times.compute_us);
          down.push_back(times.down_us);
          up.push_back(times.up_us);
        }
        row["compute_us"] = median_of(compute);
        row["down_us"] = median_of(down);
        row["up_us"] = median_of(up);
        table.add(row);
        suite.progress(std::string("offload, ") + traffic.name + ", compute " + row["compute"] + ": down " +
                       row["down_us"] + " us, up " + row["up_us"] + " us");
      }
    }
  }
}

}  // namespace ringwright::gpu
