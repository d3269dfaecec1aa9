#include "collectives/nccl/cost/work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "collectives/channels/channel_cut.h"
#include "collectives/nccl/cost/families.h"

namespace ringwright::collectives {
namespace {

constexpr int kWarp = 32;
constexpr int kMaxThreads = 640;
constexpr int kSimpleThreads = 512;
constexpr int kLlThreads = 512;
constexpr int kLl128Threads = 640;
constexpr double kSlowRing = 12.0;  // GB/s of all channels; up to this rate a ring runs with fewer threads

// Bytes per thread below which threads idle (device.h, tuning.cc).
constexpr std::int64_t kLlThreshold = 8;
constexpr std::int64_t kLl128Threshold = 8;
constexpr std::int64_t kSimpleThreshold = 64;
constexpr std::int64_t kCollnetThreshold = 512;

constexpr std::int64_t kBuffer = 4 << 20;  // of Simple, in eight slots

// Of a block, before small sizes reduce them. PAT has none of its own, so that no size reduces its channels.
int most_threads(const NcclCostModel& model, const NcclKnobs& knobs, const NcclChoice& choice) {
  if (choice.algorithm == NcclAlgorithm::kPat) return 0;
  if (choice.algorithm != NcclAlgorithm::kRing && choice.algorithm != NcclAlgorithm::kTree) return kMaxThreads;
  switch (choice.protocol) {
    case Protocol::kLl: return std::clamp(knobs.threads.value_or(kLlThreads), 2 * kWarp, kLlThreads);
    case Protocol::kLl128:
      return std::clamp(knobs.ll128_threads.value_or(kLl128Threads), kLl128Threads / 4, kLl128Threads);
    case Protocol::kSimple: {
      const NcclGraph& ring = model.graphs().ring;
      const bool slow = choice.algorithm == NcclAlgorithm::kRing && ring.inside_gb * ring.channels <= kSlowRing;
      return std::clamp(knobs.threads.value_or(slow ? 256 : kSimpleThreads), 2 * kWarp, kSimpleThreads);
    }
  }
  return kSimpleThreads;
}

std::int64_t threshold(const NcclCostModel& model, const NcclKnobs& knobs, const NcclChoice& choice) {
  const bool ring = choice.algorithm == NcclAlgorithm::kRing;
  if (ring || choice.algorithm == NcclAlgorithm::kTree) {
    const std::int64_t given = knobs.thread_thresholds[ring ? 1 : 0][index_of(choice.protocol)];
    if (given > 0) return given;
  }
  if (is_collnet(choice.algorithm)) return kCollnetThreshold;
  switch (choice.protocol) {
    case Protocol::kLl: return ring ? kLlThreshold * model.group().ranks : kLlThreshold;
    case Protocol::kLl128: return kLl128Threshold;
    case Protocol::kSimple: return kSimpleThreshold;
  }
  return kSimpleThreshold;
}

// NCCL_MAX_NCHANNELS counts rings and trees only, NCCL_MAX_CTAS these too.
int nvls_channels(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, NcclAlgorithm algorithm) {
  const NcclNvlsRules& rules = model.tables().nvls;
  const bool several_hosts = model.group().hosts > 1;
  int channels = 16;
  if (host.compute_capability >= 100) {
    channels = several_hosts ? rules.blackwell_channels : rules.blackwell_channels_alone;
  }
  channels = knobs.nvls_channels.value_or(channels);
  if (knobs.max_blocks) channels = std::min(channels, *knobs.max_blocks);
  if (knobs.min_blocks) channels = std::max(channels, *knobs.min_blocks);
  const bool limited = rules.within_channels && several_hosts && algorithm == NcclAlgorithm::kNvls;
  return limited ? std::min(channels, model.channels()) : channels;
}

// Fewer for small sizes, in steps that get finer below 16 (topoGetAlgoInfo of src/enqueue.cc).
int direct_channels(int channels, std::int64_t bytes, std::int64_t per_channel) {
  bool starves = true;
  for (int down_to = 16; down_to >= 1 && starves; down_to /= 2) {
    while ((starves = bytes < channels * per_channel) && channels > down_to) {
      if (channels == down_to + down_to / 2) per_channel /= 2;
      --channels;
    }
  }
  return channels;
}

std::int64_t rounded_up(std::int64_t number, std::int64_t unit) {
  return (number + unit - 1) / unit * unit;
}

// Buffers are divided among channels in cells of the least traffic of a channel: all channels but the last have equally
// many, so that 17 cells take 9 of 16 channels (scheduleCollTasksToPlan of src/enqueue.cc, since 2.22).
int channels_of_cells(const NcclCostModel& model, const CollectiveCall& call, Protocol protocol, int channels) {
  const NcclChannelRules& rules = model.tables().channels;
  const std::int64_t least = rules.least_traffic;
  if (least == 0) return channels;
  const bool gathers = one_way(call.kind);
  const std::int64_t buffer = gathers ? call.bytes.count() / call.size() : call.bytes.count();
  // Traffic of a byte of the buffer.
  std::int64_t factor = gathers ? call.size() : (call.kind == CollectiveKind::kAllReduce ? 2 : 1);
  if (protocol == Protocol::kLl) factor *= rules.ll_traffic;
  const std::int64_t cell = rules.traffic_unit > 0 ? rules.traffic_unit : rounded_up((least + factor - 1) / factor, 16);
  const std::int64_t cells = std::max<std::int64_t>(1, (buffer + cell - 1) / cell);
  const std::int64_t of_channel = std::max(least, buffer * factor / channels);
  const std::int64_t cells_of_channel = std::min(cells, (of_channel + cell * factor - 1) / (cell * factor));
  // The first channel's cells: rounded down by the version with a unit of its own.
  const std::int64_t first = rules.traffic_unit > 0 ? std::min(cells, of_channel / (cell * factor)) : cells_of_channel;
  const std::int64_t further = (cells - first + cells_of_channel - 1) / cells_of_channel;
  return static_cast<int>(std::min<std::int64_t>(channels, (first > 0 ? 1 : 0) + further));
}

// Threads of the extra warps that an algorithm needs besides those that move data.
int with_helpers(const NcclCostModel& model, int threads, const NcclChoice& choice) {
  const bool tree = choice.algorithm == NcclAlgorithm::kTree;
  if (choice.algorithm == NcclAlgorithm::kPat || (tree && model.tables().tree.all_threads)) return kMaxThreads;
  if (choice.algorithm == NcclAlgorithm::kRing && choice.protocol == Protocol::kSimple) threads += kWarp;
  if (tree && choice.protocol == Protocol::kSimple) threads += 4 * kWarp;
  return std::max(threads, 3 * kWarp);
}

// Sums by the network's switches use all their channels, whatever the traffic.
bool by_network(const NcclCostModel& model, NcclAlgorithm algorithm) {
  return is_collnet(algorithm) || (algorithm == NcclAlgorithm::kNvls && model.group().hosts > 1);
}

// What the size alone leaves.
NcclWork of_size(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, const CollectiveCall& call,
                 const NcclChoice& choice) {
  NcclWork work{.channels = model.channels(), .threads = most_threads(model, knobs, choice)};
  if (is_nvls(choice.algorithm)) {
    work.channels = nvls_channels(model, host, knobs, choice.algorithm);
    return work;
  }
  const std::int64_t per_thread = threshold(model, knobs, choice);
  const std::int64_t bytes = call.bytes.count();
  if (choice.algorithm == NcclAlgorithm::kCollnetDirect) {
    const int heads = std::max(1, std::min(host.nics, call.layout->largest_host));
    work.channels = direct_channels(work.channels, bytes, std::int64_t{work.threads} * heads * per_thread);
    return work;
  }
  const auto starves = [&] { return bytes < std::int64_t{work.channels} * work.threads * per_thread; };
  while (starves() && work.channels > 1) --work.channels;
  while (starves() && work.threads % 128 == 0) work.threads /= 2;
  work.threads = with_helpers(model, work.threads, choice);
  return work;
}

}  // namespace

NcclWork share_out(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, const CollectiveCall& call,
                   const NcclChoice& choice) {
  NcclWork work = of_size(model, host, knobs, call, choice);
  // A tuner's number is an upper limit: it adds no channels to a communicator (scheduleCollTasksToPlan of
  // src/enqueue.cc).
  const int all = is_nvls(choice.algorithm) ? work.channels : model.channels();
  if (choice.channels > 0) work.channels = std::min(choice.channels, all);
  if (!by_network(model, choice.algorithm)) {
    work.channels = channels_of_cells(model, call, choice.protocol, work.channels);
  }
  return work;
}

// computeColl of src/enqueue.cc up to 2.18: a slot is halved while the number of loops is small for the depth of the
// tree.
Bytes tree_chunk_by_depth(const CollectiveCall& call, int channels, Bytes slot) {
  const auto hosts = static_cast<unsigned>(call.layout->host_count());
  const int depth = call.size() / static_cast<int>(hosts) - 1 + static_cast<int>(std::bit_width(hosts)) - 1;
  std::int64_t chunk = slot > Bytes(0) ? slot.count() : kBuffer / 8;
  struct Step {
    int loops_a_level;
    std::int64_t down_to;
  };
  for (const Step& step : {Step{8, 128 << 10}, Step{4, 64 << 10}, Step{1, 32 << 10}}) {
    while (call.bytes.count() / (channels * chunk) < std::int64_t{step.loops_a_level} * depth && chunk > step.down_to)
      chunk /= 2;
  }
  return Bytes(chunk);
}

// computeColl of src/enqueue.cc up to 2.21.
Bytes nvls_tree_chunk_of_old(const CollectiveCall& call, int channels) {
  const int hosts = call.layout->host_count();
  const std::int64_t concurrent = std::int64_t{channels} * call.layout->largest_host;
  std::int64_t chunk = hosts >= 4 ? 64 << 10 : 512 << 10;
  struct Step {
    int times;
    std::int64_t down_to;
  };
  for (const Step& step : {Step{32, 256 << 10}, Step{16, 128 << 10}, Step{4, 64 << 10}, Step{1, 32 << 10}}) {
    if (call.bytes.count() < step.times * concurrent * chunk) chunk = std::min(chunk, step.down_to);
  }
  return Bytes(chunk);
}

// src/collectives/device/{all_reduce,all_gather,reduce_scatter,broadcast,reduce}.h of 2.6 and 2.18: LL128's threads
// take 60 bytes each at once, of which traversing rings require half and trees an eighth; with Simple 8, in trees 64,
// without the warps that only wait. LL's threads take 8, but each forwards its own data independently: rounding up
// costs nothing (ABCI, 1 MiB on 8 A100: 75 us; 82 with chunks of 5.3 KiB on 24 channels, 96 with 8 KiB on 16).
Bytes chunk_grain(CollectiveKind kind, const NcclChoice& choice, int threads) {
  const bool ring = choice.algorithm == NcclAlgorithm::kRing;
  if (!ring && choice.algorithm != NcclAlgorithm::kTree) return Bytes(0);
  switch (choice.protocol) {
    case Protocol::kLl: return Bytes(0);
    case Protocol::kLl128: {
      const bool chain = kind == CollectiveKind::kBroadcast || kind == CollectiveKind::kReduce;
      return Bytes(60 * threads / (!ring ? 8 : (chain ? 1 : 2)));
    }
    case Protocol::kSimple: return ring ? Bytes(8 * (threads - kWarp)) : Bytes(64 * (threads - 2 * kWarp));
  }
  return Bytes(0);
}

namespace {

enum class PeerPath { kNetwork, kNvlink, kPcie };

constexpr double kNetChannelGb = 14.0;  // GB/s, NCCL_P2P_PER_CHANNEL_NET_BW
constexpr std::int64_t kLlBuffer = 512 << 10;
constexpr double kNvlinkRate = 25e9;  // of one link of the generations with meshes, raw
constexpr double kXgmiRate = 48e9;    // at which RCCL plans a lane of MI300 and MI350

int power_of_two(int number) {
  return static_cast<int>(std::bit_ceil(static_cast<unsigned>(number)));
}

// Of all sends and receives together.
int exchange_channels(const NcclCostModel& model, const NcclKnobs& knobs) {
  const int wanted = std::clamp(model.channels(), knobs.min_p2p_channels, knobs.max_p2p_channels);
  return std::min(power_of_two(wanted), knobs.max_p2p_channels);
}

PeerPath inside_host(const NcclHost& host, const NcclKnobs& knobs) {
  return knobs.peer_to_peer && host.links != NcclHost::Links::kPcie ? PeerPath::kNvlink : PeerPath::kPcie;
}

Bytes exchange_chunk(const NcclMessageRules& rules, const NcclKnobs& knobs, PeerPath path) {
  switch (path) {
    case PeerPath::kNetwork: return knobs.p2p_net_chunk;
    case PeerPath::kNvlink: return knobs.p2p_nvlink_chunk.value_or(Bytes(rules.nvlink_chunk));
    case PeerPath::kPcie: return knobs.p2p_pcie_chunk.value_or(Bytes(rules.pcie_chunk));
  }
  return knobs.p2p_net_chunk;
}

std::int64_t slot_of(const NcclKnobs& knobs) {
  return knobs.buffer[index_of(Protocol::kSimple)].value_or(Bytes(kBuffer)).count() / 8;
}

int channels_inside(const NcclHost& host, const NcclMessageRules& rules, PeerPath path) {
  constexpr int kTwo = 2;
  constexpr int kFour = 4;
  if (path == PeerPath::kPcie) return kTwo;
  if (host.links == NcclHost::Links::kSwitch) {
    return kTwo * static_cast<int>(std::round(host.nvlink.count() / kNvlinkRate));
  }
  double least = kNvlinkRate;
  if (!host.lanes.empty())
    least = std::ranges::min_element(host.lanes, {}, &NcclHost::Lanes::bandwidth)->bandwidth.count();
  if (rules.four_of_lane) return kFour * std::max(1, static_cast<int>(least / kXgmiRate));
  return kTwo * std::max(1, static_cast<int>(std::round(least / kNvlinkRate)));
}

// Channels of a peer: at most, and while all members are peers.
struct PeerChannels {
  int most = 1;
  int among_all = 1;
};

// The minimum over all peers; all peers get it (ncclTopoComputeP2pChannels of src/graph/paths.cc and
// scheduleP2pTasksToPlan of src/enqueue.cc).
PeerChannels channels_of_peer(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, int all) {
  constexpr int kOfBatch = 8;  // sends that a channel works on at once
  const int ranks = model.group().ranks;
  const bool several_hosts = model.group().hosts > 1;
  const bool by_rate = model.tables().messages.by_net_rate;
  int most = model.group().per_host() > 1.0 ? channels_inside(host, model.tables().messages, inside_host(host, knobs))
                                          : all;
  if (several_hosts) {
    const int of_nic = std::max(1, static_cast<int>(std::ceil(std::floor(host.nic.count() / 1e9) / kNetChannelGb)));
    most = std::min(most, by_rate ? of_nic : (2 * ranks > 4 * all ? 1 : 2));
  }
  most = std::min(all, power_of_two(most));
  // scheduleP2pTasksToPlan of 2.14.3 and 2.17.1, src/group.cc of 2.10.3.
  while (model.tables().messages.fewer_for_many && most * ranks > 4 * all && most > 1) most /= 2;
  if (several_hosts && by_rate) {
    while (most * ((ranks + kOfBatch - 1) / kOfBatch) > all && most > 1) most /= 2;
  }
  PeerChannels channels{.most = most, .among_all = most};
  while (channels.among_all * ranks > all && channels.among_all > 1) channels.among_all /= 2;
  return channels;
}

struct MessageShare {
  int channels = 1;
  Protocol protocol = Protocol::kSimple;
};

// Parts of a message: a channel joins for each part of the least size, and channels double while a part is above the
// largest (addP2pToPlan of src/enqueue.cc, before 2.14 of src/group.cc: there a part has a slot of the buffer). A trace
// of eight A100 and NCCL 2.10 has one channel for each of 0.5 MB.
MessageShare share_of_message(const NcclCostModel& model, const NcclKnobs& knobs, Bytes message,
                              const PeerChannels& peer, PeerPath path, PeerPath of_communicator) {
  const NcclMessageRules& rules = model.tables().messages;
  const bool several_hosts = model.group().hosts > 1;
  const std::int64_t bytes = std::max<std::int64_t>(1, message.count());
  const std::int64_t slot = slot_of(knobs);
  // Connections over the network have no buffers of LL, unless requested.
  const bool has_ll = rules.ll && (path != PeerPath::kNetwork || knobs.p2p_net_ll);
  bool uses_ll = has_ll && rules.ll_by_channels && bytes <= peer.most * knobs.p2p_ll_up_to.count();
  std::int64_t step = std::min(slot, exchange_chunk(rules, knobs, of_communicator).count());
  if (uses_ll) step = knobs.buffer[index_of(Protocol::kLl)].value_or(Bytes(kLlBuffer)).count() / 8;
  if (!rules.small_parts) step = slot;
  const std::int64_t fine = several_hosts ? step / 2 : step / 8;
  const std::int64_t least = std::max<std::int64_t>(1, rules.small_parts ? fine : step);
  const std::int64_t most = several_hosts ? step : 32 * step;
  auto channels = static_cast<int>(std::min<std::int64_t>(peer.among_all, (bytes + least - 1) / least));
  while (std::max(least, (bytes + channels - 1) / channels) > most && channels <= peer.most / 2) channels *= 2;
  if (!rules.ll_by_channels) uses_ll = has_ll && bytes <= channels * knobs.p2p_ll_up_to.count();
  return {.channels = channels, .protocol = uses_ll ? Protocol::kLl : Protocol::kSimple};
}

PeerPath path_of_communicator(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs) {
  return model.group().hosts > 1 ? PeerPath::kNetwork : inside_host(host, knobs);
}

}  // namespace

NcclExchange share_out_exchange(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                const CollectiveCall& call) {
  const PeerPath path = path_of_communicator(model, host, knobs);
  const int all = exchange_channels(model, knobs);
  const MessageShare share = share_of_message(model, knobs, call.bytes / std::max(1, call.size()),
                                              channels_of_peer(model, host, knobs, all), path, path);
  return {.channels = std::min(all, share.channels * call.size()),
          .of_message = share.channels,
          .protocol = share.protocol,
          .chunk = exchange_chunk(model.tables().messages, knobs, path)};
}

NcclExchange share_out_message(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                               const MessageCall& call) {
  const PeerPath path = call.leaves_host() ? PeerPath::kNetwork : inside_host(host, knobs);
  const PeerChannels peer = channels_of_peer(model, host, knobs, exchange_channels(model, knobs));
  const MessageShare share =
      share_of_message(model, knobs, call.bytes, peer, path, path_of_communicator(model, host, knobs));
  const Bytes chunk = std::min(exchange_chunk(model.tables().messages, knobs, path), Bytes(slot_of(knobs)));
  return {.channels = share.channels,
          .of_message = share.channels,
          .protocol = share.protocol,
          .chunk = path == PeerPath::kNetwork ? network_chunk(chunk, call.bytes) : chunk};
}

}  // namespace ringwright::collectives
