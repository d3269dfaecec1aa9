// Chunk sizes as NCCL's src/enqueue.cc chooses them (NCCL_NVLS_CHUNKSIZE 128 KiB; its trees 64 KiB from four hosts on;
// 2.21 to 2.27), and its groups of warps: of 20, 7 reduce for up to six heads and 5 beyond; the rest is split in half.
// In its trees (src/device/all_reduce.h, 2.19 to 2.27), below a tree's root, 5 reduce and send up, 4 broadcast the
// result, the rest is split in half; the root receives no result, and its split is that of one host with as many ranks.
// Where the network reduces over hosts, 3 reduce and send, 2 receive and multicast.
#include "collectives/channels/nvls_parts.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "collectives/channels/channel_cut.h"

namespace ringwright::collectives {

using namespace ringwright::literals;

Bytes nvls_chunk(const CollectivePlan& plan, const NvlsExtent& extent) {
  if (plan.chunk > Bytes(0)) return align_up(plan.chunk);
  struct Step {
    std::int64_t times;  // multiples of what all channels and heads move at a time
    Bytes chunk;
  };
  constexpr std::array kInside = {Step{64, 64_KiB}, Step{8, 32_KiB}, Step{2, 16_KiB}};
  constexpr std::array kOver = {Step{4, 64_KiB}, Step{1, 32_KiB}};
  const std::int64_t concurrent = std::int64_t{plan.channels} * extent.heads;
  if (extent.hosts == 1) {
    Bytes chunk = 128_KiB;
    for (const Step& step : kInside) {
      if (extent.bytes < chunk * concurrent * step.times) chunk = std::min(chunk, step.chunk);
    }
    return chunk;
  }
  Bytes chunk = extent.hosts >= 4 ? 64_KiB : 128_KiB;
  for (const Step& step : kOver) {
    if (extent.bytes < chunk * concurrent * step.times) chunk = std::min(chunk, step.chunk);
  }
  return chunk;
}

namespace {

constexpr double kWarps = 20.0;

// The throughput of a group of warps grows far less than their number. On H200 in-switch reduction takes 3 % longer
// with six GPUs (6 warps gather) than with seven (7 warps), rings subtracted, and 0.3 % less from seven to eight
// (stas00/ml-engineering, network/README.md: gains of 1.19, 1.26 and 1.29); on H100 two hosts, where 5 gather, take 10
// % longer than one. (7/6)^x and (7/5)^x are that with 0.2 and 0.28. Calibrated; rates refer to the groups of eight
// GPUs on one host.
constexpr double kPower = 0.25;

struct GroupOfWarps {
  int warps = 0;
  int of_eight = 0;  // warps of the same group with eight GPUs on one host
};
double share_of(GroupOfWarps group) {
  return group.of_eight / kWarps * std::pow(double{1.0} * group.warps / group.of_eight, kPower);
}

NvlsWarps shares(int scatter, int reduce, int gather, int hand_out) {
  return {.scatter = share_of({.warps = scatter, .of_eight = 8}),
          .reduce = share_of({.warps = reduce, .of_eight = 5}),
          .gather = share_of({.warps = gather, .of_eight = 7}),
          .hand_out = share_of({.warps = hand_out, .of_eight = 5})};
}

}  // namespace

NvlsWarps nvls_warps(int heads) {
  const int reduce = heads <= 6 ? 7 : 5;
  const int gather = (20 - reduce) / 2;
  return shares(20 - reduce - gather, reduce, gather, 0);
}

NvlsWarps nvls_tree_warps(TreeRole place, int ranks) {
  if (place == TreeRole::kRoot) return nvls_warps(ranks);
  return shares(6, 5, 5, 4);
}

NvlsWarps nvls_warps_over_hosts() {
  return {.scatter = 8 / kWarps, .reduce = 3 / kWarps, .gather = 7 / kWarps, .hand_out = 2 / kWarps};
}

}  // namespace ringwright::collectives
