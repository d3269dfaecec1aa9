// The contents of one server: reads them from `cluster.node` and checks that the components fit together.
#include "network_models/host/host.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "network_models/host/mesh_links.h"

namespace ringwright::network_models {
namespace {

using namespace ringwright::literals;

constexpr int kMaxGpus = 1024;
constexpr int kMaxNicPorts = 8;

constexpr std::array kKinds = {
    Option{.name = "nvswitch", .doc = "all GPUs connect to one NVLink switch plane"},
    Option{.name = "nvlink_mesh", .doc = "NVLink lanes between the pairs of GPUs listed in 'mesh'"},
    Option{.name = "xgmi_mesh", .doc = "one xGMI lane between every two GPUs"},
    Option{.name = "none", .doc = "PCIe only"},
};

// A value that matters and that the user does not give is reported as an assumption.
Duration duration_or_assumed(ConfigMap& map, const Key<Duration>& key) {
  if (!map.documenting() && !map.has(key.name)) {
    map.assume(key.name, to_string(*key.fallback), "not given for this node");
  }
  return map.duration(key);
}

Bandwidth bandwidth_or_assumed(ConfigMap& map, const Key<Bandwidth>& key) {
  if (!map.documenting() && !map.has(key.name)) {
    map.assume(key.name, to_string(*key.fallback), "not given for this node");
  }
  return map.bandwidth(key);
}

// The fraction of a link's nominal rate left for data. 100 % keeps vendors' nominal rates.
// Keys of a component that the node does not have, from a preset that an override leaves without it. Others are
// unknown: a mistyped kind or count must not take its whole block along.
void ignore_keys(ConfigMap& map, std::initializer_list<std::string_view> keys, std::string_view why) {
  for (const std::string_view key : keys) map.ignore(key, why);
}

double read_efficiency(ConfigMap& map, std::string_view doc) {
  return map.percent({.name = "efficiency", .doc = doc, .fallback = 1.0, .min = 0.01, .max = 1.0});
}

constexpr std::array kTransports = {
    Option{"infiniband", "InfiniBand verbs"},
    Option{"roce", "the same verbs over Ethernet"},
    Option{"slingshot", "libfabric's provider for Slingshot, messages matched by the NIC (its default)"},
    Option{"slingshot_software", "the same, messages matched in software (FI_CXI_RX_MATCH_MODE=software)"},
    Option{"efa", "libfabric's provider for AWS's adapter"},
    Option{"tcp", "sockets"},
    Option{"tcpx", "Google's GPUDirect-TCPX"},
    Option{"fastrak", "Google's GPUDirect-TCPXO (FasTrak)"},
    Option{"gib", "Google's plug-in for RoCE (NCCL_NET=gIB)"}};

constexpr std::array kRetransmissions = {
    Option{"go_back_n", "the packet and all that were sent after it, as NICs for InfiniBand and RoCE"},
    Option{"selective", "the packet alone"}};

void read_nic(ConfigMap& nic, Host::Nic& result) {
  result.bandwidth = nic.bandwidth({.name = "bandwidth", .doc = "of one NIC with all of its ports, one direction"});
  result.ports = static_cast<int>(nic.integer({.name = "ports",
                                               .doc = "of one NIC; libraries may treat each as a separate NIC",
                                               .fallback = 1,
                                               .min = 1,
                                               .max = kMaxNicPorts}));
  result.efficiency = read_efficiency(nic, "fraction of the bandwidth for data");
  result.latency = duration_or_assumed(
      nic, {.name = "latency", .doc = "through one NIC; paid at the sender and at the receiver", .fallback = 600_ns});
  result.mtu = nic.bytes({.name = "mtu",
                          .doc = "the most payload of a packet; counts on links that lose packets ('faults')",
                          .fallback = Bytes(4096),
                          .min = Bytes(64),
                          .max = Bytes(65536)});
  const std::string retransmission =
      nic.choice({.name = "retransmission",
                  .doc = "what is sent again after a lost packet; counts on links that lose packets ('faults')",
                  .fallback = std::string("go_back_n")},
                 kRetransmissions);
  result.retransmission = retransmission == "selective" ? Retransmission::kSelective : Retransmission::kGoBackN;
  result.transport = nic.choice({.name = "transport",
                                 .doc = "what moves messages between hosts; the constants of collectives follow it",
                                 .fallback = std::string("infiniband")},
                                kTransports);
}

Host::NvLink read_nvlink(ConfigMap& map, int gpus) {
  Host::NvLink nvlink;
  const std::string kind =
      map.choice({.name = "kind", .doc = "how the GPUs of a node are connected", .fallback = "none"}, kKinds);
  if (kind == "none" && !map.documenting()) {
    ignore_keys(map, {"latency", "efficiency", "bandwidth", "reduces", "link_bandwidth", "mesh"},
                "the GPUs are not connected");
    return nvlink;
  }
  nvlink.latency = duration_or_assumed(
      map, {.name = "latency", .doc = "from one GPU to another, one way, without software", .fallback = 500_ns});
  nvlink.efficiency =
      read_efficiency(map, "fraction of the bandwidth for data: the rest is packet headers and flow control");
  if (kind == "nvswitch" || map.documenting()) {
    nvlink.kind = ScaleUp::kNvSwitch;
    nvlink.bandwidth = map.bandwidth({.name = "bandwidth", .doc = "of one GPU, one direction, all its links together"});
    nvlink.reduces =
        map.boolean({.name = "reduces", .doc = "whether the switches multicast and reduce (NVLS)", .fallback = false});
  }
  if (kind == "nvswitch") return nvlink;
  nvlink.kind = ScaleUp::kMesh;
  nvlink.bandwidth = map.bandwidth({.name = "link_bandwidth", .doc = "of one lane, one direction"});
  if (kind == "nvlink_mesh" || map.documenting()) nvlink.mesh = read_mesh(map, gpus);
  if (kind == "xgmi_mesh") nvlink.mesh = full_mesh(gpus);
  return nvlink;
}

struct Attachment {
  std::string_view name;
  std::string_view doc;
  int devices = 0;
  int points = 1;
};

std::vector<int> read_attachment(ConfigMap& map, const Attachment& what) {
  // The schema has no node.
  const auto last = map.documenting() ? std::nullopt : std::optional<std::int64_t>(what.points - 1);
  const auto given = map.integers({.name = what.name, .doc = what.doc, .min = 0, .max = last});
  if (given.empty()) return spread_evenly(what.devices, what.points);
  const bool of_more = given.size() > static_cast<std::size_t>(what.devices) && is_preset(map, what.name);
  if (given.size() != static_cast<std::size_t>(what.devices) && !of_more) {
    map.error(what.name, "E122",
              fmt::format("'{}' has {} entries but the node has {} of them", map.path_of(what.name), given.size(),
                          what.devices));
    return spread_evenly(what.devices, what.points);
  }
  std::vector<int> at;
  for (const std::int64_t point : given) at.push_back(static_cast<int>(point));
  at.resize(static_cast<std::size_t>(what.devices));  // a host with fewer devices than the preset's
  return at;
}

Host::Processor read_processor(ConfigMap& map) {
  constexpr std::array kProcessors = {
      Option{.name = "intel", .doc = "x86 by Intel"}, Option{.name = "amd", .doc = "x86 by AMD"},
      Option{.name = "arm", .doc = "Grace and other ARM processors"}, Option{.name = "power", .doc = "POWER by IBM"},
      Option{.name = "other", .doc = "any other"}};
  const std::string name =
      map.choice({.name = "processor", .doc = "vendor of the host's CPUs", .fallback = "intel"}, kProcessors);
  for (std::size_t i = 0; i < kProcessors.size(); ++i) {
    if (kProcessors[i].name == name) return static_cast<Host::Processor>(i);
  }
  return Host::Processor::kOther;
}

Host::Pcie read_pcie(ConfigMap& map, int gpus, int nics) {
  Host::Pcie pcie;
  pcie.processor = read_processor(map);
  // PCIe 5.0 x16: 32 GT/s * 16 lanes * 128/130 = 63.0 GB/s.
  pcie.bandwidth = bandwidth_or_assumed(
      map, {.name = "bandwidth", .doc = "of an x16 slot, one direction", .fallback = Bandwidth(63.0e9)});
  pcie.gpu_bandwidth = map.bandwidth(
      {.name = "gpu_bandwidth", .doc = "of a GPU's slot, when it differs (NVLink-C2C)", .fallback = pcie.bandwidth});
  pcie.latency = duration_or_assumed(map, {.name = "latency", .doc = "of one PCIe hop", .fallback = 150_ns});
  pcie.switches = static_cast<int>(map.integer({.name = "switches",
                                                .doc = "PCIe switches, 0 = devices attach to the sockets",
                                                .fallback = 0,
                                                .min = 0,
                                                .max = 1024}));
  pcie.sockets = static_cast<int>(
      map.integer({.name = "sockets", .doc = "CPU sockets (root complexes)", .fallback = 1, .min = 1, .max = 1024}));
  pcie.sockets_per_board =
      static_cast<int>(map.integer({.name = "sockets_per_board",
                                    .doc = "sockets that are connected pairwise; sockets of different boards are not",
                                    .fallback = pcie.sockets,
                                    .min = 1,
                                    .max = 1024}));
  if (pcie.sockets_per_board > 1 || map.documenting()) {
    pcie.socket_bandwidth = bandwidth_or_assumed(
        map, {.name = "socket_bandwidth", .doc = "between two sockets, one direction", .fallback = 22_GBps});
    pcie.socket_latency =
        duration_or_assumed(map, {.name = "socket_latency", .doc = "between two sockets", .fallback = 150_ns});
  }
  const int points = pcie.switches > 0 ? pcie.switches : pcie.sockets;
  pcie.gpu_at = read_attachment(map, {.name = "gpu_at",
                                      .doc = "by GPU: its PCIe switch (or socket); default: equal blocks",
                                      .devices = gpus,
                                      .points = points});
  pcie.nic_at = read_attachment(map, {.name = "nic_at",
                                      .doc = "by NIC: its PCIe switch (or socket); default: equal blocks",
                                      .devices = nics,
                                      .points = points});
  return pcie;
}

Host::Storage read_storage(ConfigMap& map) {
  Host::Storage storage;
  storage.drives = static_cast<int>(
      map.integer({.name = "drives", .doc = "local NVMe drives of a host", .fallback = 0, .min = 0, .max = kMaxGpus}));
  if (storage.drives == 0 && !map.documenting()) {
    ignore_keys(map, {"read", "write", "latency", "capacity"}, "the node has no drives");
    return storage;
  }
  storage.read = bandwidth_or_assumed(map, {.name = "read", .doc = "of one drive", .fallback = Bandwidth(6.8e9)});
  storage.write = bandwidth_or_assumed(map, {.name = "write", .doc = "of one drive", .fallback = 4_GBps});
  storage.latency = map.duration({.name = "latency", .doc = "of an access to a drive", .fallback = 80_us});
  storage.capacity =
      map.bytes({.name = "capacity", .doc = "of one drive; 0: not checked", .fallback = 0_B, .min = 0_B});
  return storage;
}

// The content of such files was merged under the node's keys when the document was loaded (node_import.h).
void name_imports(ConfigMap& node) {
  const auto name = [&](std::string_view key, std::string_view doc) {
    if (node.documenting() || node.has(key)) {
      static_cast<void>(node.text({.name = key, .doc = doc, .fallback = std::string()}));
    }
  };
  name("nccl_topo", "a topology file of NCCL (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE) to read the host from");
  name("nvidia_smi_topo", "output of 'nvidia-smi topo -m' to read the host from");
}

// A NIC's GPU must reach it, and GPUs without NVLink must reach each other, over connected sockets.
void check_boards(ConfigMap& map, const Host& host) {
  const Host::Pcie& pcie = host.pcie;
  const auto board = [&](int point) {
    const int socket = pcie.switches > 0 ? point * pcie.sockets / pcie.switches : point;
    return socket / pcie.sockets_per_board;
  };
  const auto at = [](const std::vector<int>& places, int device) { return places[static_cast<std::size_t>(device)]; };
  for (int gpu = 0; gpu < host.gpus && host.nic.count > 0; ++gpu) {
    if (board(at(pcie.gpu_at, gpu)) == board(at(pcie.nic_at, host.nic_of(gpu)))) continue;
    map.error("nic_at", "E122",
              fmt::format("GPU {} and its NIC {} are on boards that are not connected", gpu, host.nic_of(gpu)),
              "raise 'sockets_per_board' or attach a NIC to each board");
    break;
  }
  if (host.nvlink.kind != ScaleUp::kNvSwitch && pcie.sockets_per_board < pcie.sockets) {
    map.error("sockets_per_board", "E122", "GPUs of different boards can communicate only over an NVSwitch plane",
              "set 'nvlink.kind' to nvswitch or connect all sockets");
  }
}

}  // namespace

std::vector<int> spread_evenly(int devices, int points) {
  std::vector<int> at;
  for (int device = 0; device < devices; ++device) at.push_back(device * points / devices);
  return at;
}

void Host::pass_through_memory(Bandwidth copies) {
  gpudirect = false;
  pcie.gpu_bandwidth = std::min(pcie.gpu_bandwidth, copies);
  for (Host& other : others) other.pass_through_memory(copies);
}

void Host::leave_out_nvlink() {
  nvlink = {};
  for (Host& other : others) other.leave_out_nvlink();
}

int Host::most_nics() const {
  int most = nic.count;
  for (const Host& other : others) most = std::max(most, other.nic.count);
  return most;
}

bool Host::every_kind_has_nics() const {
  return nic.count > 0 && std::ranges::all_of(others, [](const Host& other) { return other.nic.count > 0; });
}

Bandwidth Host::fastest_nic() const {
  Bandwidth fastest = nic.bandwidth;
  for (const Host& other : others) fastest = std::max(fastest, other.nic.bandwidth);
  return fastest;
}

Bandwidth Host::slowest_slot() const {
  Bandwidth slowest = pcie.gpu_bandwidth;
  for (const Host& other : others) slowest = std::min(slowest, other.pcie.gpu_bandwidth);
  return slowest;
}

int Host::nic_of(int gpu) const {
  if (nic.count == 0) return -1;
  const int point = pcie.gpu_at[static_cast<std::size_t>(gpu)];
  const auto place = std::count(pcie.gpu_at.begin(), pcie.gpu_at.begin() + gpu, point);
  const auto gpus_here = std::count(pcie.gpu_at.begin(), pcie.gpu_at.end(), point);
  const auto nics_here = std::count(pcie.nic_at.begin(), pcie.nic_at.end(), point);
  if (nics_here == 0) return gpu * nic.count / gpus;
  auto wanted = place * nics_here / gpus_here;
  for (int candidate = 0; candidate < nic.count; ++candidate) {
    if (pcie.nic_at[static_cast<std::size_t>(candidate)] == point && wanted-- == 0) return candidate;
  }
  return -1;
}

Host read_host(ConfigMap& node) {
  name_imports(node);
  Host host;
  host.gpus =
      static_cast<int>(node.integer({.name = "gpus",
                                     .doc = "GPUs of a node (of an NVLink domain that spans a rack: all of them)",
                                     .min = 1,
                                     .max = kMaxGpus}));
  ConfigMap nvlink = node.map("nvlink", "the scale-up network between the GPUs of a node");
  host.nvlink = read_nvlink(nvlink, host.gpus);
  ConfigMap nic = node.map("nic", "the NICs of a node");
  host.nic.count = static_cast<int>(
      nic.integer({.name = "count", .doc = "NICs for traffic between GPUs", .fallback = 0, .min = 0, .max = kMaxGpus}));
  if (host.nic.count > 0 || nic.documenting()) {
    read_nic(nic, host.nic);
  } else {
    ignore_keys(nic, {"bandwidth", "ports", "efficiency", "latency", "mtu", "retransmission", "transport"},
                "the node has no NICs");
  }
  ConfigMap pcie = node.map("pcie", "the PCIe tree: slots, switches, sockets");
  host.pcie = read_pcie(pcie, host.gpus, host.nic.count);
  check_boards(pcie, host);
  ConfigMap memory = node.map("memory", "host memory, per socket");
  host.memory.bandwidth = bandwidth_or_assumed(
      memory, {.name = "bandwidth", .doc = "of one socket's memory, one direction", .fallback = 200_GBps});
  host.memory.latency = memory.duration({.name = "latency", .doc = "of host memory", .fallback = 100_ns});
  host.memory.capacity =
      memory.bytes({.name = "capacity", .doc = "of one socket's memory; 0: not checked", .fallback = 0_B, .min = 0_B});
  ConfigMap storage = node.map("storage", "local drives");
  host.storage = read_storage(storage);
  return host;
}

}  // namespace ringwright::network_models
