// Copies between host and device: pinned and pageable memory, down, up, and both at once, against size.
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "buffers.cuh"
#include "check.cuh"
#include "suite.cuh"

namespace ringwright::gpu {

void measure_host_copies(const Suite& suite);

namespace {

enum class HostKind { kPinned, kPageable };
enum class Path { kUp, kDown, kBoth };  // up: to the device

struct HostKindName {
  HostKind kind;
  const char* name;
};
struct PathName {
  Path path;
  const char* name;
};
constexpr HostKindName kKinds[] = {{HostKind::kPinned, "pinned"}, {HostKind::kPageable, "pageable"}};
constexpr PathName kPaths[] = {{Path::kUp, "host to device"}, {Path::kDown, "device to host"}, {Path::kBoth, "both"}};

class HostBuffer {
 public:
  HostBuffer(HostKind kind, std::size_t bytes) : kind_(kind) {
    if (kind == HostKind::kPinned) {
      check(cudaMallocHost(&data_, bytes), "cudaMallocHost");
    } else {
      data_ = std::malloc(bytes);
      if (data_ == nullptr) fail("there is not enough memory on the host");
    }
    std::memset(data_, 7, bytes);  // so that its pages exist
  }
  ~HostBuffer() {
    if (kind_ == HostKind::kPinned)
      cudaFreeHost(data_);
    else
      std::free(data_);
  }
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  HostKind kind_;
  void* data_ = nullptr;
};

// Both directions at once: the second stream is joined to the measured one by events.
class Copies {
 public:
  Copies(HostKind kind, std::size_t bytes)
      : bytes_(bytes), up_from_(kind, bytes), down_to_(kind, bytes), up_to_(bytes), down_from_(bytes) {
    check(cudaStreamCreateWithFlags(&second_, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&fork_, cudaEventDisableTiming), "cudaEventCreate");
    check(cudaEventCreateWithFlags(&join_, cudaEventDisableTiming), "cudaEventCreate");
  }
  ~Copies() {
    cudaEventDestroy(fork_);
    cudaEventDestroy(join_);
    cudaStreamDestroy(second_);
  }
  Copies(const Copies&) = delete;
  Copies& operator=(const Copies&) = delete;

  void run(Path path, cudaStream_t stream) {
    if (path == Path::kUp) up(stream);
    if (path == Path::kDown) down(stream);
    if (path != Path::kBoth) return;
    check(cudaEventRecord(fork_, stream), "cudaEventRecord");
    check(cudaStreamWaitEvent(second_, fork_), "cudaStreamWaitEvent");
    down(second_);
    up(stream);
    check(cudaEventRecord(join_, second_), "cudaEventRecord");
    check(cudaStreamWaitEvent(stream, join_), "cudaStreamWaitEvent");
  }

 private:
  void up(cudaStream_t stream) {
    check(cudaMemcpyAsync(up_to_.data(), up_from_.data(), bytes_, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
  }
  void down(cudaStream_t stream) {
    check(cudaMemcpyAsync(down_to_.data(), down_from_.data(), bytes_, cudaMemcpyDeviceToHost, stream),
          "cudaMemcpyAsync");
  }

  std::size_t bytes_;
  HostBuffer up_from_, down_to_;
  Buffer up_to_, down_from_;
  cudaStream_t second_{};
  cudaEvent_t fork_{}, join_{};
};

}  // namespace

void measure_host_copies(const Suite& suite) {
  Table table = suite.table("host_copies", {"memory", "direction", "bytes"},
                            {"GB_per_s_each_way", "time_us", "ci_low_us", "ci_high_us"});
  TimingRules rules;
  rules.mode = LaunchMode::kEager;
  rules.most_launches = 16;
  const bool quick = suite.extent == Extent::kQuick;
  for (const HostKindName& kind : kKinds) {
    for (long long bytes = 1 << 10; bytes <= 1LL << 29; bytes *= quick ? 64 : 4) {
      std::optional<Copies> copies;  // made when the first is missing
      for (const PathName& path : kPaths) {
        // From pageable memory the call itself waits: there is no "both at once" from one thread.
        if (path.path == Path::kBoth && kind.kind == HostKind::kPageable) continue;
        Row row = {{"memory", kind.name}, {"direction", path.name}, {"bytes", text(bytes)}};
        if (suite.time_is_up()) return;
        if (table.has(row)) continue;
        if (!copies) copies.emplace(kind.kind, static_cast<std::size_t>(bytes));
        const Timing timing = time_launches([&](cudaStream_t stream, int) { copies->run(path.path, stream); }, rules);
        row["GB_per_s_each_way"] = text(static_cast<double>(bytes) / timing.median_us * 1e-3);
        add_timing(row, timing);
        table.add(row);
        suite.progress(std::string(kind.name) + " " + path.name + " " + text(bytes) + " B: " + row["GB_per_s_each_way"] +
                       " GB/s");
      }
    }
  }
}

}  // namespace ringwright::gpu
