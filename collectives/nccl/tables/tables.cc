#include "collectives/nccl/tables/tables.h"

#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.h"

namespace ringwright::collectives {
namespace {

double in_us(Duration d) {
  return to_seconds(d) * 1e6;
}
double in_gb(Bandwidth b) {
  return b.count() / 1e9;
}

constexpr std::array<std::string_view, 3> kHostColumns = {"one_host", "two_hosts", "more_hosts"};
constexpr std::array<std::string_view, 3> kHopNames = {"nvlink", "pcie", "network"};

// Missing entries are 0: the algorithm does not support the protocol.
ByAlgorithm read_latencies(ConfigMap map) {
  ByAlgorithm table{};
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    ConfigMap row = map.map(to_string(algorithm), "of this algorithm");
    for (const Protocol protocol : kAllProtocols) {
      table[index_of(algorithm)][index_of(protocol)] = in_us(row.duration(
          {.name = ringwright::to_string(protocol), .doc = "with this protocol", .fallback = Duration(0)}));
    }
  }
  return table;
}

ByAlgorithm read_shares(ConfigMap map) {
  ByAlgorithm table{};
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    ConfigMap row = map.map(to_string(algorithm), "of this algorithm");
    for (const Protocol protocol : kAllProtocols) {
      table[index_of(algorithm)][index_of(protocol)] = row.number(
          {.name = ringwright::to_string(protocol), .doc = "with this protocol", .fallback = 0.0, .min = 0.0});
    }
  }
  return table;
}

BandwidthTable read_bandwidths(ConfigMap bandwidth, std::string_view name) {
  BandwidthTable table{};
  ConfigMap map = bandwidth.map(name, "by generation of GPU and number of hosts; absent: no limit");
  for (const Generation generation : kGenerations) {
    ConfigMap row = map.map(to_string(generation), "of this generation");
    for (std::size_t hosts = 0; hosts < kHostColumns.size(); ++hosts) {
      table[index_of(generation)][hosts] =
          in_gb(row.bandwidth({.name = kHostColumns[hosts], .doc = "for so many hosts", .fallback = Bandwidth(0.0)}));
    }
  }
  return table;
}

void read_limits(ConfigMap bandwidth, NcclBandwidthLimits& limits) {
  limits.ll_total = read_bandwidths(bandwidth, "ll_total");
  limits.ring_ll128 = read_bandwidths(bandwidth, "ring_ll128");
  limits.tree_ll128 = read_bandwidths(bandwidth, "tree_ll128");
  limits.tree_simple = read_bandwidths(bandwidth, "tree_simple");
  limits.nvls_tree = read_bandwidths(bandwidth, "nvls_tree");
  ConfigMap bus = bandwidth.map("bus", "of all channels together, by generation; absent: no limit");
  for (const Generation generation : kGenerations) {
    limits.bus[index_of(generation)] =
        in_gb(bus.bandwidth({.name = to_string(generation), .doc = "of this generation", .fallback = Bandwidth(0.0)}));
  }
  ConfigMap kinds = bandwidth.map("ll128_of_kind", "of a channel with LL128, by kind; absent: by generation");
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    limits.ring_ll128_of_kind[index_of(kind)] = in_gb(
        kinds.bandwidth({.name = ringwright::to_string(kind), .doc = "of this kind", .fallback = Bandwidth(0.0)}));
  }
}

std::vector<double> read_speeds(ConfigMap& map, std::string_view name) {
  std::vector<double> speeds;
  for (const std::string& text : map.texts({.name = name, .doc = "bandwidths of a channel, fastest first"})) {
    const std::optional<Bandwidth> speed = parse_bandwidth(text);
    if (!speed || (!speeds.empty() && in_gb(*speed) >= speeds.back())) {
      map.error(name, "E180", fmt::format("'{}' is not a bandwidth below the previous one", text),
                "write a falling list such as [40GB/s, 30GB/s]");
      continue;
    }
    speeds.push_back(in_gb(*speed));
  }
  if (speeds.empty() && !map.documenting()) map.error(name, "E180", fmt::format("'{}' lists no bandwidth", name));
  return speeds;
}

void read_generations(ConfigMap map, std::array<double, kGenerations.size()>& values, double fallback) {
  for (const Generation generation : kGenerations) {
    values[index_of(generation)] =
        map.number({.name = to_string(generation), .doc = "of this generation", .fallback = fallback, .min = 0.0});
  }
}

// A key of `rules`: a share (or factor) of at least 0, or a flag. Absent: as the oldest version that has no such key.
template <class Rules>
struct RuleRow {
  std::string_view name;
  std::string_view doc;
  double Rules::*share = nullptr;
  bool Rules::*flag = nullptr;
};

constexpr std::array kRingRules = {
    RuleRow<NcclRingRules>{"ring_ll_share", "share of a ring's bandwidth with LL", &NcclRingRules::ll_share},
    RuleRow<NcclRingRules>{"ring_ll_share_one_way", "the same on one host without reduction",
                           &NcclRingRules::ll_share_one_way},
    RuleRow<NcclRingRules>{"ring_ll128_share_alone", "share of a ring's bandwidth with LL128, one GPU per host",
                           &NcclRingRules::ll128_share_alone},
    RuleRow<NcclRingRules>{"ll_inside_factor", "on LL's hops inside hosts where there are several",
                           &NcclRingRules::ll_inside_factor},
    RuleRow<NcclRingRules>{"plateau_by_ranks", "that factor holds from 4 KiB for each rank on", nullptr,
                           &NcclRingRules::plateau_by_ranks},
    RuleRow<NcclRingRules>{"posts", "hops of a ring inside hosts take no less than a post to the network", nullptr,
                           &NcclRingRules::posts},
    RuleRow<NcclRingRules>{"extra_network_steps", "rings of N hosts pay 2 N network steps", nullptr,
                           &NcclRingRules::extra_network_steps},
    RuleRow<NcclRingRules>{"alone_as_tree", "one GPU per host: network hops cost the same as a tree's", nullptr,
                           &NcclRingRules::alone_as_tree},
};

constexpr std::array kTreeRules = {
    RuleRow<NcclTreeRules>{"tree_ll128_share", "share of a tree's bandwidth with LL128 between hosts",
                           &NcclTreeRules::ll128_share},
    RuleRow<NcclTreeRules>{"plain_tree_share", "share of its bandwidth for a tree that is a chain in each host",
                           &NcclTreeRules::plain_share},
    RuleRow<NcclTreeRules>{"tree_chunks_by_depth", "trees with Simple cut small buffers finer", nullptr,
                           &NcclTreeRules::chunks_by_depth},
    RuleRow<NcclTreeRules>{"tree_all_threads", "trees run with all threads of a block, whatever the size", nullptr,
                           &NcclTreeRules::all_threads},
};

constexpr std::array kPathRules = {
    RuleRow<NcclPathRules>{"pxn_keeps_ll128", "from Hopper on LL128 may use another GPU to the NIC (PXN)", nullptr,
                           &NcclPathRules::pxn_keeps_ll128},
    RuleRow<NcclPathRules>{"nvb_keeps_ll128", "LL128 may pass through a GPU between two others (NVB)", nullptr,
                           &NcclPathRules::nvb_keeps_ll128},
    RuleRow<NcclPathRules>{"mixed_processors", "hosts of several CPU vendors have AMD's limits of LL", nullptr,
                           &NcclPathRules::mixed_processors},
    RuleRow<NcclPathRules>{"pxn", "the version supports paths through another GPU (PXN)", nullptr, &NcclPathRules::pxn},
    RuleRow<NcclPathRules>{"c2c_paths", "NVLink-C2C is supported as a path to the NIC", nullptr, &NcclPathRules::c2c},
};

constexpr std::array kPatRules = {
    RuleRow<NcclPatRules>{"pat", "the version has PAT", nullptr, &NcclPatRules::supported},
    RuleRow<NcclPatRules>{"pat_share", "share of the bus bandwidth that PAT reaches", &NcclPatRules::share},
};

constexpr std::array kNvlsRules = {
    RuleRow<NcclNvlsRules>{"nvls", "the version has in-switch reduction", nullptr, &NcclNvlsRules::supported},
    RuleRow<NcclNvlsRules>{"nvls_over_hosts", "and NVLS trees", nullptr, &NcclNvlsRules::over_hosts},
    RuleRow<NcclNvlsRules>{"nvls_tree_large_chunks", "their chunks start at 512 KiB", nullptr,
                           &NcclNvlsRules::large_tree_chunks},
    RuleRow<NcclNvlsRules>{"nvls_on_rings", "NVLS is planned with the rings' channels", nullptr,
                           &NcclNvlsRules::on_rings},
    RuleRow<NcclNvlsRules>{"nvls_gathers", "NVLS also supports all-gather and reduce-scatter", nullptr,
                           &NcclNvlsRules::gathers},
    RuleRow<NcclNvlsRules>{"nvls_gathers_over_hosts", "and over several hosts, by CollNet", nullptr,
                           &NcclNvlsRules::gathers_over_hosts},
    RuleRow<NcclNvlsRules>{"nvls_within_channels", "by CollNet it has no more channels than rings have", nullptr,
                           &NcclNvlsRules::within_channels},
    RuleRow<NcclNvlsRules>{"nvls_share", "share of the bus bandwidth that NVLS reaches; 0: by efficiency",
                           &NcclNvlsRules::share},
    RuleRow<NcclNvlsRules>{"nvls_tree_share", "share that NVLS trees reach, times N / (2 (N-1)); 0: as on one host",
                           &NcclNvlsRules::tree_share},
    RuleRow<NcclNvlsRules>{"nvls_share_of_gathers", "all-gather and reduce-scatter reach that share too", nullptr,
                           &NcclNvlsRules::share_of_gathers},
    RuleRow<NcclNvlsRules>{"nvls_gathers_others", "all-gather and reduce-scatter count the other ranks' data", nullptr,
                           &NcclNvlsRules::gathers_others},
    RuleRow<NcclNvlsRules>{"nvls_by_levels", "NVLS trees pay per level, not per host", nullptr,
                           &NcclNvlsRules::by_levels},
};

constexpr std::array kCollnetRules = {
    RuleRow<NcclCollnetRules>{"collnet_gathers", "CollNet also supports all-gather and reduce-scatter", nullptr,
                              &NcclCollnetRules::gathers},
    RuleRow<NcclCollnetRules>{"collnet_direct_from_hopper", "share of the bus bandwidth with all GPUs, from Hopper on",
                              &NcclCollnetRules::direct_from_hopper},
    RuleRow<NcclCollnetRules>{"collnet_chain_share", "share of the bus bandwidth that CollNet's chains reach",
                              &NcclCollnetRules::chain_share},
    RuleRow<NcclCollnetRules>{"collnet_chain_network", "CollNet's chains pay the network hop", nullptr,
                              &NcclCollnetRules::chain_network},
    RuleRow<NcclCollnetRules>{"collnet_gathers_by_members",
                              "CollNet's all-gather reaches 0.95 to 0.85 of the bus bandwidth", nullptr,
                              &NcclCollnetRules::gathers_by_members},
};

constexpr std::array kChannelRules = {
    RuleRow<NcclChannelRules>{"merges_ports", "the ports of one NIC are one device", nullptr,
                              &NcclChannelRules::merges_ports},
    RuleRow<NcclChannelRules>{"chunks_by_threads", "chunks are multiples of what a block's threads process at once",
                              nullptr, &NcclChannelRules::chunks_by_threads},
};

constexpr std::array kMessageRules = {
    RuleRow<NcclMessageRules>{"p2p_ll", "small sends use LL", nullptr, &NcclMessageRules::ll},
    RuleRow<NcclMessageRules>{"p2p_small_parts", "a channel joins for each 64 KiB of a send, not each slot", nullptr,
                              &NcclMessageRules::small_parts},
    RuleRow<NcclMessageRules>{"p2p_ll_by_channels", "LL's largest send is multiplied by the channels of a peer",
                              nullptr, &NcclMessageRules::ll_by_channels},
    RuleRow<NcclMessageRules>{"p2p_by_net_rate", "a peer on another host has a channel for each 14 GB/s", nullptr,
                              &NcclMessageRules::by_net_rate},
    RuleRow<NcclMessageRules>{"p2p_fewer_for_many", "channels of a peer halve where ranks are many", nullptr,
                              &NcclMessageRules::fewer_for_many},
    RuleRow<NcclMessageRules>{"p2p_four_of_lane", "a peer has four channels for each xGMI lane", nullptr,
                              &NcclMessageRules::four_of_lane},
};

constexpr std::array kLimitRules = {
    RuleRow<NcclBandwidthLimits>{"exact_gpus", "GPUs other than compute capability 8.0 and 9.0 have Volta's limits",
                                 nullptr, &NcclBandwidthLimits::exact_gpus},
};

constexpr std::array kSearchRules = {
    RuleRow<NcclSearchRules>{"speeds_up_rings", "the search's second pass includes rings", nullptr,
                             &NcclSearchRules::speeds_up_rings},
    RuleRow<NcclSearchRules>{"doubles_first", "wide channels are doubled before the second pass", nullptr,
                             &NcclSearchRules::doubles_first},
    RuleRow<NcclSearchRules>{"pairs_swap_nics", "NCCL_CROSS_NIC=2 tries pairs of channels that swap NICs", nullptr,
                             &NcclSearchRules::pairs_swap_nics},
    RuleRow<NcclSearchRules>{"plain_trees", "from Hopper on a chain is tried before farther paths", nullptr,
                             &NcclSearchRules::plain_trees},
    RuleRow<NcclSearchRules>{"starts_by_channels", "the first speed is one that all requested channels can have",
                             nullptr, &NcclSearchRules::starts_by_channels},
    RuleRow<NcclSearchRules>{"one_order_over_amd", "one order of GPUs between sockets of AMD's CPUs", nullptr,
                             &NcclSearchRules::one_order_over_amd},
    RuleRow<NcclSearchRules>{"crossing_gain", "by which channels that cross NICs must be faster",
                             &NcclSearchRules::crossing_gain},
};

template <class Rules, std::size_t kRows>
void read_rows(ConfigMap& map, const std::array<RuleRow<Rules>, kRows>& rows, Rules& rules) {
  for (const RuleRow<Rules>& row : rows) {
    if (row.flag != nullptr) {
      rules.*row.flag = map.boolean({.name = row.name, .doc = row.doc, .fallback = rules.*row.flag});
      continue;
    }
    rules.*row.share = map.number({.name = row.name, .doc = row.doc, .fallback = rules.*row.share, .min = 0.0});
  }
}

void read_search_rules(ConfigMap& map, NcclSearchRules& rules) {
  read_rows(map, kSearchRules, rules);
  const auto channels = [&](std::string_view name, std::string_view doc, int& count) {
    count =
        static_cast<int>(map.integer({.name = name, .doc = doc, .fallback = count, .min = 0, .max = kNcclMaxChannels}));
  };
  channels("doubled_from_hopper", "channels of 25 to 50 GB/s that are doubled from Hopper on, at most",
           rules.doubled_from_hopper);
  channels("four_for_one_up_to", "channels with fast NICs that are doubled again", rules.four_for_one_up_to);
}

void read_rules(ConfigMap map, NcclTables& tables) {
  read_rows(map, kRingRules, tables.ring);
  read_generations(map.map("ring_plateau", "factor on the latency of rings with Simple over hosts"),
                   tables.ring.plateau, 1.0);
  read_rows(map, kTreeRules, tables.tree);
  read_rows(map, kPathRules, tables.paths);
  tables.paths.pxn_from_ranks = static_cast<int>(
      map.integer({.name = "pxn_from_ranks",
                   .doc = "sends of smaller communicators use another GPU to the NIC only with NCCL_PXN_DISABLE=0",
                   .fallback = tables.paths.pxn_from_ranks,
                   .min = 0,
                   .max = 1'000'000}));
  tables.paths.intel_socket_limit =
      in_gb(map.bandwidth({.name = "intel_socket_limit",
                           .doc = "limit between sockets of Intel CPUs",
                           .fallback = Bandwidth(tables.paths.intel_socket_limit * 1e9)}));
  tables.paths.amd_socket = in_gb(map.bandwidth({.name = "amd_socket",
                                                 .doc = "between sockets of AMD's CPUs",
                                                 .fallback = Bandwidth(tables.paths.amd_socket * 1e9)}));
  for (const std::int64_t gpu : map.integers({.name = "ll128_gpus",
                                .doc = "compute capabilities with LL128, 90 for 9.0; absent: all from 70",
                                .min = 10,
                                .max = 999})) {
    tables.paths.ll128_gpus.push_back(static_cast<int>(gpu));
  }
  read_rows(map, kPatRules, tables.pat);
  read_rows(map, kNvlsRules, tables.nvls);
  const auto channels = [&](std::string_view name, std::string_view doc, int fallback) {
    return static_cast<int>(
        map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 1, .max = kNcclMaxChannels}));
  };
  tables.nvls.blackwell_channels =
      channels("nvls_channels_of_blackwell", "of in-switch reduction over hosts", tables.nvls.blackwell_channels);
  tables.nvls.blackwell_channels_alone = channels(
      "nvls_channels_of_blackwell_alone", "of in-switch reduction on one host", tables.nvls.blackwell_channels_alone);
  read_rows(map, kCollnetRules, tables.collnet);
  tables.collnet.arity_us = in_us(
      map.duration({.name = "collnet_arity", .doc = "of CollNet, per GPU of a host", .fallback = Duration(400'000)}));
  read_rows(map, kChannelRules, tables.channels);
  tables.channels.most = channels("max_channels", "of a communicator", kNcclMaxChannels);
  const auto bytes = [&](std::string_view name, std::string_view doc, std::int64_t fallback) {
    return map.bytes({.name = name, .doc = doc, .fallback = Bytes(fallback)}).count();
  };
  tables.channels.least_traffic =
      bytes("least_traffic", "of a channel, before another one joins", tables.channels.least_traffic);
  tables.channels.traffic_unit =
      bytes("traffic_unit", "by which buffers are divided among channels; 0: that with this traffic", 0);
  tables.channels.ll_traffic = static_cast<int>(map.integer({.name = "ll_traffic",
                                                             .doc = "factor on the traffic of LL",
                                                             .fallback = tables.channels.ll_traffic,
                                                             .min = 1,
                                                             .max = 8}));
  read_rows(map, kMessageRules, tables.messages);
  tables.messages.pcie_chunk = bytes("p2p_pcie_chunk", "of sends over PCIe", tables.messages.pcie_chunk);
  tables.messages.nvlink_chunk = bytes("p2p_nvlink_chunk", "of sends over NVLink", tables.messages.nvlink_chunk);
  read_rows(map, kLimitRules, tables.bandwidth);
  read_search_rules(map, tables.search);
}

std::vector<double> read_percents(ConfigMap& map, Protocol protocol) {
  std::vector<double> factors;
  for (const std::int64_t percent :
       map.integers({.name = ringwright::to_string(protocol), .doc = "with this protocol", .min = 0, .max = 100})) {
    factors.push_back(static_cast<double>(percent) / 100.0);
  }
  return factors;
}

void read_all_pairs(ConfigMap map, RcclAllPairs& pairs) {
  const auto count = [&](std::string_view name, std::string_view doc, std::int64_t fallback) {
    return static_cast<int>(map.integer({.name = name, .doc = doc, .fallback = fallback, .min = 0, .max = 1024}));
  };
  const auto size = [&](std::string_view name, std::string_view doc) {
    return map.bytes({.name = name, .doc = doc, .fallback = Bytes(0)}).count();
  };
  pairs.members = count("members", "for all-reduces of this many ranks on one host; 0: never", 0);
  pairs.from = size("from", "from this size on");
  pairs.few_up_to = size("few_up_to", "few thread blocks up to this size");
  pairs.few_blocks = count("few_blocks", "number of these few thread blocks", 1);
  pairs.blocks = count("blocks", "number of thread blocks beyond", 1);
  pairs.ll_up_to = size("ll_up_to", "LL up to this size, then Simple");
  pairs.up_to = size("up_to", "up to this size");
}

void read_shares_of_rings(ConfigMap root, RcclRules& rccl) {
  ConfigMap shares = root.map("bandwidth_share", "RCCL: share of a ring's bandwidth, instead of limits");
  rccl.by_share = shares.has("up_to_two_hosts") || shares.has("more_hosts");
  rccl.bandwidth_share = {read_shares(shares.map("up_to_two_hosts", "on one or two hosts")),
                          read_shares(shares.map("more_hosts", "over more"))};
  ConfigMap sizes = root.map("protocol_by_size", "RCCL: protocols of all-reduces over hosts; absent: by cost");
  const auto size = [&](std::string_view name, std::string_view doc) {
    return sizes.bytes({.name = name, .doc = doc, .fallback = Bytes(0)}).count();
  };
  rccl.ll_up_to = size("ll_up_to", "LL up to this size");
  rccl.ll128_up_to = size("ll128_up_to", "then LL128 up to this size");
  rccl.ll128_more_by_doubling = size("ll128_more_by_doubling", "factor on that size per doubling of hosts");
  read_all_pairs(root.map("all_pairs", "RCCL: all-reduces that use all pairs on one host"), rccl.all_pairs);
  ConfigMap rings = root.map("ring_correction", "RCCL: a ring's bandwidth over hosts in percent, as tree_correction");
  for (const Protocol protocol : kAllProtocols) {
    rccl.ring_correction[index_of(protocol)] = read_percents(rings, protocol);
  }
}

}  // namespace

NcclTables read_nccl_tables(ConfigMap root) {
  NcclTables tables;
  tables.version = root.text({.name = "version", .doc = "of the library, in quotes"});
  tables.latency.base_us = read_latencies(root.map("base_latency", "paid once per collective"));
  ConfigMap hops = root.map("hop_latency", "paid per hop");
  for (const NcclHop hop : kNcclHops) {
    tables.latency.hop_us[index_of(hop)] = read_latencies(hops.map(kHopNames[index_of(hop)], "over this kind of link"));
  }
  read_limits(root.map("bandwidth", "limits from measurements"), tables.bandwidth);
  ConfigMap nvls = root.map("nvls_efficiency", "share of NVLink bandwidth that in-switch reduction reaches");
  ConfigMap nvlink = root.map("nvlink_share", "share of NVLink's raw rate that the search plans with");
  ConfigMap search = root.map("search", "bandwidths of a channel that the search tries");
  for (const Generation generation : kGenerations) {
    const std::size_t g = index_of(generation);
    const std::string_view name = to_string(generation);
    tables.nvls.efficiency[g] = nvls.number({.name = name, .doc = "of this generation", .fallback = 0.0, .max = 1.0});
    tables.search.nvlink_share[g] =
        nvlink.number({.name = name, .doc = "of this generation", .fallback = 0.8, .max = 1.0});
    ConfigMap speeds = search.map(name, "of this generation");
    tables.search.inside[g] = read_speeds(speeds, "one_host");
    tables.search.between[g] = read_speeds(speeds, "several_hosts");
  }
  ConfigMap correction = root.map("tree_correction", "a tree's bandwidth in percent, by powers of two from 64 B");
  for (const Protocol protocol : kAllProtocols) {
    tables.tree.correction[index_of(protocol)] = read_percents(correction, protocol);
  }
  read_rules(root.map("rules", "what changed between versions"), tables);
  read_shares_of_rings(std::move(root), tables.rccl);
  return tables;
}

}  // namespace ringwright::collectives
