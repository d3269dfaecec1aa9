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

void read_bus_limits(ConfigMap& bandwidth, NcclTables& tables) {
  ConfigMap bus = bandwidth.map("bus", "of all channels together, by generation; absent: no limit");
  for (const Generation generation : kGenerations) {
    tables.bus_limit[index_of(generation)] =
        in_gb(bus.bandwidth({.name = to_string(generation), .doc = "of this generation", .fallback = Bandwidth(0.0)}));
  }
  ConfigMap kinds = bandwidth.map("ll128_of_kind", "of a channel with LL128, by kind; absent: by generation");
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kBroadcast, CollectiveKind::kReduce}) {
    tables.ring_ll128_of_kind[index_of(kind)] = in_gb(
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

void read_ring_rules(ConfigMap map, NcclTables& tables) {
  const auto share = [&](std::string_view name, std::string_view doc, double& value) {
    value = map.number({.name = name, .doc = doc, .fallback = value, .min = 0.0});
  };
  const auto flag = [&](std::string_view name, std::string_view doc, bool& value) {
    value = map.boolean({.name = name, .doc = doc, .fallback = value});
  };
  share("ring_ll_share", "share of a ring's bandwidth with LL", tables.ring_ll_share);
  share("ring_ll_share_one_way", "the same on one host without reduction", tables.ring_ll_share_one_way);
  share("ring_ll128_share_alone", "share of a ring's bandwidth with LL128, one GPU per host",
        tables.ring_ll128_share_alone);
  share("tree_ll128_share", "share of a tree's bandwidth with LL128 between hosts", tables.tree_ll128_share);
  share("plain_tree_share", "share of its bandwidth for a tree that is a chain in each host", tables.plain_tree_share);
  share("ll_inside_factor", "on LL's hops inside hosts where there are several", tables.ll_inside_factor);
  read_generations(map.map("ring_plateau", "factor on the latency of rings with Simple over hosts"),
                   tables.ring_plateau, 1.0);
  flag("plateau_by_ranks", "that factor holds from 4 KiB for each rank on", tables.plateau_by_ranks);
  flag("posts", "hops of a ring inside hosts take no less than a post to the network", tables.posts);
  flag("extra_network_steps", "rings of N hosts pay 2 N network steps", tables.extra_network_steps);
  flag("alone_as_tree", "one GPU per host: network hops cost the same as a tree's", tables.alone_as_tree);
  flag("pxn_keeps_ll128", "from Hopper on LL128 may use another GPU to the NIC (PXN)", tables.pxn_keeps_ll128);
  flag("pxn", "the version supports paths through another GPU (PXN)", tables.pxn);
  flag("pat", "the version has PAT", tables.pat);
  share("pat_share", "share of the bus bandwidth that PAT reaches", tables.pat_share);
  flag("c2c_paths", "NVLink-C2C is supported as a path to the NIC", tables.c2c_paths);
}

void read_switch_rules(ConfigMap map, NcclTables& tables) {
  const auto share = [&](std::string_view name, std::string_view doc, double& value) {
    value = map.number({.name = name, .doc = doc, .fallback = value, .min = 0.0});
  };
  const auto flag = [&](std::string_view name, std::string_view doc, bool& value) {
    value = map.boolean({.name = name, .doc = doc, .fallback = value});
  };
  flag("nvls", "the version has in-switch reduction", tables.nvls);
  flag("nvls_over_hosts", "and NVLS trees", tables.nvls_over_hosts);
  flag("nvls_on_rings", "NVLS is planned with the rings' channels", tables.nvls_on_rings);
  flag("nvls_gathers", "NVLS also supports all-gather and reduce-scatter", tables.nvls_gathers);
  share("nvls_share", "share of the bus bandwidth that NVLS reaches; 0: by efficiency", tables.nvls_share);
  share("nvls_tree_share", "share that NVLS trees reach, times N / (2 (N-1)); 0: as on one host",
        tables.nvls_tree_share);
  flag("nvls_share_of_gathers", "all-gather and reduce-scatter reach that share too", tables.nvls_share_of_gathers);
  flag("nvls_gathers_others", "all-gather and reduce-scatter count the other ranks' data", tables.nvls_gathers_others);
  flag("nvls_by_levels", "NVLS trees pay per level, not per host", tables.nvls_by_levels);
  share("collnet_chain_share", "share of the bus bandwidth that CollNet's chains reach", tables.collnet_chain_share);
  flag("collnet_chain_network", "CollNet's chains pay the network hop", tables.collnet_chain_network);
  tables.collnet_arity_us = in_us(
      map.duration({.name = "collnet_arity", .doc = "of CollNet, per GPU of a host", .fallback = Duration(400'000)}));
  flag("collnet_gathers_by_members", "CollNet's all-gather reaches 0.95 to 0.85 of the bus bandwidth",
       tables.collnet_gathers_by_members);
}

void read_channel_rules(ConfigMap map, NcclTables& tables) {
  tables.max_channels = static_cast<int>(map.integer({.name = "max_channels",
                                                      .doc = "of a communicator",
                                                      .fallback = kNcclMaxChannels,
                                                      .min = 1,
                                                      .max = kNcclMaxChannels}));
  tables.intel_socket_limit = in_gb(map.bandwidth({.name = "intel_socket_limit",
                                                   .doc = "limit between sockets of Intel CPUs",
                                                   .fallback = Bandwidth(tables.intel_socket_limit * 1e9)}));
  tables.merges_ports =
      map.boolean({.name = "merges_ports", .doc = "the ports of one NIC are one device", .fallback = true});
  tables.speeds_up_rings =
      map.boolean({.name = "speeds_up_rings", .doc = "the search's second pass includes rings", .fallback = true});
  tables.least_traffic = map.bytes({.name = "least_traffic",
                                    .doc = "of a channel, before another one joins",
                                    .fallback = Bytes(tables.least_traffic)})
                             .count();
  tables.tree_chunks_by_depth = map.boolean(
      {.name = "tree_chunks_by_depth", .doc = "trees with Simple cut small buffers finer", .fallback = false});
  tables.chunks_by_threads = map.boolean({.name = "chunks_by_threads",
                                          .doc = "chunks are multiples of what a block's threads process at once",
                                          .fallback = false});
}

void read_rules(ConfigMap map, NcclTables& tables) {
  read_ring_rules(map, tables);
  read_switch_rules(map, tables);
  read_channel_rules(map, tables);
}

std::vector<double> read_percents(ConfigMap& map, Protocol protocol) {
  std::vector<double> factors;
  for (const std::int64_t percent :
       map.integers({.name = ringwright::to_string(protocol), .doc = "with this protocol", .min = 0, .max = 100})) {
    factors.push_back(static_cast<double>(percent) / 100.0);
  }
  return factors;
}

void read_all_pairs(ConfigMap map, NcclTables::AllPairs& pairs) {
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

void read_shares_of_rings(ConfigMap root, NcclTables& tables) {
  ConfigMap shares = root.map("bandwidth_share", "RCCL: share of a ring's bandwidth, instead of limits");
  tables.by_share = shares.has("up_to_two_hosts") || shares.has("more_hosts");
  tables.bandwidth_share = {read_shares(shares.map("up_to_two_hosts", "on one or two hosts")),
                            read_shares(shares.map("more_hosts", "over more"))};
  ConfigMap sizes = root.map("protocol_by_size", "RCCL: protocols of all-reduces over hosts; absent: by cost");
  const auto size = [&](std::string_view name, std::string_view doc) {
    return sizes.bytes({.name = name, .doc = doc, .fallback = Bytes(0)}).count();
  };
  tables.ll_up_to = size("ll_up_to", "LL up to this size");
  tables.ll128_up_to = size("ll128_up_to", "then LL128 up to this size");
  tables.ll128_more_by_doubling = size("ll128_more_by_doubling", "factor on that size per doubling of hosts");
  read_all_pairs(root.map("all_pairs", "RCCL: all-reduces that use all pairs on one host"), tables.all_pairs);
  ConfigMap rings = root.map("ring_correction", "RCCL: a ring's bandwidth over hosts in percent, as tree_correction");
  for (const Protocol protocol : kAllProtocols) {
    tables.ring_correction[index_of(protocol)] = read_percents(rings, protocol);
  }
}

}  // namespace

NcclTables read_nccl_tables(ConfigMap root) {
  NcclTables tables;
  tables.version = root.text({.name = "version", .doc = "of the library, in quotes"});
  tables.base_us = read_latencies(root.map("base_latency", "paid once per collective"));
  ConfigMap hops = root.map("hop_latency", "paid per hop");
  for (const NcclHop hop : kNcclHops) {
    tables.hop_us[index_of(hop)] = read_latencies(hops.map(kHopNames[index_of(hop)], "over this kind of link"));
  }
  ConfigMap bandwidth = root.map("bandwidth", "limits from measurements");
  tables.ll_total = read_bandwidths(bandwidth, "ll_total");
  tables.ring_ll128 = read_bandwidths(bandwidth, "ring_ll128");
  tables.tree_ll128 = read_bandwidths(bandwidth, "tree_ll128");
  tables.tree_simple = read_bandwidths(bandwidth, "tree_simple");
  tables.nvls_tree = read_bandwidths(bandwidth, "nvls_tree");
  read_bus_limits(bandwidth, tables);
  ConfigMap nvls = root.map("nvls_efficiency", "share of NVLink bandwidth that in-switch reduction reaches");
  ConfigMap nvlink = root.map("nvlink_share", "share of NVLink's raw rate that the search plans with");
  ConfigMap search = root.map("search", "bandwidths of a channel that the search tries");
  for (const Generation generation : kGenerations) {
    const std::size_t g = index_of(generation);
    const std::string_view name = to_string(generation);
    tables.nvls_efficiency[g] = nvls.number({.name = name, .doc = "of this generation", .fallback = 0.0, .max = 1.0});
    tables.nvlink_share[g] = nvlink.number({.name = name, .doc = "of this generation", .fallback = 0.8, .max = 1.0});
    ConfigMap speeds = search.map(name, "of this generation");
    tables.speeds_inside[g] = read_speeds(speeds, "one_host");
    tables.speeds_between[g] = read_speeds(speeds, "several_hosts");
  }
  ConfigMap correction = root.map("tree_correction", "a tree's bandwidth in percent, by powers of two from 64 B");
  for (const Protocol protocol : kAllProtocols) {
    tables.tree_correction[index_of(protocol)] = read_percents(correction, protocol);
  }
  read_rules(root.map("rules", "what changed between versions"), tables);
  read_shares_of_rings(std::move(root), tables);
  return tables;
}

}  // namespace ringwright::collectives
