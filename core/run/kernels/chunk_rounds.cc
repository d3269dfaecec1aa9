// What a chunk player leaves out of a call that repeats itself.
#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "core/run/kernels/chunk_player.h"

namespace ringwright {
namespace {

// What is left out is at least such a part of what is left: the steps of a loop repeat themselves soon, but then all
// loops do, which is found only if none is cut short.
constexpr std::int64_t kWorthwhile = 4;

// Primitives that a block of a member has yet to begin, by their numbers in the whole call.
struct AheadOf {
  const LaidOutCall& call;
  const ChunkBlock& block;
  int member = 0;

  [[nodiscard]] Primitive primitive(std::int64_t index) const {
    Primitive made;
    call.choice.algorithm->primitive(call.call, call.choice.plan, member, block.number, index, made);
    return made;
  }
  // The first one from `index` on that is another one than `period` before.
  [[nodiscard]] std::int64_t first_other(std::int64_t index, std::int64_t period) const {
    const std::int64_t end = block.block.primitives + block.left_out;
    for (; index < end; ++index) {
      Primitive before = primitive(index - period);
      for (PrimitiveDependency& after : before.after) after.primitive += after.block < 0 ? 0 : period;
      if (!(before == primitive(index))) return index;
    }
    return end;
  }
};

struct Range {
  const ChunkBlock* block = nullptr;
  std::int64_t least = 0;  // the next primitive of any of the blocks
  std::int64_t most = 0;
};

// So many periods have, for every block, the primitives of the last one. Blocks of equal shape have equal primitives.
std::int64_t periods_ahead(const ChunkPlay& play, std::int64_t period) {
  using Key = std::tuple<std::uint32_t, int, std::uint64_t, std::uint32_t>;  // call, number, shape, member if that is 0
  std::map<Key, Range> ranges;
  for (const ChunkBlock& block : play.blocks) {
    if (block.done == block.block.primitives) continue;
    const ChunkMember& member = play.members[block.member];
    const auto& [call, choice] = play.call_of(member);
    const std::uint64_t shape = choice.algorithm->shape(call, choice.plan, member.index, block.number);
    const std::int64_t next = block.done + block.left_out;
    const Key key{member.laid_out, block.number, shape, shape == 0 ? block.member : 0};
    const auto [entry, is_new] = ranges.try_emplace(key, Range{.block = &block, .least = next, .most = next});
    entry->second.least = std::min(entry->second.least, next);
    entry->second.most = std::max(entry->second.most, next);
  }
  std::optional<std::int64_t> periods;
  for (const auto& [key, range] : ranges) {
    const ChunkMember& member = play.members[range.block->member];
    const AheadOf ahead{.call = play.call_of(member), .block = *range.block, .member = member.index};
    const std::int64_t other = ahead.first_other(range.least, period);
    const std::int64_t of_block = other > range.most ? (other - 1 - range.most) / period : 0;
    periods = std::min(periods.value_or(of_block), of_block);
    if (*periods == 0) break;
  }
  return periods.value_or(0);
}

// Of the block that has the most left.
std::int64_t primitives_left(const ChunkPlay& play) {
  std::int64_t most = 0;
  for (const ChunkBlock& block : play.blocks) most = std::max(most, block.block.primitives - block.done);
  return most;
}

}  // namespace

void ChunkPlayer::leave_out_repeated(PlayItem ended) {
  ChunkPlay& play = plays_[ended.play];
  if (!rounds_) {
    if (job_.clocks != nullptr || !job_.network.state_digest()) return;
    rounds_.emplace(play);
  }
  const TimePoint now = job_.engine.now();
  const auto period = rounds_->note_end(play, ended.index, now);
  if (!period || period->time <= Duration()) return;
  const Duration left = kClockEnd - now.since_start() - *inputs_.left_out;
  const std::int64_t periods =
      std::min(periods_ahead(play, period->primitives), left.count() / period->time.count());
  if (periods * period->primitives * kWorthwhile < primitives_left(play)) return;
  for (ChunkBlock& block : play.blocks) {
    if (block.done == block.block.primitives) continue;
    block.left_out += periods * period->primitives;
    block.block.primitives -= periods * period->primitives;
  }
  *inputs_.left_out += period->time * periods;
  rounds_->start_again();
}

}  // namespace ringwright
