// The period of a call is proved by its last rounds, as long as all that is in flight began in them.
#include "core/run/kernels/repeated_rounds.h"

#include <cstdint>
#include <optional>

#include <gtest/gtest.h>

#include "core/base/units.h"

namespace ringwright::repeated_rounds_test {
namespace {

using namespace ringwright::literals;

constexpr std::int64_t kPrimitives = 1000;

// Two blocks that pass messages to each other, one primitive after the other.
class Pair {
 public:
  Pair() {
    play_.blocks.resize(2);
    for (ChunkBlock& block : play_.blocks) block.block.primitives = kPrimitives;
    play_.queues.resize(2);
    rounds_.emplace(play_);
  }

  // Each block ends a primitive and writes a message; one takes as long as `time`, the other follows a microsecond
  // later.
  std::optional<RepeatedRounds::Period> end_both(Duration time) {
    now_ = now_ + time;
    const auto period = end(0, now_);
    static_cast<void>(end(1, now_ + 1_us));
    return period;
  }
  std::optional<RepeatedRounds::Period> end(std::uint32_t block, TimePoint at) {
    ++play_.blocks[block].done;
    if (block < play_.queues.size()) ++play_.queues[block].written;
    return rounds_->note_end(play_, block, at);
  }
  // So many primitives of both, or fewer where a period is proved before.
  template <class Times>
  std::optional<RepeatedRounds::Period> run(int primitives, const Times& times) {
    for (int done = 0; done < primitives; ++done) {
      if (const auto period = end_both(times(done))) return period;
    }
    return {};
  }

  ChunkPlay& play() { return play_; }

 private:
  ChunkPlay play_;
  std::optional<RepeatedRounds> rounds_;
  TimePoint now_;
};

// Every third primitive takes longer.
Duration in_threes(int done) { return done % 3 == 0 ? 5_us : 3_us; }

TEST(RepeatedRounds, PeriodIsProvedWhenRoundsRepeat) {
  Pair pair;
  const auto period = pair.run(60, in_threes);
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->primitives, 3);
  EXPECT_EQ(period->time, 11_us);
}

TEST(RepeatedRounds, RoundsThatChangeHaveNoPeriod) {
  Pair pair;
  EXPECT_FALSE(pair.run(200, [](int done) { return 3_us + 1_ns * done; }).has_value());
}

// Rounds that repeated themselves before are no proof of those after it.
TEST(RepeatedRounds, AChangeStartsAProofAgain) {
  Pair pair;
  EXPECT_FALSE(pair.run(12, in_threes).has_value());
  EXPECT_FALSE(pair.run(15, [](int) { return 7_us; }).has_value());
  const auto period = pair.run(60, [](int) { return 7_us; });
  ASSERT_TRUE(period.has_value());
  EXPECT_EQ(period->primitives, 1);
  EXPECT_EQ(period->time, 7_us);
}

// A block that waits since before these rounds may go on at any moment.
TEST(RepeatedRounds, EveryBlockMustTakePart) {
  Pair pair;
  pair.play().blocks.emplace_back().block.primitives = kPrimitives;
  EXPECT_FALSE(pair.run(200, in_threes).has_value());
}

// So may a message that was written before them.
TEST(RepeatedRounds, EveryQueueMustTakeMoreMessagesThanItHasSlots) {
  Pair pair;
  ChunkQueue& queue = pair.play().queues.emplace_back();
  queue.written = 1;
  EXPECT_FALSE(pair.run(200, in_threes).has_value());
}

TEST(RepeatedRounds, AnEmptyQueueMayStayEmpty) {
  Pair pair;
  pair.play().queues.emplace_back();
  EXPECT_TRUE(pair.run(60, in_threes).has_value());
}

// One period ago the call still had a block that is done now.
TEST(RepeatedRounds, ABlockThatEndedItsLastPrimitiveDuringThePeriodIsNoPartOfIt) {
  Pair pair;
  ChunkBlock& last = pair.play().blocks.emplace_back();
  last.block.primitives = 1;
  EXPECT_FALSE(pair.run(20, in_threes).has_value());
  static_cast<void>(pair.end(2, TimePoint(100_us)));
  EXPECT_FALSE(pair.run(18, in_threes).has_value());
  EXPECT_TRUE(pair.run(100, in_threes).has_value());
}

}  // namespace
}  // namespace ringwright::repeated_rounds_test
