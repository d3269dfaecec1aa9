// The proxy threads of a chunk player: they send what thread blocks have put into slots for other hosts, and notify
// thread blocks of arrivals.
//
// Each rank has one such thread for all its channels and connections (NCCL's progress thread, src/proxy.cc). Each
// message that it sends or receives takes it some time; messages of LL are in host memory, where it checks the flag of
// every line before it sends them (src/transport/net.cc). So concurrent messages of many channels or several neighbours
// queue here, even where the NIC is idle.
//
// Some network libraries match messages in software (libfabric's provider for Slingshot, prov/cxi): small ones arrive
// in the library's memory and are copied by the receiver's proxy; a large one sends its header first, the receiver's
// proxy requests the data, and the sender's NIC sends them without its CPU.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "core/run/kernels/chunk_player.h"
#include "core/run/kernels/primitive_time.h"

namespace ringwright {

// Time until the member's proxy has handled one more message on each of `copies` channels: all of them where they
// arrive at once, one where they follow each other. It is busy with all in both cases.
Duration ChunkPlayer::wait_for_proxy(ChunkMember& member, const ProxyRequest& request) const {
  if (request.each == Duration()) return {};
  const TimePoint now = job_.engine.now();
  const TimePoint begins = std::max(member.proxy_free, now);
  member.proxy_free = begins + request.each * request.copies;
  return begins - now + (request.coming == Coming::kAtOnce ? request.each * request.copies : request.each);
}

// A proxy serves what comes at one instant in the order of its thread blocks' roles, the last one first (a convention).
// The order of events would depend on the number of the rank, so that ranks with equal work would end at different
// times.
void ChunkPlayer::ask_proxy(const ProxyRequest& request) {
  if (request.each == Duration()) return serve(request);
  ++plays_[request.queue.play].events;
  if (proxy_requests_.empty()) job_.engine.at_end_of_instant([this] { serve_proxies(); });
  proxy_requests_.push_back(request);
}

void ChunkPlayer::serve_proxies() {
  served_.clear();
  served_.swap(proxy_requests_);
  const auto place_of = [this](const ProxyRequest& request) {
    const ChunkPlay& play = plays_[request.queue.play];
    const ChunkBlock& block = play.blocks[request.block];
    const std::uint32_t port =
        request.task == ProxyTask::kSend
            ? request.queue.index - block.first_queue
            : static_cast<std::uint32_t>(std::ranges::find(block.sources, request.queue.index) - block.sources.begin());
    return std::tuple(request.queue.play, block.member, -block.role, request.task, port, request.message);
  };
  // With their places, which a sort would otherwise look up for each comparison.
  using Placed = std::pair<decltype(place_of(served_.front())), std::size_t>;
  std::vector<Placed> order;
  order.reserve(served_.size());
  for (std::size_t i = 0; i < served_.size(); ++i) order.emplace_back(place_of(served_[i]), i);
  std::ranges::sort(order, {}, &Placed::first);
  for (const auto& [place, number] : order) {
    const ProxyRequest& request = served_[number];
    serve(request);
    --plays_[request.queue.play].events;
  }
}

void ChunkPlayer::serve(const ProxyRequest& request) {
  ChunkPlay& play = plays_[request.queue.play];
  const PlayItem part = request.queue;
  const Duration wait = wait_for_proxy(play.members[play.blocks[request.block].member], request);
  switch (request.task) {
    case ProxyTask::kSend:
      if (wait == Duration()) return post(part);
      return after(wait, part.play, [part](ChunkPlayer& self) { self.post(part); });
    case ProxyTask::kRequest: {
      const std::uint64_t message = request.message;
      return after(wait + inputs_.costs.network_post, part.play,
                   [part, message](ChunkPlayer& self) { self.notify(part, message, Arrival::kRequest); });
    }
    case ProxyTask::kReceive: {
      // A flush reads over PCIe what the NIC wrote into the GPU's memory. Without GPUDirect nothing is flushed, but the
      // GPU itself reads flag and message from host memory over PCIe, which takes as long as a flush.
      const bool flush = play.plan().protocol == Protocol::kSimple;
      const Duration delay = flush ? inputs_.costs.network_flush : inputs_.costs.network_poll;
      return after(wait + delay, part.play, [part](ChunkPlayer& self) { self.make_readable(part); });
    }
  }
}

namespace {

// The proxy hands the messages of up to eight channels to the network's switches as one (COLLNET_GROUP_NSUBS of
// src/transport/coll_net.cc).
int proxy_operations(const ChunkQueue& queue, int copies) {
  constexpr int kAtOnce = 8;
  return queue.sum == ChunkQueue::kNoBlock ? copies : (copies + kAtOnce - 1) / kAtOnce;
}

}  // namespace

// A slot is full, and the proxy is notified.
void ChunkPlayer::fill(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  const ChunkBlock& block = play.blocks[queue.writer];
  Duration each = inputs_.costs.network_proxy;
  if (play.plan().protocol == Protocol::kLl && inputs_.costs.network_host_rate > Bandwidth(0.0)) {
    each += transfer_time(on_wire(play, queue.size[queue.filled % kSlots]), inputs_.costs.network_host_rate);
  }
  // Channels begin at once. What the proxy sends later is observed later, so from then on they follow each other.
  const Coming coming = queue.filled == 0 ? Coming::kAtOnce : Coming::kInTurn;
  const std::uint64_t message = queue.filled++;
  ask_proxy({.queue = part,
             .block = queue.writer,
             .task = ProxyTask::kSend,
             .message = message,
             .each = each,
             .copies = proxy_operations(queue, block.block.copies),
             .coming = coming});
}

void ChunkPlayer::post(PlayItem part) {
  ++plays_[part.play].queues[part.index].posted;
  depart(part);
}

void ChunkPlayer::credit(PlayItem part) {
  ++plays_[part.play].queues[part.index].credits;
  depart(part);
}

// The proxy sends what is posted and has a slot at the receiver.
void ChunkPlayer::depart(PlayItem part) {
  ChunkQueue& queue = plays_[part.play].queues[part.index];
  while (queue.may_depart()) put_on_wire(part, queue.departed++);
}

bool ChunkPlayer::is_fetched(const ChunkPlay& play, const ChunkQueue& queue, std::uint64_t message) const {
  const bool whole = queue.sum == ChunkQueue::kNoBlock;
  return whole && inputs_.costs.network_matched &&
         on_wire(play, queue.size[message % kSlots]) > inputs_.costs.network_eager;
}

// The receiver's proxy time when a message's data have arrived. Where software matches, eager data are in the library's
// memory; fetched data are already in their buffer. Elsewhere a large message is matched now.
Duration ChunkPlayer::time_to_receive(const ChunkPlay& play, Bytes size) const {
  const ChannelCosts& costs = inputs_.costs;
  const Bytes wire = on_wire(play, size);
  const bool large = wire > costs.network_eager;
  if (!costs.network_matched) return costs.network_proxy + (large ? costs.network_rendezvous : Duration());
  if (large || wire == Bytes(0)) return costs.network_proxy;
  if (wire > costs.network_own_copy) return costs.network_proxy + costs.network_copy_call;
  return costs.network_proxy + transfer_time(wire, costs.network_copy_rate);
}

void ChunkPlayer::put_on_wire(PlayItem part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  if (is_fetched(play, play.queues[part.index], message)) return notify(part, message, Arrival::kHeader);
  stream(part, message);
}

// Messages without data: the header of a rendezvous message, the request for its data, or the path of its last byte. A
// request takes the path of the data in reverse, which has the same latency.
void ChunkPlayer::notify(PlayItem part, std::uint64_t message, Arrival what) {
  ChunkPlay& play = plays_[part.play];
  const ChunkQueue& queue = play.queues[part.index];
  ++play.events;
  job_.network.start({.from = queue.from,
                      .to = queue.to,
                      .size = Bytes(0),
                      .route_kind = queue.route_kind,
                      .nics = queue.nics,
                      .label = on_channel(play.label, play.blocks[queue.writer].block.channel),
                      .token = token_of(part, what, message)},
                     *this);
}

// The header has arrived: the reader's proxy matches it and requests the data.
void ChunkPlayer::ask_for(PlayItem part, std::uint64_t message) {
  const ChunkPlay& play = plays_[part.play];
  const std::uint32_t reader = play.queues[part.index].reader;
  ask_proxy({.queue = part,
             .block = reader,
             .task = ProxyTask::kRequest,
             .message = message,
             .each = inputs_.costs.network_rendezvous,
             .copies = play.blocks[reader].block.copies});
}

// The NIC sends a message's data. A connection's messages leave in order, one after the other, as its queue pair sends
// them; connections share the NIC, however many messages each of them has waiting. Where a NIC sends only a limited
// number of messages at a time, they wait in order whatever their connection. The next message starts with the last
// byte of the one before, which is in flight for the latency of one byte. Sums in network switches stream concurrently.
void ChunkPlayer::stream(PlayItem part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  ChunkMember::Nic& nic = nic_of(play.members[play.blocks[queue.writer].member], queue);
  const int most = inputs_.costs.network_at_once;
  const bool in_turn = queue.sum == ChunkQueue::kNoBlock;
  if (in_turn && (most > 0 ? nic.streaming == most : queue.on_nic)) {
    nic.waiting.push_back({.queue = part.index, .message = message});
    return;
  }
  if (in_turn) {
    ++nic.streaming;
    queue.on_nic = true;
  }
  send({.play = part.play, .index = queue.writer},
       {.from = queue.from,
        .to = queue.to,
        .size = on_wire(play, queue.size[message % kSlots]),
        .route_kind = queue.route_kind,
        .nics = queue.nics,
        .pays_latency = !in_turn,
        .token = token_of(part, in_turn ? Arrival::kSent : Arrival::kData, message)});
}

// The last byte of a message has left its NIC: the next one starts.
void ChunkPlayer::leave_nic(PlayItem part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  ChunkMember::Nic& nic = nic_of(play.members[play.blocks[queue.writer].member], queue);
  --nic.streaming;
  queue.on_nic = false;
  notify(part, message, Arrival::kData);
  const auto next = std::ranges::find_if(nic.waiting, [&](const ChunkMember::OnNic& waiting) {
    return inputs_.costs.network_at_once > 0 || waiting.queue == part.index;
  });
  if (next == nic.waiting.end()) return;
  const ChunkMember::OnNic turn = *next;
  nic.waiting.erase(next);
  stream({.play = part.play, .index = turn.queue}, turn.message);
}

// Messages of one connection are delivered in order: one that overtakes another waits for it.
void ChunkPlayer::arrive_over_network(PlayItem part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  if (queue.sum != ChunkQueue::kNoBlock) return add_up(part.play, play.sums[queue.sum], message);
  queue.early |= std::uint64_t{1} << (message % 64);
  while ((queue.early >> (queue.arrived % 64) & 1U) != 0) {
    queue.early &= ~(std::uint64_t{1} << (queue.arrived % 64));
    take_arrived(part);
  }
  try_begin({.play = part.play, .index = queue.writer});
}

// The next message has arrived: its slot at the sender is free, the reader's proxy handles it.
void ChunkPlayer::take_arrived(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  const Duration each = time_to_receive(play, queue.size[queue.arrived % kSlots]);
  const std::uint64_t message = queue.arrived++;
  ++queue.freed;
  ask_proxy({.queue = part,
             .block = queue.reader,
             .task = ProxyTask::kReceive,
             .message = message,
             .each = each,
             .copies = proxy_operations(queue, play.blocks[queue.reader].block.copies)});
}

// Without GPUDirect a message is complete in host memory before its NIC reads it and before the GPU loads it. The
// thread blocks of a GPU share its PCIe slot while they store and load. Returns how long the primitive takes for that.
// In the network model the same bytes load slot and memory while the NIC moves them, when the next message is stored.
Duration ChunkPlayer::pass_host_memory(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const PortRange& from = block.now.receives;
  const PortRange& to = block.now.sends;
  int loads = 0;
  for (int r = from.first; r < from.first + from.count; ++r) {
    if (play.queues[block.sources[static_cast<std::size_t>(r)]].network) loads += block.block.copies;
  }
  int stores = 0;
  for (int s = to.first; s < to.first + to.count; ++s) {
    if (play.queues[block.first_queue + static_cast<std::uint32_t>(s)].network) stores += block.block.copies;
  }
  if (loads + stores == 0) return {};
  ChunkMember& member = play.members[block.member];
  member.loading += loads;
  member.storing += stores;
  const int sharing = std::max(loads > 0 ? member.loading : 0, stores > 0 ? member.storing : 0);
  const Duration through = transfer_time(on_wire(play, block.now.size), inputs_.costs.host_copy) * sharing;
  after(through, part.play, [part, loads, stores](ChunkPlayer& self) {
    ChunkPlay& there = self.plays_[part.play];
    ChunkMember& done = there.members[there.blocks[part.index].member];
    done.loading -= loads;
    done.storing -= stores;
  });
  return through;
}

// Switches add while the contributions stream in: a sum is complete with the last byte of the last one, or when the
// switch has finished at its own rate. Then all readers get it at once.
void ChunkPlayer::add_up(std::uint32_t number, ChunkSum& sum, std::uint64_t message) {
  ++sum.arrived[message % kSlots];
  while (sum.arrived[sum.done % kSlots] == sum.queues.size()) {
    sum.arrived[sum.done % kSlots] = 0;
    const ChunkPlay& play = plays_[number];
    const ChunkQueue& first = play.queues[sum.queues.front()];
    const Bytes bytes = on_wire(play, first.size[sum.done % kSlots]) * play.blocks[first.writer].block.copies;
    ++sum.done;
    if (inputs_.costs.network_sum_rate > Bandwidth(0.0)) {
      sum.busy_until = sum.busy_until + transfer_time(bytes, inputs_.costs.network_sum_rate);
    }
    sum.busy_until = std::max(sum.busy_until, job_.engine.now());
    const auto index = static_cast<std::uint32_t>(&sum - play.sums.data());
    after(sum.busy_until - job_.engine.now() + inputs_.costs.network_sum, number, [number, index](ChunkPlayer& self) {
      for (const std::uint32_t queue : self.plays_[number].sums[index].queues) {
        const PlayItem part{.play = number, .index = queue};
        self.take_arrived(part);
        self.try_begin({.play = number, .index = self.plays_[number].queues[queue].writer});
      }
    });
  }
}

}  // namespace ringwright
