// The bounds are what hardware of the last ten years may be expected to lie in: a kernel launch between 2 and 60 us
// (one process a GPU, or one that drives eight), flags seen across NVLink within a fraction of a microsecond to a few,
// a thread block's copies at a few to a hundred GB/s, a proxy thread's hand-over to a NIC below 30 us.
#include "validation/platform_constants.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

constexpr auto kUs = ConstantUnit::kMicroseconds;
constexpr auto kRate = ConstantUnit::kGigabytesPerSecond;
constexpr auto kSize = ConstantUnit::kKibibytes;
constexpr auto kPart = ConstantUnit::kShare;
constexpr auto kNet = ConstantOf::kNetwork;
constexpr auto kGpu = ConstantOf::kKernels;

constexpr std::array kConstants = {
    PlatformConstant{"comm.costs.launch", "of a call", kUs, kGpu, {1.0, 60.0, 5.0}},
    PlatformConstant{"comm.costs.ll.hop", "LL between two GPUs of a host", kUs, kGpu, {0.1, 3.0, 0.45}},
    PlatformConstant{"comm.costs.ll.rate", "LL, one channel", kRate, kGpu, {2.0, 100.0, 50.0}},
    PlatformConstant{"comm.costs.ll128.hop", "LL128 between two GPUs of a host", kUs, kGpu, {0.2, 5.0, 0.9}},
    PlatformConstant{"comm.costs.ll128.rate", "LL128, one channel", kRate, kGpu, {5.0, 100.0, 50.0}},
    PlatformConstant{"comm.costs.simple.hop", "Simple between two GPUs of a host", kUs, kGpu, {0.3, 10.0, 1.5}},
    PlatformConstant{"comm.costs.simple.primitive", "Simple, one primitive", kUs, kGpu, {0.3, 10.0, 1.5}},
    PlatformConstant{"comm.costs.simple.rate", "Simple, one channel", kRate, kGpu, {5.0, 100.0, 50.0}},
    PlatformConstant{"cluster.node.nvlink.efficiency", "data on NVLink, of its nominal rate", kPart, kGpu, {0.4, 1.0, 0.8}},
    PlatformConstant{"comm.costs.network.post", "from a filled slot to the NIC", kUs, kNet, {0.2, 30.0, 1.5}},
    PlatformConstant{"comm.costs.network.flush", "Simple, from a message's arrival to the GPU", kUs, kNet, {0.2, 60.0, 3.0}},
    PlatformConstant{"comm.costs.network.poll", "LL and LL128, the same", kUs, kNet, {0.1, 30.0, 0.5}},
    PlatformConstant{"comm.costs.network.rendezvous", "of messages above the eager limit", kUs, kNet, {0.1, 60.0, 0.1}},
    PlatformConstant{"comm.costs.network.eager", "the provider's eager limit", kSize, kNet, {1.0, 256.0, 12.0}},
    PlatformConstant{"comm.costs.network.host_rate", "LL above that limit, one connection", kRate, kNet, {0.1, 100.0, 10.0}},
    PlatformConstant{"cluster.node.nic.efficiency", "data on the NIC, of its nominal rate", kPart, kNet, {0.4, 1.0, 0.95}},
};

}  // namespace

std::span<const PlatformConstant> platform_constants() { return kConstants; }

std::string value_text(const PlatformConstant& constant, double value) {
  switch (constant.unit) {
    case ConstantUnit::kMicroseconds: return fmt::format("{:.3g}us", value);
    case ConstantUnit::kGigabytesPerSecond: return fmt::format("{:.3g}GB/s", value);
    case ConstantUnit::kKibibytes: return fmt::format("{}B", std::llround(value * 1024.0));
    case ConstantUnit::kShare: return fmt::format("{:.3g}%", 100.0 * value);
  }
  return "";
}

}  // namespace ringwright::validation
