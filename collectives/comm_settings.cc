// Defaults of the constants: planning values for NVSwitch hosts. Hop latencies are NCCL's tables of latencies per hop
// (tuning.cc: NVLink, ring 0.6 / 1.9 / 3.4 us for LL / LL128 / Simple) minus the time of a primitive, measured with
// NPKit on GH200 (spcl/atlahs, npkit_benchmark_results: smallest recv-reduce-send 0.13 us with LL and 1.45 us with
// Simple; of 1 MiB with Simple, send 21.6 us, recv 22.1, recv-reduce-send 28.1, recv-copy-send 38.2,
// recv-reduce-copy-send 45.0: 6.5 us for each load and 15.1 for each store, within 4 %).
#include "collectives/comm_settings.h"

#include <array>
#include <string>

namespace ringwright::collectives {
namespace {

using namespace ringwright::literals;

constexpr std::string_view kCostsDoc = "cost of NCCL's kernels in addition to the transfer of their bytes";

// Whether messages between hosts are staged in host memory.
void read_staging(ConfigMap& costs, ChannelCosts& result) {
  result.gpudirect =
      costs.boolean({.name = "gpudirect",
                     .doc = "whether NICs read and write GPU memory (GPUDirect RDMA); otherwise messages are staged "
                            "in host memory, with every collectives.model",
                     .fallback = result.gpudirect});
  result.host_copy =
      costs.bandwidth({.name = "host_copy",
                       .doc = "without GPUDirect: rate of a GPU's copies to or from host memory; 0: 80 % of its slot",
                       .fallback = result.host_copy,
                       .min = Bandwidth(0.0)});
}

// Rates of one channel by generation. NCCL's own limits (tuning.cc, one host: LL of all channels together 39, 87.7,
// 141, 282 GB/s of 12 channels with Volta and 24 after it; LL128 20, 20, 36.7, 40 and Simple, in a tree, 26.5, 24,
// 38.7, 70 GB/s a channel) apply to channels that reduce; a copy is a third faster. NPKit's times agree for Simple on
// GH200. LL128 is listed by kind up to 2.8: 18.8 GB/s a channel for broadcasts, 18.3 for all-gathers, 16.9, 15.2 and 12
// with a reduction.
struct ChannelRates {
  Bandwidth ll;
  Bandwidth ll128;
  Bandwidth simple;
};
constexpr ChannelRates rates_of(Generation generation) {
  switch (generation) {
    case Generation::kVolta: return {Bandwidth(3.3e9), Bandwidth(18.5e9), 35_GBps};
    case Generation::kAmpere: return {Bandwidth(3.6e9), Bandwidth(18.5e9), 32_GBps};
    case Generation::kHopper: return {Bandwidth(7.8e9), 43_GBps, 50_GBps};
    case Generation::kBlackwell: return {Bandwidth(7.8e9), 47_GBps, 50_GBps};
  }
  return {};
}

constexpr std::size_t number_of(Protocol protocol) {
  return static_cast<std::size_t>(protocol);
}

struct ProtocolName {
  Protocol protocol;
  std::string_view name;
  std::string_view doc;
};
constexpr std::array kProtocolNames = {
    ProtocolName{Protocol::kLl, "ll", "protocol LL: a flag with every 4 bytes"},
    ProtocolName{Protocol::kLl128, "ll128", "protocol LL128: a flag with every 120 bytes"},
    ProtocolName{Protocol::kSimple, "simple", "protocol Simple: a counter behind a fence"},
};

ChannelCosts::OfProtocol read_protocol(ConfigMap map, const ChannelCosts::OfProtocol& fallback) {
  ChannelCosts::OfProtocol costs;
  costs.hop = map.duration({.name = "hop",
                            .doc = "inside a host: from the last store until it is visible to the peer",
                            .fallback = fallback.hop,
                            .min = 0_ns});
  costs.primitive = map.duration({.name = "primitive",
                                  .doc = "fixed cost of one primitive: waiting loops, barriers, counters",
                                  .fallback = fallback.primitive,
                                  .min = 0_ns});
  costs.rate = map.bandwidth({.name = "rate",
                              .doc = "useful bytes that one channel copies per second",
                              .fallback = fallback.rate,
                              .min = Bandwidth(1e6)});
  return costs;
}

constexpr std::array kAlgorithms = {
    Option{"ring", "rings through all ranks"},
    Option{"tree", "double binary tree over hosts, chains inside"},
    Option{"nvls", "reduction in the NVSwitches of one host"},
    Option{"nvls_tree", "in-switch reduction inside hosts, double tree over them"},
    Option{"collnet_direct", "reduction in network switches, every GPU with its own part"},
    Option{"collnet_chain", "reduction in network switches, chains inside hosts"},
    Option{"pat", "parallel aggregated trees"},
    Option{"all_pairs", "all-reduce inside a host, all peers at once"},
    Option{"p2p", "sends and receives between pairs"},
};

constexpr std::array kProtocolOptions = {
    Option{"ll", "a flag with every 4 bytes"},
    Option{"ll128", "a flag with every 120 bytes"},
    Option{"simple", "a counter behind a fence"},
};

void read_calls(ConfigMap costs, ChannelCosts& result) {
  result.launch = costs.duration({.name = "launch",
                                  .doc = "of a call on the device: from the kernel's start to the first primitives",
                                  .fallback = result.launch,
                                  .min = 0_ns});
  result.launch_channel = costs.duration({.name = "launch_channel",
                                          .doc = "per further channel of a call: fetch of its work, start of its block",
                                          .fallback = result.launch_channel,
                                          .min = 0_ns});
  ConfigMap host = costs.map("host", "of a call on the CPU thread that issues calls; it bounds the rate of calls");
  result.host_call = host.duration(
      {.name = "call", .doc = "of a call, per GPU that the thread drives", .fallback = result.host_call, .min = 0_ns});
  result.host_channel = host.duration({.name = "channel",
                                       .doc = "per further channel of a call, per GPU that the thread drives",
                                       .fallback = result.host_channel,
                                       .min = 0_ns});
  result.host_peer = host.duration({.name = "peer",
                                    .doc = "per peer of an all-to-all or a send, per GPU that the thread drives",
                                    .fallback = result.host_peer,
                                    .min = 0_ns});
}

void read_matching(ConfigMap matched, ChannelCosts& result) {
  result.network_own_copy =
      matched.bytes({.name = "own_copy",
                     .doc = "of eager messages: the receiver's proxy copies up to this many bytes itself",
                     .fallback = result.network_own_copy,
                     .min = Bytes(0)});
  result.network_copy_rate = matched.bandwidth(
      {.name = "copy_rate", .doc = "at this rate", .fallback = result.network_copy_rate, .min = Bandwidth(1e6)});
  result.network_copy_call = matched.duration({.name = "copy_call",
                                               .doc = "above that a GPU driver call copies them and takes this long",
                                               .fallback = result.network_copy_call,
                                               .min = 0_ns});
}

void read_network(ConfigMap network, ChannelCosts& result) {
  result.network_post = network.duration({.name = "post",
                                          .doc = "from a filled slot to the message on the NIC: GPU, proxy thread, NIC",
                                          .fallback = result.network_post,
                                          .min = 0_ns});
  result.network_flush = network.duration({.name = "flush",
                                           .doc = "Simple: from a message's arrival to the GPU reading it",
                                           .fallback = result.network_flush,
                                           .min = 0_ns});
  result.network_eager = network.bytes({.name = "eager",
                                        .doc = "messages up to this size on the wire are eager",
                                        .fallback = result.network_eager,
                                        .min = Bytes(0)});
  result.network_rendezvous =
      network.duration({.name = "rendezvous",
                        .doc = "of a larger message: the receiver's proxy matches and fetches it",
                        .fallback = result.network_rendezvous,
                        .min = 0_ns});
  result.network_proxy = network.duration({.name = "proxy",
                                           .doc = "time of a rank's proxy thread per message, sent or received",
                                           .fallback = result.network_proxy,
                                           .min = 0_ns});
  result.network_host_rate = network.bandwidth(
      {.name = "host_rate",
       .doc = "LL: messages are staged in host memory; the proxy reads the flag of every line before it sends them",
       .fallback = result.network_host_rate,
       .min = Bandwidth(1e6)});
  result.network_poll = network.duration({.name = "poll",
                                          .doc = "LL and LL128: the same, where the data carry flags",
                                          .fallback = result.network_poll,
                                          .min = 0_ns});
  result.network_at_once = static_cast<int>(
      network.integer({.name = "at_once",
                       .doc = "messages of a rank that its NIC sends concurrently, further ones are queued; 0: one per "
                              "connection",
                       .fallback = result.network_at_once,
                       .min = 0,
                       .max = 4096}));
  result.network_matched = result.network_matched || network.has("matched");
  if (network.has("matched") || network.documenting()) {
    read_matching(network.map("matched", "where software matches messages and has them copied or fetches them"),
                  result);
  }
}

}  // namespace

ChannelCosts planning_costs(Generation generation) {
  ChannelCosts costs;
  costs.launch = 5_us;
  costs.launch_channel = 100_ns;
  costs.host_call = 4_us;
  costs.host_channel = 20_ns;
  // With eight H100 in one process an all-to-all takes 75 us up to 16 MiB, other calls 46 (SimuMax): 29 us for 8 x 8
  // peers.
  costs.host_peer = 450_ns;
  const ChannelRates rates = rates_of(generation);
  costs.protocol[number_of(Protocol::kLl)] = {450_ns, 150_ns, rates.ll};
  costs.protocol[number_of(Protocol::kLl128)] = {1200_ns, 400_ns, rates.ll128};
  costs.protocol[number_of(Protocol::kSimple)] = {1900_ns, 1500_ns, rates.simple};
  costs.reduce_rate = 0.75;
  // One host of H200 or B200 takes 1.2 to 2.4 us more for each sum that it reads from the switches; with B200 a copy
  // starts again for each further peer, 0.5 to 0.7 us (chunks grow with the buffer; validation/nccl/causes.md).
  if (generation >= Generation::kHopper) costs.switched = 1500_ns;
  if (generation >= Generation::kBlackwell) costs.further_peer = 500_ns;
  costs.network_post = 1_us;
  costs.network_flush = 3_us;
  costs.network_poll = 500_ns;
  costs.network_proxy = 700_ns;
  costs.network_eager = 16_KiB;
  costs.network_rendezvous = 100_ns;
  costs.network_host_rate = 10_GBps;
  // As libfabric's provider for Slingshot does, whose FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD is 4 KiB unless it is set
  // (prov/cxi). The times are those of GH200 on Alps (validation/nccl/alps_gh200x4_n2_allreduce_ofi1130.csv).
  costs.network_own_copy = 4_KiB;
  costs.network_copy_rate = 4_GBps;
  costs.network_copy_call = 8_us;
  return costs;
}

ChannelCosts read_channel_costs(ConfigMap costs, const ChannelCosts& defaults) {
  ChannelCosts result = defaults;
  read_calls(costs, result);
  for (const ProtocolName& protocol : kProtocolNames) {
    ChannelCosts::OfProtocol& of = result.protocol[number_of(protocol.protocol)];
    of = read_protocol(costs.map(protocol.name, protocol.doc), of);
  }
  result.switched =
      costs.duration({.name = "switched",
                      .doc = "extra cost of a primitive that reads what a host's NVSwitches reduced or multicast",
                      .fallback = result.switched,
                      .min = 0_ns});
  result.further_peer =
      costs.duration({.name = "further_peer",
                      .doc = "per further peer that a primitive scatters to or gathers from: the copy restarts",
                      .fallback = result.further_peer,
                      .min = 0_ns});
  result.reduce_rate = costs.percent({.name = "reduce_rate",
                                      .doc = "LL, LL128: rate of a reducing primitive relative to a copying one",
                                      .fallback = result.reduce_rate,
                                      .min = 0.01,
                                      .max = 1.0});
  result.load_share =
      costs.percent({.name = "load_share",
                     .doc = "Simple: share of the load in the time of a copied byte, the rest is the store",
                     .fallback = result.load_share,
                     .min = 0.0,
                     .max = 1.0});
  read_network(costs.map("network", "cost of messages between hosts, in addition to NICs and switches"), result);
  read_staging(costs, result);
  return result;
}

std::optional<CollectivePlan> read_fixed_plan(ConfigMap comm) {
  if (!comm.has("plan") && !comm.documenting()) return std::nullopt;
  ConfigMap map = comm.map("plan", "how every call is executed, instead of the tuner's choice");
  CollectivePlan plan;
  plan.algorithm = map.choice({.name = "algorithm", .doc = "by NCCL's names"}, kAlgorithms);
  const std::string protocol =
      map.choice({.name = "protocol", .doc = "by NCCL's names", .fallback = std::string("simple")}, kProtocolOptions);
  for (const Protocol p : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
    if (protocol == to_string(p)) plan.protocol = p;
  }
  plan.channels =
      static_cast<int>(map.integer({.name = "channels", .doc = "thread blocks (SMs) per rank", .min = 1, .max = 64}));
  plan.threads = static_cast<int>(map.integer({.name = "threads",
                                               .doc = "threads per block; 0: the protocol's full number",
                                               .fallback = 0,
                                               .min = 0,
                                               .max = 1024}));
  plan.chunk = map.bytes({.name = "chunk",
                          .doc = "useful data in one slot; 0: the protocol's default",
                          .fallback = Bytes(0),
                          .min = Bytes(0)});
  return plan;
}

CommSettings read_wires_only(ConfigMap comm) {
  CommSettings settings;
  constexpr std::string_view kWhy = "only 'collectives.model: chunks' or 'overhead: kernels' uses kernels";
  if (comm.has("classes")) comm.ignore("classes", kWhy);
  for (const std::string_view key : {"costs", "plan"}) {
    if (!comm.has(key)) continue;
    ConfigMap map = comm.map(key, key == "costs" ? kCostsDoc : std::string_view());
    if (key == "costs") read_staging(map, settings.costs);
    map.ignore_rest(kWhy);
  }
  return settings;
}

CommSettings read_comm_settings(ConfigMap comm, const ChannelCosts& defaults) {
  CommSettings settings;
  settings.costs = read_channel_costs(comm.map("costs", kCostsDoc), defaults);
  settings.plan = read_fixed_plan(comm);
  return settings;
}

}  // namespace ringwright::collectives
