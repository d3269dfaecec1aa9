#include "collectives/nccl/tables.h"

#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/base/units.h"

namespace ringwright::collectives {
namespace {

double in_us(Duration d) { return to_seconds(d) * 1e6; }
double in_gb(Bandwidth b) { return b.count() / 1e9; }

constexpr std::array<std::string_view, 3> kHostColumns = {"one_host", "two_hosts", "more_hosts"};
constexpr std::array<std::string_view, 3> kHopNames = {"nvlink", "pcie", "network"};

// What is not in the table is 0: the algorithm has no such protocol.
ByAlgorithm read_latencies(ConfigMap map) {
  ByAlgorithm table{};
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    ConfigMap row = map.map(to_string(algorithm), "of this algorithm");
    for (const Protocol protocol : kAllProtocols) {
      table[index_of(algorithm)][index_of(protocol)] =
          in_us(row.duration({.name = ringwright::to_string(protocol), .doc = "with this protocol", .fallback = Duration(0)}));
    }
  }
  return table;
}

ByAlgorithm read_shares(ConfigMap map) {
  ByAlgorithm table{};
  for (const NcclAlgorithm algorithm : kNcclAlgorithms) {
    ConfigMap row = map.map(to_string(algorithm), "of this algorithm");
    for (const Protocol protocol : kAllProtocols) {
      table[index_of(algorithm)][index_of(protocol)] =
          row.number({.name = ringwright::to_string(protocol), .doc = "with this protocol", .fallback = 0.0, .min = 0.0});
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

std::vector<double> read_speeds(ConfigMap& map, std::string_view name) {
  std::vector<double> speeds;
  for (const std::string& text : map.texts({.name = name, .doc = "bandwidths of a channel, fastest first"})) {
    const std::optional<Bandwidth> speed = parse_bandwidth(text);
    if (!speed || (!speeds.empty() && in_gb(*speed) >= speeds.back())) {
      map.error(name, "E180", fmt::format("'{}' is no bandwidth below the one before it", text),
                "write a falling list such as [40GB/s, 30GB/s]");
      continue;
    }
    speeds.push_back(in_gb(*speed));
  }
  if (speeds.empty() && !map.documenting()) map.error(name, "E180", fmt::format("'{}' lists no bandwidth", name));
  return speeds;
}

void read_rules(ConfigMap map, NcclTables& tables) {
  tables.ring_ll_share = map.number({.name = "ring_ll_share", .doc = "part of a ring's bandwidth with LL", .fallback = 0.5});
  tables.ring_ll_share_one_way = map.number(
      {.name = "ring_ll_share_one_way", .doc = "the same on one host without reduction", .fallback = 0.5});
  tables.ring_ll128_share_alone = map.number(
      {.name = "ring_ll128_share_alone", .doc = "part of a ring's bandwidth with LL128, one GPU a host", .fallback = 0.92});
  tables.nvls_share =
      map.number({.name = "nvls_share", .doc = "part of the bus that NVLS reaches; 0: by efficiency", .fallback = 0.0});
  tables.extra_network_steps = map.boolean(
      {.name = "extra_network_steps", .doc = "rings of N hosts pay 2 N network steps", .fallback = false});
  tables.alone_as_tree = map.boolean(
      {.name = "alone_as_tree", .doc = "one GPU a host: network hops cost what a tree's do", .fallback = true});
  tables.pat = map.boolean({.name = "pat", .doc = "the version has PAT", .fallback = true});
  tables.c2c_paths = map.boolean(
      {.name = "c2c_paths", .doc = "NVLink-C2C is known as a way to the NIC", .fallback = true});
}

}  // namespace

NcclTables read_nccl_tables(ConfigMap root) {
  NcclTables tables;
  tables.version = root.text({.name = "version", .doc = "of the library, in quotes"});
  tables.base_us = read_latencies(root.map("base_latency", "paid once a collective"));
  ConfigMap hops = root.map("hop_latency", "paid for each hop");
  for (const NcclHop hop : kNcclHops) {
    tables.hop_us[index_of(hop)] = read_latencies(hops.map(kHopNames[index_of(hop)], "over this wire"));
  }
  ConfigMap bandwidth = root.map("bandwidth", "limits by measurement");
  tables.ll_total = read_bandwidths(bandwidth, "ll_total");
  tables.ring_ll128 = read_bandwidths(bandwidth, "ring_ll128");
  tables.tree_ll128 = read_bandwidths(bandwidth, "tree_ll128");
  tables.tree_simple = read_bandwidths(bandwidth, "tree_simple");
  tables.nvls_tree = read_bandwidths(bandwidth, "nvls_tree");
  ConfigMap nvls = root.map("nvls_efficiency", "part of NVLink that in-switch reduction reaches");
  ConfigMap nvlink = root.map("nvlink_share", "part of NVLink's raw rate that the search plans with");
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
    for (const std::int64_t percent : correction.integers(
             {.name = ringwright::to_string(protocol), .doc = "with this protocol", .min = 1, .max = 100})) {
      tables.tree_correction[index_of(protocol)].push_back(static_cast<double>(percent) / 100.0);
    }
  }
  read_rules(root.map("rules", "what changed between versions"), tables);
  ConfigMap shares = root.map("bandwidth_share", "RCCL: part of a ring's bandwidth, instead of limits");
  tables.by_share = shares.has("one_host") || shares.has("several_hosts");
  tables.bandwidth_share = {read_shares(shares.map("one_host", "on one host")),
                            read_shares(shares.map("several_hosts", "over several"))};
  return tables;
}

}  // namespace ringwright::collectives
