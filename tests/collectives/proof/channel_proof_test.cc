// The proof detects mistakes: missing data, deadlocks, messages without readers, unequal ends.
#include "collectives/proof/channel_proof.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/channel_doubles.h"

namespace ringwright::collectives::channel_proof_test {
namespace {

using testing::HasSubstr;

enum class Flaw { kNone, kForgetsAPort, kWaitsForItself, kSendsNothing, kStoresTooMuch, kOtherSize };

// Two members swap their data and add it: an all-reduce of two, with one flaw.
class Swap final : public ChannelAlgorithm {
 public:
  explicit Swap(Flaw flaw) : flaw_(flaw) {}
  [[nodiscard]] std::string_view name() const override { return "swap"; }
  [[nodiscard]] std::string_view help() const override { return "swap and add"; }
  [[nodiscard]] bool supports(const CollectiveCall&, const CollectivePlan&) const override { return true; }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  void block(const CollectiveCall&, const CollectivePlan&, int member, int, ThreadBlock& out) const override {
    out.clear();
    out.primitives = 2;
    out.sends.push_back({.peer = 1 - member});
    if (flaw_ != Flaw::kForgetsAPort) out.receives.push_back({.peer = 1 - member, .block = 0, .port = 0});
  }
  void primitive(const CollectiveCall& call, const CollectivePlan&, int member, int, std::int64_t index,
                 Primitive& out) const override {
    out.clear();
    out.size = call.bytes;
    const bool first = index == 0;
    out.sends.count = first ? 1 : 0;
    out.receives.count = first || flaw_ == Flaw::kForgetsAPort ? 0 : 1;
    if (flaw_ == Flaw::kWaitsForItself && first) out.receives.count = 1;
    if (flaw_ == Flaw::kSendsNothing && member == 1) out.sends.count = 0;
    if (flaw_ == Flaw::kOtherSize && member == 1 && !first) out.size = call.bytes * 2;
    out.reads = true;
    out.adds = !first;
    out.stores = !first;
  }
  [[nodiscard]] int pieces(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan&, int) const override {
    return call.bytes;
  }
  void contents(const CollectiveCall&, const CollectivePlan&, int, int, std::int64_t index,
                PrimitiveContents& out) const override {
    out.clear();
    out.reads.push_back(0);
    if (index > 0) out.stores.push_back(0);
    if (flaw_ == Flaw::kStoresTooMuch && index > 0) out.stores.push_back(0);
  }

 private:
  Flaw flaw_;
};

std::string violation_of(Flaw flaw) {
  const GroupLayout layout = make_block_layout(2, 2);
  return prove(Swap(flaw), {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(64), .layout = &layout}, {}).violation;
}

TEST(ChannelProof, HoldsForASwap) { EXPECT_EQ(violation_of(Flaw::kNone), ""); }

TEST(ChannelProof, NoticesAQueueWithoutAReader) {
  EXPECT_THAT(violation_of(Flaw::kForgetsAPort), HasSubstr("no reader"));
}

TEST(ChannelProof, NoticesADeadlock) {
  EXPECT_THAT(violation_of(Flaw::kWaitsForItself), HasSubstr("deadlock"));
  EXPECT_THAT(violation_of(Flaw::kSendsNothing), HasSubstr("deadlock"));
}

TEST(ChannelProof, NoticesUnequalContentsAndSizes) {
  EXPECT_THAT(violation_of(Flaw::kStoresTooMuch), HasSubstr("stores"));
  EXPECT_THAT(violation_of(Flaw::kOtherSize), HasSubstr("expects a message of 128 bytes and gets 64"));
}

TEST(ChannelProof, NoticesMissingData) {
  const GroupLayout layout = make_block_layout(2, 2);
  const test::PlainPipe pipe(1, Bytes(64));  // only member 1 has all
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = Bytes(64), .layout = &layout, .root = 1};
  EXPECT_THAT(prove(pipe, call, {}).violation, HasSubstr("holds nothing"));
}

TEST(ChannelProof, CountsWhatIsSentAndPadding) {
  const GroupLayout layout = make_block_layout(2, 2);
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = Bytes(192), .layout = &layout};
  const ChannelProof proof = prove(test::PlainPipe(3, Bytes(64)), call, {});
  EXPECT_TRUE(proof.holds()) << proof.violation;
  EXPECT_EQ(proof.messages, 3);
  EXPECT_EQ(proof.sent[0], Bytes(192));
  EXPECT_EQ(proof.received[1], Bytes(192));
  EXPECT_EQ(proof.padding, Bytes(0));
}

enum class SumFlaw { kNone, kOneIsSilent, kReadsWithoutSum, kOtherSize };

// Three hosts of one member each: the network reduces what all send to the next one.
class NetworkSwap final : public ChannelAlgorithm {
 public:
  explicit NetworkSwap(SumFlaw flaw) : flaw_(flaw) {}
  [[nodiscard]] std::string_view name() const override { return "network swap"; }
  [[nodiscard]] std::string_view help() const override { return "the network adds"; }
  [[nodiscard]] bool supports(const CollectiveCall&, const CollectivePlan&) const override { return true; }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 2; }
  void block(const CollectiveCall& call, const CollectivePlan&, int member, int block,
             ThreadBlock& out) const override {
    const int size = call.size();
    const bool reads_sum = flaw_ != SumFlaw::kReadsWithoutSum || member != 1;
    out.clear();
    out.primitives = flaw_ == SumFlaw::kOneIsSilent && member == 2 && block == 0 ? 0 : 1;
    if (block == 0) out.sends.push_back({.peer = (member + 1) % size, .sum = 7});
    if (block == 1) {
      out.receives.push_back(
          {.peer = (member + size - 1) % size, .block = 0, .port = 0, .sum = reads_sum ? 7 : kNoSum});
    }
  }
  void primitive(const CollectiveCall& call, const CollectivePlan&, int member, int block, std::int64_t,
                 Primitive& out) const override {
    out.clear();
    out.size = flaw_ == SumFlaw::kOtherSize && member == 1 ? call.bytes * 2 : call.bytes;
    (block == 0 ? out.sends : out.receives).count = 1;
    out.reads = block == 0;
    out.stores = block == 1;
  }
  [[nodiscard]] int pieces(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan&, int) const override {
    return call.bytes;
  }
  void contents(const CollectiveCall&, const CollectivePlan&, int, int block, std::int64_t,
                PrimitiveContents& out) const override {
    out.clear();
    (block == 0 ? out.reads : out.stores).push_back(0);
  }

 private:
  SumFlaw flaw_;
};

std::string violation_of(SumFlaw flaw) {
  const GroupLayout layout = make_block_layout(3, 1);
  return prove(NetworkSwap(flaw), {.kind = CollectiveKind::kAllReduce, .bytes = Bytes(64), .layout = &layout}, {})
      .violation;
}

TEST(ChannelProof, GivesEveryReaderTheSumOfTheNetwork) { EXPECT_EQ(violation_of(SumFlaw::kNone), ""); }

TEST(ChannelProof, NoticesWhoContributesNothingToASumOfTheNetwork) {
  EXPECT_THAT(violation_of(SumFlaw::kOneIsSilent), HasSubstr("never read"));
}

TEST(ChannelProof, NoticesThatEndsDoNotAgreeOnASumOfTheNetwork) {
  EXPECT_THAT(violation_of(SumFlaw::kReadsWithoutSum), HasSubstr("do not agree on a network sum"));
  EXPECT_THAT(violation_of(SumFlaw::kOtherSize), HasSubstr("bytes to a sum of"));
}

}  // namespace
}  // namespace ringwright::collectives::channel_proof_test
