#include "core/run/kernels/chunk_player.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/check.h"
#include "core/run/kernels/primitive_time.h"

namespace ringwright {
namespace {

constexpr int kJoining = -1;  // the "step" under which members that join a call are counted

}  // namespace

ChunkPlayer::ChunkPlayer(PlayedJob& job, const ChannelInputs& inputs) : job_(job), inputs_(inputs), roster_(job) {}

std::uint32_t ChunkPlayer::find_or_make_play(const CollectiveRequest& request) {
  const auto classes = roster_.classes_of_group(request.rank_class, request.dimension);
  const Key key(classes.front(), request.dimension, request.sequence);
  const auto known = active_.find(key);
  if (known != active_.end()) return known->second;
  const std::uint32_t number = free_play();
  ChunkPlay& play = plays_[number];
  play.dimension = request.dimension;
  play.sequence = request.sequence;
  play.label = collective_label(play.dimension);
  lay_out(job_, job_.graph.collectives[request.spec], classes, inputs_.chooser, play);
  active_.emplace(key, number);
  return number;
}

void ChunkPlayer::start(const CollectiveRequest& request) {
  const std::uint32_t number = find_or_make_play(request);
  ChunkPlay& play = plays_[number];
  const auto member = std::ranges::find(play.members, request.rank_class, &ChunkMember::rank_class);
  member->request = request;
  member->joined = true;
  join(number, *member);
  const PlayItem part{.play = number, .index = static_cast<std::uint32_t>(member - play.members.begin())};
  const bool alone = play.calls.front().call.size() == 1;
  start_after(alone ? Duration() : inputs_.costs.launch_of(play.plan().channels), part);
}

void ChunkPlayer::start_after(Duration launch_time, PlayItem member) {
  after(launch_time, member.play, [member](ChunkPlayer& self) { self.launch(member); });
}

void ChunkPlayer::join(std::uint32_t number, ChunkMember& member) {
  ChunkPlay& play = plays_[number];
  if (!roster_.come(member.rank_class, play.dimension, play.sequence, kJoining)) return;
  for (ChunkMember& each : play.members) {
    if (!each.joined || (each.running && each.blocks_left == 0)) continue;  // already done
    each.booked = true;
    job_.ledger.begin_communication(each.rank_class, play.dimension, job_.engine.now());
  }
}

void ChunkPlayer::launch(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkMember& member = play.members[part.index];
  member.running = true;
  if (member.blocks_left == 0) {
    finish(part.play, member);
    return;
  }
  const auto& [call, choice] = play.call_of(member);
  const auto blocks = static_cast<std::uint32_t>(choice.algorithm->blocks(call, choice.plan));
  for (std::uint32_t b = 0; b < blocks; ++b) try_begin({.play = part.play, .index = member.first_block + b});
}

void ChunkPlayer::finish(std::uint32_t number, ChunkMember& member) {
  ChunkPlay& play = plays_[number];
  --play.members_left;
  if (play.ends != nullptr) return report_end(play, member);
  if (member.booked) job_.ledger.end_communication(member.rank_class, play.dimension, job_.engine.now());
  job_.listener.on_communication_ended(member.rank_class, member.request.task);
}

bool ChunkPlayer::may_begin(const ChunkPlay& play, const ChunkBlock& block) const {
  const Primitive& next = block.now;
  for (int r = next.receives.first; r < next.receives.first + next.receives.count; ++r) {
    if (!play.queues[block.sources[static_cast<std::size_t>(r)]].has_message()) return false;
  }
  for (int s = next.sends.first; s < next.sends.first + next.sends.count; ++s) {
    if (!play.queues[block.first_queue + static_cast<std::uint32_t>(s)].has_room()) return false;
  }
  const std::uint32_t first = play.members[block.member].first_block;
  return std::ranges::all_of(next.after, [&](const PrimitiveDependency& after) {
    return after.block < 0 || play.blocks[first + static_cast<std::uint32_t>(after.block)].done > after.primitive;
  });
}

void ChunkPlayer::try_begin(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkBlock& block = play.blocks[part.index];
  const ChunkMember& member = play.members[block.member];
  if (block.working || !member.running || block.done == block.block.primitives) return;
  if (!block.loaded) {
    const auto& [call, choice] = play.call_of(member);
    choice.algorithm->primitive(call, choice.plan, member.index, block.number, block.done + block.left_out, block.now);
    for (PrimitiveDependency& after : block.now.after) after.primitive -= block.left_out;
    block.loaded = true;
  }
  if (may_begin(play, block)) begin(part);
}

void ChunkPlayer::begin(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkBlock& block = play.blocks[part.index];
  block.working = true;
  for (int s = block.now.sends.first; s < block.now.sends.first + block.now.sends.count; ++s) {
    ChunkQueue& queue = play.queues[block.first_queue + static_cast<std::uint32_t>(s)];
    queue.size[queue.written % kSlots] = block.now.signal_only ? Bytes(0) : block.now.size;
    ++queue.written;
  }
  const Duration fixed = fixed_time(inputs_.costs, play, block);
  if (fixed == Duration()) return move(part);
  after(fixed, part.play, [part](ChunkPlayer& self) { self.move(part); });
}

// Wait loops and barriers are done: the bytes of the current primitive move.
void ChunkPlayer::move(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkBlock& block = play.blocks[part.index];
  block.not_before = job_.engine.now() + moving_time(inputs_.costs, play, block);
  if (!inputs_.costs.gpudirect)
    block.not_before = std::max(block.not_before, job_.engine.now() + pass_host_memory(part));
  if (job_.clocks != nullptr) block.lag = job_.clocks->lag(play.members[block.member].rank_class);
  announce(part);
  block.held = has_all(play, block) ? Bytes(0) : lines_of(play, block);
  block.flows = block.now.size > Bytes(0) ? start_stores(part, block.now.size - block.held, Arrival::kFlow) +
                                                start_fetches(part) + start_one_sided(part)
                                          : 0;
  if (block.flows == 0)
    after(block.not_before - job_.engine.now(), part.play, [part](ChunkPlayer& self) { self.catch_up(part); });
}

// Peers inside the host observe the first lines of a long message, and begin.
void ChunkPlayer::announce(PlayItem part) {
  const ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const Duration first = block.now.signal_only ? Duration() : line_time(inputs_.costs, play, block);
  if (first == Duration()) return;
  for (int s = block.now.sends.first; s < block.now.sends.first + block.now.sends.count; ++s) {
    const PlayItem to{.play = part.play, .index = block.first_queue + static_cast<std::uint32_t>(s)};
    const ChunkQueue& queue = play.queues[to.index];
    if (queue.network) continue;
    const std::uint64_t upto = queue.written;
    after(first + inputs_.costs.of(play.plan().protocol).hop, part.play, [to, upto](ChunkPlayer& self) {
      ChunkQueue& seen = self.plays_[to.play].queues[to.index];
      seen.begun = std::max(seen.begun, upto);
      self.try_begin({.play = to.play, .index = seen.reader});
    });
  }
}

// Whether all messages of the current primitive have arrived up to the last line.
bool ChunkPlayer::has_all(const ChunkPlay& play, const ChunkBlock& block) const {
  for (int r = block.now.receives.first; r < block.now.receives.first + block.now.receives.count; ++r) {
    const ChunkQueue& queue = play.queues[block.sources[static_cast<std::size_t>(r)]];
    if (queue.readable <= queue.read) return false;
  }
  return true;
}

// Hands one message of a block to the network; its copies go in parallel.
void ChunkPlayer::send(PlayItem part, const Transfer& transfer) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  Transfer sent = transfer;
  sent.copies = static_cast<std::uint32_t>(block.block.copies);
  sent.label = on_channel(play.label, block.block.channel);
  const std::size_t sender = play.members[block.member].rank_class.index();
  if (sent.route_kind != RouteKind::kDownFromSwitch)
    job_.sent[sender][play.dimension.index()] += sent.size * block.block.copies;
  job_.messages[sender] += sent.copies;
  ++play.events;
  job_.network.start(sent, *this);
}

// Inside a host the thread block stores into the peer's memory itself. Returns the number of flows started.
int ChunkPlayer::start_stores(PlayItem part, Bytes size, Arrival arrival) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  int flows = 0;
  bool in_switch = false;
  if (block.now.signal_only) return 0;
  for (int s = block.now.sends.first; s < block.now.sends.first + block.now.sends.count; ++s) {
    const ChunkQueue& queue = play.queues[block.first_queue + static_cast<std::uint32_t>(s)];
    if (queue.network || (queue.route_kind == RouteKind::kUpToSwitch && in_switch)) continue;
    in_switch = in_switch || queue.route_kind == RouteKind::kUpToSwitch;
    send(part, {.from = queue.from,
                .to = queue.to,
                .size = on_wire(play, size),
                .route_kind = queue.route_kind,
                .pays_latency = false,
                .token = token_of(part, arrival)});
    ++flows;
  }
  return flows;
}

// One-sided stores into and loads from the memory of other members in the host, without a queue.
int ChunkPlayer::start_one_sided(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const ChunkMember& member = play.members[block.member];
  const auto& group = job_.group_of(member.rank_class, play.dimension);
  const RankId own = job_.rank_of(member.rank_class);
  const Transfer transfer{.from = own,
                          .to = own,
                          .size = on_wire(play, block.now.size),
                          .pays_latency = false,
                          .token = token_of(part, Arrival::kFlow)};
  for (const int peer : block.now.stores_to) {
    Transfer store = transfer;
    store.to = group[static_cast<std::size_t>(peer)];
    send(part, store);
  }
  for (const int peer : block.now.loads_from) {
    Transfer load = transfer;
    load.from = group[static_cast<std::size_t>(peer)];
    send(part, load);
  }
  return static_cast<int>(block.now.stores_to.size() + block.now.loads_from.size());
}

// Fetches a sum or a multicast from the host's switch.
int ChunkPlayer::start_fetches(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  for (int r = block.now.receives.first; r < block.now.receives.first + block.now.receives.count; ++r) {
    const ReceivePort& port = block.block.receives[static_cast<std::size_t>(r)];
    if (port.route_kind != RouteKind::kDownFromSwitch) continue;
    const ChunkMember& member = play.members[block.member];
    const auto& group = job_.group_of(member.rank_class, play.dimension);
    const int peer = switch_partner(*play.call_of(member).call.layout, member.index, port.peer);
    send(part, {.from = group[static_cast<std::size_t>(peer)],
                .to = job_.rank_of(member.rank_class),
                .size = on_wire(play, block.now.size),
                .route_kind = RouteKind::kDownFromSwitch,
                .pays_latency = false,
                .token = token_of(part, Arrival::kFlow)});
    return 1;
  }
  return 0;
}

void ChunkPlayer::on_arrived(std::uint64_t token) {
  const PlayItem part = part_of(token);
  switch (arrival_of(token)) {
    case Arrival::kFlow: end_flow(part); break;
    case Arrival::kLateLines: break;
    case Arrival::kData: arrive_over_network(part, message_of(token)); break;
    case Arrival::kHeader: ask_for(part, message_of(token)); break;
    case Arrival::kRequest: stream(part, message_of(token)); break;
    case Arrival::kSent: leave_nic(part, message_of(token)); break;
  }
  if (--plays_[part.play].events == 0) retire_if_over(part.play);
}

void ChunkPlayer::end_flow(PlayItem part) {
  ChunkBlock& block = plays_[part.play].blocks[part.index];
  if (--block.flows > 0) return;
  if (block.not_before <= job_.engine.now()) return catch_up(part);
  after(block.not_before - job_.engine.now(), part.play, [part](ChunkPlayer& self) { self.catch_up(part); });
}

// Without contention the thread block would be done.
void ChunkPlayer::catch_up(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const ClassId rank_class = play.members[block.member].rank_class;
  const std::uint64_t token = token_of(part, Arrival::kFlow);
  if (job_.clocks == nullptr || job_.clocks->is_through(rank_class, block.lag, *this, token)) return end(part);
  ++play.events;
}

void ChunkPlayer::on_caught_up(std::uint64_t token) {
  const PlayItem part = part_of(token);
  --plays_[part.play].events;
  end(part);
  retire_if_over(part.play);
}

void ChunkPlayer::end(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ChunkBlock& block = play.blocks[part.index];
  block.ahead = !has_all(play, block);
  if (block.ahead) return;
  block.working = false;
  block.loaded = false;
  ++block.done;
  pass_on(part, block.now);
  if (block.now.notifies) notify_dependents(part);
  if (inputs_.left_out != nullptr) leave_out_repeated(part);
  if (block.done < block.block.primitives) {
    try_begin(part);
    return;
  }
  ChunkMember& member = play.members[block.member];
  if (--member.blocks_left == 0) finish(part.play, member);
}

// The current primitive has ended: its messages and the freed slots start to travel.
void ChunkPlayer::pass_on(PlayItem part, const Primitive& primitive) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const Duration network_credit = inputs_.costs.network_post + inputs_.costs.network_poll;
  bool local = false;
  for (int r = primitive.receives.first; r < primitive.receives.first + primitive.receives.count; ++r) {
    const PlayItem from{.play = part.play, .index = block.sources[static_cast<std::size_t>(r)]};
    ChunkQueue& queue = play.queues[from.index];
    ++queue.read;
    local = local || !queue.network;
    if (queue.network) after(network_credit, part.play, [from](ChunkPlayer& self) { self.credit(from); });
  }
  for (int s = primitive.sends.first; s < primitive.sends.first + primitive.sends.count; ++s) {
    const PlayItem to{.play = part.play, .index = block.first_queue + static_cast<std::uint32_t>(s)};
    const bool network = play.queues[to.index].network;
    local = local || !network;
    if (network) after(inputs_.costs.network_post, part.play, [to](ChunkPlayer& self) { self.fill(to); });
  }
  if (!local) return;
  const Ports sends{.first = static_cast<std::uint16_t>(primitive.sends.first),
                    .count = static_cast<std::uint16_t>(primitive.sends.count)};
  const Ports receives{.first = static_cast<std::uint16_t>(primitive.receives.first),
                       .count = static_cast<std::uint16_t>(primitive.receives.count)};
  after(inputs_.costs.of(play.plan().protocol).hop, part.play,
        [part, sends, receives](ChunkPlayer& self) { self.reach_peers(part, sends, receives); });
}

// One hop after a primitive: peers inside the host observe its messages, and their freed slots.
void ChunkPlayer::reach_peers(PlayItem part, Ports sends, Ports receives) {
  ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  for (std::uint32_t r = receives.first; r < std::uint32_t{receives.first} + receives.count; ++r) {
    ChunkQueue& queue = play.queues[block.sources[r]];
    if (queue.network) continue;
    ++queue.freed;
    try_begin({.play = part.play, .index = queue.writer});
  }
  for (std::uint32_t s = sends.first; s < std::uint32_t{sends.first} + sends.count; ++s) {
    if (!play.queues[block.first_queue + s].network) make_readable({.play = part.play, .index = block.first_queue + s});
  }
}

void ChunkPlayer::make_readable(PlayItem part) {
  ChunkPlay& play = plays_[part.play];
  ++play.queues[part.index].readable;
  const PlayItem reader{.play = part.play, .index = play.queues[part.index].reader};
  ChunkBlock& block = play.blocks[reader.index];
  if (!block.ahead && block.held == Bytes(0)) return try_begin(reader);
  if (!has_all(play, block)) return;
  if (!block.ahead) start_stores(reader, std::exchange(block.held, Bytes(0)), Arrival::kLateLines);
  if (!std::exchange(block.ahead, false)) return;
  after(line_time(inputs_.costs, play, block), part.play, [reader](ChunkPlayer& self) { self.store_last(reader); });
}

// The last lines have arrived, after all others were stored.
void ChunkPlayer::store_last(PlayItem part) {
  ChunkBlock& block = plays_[part.play].blocks[part.index];
  block.flows = start_stores(part, std::exchange(block.held, Bytes(0)), Arrival::kFlow);
  if (block.flows == 0) catch_up(part);
}

void ChunkPlayer::notify_dependents(PlayItem part) {
  const ChunkPlay& play = plays_[part.play];
  const ChunkBlock& block = play.blocks[part.index];
  const std::uint32_t first = play.members[block.member].first_block;
  for (std::uint32_t b = first; b < play.blocks.size() && play.blocks[b].member == block.member; ++b) {
    if (b != part.index) try_begin({.play = part.play, .index = b});
  }
}

}  // namespace ringwright
