// Host time: the launch call, the rate of kernels that follow each other, graphs, events, stream waits, and the time
// from a call to the kernel's end.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "launch.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_launches(const Suite& suite);

namespace {

__global__ void nothing() {}
struct ManyArguments {
  std::size_t words[32];
};
__global__ void nothing_with_arguments(ManyArguments) {}
// Keeps the stream busy for a while, so that later work queues up.
__global__ void spin(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

// Wall time of the host for `count` calls, microseconds a call, many times over.
Timing time_host(int count, const std::function<void()>& before, const std::function<void()>& call) {
  std::vector<double> samples;
  for (int sample = 0; sample < 60; ++sample) {
    before();
    const auto start = Clock::now();
    for (int i = 0; i < count; ++i) call();
    samples.push_back(microseconds_since(start) / count);
    check(cudaDeviceSynchronize(), "a launch");
  }
  return summarise(samples.data(), static_cast<int>(samples.size()));
}

class Launches {
 public:
  Launches(const Suite& suite, Table& table) : suite_(suite), table_(table) {
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaStreamCreateWithFlags(&other_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~Launches() {
    cudaEventDestroy(event_);
    cudaStreamDestroy(stream_);
    cudaStreamDestroy(other_);
  }
  Launches(const Launches&) = delete;
  Launches& operator=(const Launches&) = delete;

  // The call alone, while the device is busy with something else.
  void calls() {
    const auto busy = [this] { enqueue(spin, {1, 1}, stream_, 2'000'000); };
    const auto idle = [] {};
    add_host("launch call without arguments", 64, busy, [this] { enqueue(nothing, {1, 32}, stream_); });
    add_host("launch call with 256 B of arguments", 64, busy, [this] {
      enqueue(nothing_with_arguments, {1, 32}, stream_, ManyArguments{});
    });
    add_host("event record call", 64, busy, [this] { check(cudaEventRecord(event_, stream_), "cudaEventRecord"); });
    add_host("stream wait call", 64, busy,
             [this] { check(cudaStreamWaitEvent(other_, event_), "cudaStreamWaitEvent"); });
    add_host("small copy call", 64, busy, [this] {
      check(cudaMemcpyAsync(buffer_.data(), buffer_.as<char>() + 64, 32, cudaMemcpyDeviceToDevice, stream_),
            "cudaMemcpyAsync");
    });
    add_host("launch and wait for the end", 1, idle, [this] {
      enqueue(nothing, {1, 32}, stream_);
      check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
    });
  }

  // From kernel to kernel on the device.
  void pace() {
    TimingRules eager{.mode = LaunchMode::kEager};
    TimingRules graph{};
    const Launch empty = [](cudaStream_t s, int) { enqueue(nothing, {1, 32}, s); };
    const Launch full = [](cudaStream_t s, int) { enqueue(nothing, {1024, 256}, s); };
    add_paced("kernel after kernel (eager)", empty, eager);
    add_paced("kernel after kernel (graph)", empty, graph);
    add_paced("kernel of 1024 blocks after kernel (eager)", full, eager);
    add_paced("kernel of 1024 blocks after kernel (graph)", full, graph);
    add_paced(
        "kernel after kernel on the other stream",
        [this](cudaStream_t s, int) {
          enqueue(nothing, {1, 32}, s);
          check(cudaEventRecord(event_, s), "cudaEventRecord");
          check(cudaStreamWaitEvent(other_, event_), "cudaStreamWaitEvent");
          enqueue(nothing, {1, 32}, other_);
          check(cudaEventRecord(event_, other_), "cudaEventRecord");
          check(cudaStreamWaitEvent(s, event_), "cudaStreamWaitEvent");
        },
        eager);
  }

  // A graph of n empty kernels: the host time of its launch, and its run time.
  void graphs() {
    for (const int nodes : {1, 16, 256, 1024}) {
      cudaGraph_t graph{};
      cudaGraphExec_t executable{};
      check(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
      for (int i = 0; i < nodes; ++i) enqueue(nothing, {1, 32}, stream_);
      check(cudaStreamEndCapture(stream_, &graph), "cudaStreamEndCapture");
      check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
      check(cudaGraphUpload(executable, stream_), "cudaGraphUpload");
      const std::string size = std::to_string(nodes) + (nodes == 1 ? " kernel" : " kernels");
      add_host(
          "graph launch call: " + size, 1, [] {},
          [&] { check(cudaGraphLaunch(executable, stream_), "cudaGraphLaunch"); });
      add_host(
          "graph launch to its end: " + size, 1, [] {},
          [&] {
            check(cudaGraphLaunch(executable, stream_), "cudaGraphLaunch");
            check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
          });
      check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
      check(cudaGraphDestroy(graph), "cudaGraphDestroy");
    }
  }

 private:
  void add_host(const std::string& what, int count, const std::function<void()>& before,
                const std::function<void()>& call) {
    add(what, [&] { return time_host(count, before, call); });
  }
  void add_paced(const std::string& what, const Launch& launch, const TimingRules& rules) {
    add(what, [&] { return time_launches(launch, rules); });
  }
  void add(const std::string& what, const std::function<Timing()>& measure) {
    Row row = {{"what", what}};
    if (table_.has(row) || suite_.time_is_up()) return;
    const Timing timing = measure();
    add_timing(row, timing);
    table_.add(row);
    suite_.progress(what + ": " + text(timing.median_us) + " us");
  }

  const Suite& suite_;
  Table& table_;
  Buffer buffer_{4096};
  cudaStream_t stream_{}, other_{};
  cudaEvent_t event_{};
};

}  // namespace

void measure_launches(const Suite& suite) {
  if (suite.time_is_up()) return;
  Table table = suite.table("launches", {"what"}, {"time_us", "ci_low_us", "ci_high_us"});
  Launches launches(suite, table);
  launches.calls();
  launches.pace();
  launches.graphs();
}

}  // namespace ringwright::gpu
