// A trace of PyTorch's profiler (Kineto): what one rank's GPU did, and its collectives with their sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/plan/kernel.h"
#include "traces/calls/recorded_call.h"

namespace ringwright::traces {

enum class GpuWork : std::uint8_t { kKernel, kCopy, kMemset };

struct GpuActivity {
  std::uint32_t name = 0;  // into KinetoTrace::names
  GpuWork work = GpuWork::kKernel;
  std::int32_t stream = 0;
  std::int32_t device = 0;
  std::int64_t start_ns = 0;  // of the trace's clock
  Duration time;
  std::int64_t launched_ns = 0;                    // by the host, of the trace's clock; 0: not recorded
  std::optional<std::int64_t> launch_thread = {};  // of the host; empty: not recorded
  std::uint64_t correlation = 0;                   // the launch; 0: none
  std::uint64_t operation = 0;                     // External id of the CPU operation; 0: none
};

// A step that the training loop marked (ProfilerStep#N).
struct ProfilerStep {
  std::string name;
  std::int64_t start_ns = 0;
  Duration time;
};

// An operator of PyTorch that recorded the shapes of its inputs.
struct MeasuredOperator {
  Kernel kernel;  // its work; the name is that of the operator: "aten::mm"
  Duration time;  // of its kernels
  std::size_t kernels = 0;
};

struct KinetoTrace {
  std::string file;
  std::string backend;       // "nccl"; empty: not recorded
  std::string nccl_version;  // "2.17.1"; empty: not recorded
  std::string gpu;           // "NVIDIA A100-SXM4-80GB"; empty: not recorded
  int world_size = 0;        // 0: not recorded
  std::int64_t base_ns = 0;  // added to a time of the trace, it is one of the host's clock
  std::vector<std::string> names;
  std::vector<GpuActivity> activities;      // by start
  std::vector<ProfilerStep> steps;          // by start; those of the GPU where they are recorded, else of the host
  std::vector<MeasuredOperator> operators;  // that launched kernels, and whose work is known
  RankCalls calls;                          // of NCCL and RCCL
  std::size_t events = 0;
  bool truncated = false;
};

struct KinetoReading {
  KinetoTrace trace;
  Diagnostics warnings;
};

// Plain or gzip.
[[nodiscard]] Result<KinetoReading> read_kineto(const std::string& path);
[[nodiscard]] Result<KinetoReading> read_kineto_text(const std::string& name, std::string_view text);

}  // namespace ringwright::traces
