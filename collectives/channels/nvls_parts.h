// Common code of NVLS inside one host and NVLSTree over several: chunk sizes and the warps of a channel.
#pragma once

#include "core/base/units.h"
#include "core/plan/collective_plan.h"

namespace ringwright::collectives {

// Of an in-switch reduction (NCCL_MAX_NVLS_ARITY of src/include/device.h): the other GPUs of a domain only scatter and
// gather.
inline constexpr int kMostNvlsHeads = 32;

struct NvlsExtent {
  Bytes bytes;
  int heads = 1;
  int hosts = 1;
};

// 128 KiB, less for small buffers; a plan's own chunk overrides it.
[[nodiscard]] Bytes nvls_chunk(const CollectivePlan& plan, const NvlsExtent& extent);

// Parts of a channel's warps.
struct NvlsWarps {
  double scatter = 0.0;
  double reduce = 0.0;
  double gather = 0.0;
  double hand_out = 0.0;  // of results from other hosts
};
[[nodiscard]] NvlsWarps nvls_warps(int heads);
// NVLSTree: on the host at the root of a channel's tree and on the others.
enum class TreeRole { kRoot, kBelow };
[[nodiscard]] NvlsWarps nvls_tree_warps(TreeRole place, int ranks);
// Where the network reduces over hosts.
[[nodiscard]] NvlsWarps nvls_warps_over_hosts();

}  // namespace ringwright::collectives
