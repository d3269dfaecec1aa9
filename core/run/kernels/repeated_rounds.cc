#include "core/run/kernels/repeated_rounds.h"

#include <algorithm>
#include <utility>

#include "core/base/random.h"

namespace ringwright {
namespace {

// Rounds that are looked up together. Fewer would find the rounds within a loop of a kernel, which repeat themselves
// until it ends, and not the loops.
constexpr std::size_t kSequence = 16;
constexpr std::uint64_t kBase = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t power(std::uint64_t base, std::size_t exponent) {
  std::uint64_t result = 1;
  for (std::size_t i = 0; i < exponent; ++i) result *= base;
  return result;
}

// What has not repeated itself by then does not, or too late to gain much.
constexpr std::size_t kMostRounds = std::size_t{1} << 18U;

// All messages have been read, and the writer knows.
bool is_empty(const ChunkQueue& queue) {
  if (queue.freed != queue.written || queue.read != queue.written) return false;
  return !queue.network || (queue.departed == queue.written && queue.credits == queue.written);
}

}  // namespace

RepeatedRounds::RepeatedRounds(const ChunkPlay& play) {
  const auto primitives = [](const ChunkBlock& block) { return block.block.primitives; };
  leader_ = static_cast<std::uint32_t>(std::ranges::max_element(play.blocks, {}, primitives) - play.blocks.begin());
}

void RepeatedRounds::start_again() {
  rounds_.clear();
  latest_.clear();
  digest_ = sequence_ = 0;
  period_ = equal_ = enough_ = completed_ = 0;
}

std::optional<RepeatedRounds::Period> RepeatedRounds::note_end(const ChunkPlay& play, std::uint32_t number,
                                                               TimePoint now) {
  if (rounds_.size() == kMostRounds) return {};
  const ChunkBlock& block = play.blocks[number];
  const std::int64_t ahead = block.done - play.blocks[leader_].done;
  digest_ = mix(digest_, static_cast<std::uint64_t>(ahead) << 32U ^ number);
  digest_ = mix(digest_, static_cast<std::uint64_t>((now - begin_).count()));
  if (block.done == block.block.primitives) completed_ = rounds_.size() + 1;
  if (number != leader_) return {};
  rounds_.push_back({.digest = digest_, .end = now});
  compare(play);
  digest_ = 0;
  begin_ = now;
  if (period_ == 0 || equal_ < enough_) return {};
  enough_ = 2 * equal_;
  if (!is_proved(play)) return {};
  return Period{.primitives = static_cast<std::int64_t>(period_),
                .time = now - rounds_[rounds_.size() - 1 - period_].end};
}

// The round that has just ended.
void RepeatedRounds::compare(const ChunkPlay& play) {
  const std::size_t number = rounds_.size() - 1;
  const auto digest_of = [this](std::size_t round) { return rounds_[round].digest; };
  sequence_ = sequence_ * kBase + digest_of(number);
  if (number >= kSequence) sequence_ -= digest_of(number - kSequence) * power(kBase, kSequence);
  const auto latest = latest_.try_emplace(sequence_, number).first;
  const std::size_t back = number - std::exchange(latest->second, number);
  if (period_ > 0 && digest_of(number - period_) == digest_of(number)) {
    ++equal_;
    return;
  }
  period_ = back;  // 0 where the sequence is new
  equal_ = kSequence;
  enough_ = 2 * kSequence;
  before_ = {};
  if (period_ == 0) return;
  for (const ChunkBlock& block : play.blocks) before_.ended.push_back(block.done);
  for (const ChunkQueue& queue : play.queues) before_.written.push_back(queue.written);
}

bool RepeatedRounds::is_proved(const ChunkPlay& play) const {
  if (completed_ + period_ + equal_ > rounds_.size()) return false;
  for (std::size_t b = 0; b < play.blocks.size(); ++b) {
    const ChunkBlock& block = play.blocks[b];
    if (block.done < block.block.primitives && block.done == before_.ended[b]) return false;
  }
  for (std::size_t q = 0; q < play.queues.size(); ++q) {
    const ChunkQueue& queue = play.queues[q];
    if (!is_empty(queue) && queue.written - before_.written[q] <= kSlots) return false;
  }
  return true;
}

}  // namespace ringwright
