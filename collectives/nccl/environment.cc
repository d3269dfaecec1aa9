// The table of variables. Their meaning: NCCL's documentation, "Environment Variables", and its sources.
#include "collectives/nccl/environment.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "collectives/nccl/list_syntax.h"
#include "core/base/text.h"

namespace ringwright::collectives {
namespace {

// Sets a knob; returns what is wrong with the value, or nothing.
using Apply = std::string (*)(std::string_view value, NcclKnobs& knobs);

struct Variable {
  std::string_view name;
  std::string_view doc;
  Apply apply;
};

// As strtoll with base 0 reads it: decimal, or hexadecimal after 0x.
std::optional<std::int64_t> whole_number(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  if (hexadecimal) text.remove_prefix(2);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

struct Range {
  std::int64_t least = 0;
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

template <class Set>
std::string number(std::string_view text, Range range, Set&& set) {
  const std::optional<std::int64_t> value = whole_number(text);
  if (!value || *value < range.least || *value > range.most) {
    const bool open = range.most == std::numeric_limits<std::int64_t>::max();
    return open ? fmt::format("must be a whole number from {} on", range.least)
                : fmt::format("must be a whole number from {} to {}", range.least, range.most);
  }
  set(*value);
  return {};
}

constexpr std::size_t kFar = 9;  // the farthest of NCCL's levels of distance, SYS
constexpr Range kSwitch{0, 1};
constexpr Range kCounted{1, NcclKnobs::kNoLimit};
// Chunks: beyond what a GPU would give a channel. Twice the largest must fit a 32-bit size.
constexpr Range kChunkBytes{1, std::int64_t{1} << 30};
// Buffers have eight slots, of at least one line of LL128.
constexpr Range kBufferBytes{8 * 128, std::int64_t{1} << 30};

std::string set_algorithms(std::string_view text, NcclKnobs& knobs) {
  static const std::vector<std::string> kNames = {"Tree",     "Ring", "CollnetDirect", "CollnetChain", "NVLS",
                                                  "NVLSTree", "PAT"};
  std::vector<std::vector<bool>> chosen(kNcclKinds, std::vector<bool>(kNames.size(), true));
  std::string wrong = parse_nccl_list(text, kNames, chosen);
  if (!wrong.empty()) return wrong;
  for (std::size_t kind = 0; kind < kNcclKinds; ++kind) {
    for (std::size_t a = 0; a < kNames.size(); ++a) knobs.algorithms[kind][a] = chosen[kind][a];
  }
  return {};
}

// LL128 that is named explicitly is used even where it is not safe.
std::string set_protocols(std::string_view text, NcclKnobs& knobs) {
  static const std::vector<std::string> kNames = {"LL", "LL128", "Simple"};
  std::vector<std::vector<bool>> chosen(kNcclKinds);
  std::string wrong = parse_nccl_list(text, kNames, chosen);
  if (!wrong.empty()) return wrong;
  for (std::size_t kind = 0; kind < kNcclKinds; ++kind) {
    for (std::size_t p = 0; p < chosen[kind].size(); ++p) {
      knobs.protocols[kind][p] = chosen[kind][p] ? Allowed::kYes : Allowed::kNo;
    }
  }
  return {};
}

std::string set_thresholds(std::string_view text, NcclKnobs& knobs) {
  std::vector<std::int64_t> numbers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::optional<std::int64_t> value = whole_number(text.substr(0, end));
    if (end > 0 && !value) return "must be six whole numbers: tree's LL, LL128 and Simple, then a ring's";
    if (end > 0) numbers.push_back(*value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (numbers.empty() || numbers.size() > 6)
    return "must be six whole numbers: tree's LL, LL128 and Simple, then a ring's";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] > 0) knobs.thread_thresholds[i / 3][i % 3] = numbers[i];
  }
  return {};
}

// By name, nearest first, or by the number of older versions, of which 0 is LOC.
std::string set_level(std::string_view text, std::size_t& level) {
  constexpr std::array<std::string_view, 10> kLevels = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                                        "PXB", "P2C", "PXN", "PHB", "SYS"};
  const auto known = std::ranges::find(kLevels, text);
  const std::optional<std::int64_t> old_number = whole_number(text);
  if (known == kLevels.end() && !old_number) return fmt::format("must be one of {}", fmt::join(kLevels, ", "));
  level = known != kLevels.end() ? static_cast<std::size_t>(known - kLevels.begin()) : *old_number == 0 ? 0 : kFar;
  return {};
}

// LOC: never. NVLink is within every other level.
std::string set_p2p_level(std::string_view text, NcclKnobs& knobs) {
  std::size_t level = kFar;
  std::string wrong = set_level(text, level);
  if (level == 0) knobs.peer_to_peer = false;
  return wrong;
}

// No NIC is nearer to a GPU than one PCIe switch.
std::string set_gdr_level(std::string_view text, NcclKnobs& knobs) {
  constexpr std::size_t kPix = 4;
  std::size_t level = kFar;
  std::string wrong = set_level(text, level);
  if (level < kPix) knobs.gpudirect = false;
  return wrong;
}

std::string set_match_mode(std::string_view text, NcclKnobs& knobs) {
  if (text != "hardware" && text != "hybrid" && text != "software") return "must be hardware, hybrid or software";
  knobs.cxi_software = text == "software";
  return {};
}

std::string set_threads(std::string_view text, std::optional<int>& threads) {
  constexpr int kWarp = 32;
  std::string wrong = number(text, {2 * kWarp, 640}, [&](std::int64_t n) { threads = static_cast<int>(n); });
  if (wrong.empty() && *threads % kWarp != 0) return "must be a multiple of 32, the size of a warp";
  return wrong;
}

std::string set_buffer(std::string_view text, Protocol protocol, NcclKnobs& knobs) {
  return number(text, kBufferBytes, [&](std::int64_t n) { knobs.buffer[index_of(protocol)] = Bytes(n); });
}

std::string set_chunk(std::string_view text, std::optional<Bytes>& bytes) {
  return number(text, kChunkBytes, [&](std::int64_t n) { bytes = Bytes(n); });
}

template <std::optional<int> NcclKnobs::*kMember>
std::string set_count(std::string_view text, NcclKnobs& knobs) {
  return number(text, kCounted, [&](std::int64_t n) { knobs.*kMember = static_cast<int>(n); });
}

constexpr std::array kVariables = {
    Variable{"NCCL_ALGO", "algorithms that may be used: \"ring,tree\", \"^nvls\", \"allreduce:tree;broadcast:ring\"",
             set_algorithms},
    Variable{"NCCL_PROTO", "protocols that may be used, in the same syntax: LL, LL128, Simple", set_protocols},
    Variable{"NCCL_MIN_NCHANNELS", "channels of rings and trees at least", set_count<&NcclKnobs::min_channels>},
    Variable{"NCCL_MAX_NCHANNELS", "channels of rings and trees at most", set_count<&NcclKnobs::max_channels>},
    Variable{"NCCL_MIN_NRINGS", "older name of NCCL_MIN_NCHANNELS", set_count<&NcclKnobs::min_channels>},
    Variable{"NCCL_MAX_NRINGS", "older name of NCCL_MAX_NCHANNELS", set_count<&NcclKnobs::max_channels>},
    Variable{"NCCL_MIN_CTAS", "thread blocks, that is channels, at least", set_count<&NcclKnobs::min_blocks>},
    Variable{"NCCL_MAX_CTAS", "thread blocks, that is channels, at most", set_count<&NcclKnobs::max_blocks>},
    Variable{"NCCL_NVLS_NCHANNELS", "channels of in-switch reduction", set_count<&NcclKnobs::nvls_channels>},
    Variable{"NCCL_NTHREADS", "threads of a channel with LL and Simple",
             [](std::string_view v, NcclKnobs& k) { return set_threads(v, k.threads); }},
    Variable{"NCCL_LL128_NTHREADS", "threads of a channel with LL128",
             [](std::string_view v, NcclKnobs& k) { return set_threads(v, k.ll128_threads); }},
    Variable{"NCCL_THREAD_THRESHOLDS", "bytes per thread below which threads are dropped, six numbers", set_thresholds},
    Variable{"NCCL_BUFFSIZE", "bytes of a channel's buffer with Simple",
             [](std::string_view v, NcclKnobs& k) { return set_buffer(v, Protocol::kSimple, k); }},
    Variable{"NCCL_LL_BUFFSIZE", "bytes of a channel's buffer with LL",
             [](std::string_view v, NcclKnobs& k) { return set_buffer(v, Protocol::kLl, k); }},
    Variable{"NCCL_LL128_BUFFSIZE", "bytes of a channel's buffer with LL128",
             [](std::string_view v, NcclKnobs& k) { return set_buffer(v, Protocol::kLl128, k); }},
    Variable{"NCCL_NVLS_CHUNKSIZE", "bytes of a chunk of in-switch reduction",
             [](std::string_view v, NcclKnobs& k) { return set_chunk(v, k.nvls_chunk); }},
    Variable{"NCCL_NVLSTREE_MAX_CHUNKSIZE", "bytes of a chunk of in-switch reduction with trees between hosts",
             [](std::string_view v, NcclKnobs& k) { return set_chunk(v, k.nvls_tree_chunk); }},
    Variable{"NCCL_NVLS_ENABLE", "0: no in-switch reduction; 1 and 2: where the hosts support it",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 2}, [&](std::int64_t n) { k.nvls = n != 0; });
             }},
    Variable{"NCCL_COLLNET_ENABLE", "1: the network switches reduce",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.collnet = n == 1; });
             }},
    Variable{"NCCL_COLLNET_NODE_THRESHOLD", "least number of hosts for reduction in network switches",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 1'000'000}, [&](std::int64_t n) { k.collnet_from_hosts = static_cast<int>(n); });
             }},
    Variable{"NCCL_PAT_ENABLE", "PAT: 0 never, 1 and 2 with one GPU per host",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 2}, [&](std::int64_t n) { k.pat = n == 0 ? Allowed::kNo : Allowed::kByRule; });
             }},
    Variable{"NCCL_LL128_C2C", "0: no LL128 over NVLink-C2C and over NICs of other GPUs (PXN)",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.ll128_over_c2c = n == 1; });
             }},
    Variable{"NCCL_P2P_DISABLE", "1: GPUs do not write to each other's memory",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.peer_to_peer = n == 0; });
             }},
    Variable{"NCCL_P2P_LEVEL", "up to which distance GPUs write to each other's memory (P2P); LOC: never",
             set_p2p_level},
    Variable{"NCCL_NET_GDR_LEVEL",
             "up to which distance from a GPU a NIC accesses its memory (GPUDirect RDMA); LOC, NVL: never",
             set_gdr_level},
    Variable{
        "NCCL_PXN_DISABLE", "1: GPUs do not use NICs of other GPUs (PXN); 0: RCCL, too, uses them from two ranks on",
        [](std::string_view v, NcclKnobs& k) { return number(v, kSwitch, [&](std::int64_t n) { k.pxn = n == 0; }); }},
    Variable{"NCCL_IB_MERGE_NICS", "0: each port of a NIC is a separate device",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.merge_ports = n == 1; });
             }},
    Variable{"NCCL_IB_TIMEOUT",
             "a NIC retransmits after 4.096 us * 2^this without an acknowledgement, 20: 4.3 s; 0: it waits forever",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 31}, [&](std::int64_t n) { k.ib_timeout = static_cast<int>(n); });
             }},
    Variable{"NCCL_IB_RETRY_CNT", "how often a NIC retransmits before it gives up and the job ends",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 7}, [&](std::int64_t n) { k.ib_retries = static_cast<int>(n); });
             }},
    Variable{"NCCL_CROSS_NIC", "0: channels leave a host by the NIC they entered by; 1: by any; 2: swapped in pairs",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 2}, [&](std::int64_t n) { k.cross_nic = static_cast<int>(n); });
             }},
    Variable{"NCCL_P2P_PXN_LEVEL",
             "2: sends use the NIC on the receiver's rail (PXN); 0 and 1: the sender's own NIC over PCIe",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 2}, [&](std::int64_t n) { k.p2p_pxn = n == 2; });
             }},
    Variable{"NCCL_P2P_NET_CHUNKSIZE", "bytes of a chunk of sends between hosts",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kChunkBytes, [&](std::int64_t n) { k.p2p_net_chunk = Bytes(n); });
             }},
    Variable{"NCCL_P2P_PCI_CHUNKSIZE", "bytes of a chunk of sends over PCIe",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kChunkBytes, [&](std::int64_t n) { k.p2p_pcie_chunk = Bytes(n); });
             }},
    Variable{"NCCL_P2P_NVL_CHUNKSIZE", "bytes of a chunk of sends over NVLink",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kChunkBytes, [&](std::int64_t n) { k.p2p_nvlink_chunk = Bytes(n); });
             }},
    Variable{"NCCL_P2P_LL_THRESHOLD", "bytes to a peer up to which sends use LL",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0}, [&](std::int64_t n) { k.p2p_ll_up_to = Bytes(n); });
             }},
    Variable{"NCCL_ALLOC_P2P_NET_LL_BUFFERS", "1: sends between hosts may use LL too",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.p2p_net_ll = n == 1; });
             }},
    Variable{
        "NCCL_MIN_P2P_NCHANNELS", "channels of sends at least",
        [](std::string_view v,
           NcclKnobs&
               k) { return number(v, kCounted, [&](std::int64_t n) { k.min_p2p_channels = static_cast<int>(n); }); }},
    Variable{
        "NCCL_MAX_P2P_NCHANNELS", "channels of sends at most",
        [](std::string_view v,
           NcclKnobs&
               k) { return number(v, kCounted, [&](std::int64_t n) { k.max_p2p_channels = static_cast<int>(n); }); }},
    Variable{"NCCL_NET_OVERHEAD", "nanoseconds that posting a message to the network takes",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0}, [&](std::int64_t n) { k.net_overhead_us = static_cast<double>(n) * 1e-3; });
             }},
    Variable{"FI_CXI_RX_MATCH_MODE", "Slingshot: who matches messages: hardware, hybrid or software", set_match_mode},
    Variable{"FI_HMEM_CUDA_USE_GDRCOPY",
             "Slingshot, matching in software: 0: a call of the driver copies every message",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, kSwitch, [&](std::int64_t n) { k.cxi_gdrcopy = n == 1; });
             }},
    Variable{"FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD", "Slingshot: bytes up to which the processor copies to the GPU itself",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0}, [&](std::int64_t n) { k.cxi_own_copy = Bytes(n); });
             }},
    Variable{"FI_CXI_RDZV_THRESHOLD", "Slingshot: bytes up to which a message is sent without a rendezvous",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 1 << 20}, [&](std::int64_t n) { k.cxi_rendezvous = Bytes(n); });
             }},
    Variable{"FI_CXI_RDZV_GET_MIN", "Slingshot: least bytes that a rendezvous fetches",
             [](std::string_view v, NcclKnobs& k) {
               return number(v, {0, 1 << 20}, [&](std::int64_t n) { k.cxi_least_get = Bytes(n); });
             }},
};

// NCCL knows them; the model does not depend on them.
constexpr std::array<std::string_view, 59> kWithoutEffect = {
    "NCCL_ASYNC_ERROR_HANDLING", "NCCL_BLOCKING_WAIT", "NCCL_CGA_CLUSTER_SIZE",
    "NCCL_CHECK_POINTERS", "NCCL_CHECKS_DISABLE", "NCCL_COMM_BLOCKING", "NCCL_COMM_ID", "NCCL_CONF_FILE",
    "NCCL_CUMEM_ENABLE", "NCCL_CUMEM_HOST_ENABLE", "NCCL_DEBUG", "NCCL_DEBUG_FILE",
    "NCCL_DEBUG_SUBSYS", "NCCL_DMABUF_ENABLE", "NCCL_GDRCOPY_ENABLE", "NCCL_GRAPH_DUMP_FILE", "NCCL_GRAPH_FILE",
    "NCCL_GRAPH_MIXING_SUPPORT", "NCCL_GRAPH_REGISTER", "NCCL_HOSTID", "NCCL_IB_ADAPTIVE_ROUTING",
    "NCCL_IB_AR_THRESHOLD", "NCCL_IB_CUDA_SUPPORT", "NCCL_IB_DISABLE", "NCCL_IB_GID_INDEX", "NCCL_IB_HCA",
    "NCCL_IB_PCI_RELAXED_ORDERING", "NCCL_IB_QPS_PER_CONNECTION",
    "NCCL_IB_SL", "NCCL_IB_SPLIT_DATA_ON_QPS", "NCCL_IB_TC", "NCCL_IGNORE_CPU_AFFINITY",
    "NCCL_IGNORE_DISABLED_P2P", "NCCL_LAUNCH_MODE", "NCCL_LOCAL_REGISTER", "NCCL_MNNVL_ENABLE",
    "NCCL_NCHANNELS_PER_NET_PEER", "NCCL_NET", "NCCL_NET_GDR_C2C", "NCCL_NET_GDR_READ",
    "NCCL_NET_MERGE_LEVEL", "NCCL_NET_PLUGIN", "NCCL_NET_SHARED_BUFFERS", "NCCL_NET_SHARED_COMMS",
    "NCCL_NSOCKS_PERTHREAD", "NCCL_P2P_DIRECT_DISABLE", "NCCL_P2P_PER_CHANNEL_NET_BW", 
    "NCCL_PROFILER_PLUGIN", "NCCL_PXN_C2C", "NCCL_RAS_ENABLE", "NCCL_SET_STACK_SIZE", "NCCL_SHM_DISABLE",
    "NCCL_SOCKET_FAMILY", "NCCL_SOCKET_IFNAME", "NCCL_SOCKET_NTHREADS", "NCCL_TOPO_DUMP_FILE", "NCCL_TOPO_FILE",
    "NCCL_TUNER_CONFIG_FILE", "NCCL_TUNER_PLUGIN"};

std::string remedy(std::string_view name) {
  if (name == "NCCL_TOPO_FILE") return "name the file as 'cluster.node.nccl_topo'";
  if (name == "NCCL_GRAPH_FILE") return "name the file as 'comm.graph'";
  if (name == "NCCL_TUNER_CONFIG_FILE") return "name the file as 'comm.tuner_config'";
  if (name == "NCCL_IB_DISABLE" || name == "NCCL_NET") return "set 'cluster.node.nic.transport', tcp for sockets";
  return "the model does not depend on it";
}

}  // namespace

std::vector<std::string> modelled_nccl_variables() {
  std::vector<std::string> names;
  for (const Variable& variable : kVariables) names.emplace_back(variable.name);
  return names;
}

std::vector<std::string> nccl_variables() {
  std::vector<std::string> names = modelled_nccl_variables();
  names.insert(names.end(), kWithoutEffect.begin(), kWithoutEffect.end());
  std::sort(names.begin(), names.end());
  return names;
}

NcclKnobs read_nccl_environment(ConfigMap env, std::span<const std::string> others) {
  NcclKnobs knobs;
  const std::vector<std::string> known = nccl_variables();
  for (const std::string& name : env.keys()) {
    if (std::binary_search(known.begin(), known.end(), name)) continue;
    if (std::ranges::find(others, name) != others.end()) continue;
    const std::string near = nearest_name(name, known);
    env.error(name, "E182", fmt::format("'{}' is not a variable of NCCL", name),
              near.empty() ? "" : fmt::format("did you mean '{}'?", near));
  }
  for (const Variable& variable : kVariables) {
    if (!env.documenting() && !env.has(variable.name)) continue;
    const std::string value = env.text({.name = variable.name, .doc = variable.doc, .fallback = std::string()});
    if (env.documenting()) continue;
    const std::string wrong = variable.apply(value, knobs);
    if (!wrong.empty()) env.error(variable.name, "E182", fmt::format("{} is '{}': {}", variable.name, value, wrong));
  }
  for (const std::string_view name : kWithoutEffect) {
    if (env.has(name)) env.ignore(name, remedy(name));
  }
  env.ignore_rest("NCCL does not know it");
  const int least = std::max(knobs.min_channels.value_or(0), knobs.min_blocks.value_or(0));
  const int most = std::min(knobs.max_channels.value_or(least), knobs.max_blocks.value_or(least));
  if (least > most) {
    env.error(env.has("NCCL_MAX_NCHANNELS") ? "NCCL_MAX_NCHANNELS" : env.keys().front(), "E182",
              fmt::format("a minimum of {} and a maximum of {} channels contradict each other", least, most));
  }
  return knobs;
}

}  // namespace ringwright::collectives
