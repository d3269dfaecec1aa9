// The proxy threads of a chunk player: they send what thread blocks have put into slots for other hosts, and tell thread
// blocks what has arrived.
//
// Each rank has one such thread for all its channels and connections (NCCL's progress thread, src/proxy.cc). It takes a
// while for every message that it sends or sees arrive; messages of LL lie in host memory, where it looks at the flag of
// every line before it sends them (src/transport/net.cc). So what many channels or several neighbours send and receive at
// a time waits here, even where the NIC is idle.
#include <algorithm>
#include <bit>

#include "core/run/chunk_player.h"
#include "core/run/primitive_time.h"

namespace ringwright {

// Until the member's proxy has dealt with one message more on each of `copies` channels.
Duration ChunkPlayer::wait_for_proxy(ChunkMember& member, Duration each, int copies) const {
  if (each == Duration()) return {};
  const TimePoint now = job_.engine.now();
  member.proxy_free = std::max(member.proxy_free, now) + each * copies;
  return member.proxy_free - now;
}

// A slot is full, and the proxy gets to know.
void ChunkPlayer::fill(Part part) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  const ChunkBlock& block = play.blocks[queue.writer];
  Duration each = inputs_.costs.network_proxy;
  if (play.choice.plan.protocol == Protocol::kLl && inputs_.costs.network_host_rate > Bandwidth(0.0)) {
    each += transfer_time(on_wire(play, queue.size[queue.filled % kSlots]), inputs_.costs.network_host_rate);
  }
  ++queue.filled;
  const Duration wait = wait_for_proxy(play.members[block.member], each, block.block.copies);
  if (wait == Duration()) return post(part);
  after(wait, part.play, [part](ChunkPlayer& self) { self.post(part); });
}

void ChunkPlayer::post(Part part) {
  ++plays_[part.play].queues[part.index].posted;
  depart(part);
}

void ChunkPlayer::credit(Part part) {
  ++plays_[part.play].queues[part.index].credits;
  depart(part);
}

// The proxy sends what is posted and has a slot at the receiver.
void ChunkPlayer::depart(Part part) {
  ChunkQueue& queue = plays_[part.play].queues[part.index];
  while (queue.may_depart()) put_on_wire(part, queue.departed++);
}

// What the receiver's proxy does for a message: one that is larger than what goes unasked, it has to match and fetch.
Duration ChunkPlayer::time_to_receive(const ChunkPlay& play, Bytes size) const {
  const bool asks = on_wire(play, size) > inputs_.costs.network_eager;
  return inputs_.costs.network_proxy + (asks ? inputs_.costs.network_rendezvous : Duration());
}

void ChunkPlayer::put_on_wire(Part part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  const ChunkQueue& queue = play.queues[part.index];
  send({.play = part.play, .index = queue.writer},
       {.from = queue.from,
        .to = queue.to,
        .size = on_wire(play, queue.size[message % kSlots]),
        .reach = queue.reach,
        .token = message_token(part, message)});
}

// Messages of one connection are delivered in order: one that overtakes another waits for it.
void ChunkPlayer::arrive_over_network(Part part, std::uint64_t message) {
  ChunkPlay& play = plays_[part.play];
  ChunkQueue& queue = play.queues[part.index];
  queue.early |= std::uint64_t{1} << (message % 64);
  const bool flush = play.choice.plan.protocol == Protocol::kSimple;
  const Duration delay = flush ? inputs_.costs.network_flush : inputs_.costs.network_poll;
  ChunkBlock& reader = play.blocks[queue.reader];
  while ((queue.early >> (queue.arrived % 64) & 1U) != 0) {
    queue.early &= ~(std::uint64_t{1} << (queue.arrived % 64));
    ++queue.arrived;
    ++queue.freed;
    const Duration each = time_to_receive(play, queue.size[(queue.arrived - 1) % kSlots]);
    const Duration wait = wait_for_proxy(play.members[reader.member], each, reader.block.copies);
    after(wait + delay, part.play, [part](ChunkPlayer& self) { self.make_readable(part); });
  }
  try_begin({.play = part.play, .index = queue.writer});
}

}  // namespace ringwright
