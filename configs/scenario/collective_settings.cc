#include "configs/scenario/collective_settings.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "collectives/libraries/settings.h"
#include "configs/scenario/graph_nets.h"
#include "configs/scenario/nccl_host.h"
#include "configs/scenario/network_sums.h"

namespace ringwright::configs {
namespace {

collectives::CommSettings read_comm(ConfigMap root, const collectives::ChooserSettings& chooser,
                                    const Scenario& scenario, const collectives::NcclFiles& files,
                                    Diagnostics& foreign) {
  ConfigMap map = root.map("comm", "how NCCL runs collectives, for `collectives.model: chunks`");
  if (chooser.rung == collectives::Rung::kChunks || chooser.kernel_overhead || map.documenting()) {
    const collectives::CostClass of = cost_class_of(scenario.cluster, scenario.nccl);
    const ChannelCosts defaults = collectives::class_costs(map, of, scenario.nccl.knobs, files, foreign);
    return collectives::read_comm_settings(map, defaults);
  }
  return collectives::read_wires_only(map);
}

// Of a library with variables of its own: NCCL's, where nothing uses its choice. Others: collectives/key_effects.cc.
void ignore_choices(ConfigMap comm, const collectives::LibrarySettings& library) {
  const std::vector<std::string> own = collectives::library_variables(library.profile->name);
  if (own.empty() || !comm.has("env")) return;
  ConfigMap env = comm.map("env", "");
  for (const std::string& name : env.keys()) {
    if (std::ranges::find(own, name) != own.end() || name == "NCCL_NET_GDR_LEVEL") continue;
    env.ignore(name, "only 'collectives.tuner: nccl', 'overhead: kernels' and 'model: chunks' use NCCL's choice");
  }
}

collectives::NcclSetup read_nccl(ConfigMap root, const Cluster& cluster, collectives::Rung rung,
                                 const collectives::NcclFiles& files, Diagnostics& foreign,
                                 const collectives::LibrarySettings& library) {
  ConfigMap comm = root.map("comm", "the library that runs collectives");
  collectives::NcclSetup nccl = collectives::read_nccl_settings(comm, files, library, foreign);
  if (comm.has("algorithms") && rung != collectives::Rung::kChunks) {
    comm.ignore("algorithms", "only 'collectives.model: chunks' simulates thread blocks");
  }
  // AWS's plug-in joins the adapters of a GPU by itself, whatever the version.
  const bool by_plugin = cluster.host.nic.transport == "efa";
  const bool merged = by_plugin || (nccl.tables.channels.merges_ports && nccl.knobs.merge_ports);
  nccl.host = make_nccl_host(cluster, merged ? NicPorts::kMerged : NicPorts::kApart);
  check_graph_nets(comm, nccl);
  return nccl;
}

// Without GPUDirect RDMA: affects the wires with every collective model.
void pass_through_host_memory(ConfigMap root, ChannelCosts& comm, Cluster& cluster) {
  cluster.topology->pass_through_host_memory(comm.host_copy);
  comm.gpudirect = cluster.fabric == "graph";
  ConfigMap costs = root.map("comm", "how NCCL runs collectives, for `collectives.model: chunks`")
                        .map("costs", "what NCCL's kernels cost in addition to the paths of their bytes");
  if (cluster.fabric != "graph" || !costs.has("gpudirect")) return;
  costs.warn("gpudirect", "W131",
             fmt::format("{} has no effect: a fabric of type graph does not describe host memory",
                         costs.path_of("gpudirect")));
}

bool is_joined_by_pcie(const network_models::Host& host) {
  const bool one_board = host.pcie.sockets_per_board >= host.pcie.sockets;
  return one_board && std::ranges::all_of(host.others, is_joined_by_pcie);
}

// Without peer-to-peer copies NCCL's messages inside a host are in its memory: affects the wires with every collective
// model. Paths between GPUs of one PCIe switch are shorter here than over that memory.
void leave_out_nvlink(ConfigMap root, Cluster& cluster) {
  if (root.documenting()) return;
  ConfigMap env = root.map("comm", "the library that runs collectives").map("env", "NCCL's environment variables");
  const std::string_view name = env.has("NCCL_P2P_DISABLE") ? "NCCL_P2P_DISABLE" : "NCCL_P2P_LEVEL";
  if (!is_joined_by_pcie(cluster.host)) {
    return env.error(name, "E182",
                     fmt::format("{} leaves no path between GPUs of different boards, which only NVLink joins", name));
  }
  cluster.topology->leave_out_nvlink();
  cluster.host.leave_out_nvlink();
  if (cluster.fabric != "graph") return;
  env.warn(name, "W131",
           fmt::format("{} changes NCCL's choice only: a fabric of type graph does not describe paths over PCIe",
                       env.path_of(name)));
}

// The library of one vendor does not span GPUs of another's.
void check_vendors(ConfigMap& map, const collectives::ChooserSettings& chooser, const Cluster& cluster) {
  if (!cluster.mixes_vendors() || !chooser.heeds_kernels()) return;
  map.error("", "E591",
            "the groups of the cluster have GPUs of different vendors, and the library of one does not span them",
            "collectives: {model: steps, overhead: none, tuner: nccl}: each vendor's library chooses inside its "
            "groups, and messages pass between them without the kernels of either");
}

// Only of NCCL's kernels is known how many multiprocessors they take.
void check_interference(ConfigMap root, const collectives::LibrarySettings& library,
                        const InterferenceSettings& interference) {
  if (!interference.counts || root.documenting() || library.profile->nccl_kernels) return;
  ConfigMap map = root.map("interference", "how computing and communication on one GPU slow each other");
  map.error("model", "E563",
            fmt::format("'interference.model: share' is about NCCL's kernels, and comm.library is {}",
                        library.profile->name),
            "model: none");
}

}  // namespace

void read_collectives(ConfigMap root, const collectives::ChooserSettings& chooser,
                      const collectives::NcclFiles& files, Diagnostics& foreign, Scenario& scenario) {
  scenario.collectives = chooser;
  ConfigMap choices = root.map("collectives", "which algorithms carry out collectives");
  check_vendors(choices, chooser, scenario.cluster);
  const bool nvidia = scenario.cluster.gpu.nvidia;
  scenario.nccl = read_nccl(root, scenario.cluster, chooser.rung, files, foreign, chooser.library);
  if (scenario.cluster.mixes_vendors() && chooser.tuner == collectives::Tuner::kNccl) {
    const auto second = collectives::read_library(root.map("comm", "the library that runs collectives"), !nvidia);
    scenario.second_library = read_nccl(root, scenario.cluster, chooser.rung, files, foreign, second);
  }
  check_interference(root, chooser.library, scenario.interference);
  const bool asked = chooser.heeds_kernels() || chooser.tuner == collectives::Tuner::kNccl;
  if (!asked && !scenario.interference.counts && !root.documenting()) {
    ignore_choices(root.map("comm", "the library that runs collectives"), chooser.library);
    const collectives::NcclKnobs untouched;
    scenario.nccl.knobs.ib_timeout = untouched.ib_timeout;
    scenario.nccl.knobs.ib_retries = untouched.ib_retries;
  }
  if (!scenario.nccl.knobs.peer_to_peer && (asked || scenario.interference.counts)) {
    leave_out_nvlink(root, scenario.cluster);
  }
  scenario.comm = read_comm(root, chooser, scenario, files, foreign);
  // What one group lacks is part of its hosts; what all lack is a setting of the library.
  const bool some = std::ranges::any_of(all_kinds(scenario.nccl.host), &collectives::NcclHost::gpudirect);
  scenario.comm.costs.gpudirect = scenario.comm.costs.gpudirect && scenario.nccl.knobs.gpudirect && some;
  for (collectives::NcclHost* host : all_kinds(scenario.nccl.host)) {
    host->gpudirect = host->gpudirect && scenario.comm.costs.gpudirect;
  }
  if (!(scenario.comm.costs.host_copy > Bandwidth(0.0))) {
    scenario.comm.costs.host_copy = scenario.cluster.host.slowest_slot() * kCopyShare;
  }
  if (!scenario.comm.costs.gpudirect) pass_through_host_memory(root, scenario.comm.costs, scenario.cluster);
  apply_network_sums(root, scenario.cluster.switch_sums, scenario.nccl, scenario.comm);
}

collectives::LibrarySettings read_library_of(ConfigMap root, const Cluster& cluster) {
  return collectives::read_library(root.map("comm", "the library that runs collectives"), cluster.gpu.nvidia);
}

}  // namespace ringwright::configs
