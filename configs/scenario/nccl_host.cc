#include "configs/scenario/nccl_host.h"

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "collectives/nccl/environment.h"
#include "configs/scenario/scenario.h"

namespace ringwright::configs {
namespace {

// For a GPU that does not state its architecture: the most common one.
constexpr int kAssumedCapability = 90;
// AMD's GPUs have no such number; RCCL plans for them with the lists of NCCL's older generations.
constexpr int kOfAmd = 80;

int compute_capability(const workload::GpuSpec& gpu) {
  if (!gpu.nvidia) return kOfAmd;
  const int number = static_cast<int>(std::lround(gpu.compute_capability * 10.0));
  return number > 0 ? number : kAssumedCapability;
}

collectives::Processor processor(network_models::Host::Processor maker) {
  using From = network_models::Host::Processor;
  using To = collectives::Processor;
  switch (maker) {
    case From::kIntel: return To::kIntel;
    case From::kAmd: return To::kAmd;
    case From::kArm: return To::kArm;
    case From::kPower: return To::kPower;
    case From::kOther: return To::kOther;
  }
  return To::kOther;
}

// Every port becomes a NIC at the location of the one that it belongs to.
void take_ports_apart(collectives::NcclHost& host, int ports) {
  host.nics *= ports;
  host.ports = ports;
  host.nic = host.nic / ports;
  std::vector<int> places;
  for (const int place : host.nic_at) places.insert(places.end(), static_cast<std::size_t>(ports), place);
  host.nic_at = std::move(places);
}

}  // namespace

collectives::NcclHost make_nccl_host(const network_models::Host& host, const workload::GpuSpec& gpu, NicPorts ports) {
  using collectives::NcclHost;
  NcclHost result{.gpus = host.gpus,
                  .compute_capability = compute_capability(gpu),
                  .pcie = host.pcie.bandwidth,
                  .gpu_slot = host.pcie.gpu_bandwidth,
                  .socket = host.pcie.socket_bandwidth,
                  .pcie_switches = host.pcie.switches,
                  .sockets = host.pcie.sockets,
                  .gpu_at = host.pcie.gpu_at,
                  .nic_at = host.pcie.nic_at,
                  .nics = host.nic.count,
                  .nic = host.nic.bandwidth,
                  .gpudirect = host.gpudirect,
                  .processor = processor(host.pcie.processor)};
  if (ports == NicPorts::kApart) take_ports_apart(result, host.nic.ports);
  if (host.nvlink.kind == network_models::ScaleUp::kNvSwitch) {
    result.links = NcclHost::Links::kSwitch;
    result.nvlink = host.nvlink.bandwidth;
    result.multicast = host.nvlink.reduces;
  }
  if (host.nvlink.kind == network_models::ScaleUp::kMesh) {
    result.links = NcclHost::Links::kMesh;
    for (const network_models::MeshLink& link : host.nvlink.mesh) {
      result.lanes.push_back(
          {.a = link.a, .b = link.b, .bandwidth = host.nvlink.bandwidth * static_cast<double>(link.lanes)});
    }
  }
  return result;
}

collectives::NcclHost make_nccl_host(const Cluster& cluster, NicPorts ports) {
  collectives::NcclHost host = make_nccl_host(cluster.host, cluster.gpu, ports);
  for (std::size_t kind = 1; kind < cluster.host.kinds(); ++kind) {
    host.others.push_back(make_nccl_host(cluster.host.kind(kind), cluster.groups[kind].gpu, ports));
  }
  return host;
}

std::vector<collectives::NcclHost*> all_kinds(collectives::NcclHost& host) {
  std::vector<collectives::NcclHost*> kinds = {&host};
  for (collectives::NcclHost& other : host.others) kinds.push_back(&other);
  return kinds;
}

collectives::CostClass cost_class_of(const Cluster& cluster, const collectives::NcclSetup& nccl) {
  const HostGroup* const oldest = cluster.oldest_group();
  if (oldest == nullptr) return cost_class_of(cluster.host, cluster.gpu, nccl);
  const auto kind = static_cast<std::size_t>(oldest - cluster.groups.data());
  return cost_class_of(cluster.host.kind(kind), oldest->gpu, nccl);
}

collectives::CostClass cost_class_of(const network_models::Host& host, const workload::GpuSpec& gpu,
                                     const collectives::NcclSetup& nccl) {
  const collectives::Generation generation = collectives::generation_of(compute_capability(gpu));
  std::string kernels = "cdna3";  // of AMD's GPUs, the one that was measured
  if (gpu.nvidia) {
    switch (generation) {
      case collectives::Generation::kVolta: kernels = "volta"; break;
      case collectives::Generation::kAmpere: kernels = "ampere"; break;
      case collectives::Generation::kHopper: kernels = "hopper"; break;
      case collectives::Generation::kBlackwell: kernels = "blackwell"; break;
    }
  }
  std::string transport = host.nic.transport;
  if (const auto software = nccl.knobs.cxi_software; software && transport.starts_with("slingshot")) {
    transport = *software ? "slingshot_software" : "slingshot";
  }
  return {.generation = generation,
          .kernels = std::move(kernels),
          .transport = std::move(transport),
          .version = nccl.version};
}

std::vector<std::string> variables_that_act() {
  return collectives::modelled_nccl_variables();
}

}  // namespace ringwright::configs
