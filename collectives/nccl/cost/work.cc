#include "collectives/nccl/cost/work.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

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

bool in_switch(NcclAlgorithm a) {
  return a == NcclAlgorithm::kNvls || a == NcclAlgorithm::kNvlsTree;
}

int most_threads(const NcclCostModel& model, const NcclKnobs& knobs, const NcclChoice& choice) {
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
  if (choice.algorithm == NcclAlgorithm::kCollnetDirect || choice.algorithm == NcclAlgorithm::kCollnetChain) {
    return kCollnetThreshold;
  }
  switch (choice.protocol) {
    case Protocol::kLl: return ring ? kLlThreshold * model.group().ranks : kLlThreshold;
    case Protocol::kLl128: return kLl128Threshold;
    case Protocol::kSimple: return kSimpleThreshold;
  }
  return kSimpleThreshold;
}

int nvls_channels(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, NcclAlgorithm algorithm) {
  const bool several_hosts = model.group().hosts > 1;
  int channels = 16;
  if (host.compute_capability >= 100) channels = several_hosts ? 32 : 24;
  channels = knobs.nvls_channels.value_or(channels);
  if (knobs.max_channels) channels = std::min(channels, *knobs.max_channels);
  return several_hosts && algorithm == NcclAlgorithm::kNvls ? std::min(channels, model.channels()) : channels;
}

// Bytes that cross a channel's links; LL's flags double its traffic.
std::int64_t traffic(const CollectiveCall& call, Protocol protocol) {
  const std::int64_t bytes = call.kind == CollectiveKind::kAllReduce ? 2 * call.bytes.count() : call.bytes.count();
  return protocol == Protocol::kLl ? 4 * bytes : bytes;
}

int up_to_traffic(int channels, const CollectiveCall& call, Protocol protocol, std::int64_t least) {
  if (least == 0) return channels;
  const std::int64_t wanted = (traffic(call, protocol) + least - 1) / least;
  return static_cast<int>(std::clamp<std::int64_t>(wanted, 1, channels));
}

// Threads of the extra warps that an algorithm needs besides those that move data.
int with_helpers(int threads, const NcclChoice& choice) {
  if (choice.algorithm == NcclAlgorithm::kTree || choice.algorithm == NcclAlgorithm::kPat) return kMaxThreads;
  if (choice.algorithm == NcclAlgorithm::kRing && choice.protocol == Protocol::kSimple) threads += kWarp;
  return std::max(threads, 3 * kWarp);
}

}  // namespace

NcclWork share_out(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs, const CollectiveCall& call,
                   const NcclChoice& choice) {
  // A tuner's number is an upper limit: it adds no channels to a communicator (scheduleCollTasksToPlan of
  // src/enqueue.cc).
  const int all = in_switch(choice.algorithm) ? nvls_channels(model, host, knobs, choice.algorithm) : model.channels();
  NcclWork work{.channels = choice.channels > 0 ? std::min(choice.channels, all) : all,
                .threads = most_threads(model, knobs, choice)};
  if (in_switch(choice.algorithm)) {
    work.channels = up_to_traffic(work.channels, call, choice.protocol, model.least_traffic());
    return work;
  }
  const std::int64_t per_thread = threshold(model, knobs, choice);
  const auto starves = [&] { return call.bytes.count() < std::int64_t{work.channels} * work.threads * per_thread; };
  while (choice.channels == 0 && starves() && work.channels > 1) --work.channels;
  while (choice.algorithm != NcclAlgorithm::kCollnetDirect && starves() && work.threads % 128 == 0) work.threads /= 2;
  work.threads = with_helpers(work.threads, choice);
  work.channels = up_to_traffic(work.channels, call, choice.protocol, model.least_traffic());
  return work;
}

// computeColl of src/enqueue.cc up to 2.18: a slot is halved while the number of loops is small for the depth of the
// tree.
Bytes tree_chunk_by_depth(const CollectiveCall& call, int channels) {
  const auto hosts = static_cast<unsigned>(call.layout->host_count());
  const int depth = call.size() / static_cast<int>(hosts) - 1 + static_cast<int>(std::bit_width(hosts)) - 1;
  std::int64_t chunk = kBuffer / 8;
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

constexpr double kNetChannelRate = 14e9;  // NCCL_P2P_PER_CHANNEL_NET_BW
constexpr double kNvlinkRate = 25e9;      // of one link of the generations with meshes, raw

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

Protocol exchange_protocol(const NcclCostModel& model, const NcclKnobs& knobs, Bytes to_peer, PeerPath path) {
  // Connections over the network have no buffers of LL, unless requested.
  const bool has_ll = model.messages().ll && (path != PeerPath::kNetwork || knobs.p2p_net_ll);
  return has_ll && to_peer <= knobs.p2p_ll_up_to ? Protocol::kLl : Protocol::kSimple;
}

Bytes exchange_chunk(const NcclKnobs& knobs, PeerPath path) {
  switch (path) {
    case PeerPath::kNetwork: return knobs.p2p_net_chunk;
    case PeerPath::kNvlink: return knobs.p2p_nvlink_chunk;
    case PeerPath::kPcie: return knobs.p2p_pcie_chunk;
  }
  return knobs.p2p_net_chunk;
}

std::int64_t slot_of(const NcclKnobs& knobs) {
  return knobs.buffer[index_of(Protocol::kSimple)].value_or(Bytes(kBuffer)).count() / 8;
}

// Of a message, up to the given number: none has less than a part (calcP2pChunkSize of src/enqueue.cc, before 2.14 of
// src/group.cc). A trace of eight A100 and NCCL 2.10 has one channel for each of 0.5 MB.
int channels_of_message(const NcclCostModel& model, const NcclKnobs& knobs, Bytes message, int most) {
  const std::int64_t slot = slot_of(knobs);
  const std::int64_t fine = model.group().hosts > 1 ? slot / 2 : slot / 8;
  const std::int64_t part = std::max<std::int64_t>(model.messages().small_parts ? fine : slot, 1);
  return static_cast<int>(std::clamp<std::int64_t>((message.count() + part - 1) / part, 1, most));
}

// The minimum over all peers; all peers get it.
int most_channels_of_peer(const NcclCostModel& model, const NcclHost& host, PeerPath path) {
  constexpr int kTwo = 2;
  if (model.group().hosts > 1) {
    return power_of_two(std::max(kTwo, static_cast<int>(std::ceil(host.nic.count() / kNetChannelRate))));
  }
  if (path == PeerPath::kPcie) return kTwo;
  if (host.links == NcclHost::Links::kSwitch) {
    return power_of_two(2 * static_cast<int>(std::round(host.nvlink.count() / kNvlinkRate)));
  }
  double least = kNvlinkRate;
  if (!host.lanes.empty())
    least = std::ranges::min_element(host.lanes, {}, &NcclHost::Lanes::bandwidth)->bandwidth.count();
  return power_of_two(2 * std::max(1, static_cast<int>(std::round(least / kNvlinkRate))));
}

}  // namespace

NcclExchange share_out_exchange(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                                const CollectiveCall& call) {
  const PeerPath path = model.group().hosts > 1 ? PeerPath::kNetwork : inside_host(host, knobs);
  const Bytes message = call.bytes / std::max(1, call.size());
  const int all = exchange_channels(model, knobs);
  const auto fitting = static_cast<unsigned>(std::max(all / std::max(1, call.size()), 1));
  const int most = std::max(static_cast<int>(std::bit_floor(fitting)), std::min(all, 2));
  const int of_message = channels_of_message(model, knobs, message, most);
  return {.channels = std::min(all, of_message * call.size()),
          .of_message = of_message,
          .protocol = exchange_protocol(model, knobs, message, path),
          .chunk = exchange_chunk(knobs, path)};
}

// From the channels per peer when all members are peers, doubled while each would move more than a slot between hosts,
// or 32 slots inside one (calcP2pChunkSize of src/enqueue.cc).
NcclExchange share_out_message(const NcclCostModel& model, const NcclHost& host, const NcclKnobs& knobs,
                               const MessageCall& call) {
  const PeerPath path = call.leaves_host() ? PeerPath::kNetwork : inside_host(host, knobs);
  const int all = exchange_channels(model, knobs);
  const int most = std::min(all, most_channels_of_peer(model, host, path));
  int channels = most;
  while (channels * model.group().ranks > all && channels > 1) channels /= 2;
  channels = channels_of_message(model, knobs, call.bytes, channels);
  const std::int64_t slot = slot_of(knobs);
  const bool several_hosts = model.group().hosts > 1;
  const std::int64_t most_bytes = several_hosts ? slot : 32 * slot;
  const auto each = [&] { return (call.bytes.count() + channels - 1) / channels; };
  while (each() > most_bytes && channels <= most / 2) channels *= 2;
  return {.channels = channels,
          .of_message = channels,
          .protocol = exchange_protocol(model, knobs, call.bytes, path),
          .chunk = std::min(exchange_chunk(knobs, path), Bytes(slot))};
}

}  // namespace ringwright::collectives
