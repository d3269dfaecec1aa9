#include "core/run/kernels/chunk_play.h"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/base/index.h"

namespace ringwright {
namespace {

ChunkMember& member_of(ChunkPlay& play, ClassId rank_class) {
  const auto found = std::ranges::lower_bound(play.members, rank_class, {}, &ChunkMember::rank_class);
  CHECK(found != play.members.end() && found->rank_class == rank_class, "a group is made of the classes of its roster");
  return *found;
}

// `ranks`: by index in the call.
void add_blocks(std::span<const RankId> ranks, ChunkPlay& play, std::uint32_t number) {
  ChunkMember& member = play.members[number];
  const auto& [call, choice] = play.call_of(member);
  const std::vector<int>& host_of = call.layout->host_of;
  const int blocks = choice.algorithm->blocks(call, choice.plan);
  member.first_block = static_cast<std::uint32_t>(play.blocks.size());
  member.blocks_left = blocks;
  std::vector<int> roles;
  choice.algorithm->parts(call, choice.plan, member.index, roles);
  for (int b = 0; b < blocks; ++b) {
    ChunkBlock& made = play.blocks.emplace_back();
    made.member = number;
    made.number = b;
    made.role = roles[at(b)];
    choice.algorithm->block(call, choice.plan, member.index, b, made.block);
    made.first_queue = static_cast<std::uint32_t>(play.queues.size());
    for (const SendPort& port : made.block.sends) {
      ChunkQueue& queue = play.queues.emplace_back();
      queue.writer = static_cast<std::uint32_t>(play.blocks.size() - 1);
      queue.from = ranks[at(member.index)];
      const int peer = switch_partner(*call.layout, member.index, port.peer);
      queue.to = ranks[at(peer)];
      queue.route_kind = port.route_kind;
      queue.nics = port.nics;
      queue.network = host_of[at(member.index)] != host_of[at(peer)];
      queue.room = static_cast<std::uint64_t>(kSlots / made.block.slots_per_message);
    }
    if (made.block.primitives == 0) --member.blocks_left;
  }
}

// Finds the thread block of one member that represents a block of another one of its class: the one with the same role.
class Counterparts {
 public:
  explicit Counterparts(const ChunkPlay& play) : play_(play) {}

  // `block` of `member` in the group of one of the play's calls.
  int block_of(const ChunkMember& representative, std::uint32_t laid_out, int member, int block) {
    if (representative.laid_out == laid_out && representative.index == member) return block;
    const int part = parts(laid_out, member)[at(block)];
    const std::vector<int>& own = parts(representative.laid_out, representative.index);
    return static_cast<int>(std::ranges::find(own, part) - own.begin());
  }

 private:
  const std::vector<int>& parts(std::uint32_t laid_out, int member) {
    const auto [entry, is_new] = parts_.try_emplace({laid_out, member});
    const auto& [call, choice] = play_.calls[laid_out];
    if (is_new) choice.algorithm->parts(call, choice.plan, member, entry->second);
    return entry->second;
  }

  const ChunkPlay& play_;
  std::map<std::pair<std::uint32_t, int>, std::vector<int>> parts_;  // by call and member
};

// A queue of our peer's class is read by the block of our class that reads from such a peer: equal ranks have equal
// ports, so each queue of a class has readers of one class, which all observe the same at the same time.
void join_queues(const PlayedJob& job, ChunkPlay& play, std::uint32_t number, Counterparts& counterparts) {
  ChunkBlock& block = play.blocks[number];
  const ClassId own = play.members[block.member].rank_class;
  for (const ReceivePort& port : block.block.receives) {
    const ChunkMember& peer = member_of(play, job.class_of_member(own, play.dimension, port.peer));
    const std::uint32_t laid_out = play.members[block.member].laid_out;
    const int writing = counterparts.block_of(peer, laid_out, port.peer, port.block);
    const ChunkBlock& writer = play.blocks[peer.first_block + static_cast<std::uint32_t>(writing)];
    const std::uint32_t queue = writer.first_queue + static_cast<std::uint32_t>(port.port);
    CHECK(play.queues[queue].reader == ChunkQueue::kNoBlock, "a queue has one class of readers");
    play.queues[queue].reader = number;
    block.sources.push_back(queue);
  }
}

// The queue behind a member's port with this sum.
std::uint32_t queue_into(const ChunkPlay& play, const ChunkMember& member, int sum) {
  for (std::uint32_t b = member.first_block; b < play.blocks.size(); ++b) {
    const std::vector<SendPort>& sends = play.blocks[b].block.sends;
    const auto port = std::ranges::find(sends, sum, &SendPort::sum);
    if (port != sends.end()) return play.blocks[b].first_queue + static_cast<std::uint32_t>(port - sends.begin());
  }
  CHECK(false, "a reader of a network sum contributes to it");
  return 0;
}

int sum_read(const ChunkPlay& play, std::uint32_t queue) {
  const ChunkBlock& reader = play.blocks[play.queues[queue].reader];
  const auto port = std::ranges::find(reader.sources, queue);
  return reader.block.receives[at(static_cast<int>(port - reader.sources.begin()))].sum;
}

// Ports of one sum address each other in a ring of hosts; the simulated classes are joined ring by ring.
void join_sums(ChunkPlay& play) {
  for (std::uint32_t first = 0; first < play.queues.size(); ++first) {
    for (std::uint32_t queue = first; play.queues[queue].sum == ChunkQueue::kNoBlock;) {
      const int sum = sum_read(play, queue);
      if (sum == kNoSum) break;
      if (queue == first) play.sums.emplace_back();
      play.queues[queue].sum = static_cast<std::uint32_t>(play.sums.size() - 1);
      play.sums.back().queues.push_back(queue);
      queue = queue_into(play, play.members[play.blocks[play.queues[queue].reader].member], sum);
    }
  }
}

// The call in the group of this class's representative.
std::uint32_t find_or_make_call(const PlayedJob& job, const CollectiveSpec& spec, ClassId rank_class,
                                const ChannelChooser& chooser, ChunkPlay& play) {
  const GroupLayout* layout = &job.graph.layouts[job.layout_of(rank_class, play.dimension)];
  const auto known =
      std::ranges::find(play.calls, layout, [](const LaidOutCall& laid_out) { return laid_out.call.layout; });
  if (known == play.calls.end()) {
    const CollectiveCall call{.kind = spec.kind, .bytes = spec.bytes, .layout = layout, .dimension = play.dimension};
    play.calls.push_back({.call = call, .choice = chooser.choose(call)});
    return static_cast<std::uint32_t>(play.calls.size() - 1);
  }
  return static_cast<std::uint32_t>(known - play.calls.begin());
}

}  // namespace

ChunkMember::Nic& nic_of(ChunkMember& member, const ChunkQueue& queue) {
  const auto found = std::ranges::find(member.nics, queue.nics.out, &ChunkMember::Nic::index);
  if (found != member.nics.end()) return *found;
  return member.nics.emplace_back(ChunkMember::Nic{.index = queue.nics.out, .waiting = {}});
}

void lay_out(const PlayedJob& job, const CollectiveSpec& spec, std::span<const ClassId> classes,
             const ChannelChooser& chooser, ChunkPlay& play) {
  for (const ClassId c : classes) {
    play.members.push_back({.rank_class = c,
                            .index = job.index_in_group(c, play.dimension),
                            .laid_out = find_or_make_call(job, spec, c, chooser, play)});
  }
  std::ranges::sort(play.members, {}, &ChunkMember::rank_class);
  play.members_left = play.members.size();
  for (std::uint32_t m = 0; m < play.members.size(); ++m) {
    add_blocks(job.group_of(play.members[m].rank_class, play.dimension), play, m);
  }
  Counterparts counterparts(play);
  for (std::uint32_t b = 0; b < play.blocks.size(); ++b) join_queues(job, play, b, counterparts);
  join_sums(play);
}

void lay_out_message(const PlayedJob& job, const MessageOrder& order, ChunkPlay& play) {
  const std::array<RankId, 2> ranks = {job.rank_of(order.sender), order.to};
  play.members = {{.rank_class = order.sender, .index = 0}, {.rank_class = order.receiver, .index = 1}};
  play.members_left = play.members.size();
  for (std::uint32_t m = 0; m < play.members.size(); ++m) add_blocks(ranks, play, m);
  for (std::uint32_t number = 0; number < play.blocks.size(); ++number) {
    for (const ReceivePort& port : play.blocks[number].block.receives) {
      const std::uint32_t writer = play.members[at(port.peer)].first_block + static_cast<std::uint32_t>(port.block);
      const std::uint32_t queue = play.blocks[writer].first_queue + static_cast<std::uint32_t>(port.port);
      play.queues[queue].reader = number;
      play.blocks[number].sources.push_back(queue);
    }
  }
}

}  // namespace ringwright
