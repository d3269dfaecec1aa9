// One GPU's data sheet: arithmetic, memory, and launch cost.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "core/base/evidence.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "core/plan/kernel.h"
#include "workload/gpu/kernel_profile.h"

namespace ringwright::workload {

inline constexpr std::size_t kDataTypes = 6;

// The forward pass of a linear layer in PyTorch, one kernel of a library, takes a Xeon 8480C so long, without any wait
// (github.com/NVIDIA/TransformerEngine, issue 2053).
inline constexpr Duration kHostIssue = Duration(13'500'000);

struct GpuSpec {
  std::string name;
  bool nvidia = true;
  double compute_capability = 0.0;          // CUDA compute capability, e.g. 9.0; 0 if not given
  std::array<FlopRate, kDataTypes> peak{};  // by DataType; 0 where the GPU does not support the type
  Bytes memory;
  Bandwidth memory_bandwidth;
  std::int64_t sms = 0;       // streaming multiprocessors
  std::int64_t held_sms = 0;  // others, which thread blocks of communication hold at the moment
  Bytes l2;
  Duration kernel_launch;
  Duration host_issue = kHostIssue;  // of one kernel by the framework
  double streaming_share = 0.5;      // share of the multiprocessors that suffices to draw the full memory bandwidth
  double loaded_latency = 2.4;  // of a load while kernels draw the full memory bandwidth, relative to an idle memory
  Evidence evidence = Evidence::kAssumed;  // of the peak that matters most
  KernelProfile kernels;

  [[nodiscard]] FlopRate peak_of(DataType type) const { return peak[static_cast<std::size_t>(type)]; }
};

// The newest release of FlashAttention with the GPU's own instructions: 2 those of Ampere, 3 of Hopper (arXiv
// 2407.08608), 4 of Blackwell (arXiv 2603.05451). 0: none.
[[nodiscard]] int newest_flash_attention(const GpuSpec& gpu);
// Reads `cluster.node.gpu`. Mistakes are recorded in the map.
[[nodiscard]] GpuSpec read_gpu_spec(ConfigMap& gpu);

}  // namespace ringwright::workload
