// What compute and communication kernels take from each other on one GPU: GEMMs and memory-bound kernels run
// concurrently with a kernel that copies or reduces, as collectives do, holds a few SMs and moves bytes all the time;
// both rates, alone and together.
//
// The copy blocks run until they get the stop signal. They take all the shared memory of an SM, so that a block has an
// SM for itself, and count the bytes that they move; the host reads the count and the clock when the compute kernels
// begin and when they end, tens of milliseconds apart.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "cublas_gemm.cuh"
#include "device.cuh"
#include "launch.cuh"
#include "memory_access.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_interference(const Suite& suite);

namespace {

constexpr int kCopyThreads = 512;
constexpr std::size_t kPartBytes = 32UL << 20U;  // of each block's share of a stream: far larger than its share of L2

// Host memory that the device can access.
struct Board {
  volatile int stop = 0;
  volatile unsigned long long moved[256] = {};  // bytes of one stream, by block
};

struct CopyBlockStreams {
  const float4* in[2];
  float4* out;
};

// Copies (one stream in) or reduces (two), and checks the board after each MiB: a check crosses the host link and
// takes microseconds, so that one thread checks for all, and seldom. No copy block runs for longer than a minute.
__global__ void __launch_bounds__(kCopyThreads) copy_blocks(CopyBlockStreams at, int streams_in, Board* board) {
  constexpr std::size_t kStep = 65536;                // float4s
  constexpr std::uint64_t kLongest = 60'000'000'000;  // nanoseconds
  __shared__ int stop;
  const std::uint64_t began = nanoseconds();
  const std::size_t part = kPartBytes / sizeof(float4);
  const std::size_t first = part * blockIdx.x;
  unsigned long long moved = 0;
  for (std::size_t done = 0;; done = done + kStep < part ? done + kStep : 0) {
#pragma unroll 4
    for (std::size_t i = threadIdx.x; i < kStep; i += kCopyThreads) {
      float4 v = at.in[0][first + done + i];
      if (streams_in == 2) {
        const float4 other = at.in[1][first + done + i];
        v = {v.x + other.x, v.y + other.y, v.z + other.z, v.w + other.w};
      }
      at.out[first + done + i] = v;
    }
    __syncthreads();
    moved += kStep * sizeof(float4);
    if (threadIdx.x == 0) {
      board->moved[blockIdx.x] = moved;
      stop = board->stop != 0 || nanoseconds() - began > kLongest ? 1 : 0;
    }
    __syncthreads();
    if (stop != 0) return;
  }
}

__global__ void stream_copy(const float4* in, float4* out, std::size_t count) {
  const std::size_t stride = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride)
    out[i] = in[i];
}

class CopyBlocks {
 public:
  explicit CopyBlocks(int most_blocks)
      : most_blocks_(most_blocks),
        a_(kPartBytes * static_cast<std::size_t>(most_blocks)),
        b_(kPartBytes * static_cast<std::size_t>(most_blocks)),
        c_(kPartBytes * static_cast<std::size_t>(most_blocks)) {
    fill_random(a_, Element::kFp32, 1);
    fill_random(b_, Element::kFp32, 2);
    check(cudaHostAlloc(&board_, sizeof(Board), cudaHostAllocMapped), "cudaHostAlloc");
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreate");
    int device = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&shared_bytes_, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
          "cudaDeviceGetAttribute");
    cudaFuncAttributes own{};  // the kernel's own shared memory counts towards the limit of a block
    check(cudaFuncGetAttributes(&own, reinterpret_cast<const void*>(copy_blocks)), "cudaFuncGetAttributes");
    shared_bytes_ -= static_cast<int>(own.sharedSizeBytes);
    check(cudaFuncSetAttribute(copy_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes_),
          "cudaFuncSetAttribute");
  }
  ~CopyBlocks() {
    cudaStreamDestroy(stream_);
    cudaFreeHost(board_);
  }
  CopyBlocks(const CopyBlocks&) = delete;
  CopyBlocks& operator=(const CopyBlocks&) = delete;

  void start(int blocks, int streams_in) {
    blocks_ = blocks;
    board_->stop = 0;
    for (int i = 0; i < most_blocks_; ++i) board_->moved[i] = 0;
    enqueue(copy_blocks, {static_cast<unsigned>(blocks), kCopyThreads, static_cast<std::size_t>(shared_bytes_)}, stream_,
            CopyBlockStreams{{a_.as<float4>(), b_.as<float4>()}, c_.as<float4>()}, streams_in, board_);
    while (!has_begun()) {
      const cudaError_t state = cudaStreamQuery(stream_);
      if (state == cudaErrorNotReady) continue;
      check(state, "the copy blocks");
      if (!has_begun()) fail("the copy blocks ended before all of them had begun");
    }
  }
  void stop() {
    board_->stop = 1;
    check(cudaStreamSynchronize(stream_), "the end of the copy blocks");
  }
  [[nodiscard]] double moved() const {
    double sum = 0.0;
    for (int i = 0; i < blocks_; ++i) sum += static_cast<double>(board_->moved[i]);
    return sum;
  }

 private:
  [[nodiscard]] bool has_begun() const {
    for (int i = 0; i < blocks_; ++i) {
      if (board_->moved[i] == 0) return false;
    }
    return true;
  }

  int most_blocks_;
  int blocks_ = 0;
  Buffer a_, b_, c_;
  Board* board_ = nullptr;
  cudaStream_t stream_{};
  int shared_bytes_ = 0;
};

// The columns of a table of kernels (docs/kernel-tables.md).
struct Compute {
  std::string name;
  Row kernel;
  Launch launch;
};

struct Together {
  double compute_us = 0.0;  // of one launch
  double moved_GBps = 0.0;  // of each stream of the copy blocks; 0 without them
};

// At most 40 ms of launches between two reads of the clock. `blocks` may be null.
Together run(const Compute& compute, const CopyBlocks* blocks, cudaStream_t stream, int launches) {
  using Clock = std::chrono::steady_clock;
  cudaEvent_t begin{}, end{};
  check(cudaEventCreate(&begin), "cudaEventCreate");
  check(cudaEventCreate(&end), "cudaEventCreate");
  for (int i = 0; i < 3; ++i) compute.launch(stream, i);
  check(cudaEventRecord(begin, stream), "cudaEventRecord");
  for (int i = 0; i < launches; ++i) compute.launch(stream, i);
  check(cudaEventRecord(end, stream), "cudaEventRecord");
  check(cudaEventSynchronize(begin), "a compute kernel");
  const auto started = Clock::now();
  const double before = blocks != nullptr ? blocks->moved() : 0.0;
  check(cudaEventSynchronize(end), "a compute kernel");
  const double seconds = std::chrono::duration<double>(Clock::now() - started).count();
  const double after = blocks != nullptr ? blocks->moved() : 0.0;
  float milliseconds = 0.0F;
  check(cudaEventElapsedTime(&milliseconds, begin, end), "cudaEventElapsedTime");
  check(cudaEventDestroy(begin), "cudaEventDestroy");
  check(cudaEventDestroy(end), "cudaEventDestroy");
  return {.compute_us = 1e3 * static_cast<double>(milliseconds) / launches,
          .moved_GBps = (after - before) / seconds * 1e-9};
}

double blocks_alone(const CopyBlocks& blocks) {
  using Clock = std::chrono::steady_clock;
  const auto started = Clock::now();
  const double before = blocks.moved();
  double seconds = 0.0;
  while (seconds < 0.02) seconds = std::chrono::duration<double>(Clock::now() - started).count();
  return (blocks.moved() - before) / seconds * 1e-9;
}

Timing of_three(std::vector<double> values) {
  return summarise(values.data(), static_cast<int>(values.size()));
}

struct Case {
  const Compute& compute;
  int sms;
  int streams_in;  // 1 copies, 2 reduces
};

bool measure_case(const Suite& suite, Table& table, CopyBlocks& blocks, cudaStream_t stream, const Case& c) {
  if (suite.time_is_up()) return false;
  Row row = c.compute.kernel;
  row["blocks"] = c.streams_in == 1 ? "copy" : "reduce";
  row["sms"] = text(static_cast<long long>(c.sms));
  if (table.has(row)) return true;
  const double once = run(c.compute, nullptr, stream, 4).compute_us;
  // Fewer than the queue of a stream holds (1024): the host must have issued all before it waits for the first.
  const int launches = std::min(static_cast<int>(40e3 / once) + 1, 800);
  std::vector<double> alone, together, moved, moved_alone;
  for (int repeat = 0; repeat < 3; ++repeat) {
    alone.push_back(run(c.compute, nullptr, stream, launches).compute_us);
    blocks.start(c.sms, c.streams_in);
    moved_alone.push_back(blocks_alone(blocks));
    const Together both = run(c.compute, &blocks, stream, launches);
    blocks.stop();
    together.push_back(both.compute_us);
    moved.push_back(both.moved_GBps);
  }
  const double slowdown = of_three(together).median_us / of_three(alone).median_us;
  row["compute_alone_us"] = text(of_three(alone).median_us);
  row["compute_together_us"] = text(of_three(together).median_us);
  row["blocks_alone_GB_per_s"] = text(of_three(moved_alone).median_us);
  row["blocks_together_GB_per_s"] = text(of_three(moved).median_us);
  table.add(row);
  suite.progress(c.compute.name + " with " + row["blocks"] + " on " + row["sms"] + " SMs: " + text(slowdown) + " x");
  return true;
}

}  // namespace

void measure_interference(const Suite& suite) {
  Table table =
      suite.table("interference", {"family", "dtype", "m", "n", "k", "flops", "bytes", "blocks", "sms"},
                  {"compute_alone_us", "compute_together_us", "blocks_alone_GB_per_s", "blocks_together_GB_per_s"});
  if (suite.time_is_up()) return;
  const bool quick = suite.extent == Extent::kQuick;
  std::vector<std::unique_ptr<CublasGemm>> products;
  std::vector<Compute> computes;
  for (const GemmShape& shape :
       {GemmShape{4096, 4096, 4096}, GemmShape{8192, 8192, 8192}, GemmShape{2048, 8192, 1024},
        GemmShape{8192, 1024, 8192}, GemmShape{256, 8192, 8192}, GemmShape{3072, 3072, 12288}}) {
    products.push_back(std::make_unique<CublasGemm>(shape));
    const CublasGemm* const product = products.back().get();
    const double m = shape.m, n = shape.n, k = shape.k;
    const Row kernel = {{"family", "gemm"},
                        {"dtype", "bf16"},
                        {"m", text(m)},
                        {"n", text(n)},
                        {"k", text(k)},
                        {"flops", text(2.0 * m * n * k)},
                        {"bytes", text(2.0 * (m * k + k * n + m * n))}};
    computes.push_back({"gemm bf16 " + text(m) + " x " + text(n) + " x " + text(k), kernel,
                        [product](cudaStream_t s, int turn) { product->launch(s, turn); }});
    if (quick) break;
  }
  std::vector<std::unique_ptr<RotatingBuffers>> streams;
  for (const std::size_t bytes : {16UL << 20U, 256UL << 20U}) {
    streams.push_back(std::make_unique<RotatingBuffers>(bytes / 4, Element::kFp32, 1));
    const RotatingBuffers* const in = streams.back().get();
    streams.push_back(std::make_unique<RotatingBuffers>(bytes / 4, Element::kFp32, 2));
    const RotatingBuffers* const out = streams.back().get();
    const auto blocks = static_cast<unsigned>(4 * sm_count());
    const Row kernel = {
        {"family", "copy"}, {"dtype", "fp32"}, {"flops", "0"}, {"bytes", text(2.0 * static_cast<double>(bytes))}};
    computes.push_back(
        {"memory copy of " + std::to_string(bytes >> 20U) + " MiB", kernel, [=](cudaStream_t s, int turn) {
           enqueue(stream_copy, {blocks, 512}, s, in->at<float4>(turn), out->at<float4>(turn), bytes / 16);
         }});
  }
  CopyBlocks blocks(32);
  cudaStream_t stream{};
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
  bool time_left = true;
  for (const Compute& compute : computes) {
    for (const int sms : {1, 2, 4, 8, 16, 24, 32}) {
      if (quick && sms != 16) continue;
      for (const int streams_in : {1, 2}) {
        time_left = time_left && measure_case(suite, table, blocks, stream, {compute, sms, streams_in});
      }
    }
  }
  check(cudaStreamDestroy(stream), "cudaStreamDestroy");
}

}  // namespace ringwright::gpu
