// The bounds cover hardware of the last ten years: a kernel launch between 2 and 60 us (one process a GPU, or one that
// drives eight), flags observed across NVLink within a fraction of a microsecond to a few, a thread block's copies at
// a few to a hundred GB/s, a proxy thread's hand-over to a NIC below 30 us.
#include "validation/fit/platform_constants.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace ringwright::validation {
namespace {

constexpr auto kUs = ConstantUnit::kMicroseconds;
constexpr auto kRate = ConstantUnit::kGigabytesPerSecond;
constexpr auto kPart = ConstantUnit::kShare;
constexpr auto kNet = ConstantOf::kNetwork;
constexpr auto kGpu = ConstantOf::kKernels;

using configs::Scenario;

double us(Duration time) { return to_seconds(time) * 1e6; }
double gb(Bandwidth rate) { return rate.count() / 1e9; }
template <Protocol kProtocol>
const ChannelCosts::OfProtocol& of(const Scenario& scenario) {
  return scenario.comm.costs.of(kProtocol);
}

constexpr std::array kConstants = {
    PlatformConstant{"comm.costs.launch", "of a call on the device", kUs, kGpu, 1.0, 60.0, 0.5,
                     [](const Scenario& s) { return us(s.comm.costs.launch); }},
    PlatformConstant{"comm.costs.launch_channel", "of each further channel", kUs, kGpu, 0.01, 4.0, 0.8,
                     [](const Scenario& s) { return us(s.comm.costs.launch_channel); }},
    PlatformConstant{"comm.costs.host.call", "of a call on the host, for each GPU", kUs, kGpu, 0.5, 60.0, 0.7,
                     [](const Scenario& s) { return us(s.comm.costs.host_call); }},
    PlatformConstant{"comm.costs.ll.hop", "LL between two GPUs of a host", kUs, kGpu, 0.1, 3.0, 0.4,
                     [](const Scenario& s) { return us(of<Protocol::kLl>(s).hop); }},
    PlatformConstant{"comm.costs.ll.rate", "LL, one channel", kRate, kGpu, 1.0, 30.0, 0.4,
                     [](const Scenario& s) { return gb(of<Protocol::kLl>(s).rate); }},
    PlatformConstant{"comm.costs.ll128.hop", "LL128 between two GPUs of a host", kUs, kGpu, 0.2, 6.0, 0.4,
                     [](const Scenario& s) { return us(of<Protocol::kLl128>(s).hop); }},
    PlatformConstant{"comm.costs.ll128.rate", "LL128, one channel", kRate, kGpu, 3.0, 80.0, 0.5,
                     [](const Scenario& s) { return gb(of<Protocol::kLl128>(s).rate); }},
    PlatformConstant{"comm.costs.simple.primitive", "Simple, one primitive", kUs, kGpu, 0.3, 12.0, 0.6,
                     [](const Scenario& s) { return us(of<Protocol::kSimple>(s).primitive); }},
    PlatformConstant{"comm.costs.simple.rate", "Simple, one channel", kRate, kGpu, 5.0, 120.0, 0.3,
                     [](const Scenario& s) { return gb(of<Protocol::kSimple>(s).rate); }},
    PlatformConstant{"comm.costs.switched", "added where one reads from the switches", kUs, kGpu, 0.5, 20.0, 1.6,
                     [](const Scenario& s) { return us(s.comm.costs.switched); }},
    PlatformConstant{"comm.costs.further_peer", "of each further peer that one scatters to or gathers from", kUs, kGpu,
                     0.05, 5.0, 1.6, [](const Scenario& s) { return us(s.comm.costs.further_peer); }},
    PlatformConstant{"cluster.node.nvlink.efficiency", "data on NVLink, of its nominal rate", kPart, kGpu, 0.4, 1.0,
                     0.08, [](const Scenario& s) { return s.cluster.host.nvlink.efficiency; }},
    PlatformConstant{"comm.costs.network.post", "from a filled slot to the NIC", kUs, kNet, 0.2, 200.0, 1.2,
                     [](const Scenario& s) { return us(s.comm.costs.network_post); }},
    PlatformConstant{"comm.costs.network.flush", "Simple, from a message's arrival to the GPU", kUs, kNet, 0.2, 100.0,
                     0.8, [](const Scenario& s) { return us(s.comm.costs.network_flush); }},
    PlatformConstant{"comm.costs.network.proxy", "a proxy thread with one message", kUs, kNet, 0.02, 60.0, 0.6,
                     [](const Scenario& s) { return us(s.comm.costs.network_proxy); }},
    PlatformConstant{"comm.costs.network.rendezvous", "large messages, at the receiver's proxy", kUs, kNet, 0.02, 60.0,
                     1.2, [](const Scenario& s) { return us(s.comm.costs.network_rendezvous); }},
    PlatformConstant{"comm.costs.network.host_rate", "LL, lines that the proxy reads", kRate, kNet, 0.1, 100.0, 1.2,
                     [](const Scenario& s) { return gb(s.comm.costs.network_host_rate); }},
    PlatformConstant{"cluster.node.nic.efficiency", "data on the NIC, of its nominal rate", kPart, kNet, 0.4, 1.0, 0.08,
                     [](const Scenario& s) { return s.cluster.host.nic.efficiency; }},
};

}  // namespace

ClassConstant PlatformConstant::on(const configs::Scenario& scenario) const {
  return {.low = low, .high = high, .start = std::clamp(class_value(scenario), low, high), .spread = spread};
}

std::span<const PlatformConstant> platform_constants() { return kConstants; }

std::string value_text(const PlatformConstant& constant, double value) {
  switch (constant.unit) {
    case ConstantUnit::kMicroseconds: return fmt::format("{:.3g}us", value);
    case ConstantUnit::kGigabytesPerSecond: return fmt::format("{:.3g}GB/s", value);
    case ConstantUnit::kShare: return fmt::format("{:.3g}%", 100.0 * value);
  }
  return "";
}

}  // namespace ringwright::validation
