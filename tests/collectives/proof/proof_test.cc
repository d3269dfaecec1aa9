// The proof finds mistakes: each test breaks a correct algorithm in one place.
#include "collectives/proof/proof.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/builtin.h"

namespace ringwright::collectives::proof_test {
namespace {

using testing::HasSubstr;

// Passes everything on to an algorithm of the table; tests override what they break.
class Altered : public CollectiveAlgorithm {
 public:
  explicit Altered(std::string_view name) : right_(*find_algorithm(name)) {}
  [[nodiscard]] std::string_view name() const override { return "altered"; }
  [[nodiscard]] std::string_view help() const override { return "for tests"; }
  [[nodiscard]] bool supports(const CollectiveCall& call) const override { return right_.supports(call); }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return right_.steps(call); }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    right_.step(call, member, index, out);
  }
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return right_.pieces(call); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
    return right_.piece_size(call, piece);
  }
  void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
    right_.contents(call, member, index, send, out);
  }

 private:
  const CollectiveAlgorithm& right_;
};

// A group of four on one host, each holding 4000 bytes.
std::string violation_of(const CollectiveAlgorithm& algorithm, CollectiveKind kind) {
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call{
      .kind = kind, .bytes = Bytes(4'000), .layout = &layout, .dimension = DimensionId(0), .root = 0};
  return prove(algorithm, call).violation;
}

TEST(Proof, HoldsForTheUnbrokenOnes) {
  EXPECT_EQ(violation_of(Altered("ring"), CollectiveKind::kAllReduce), "");
  EXPECT_EQ(violation_of(Altered("in_switch"), CollectiveKind::kAllReduce), "");
}

TEST(Proof, FindsAContributionThatIsAddedTwice) {
  struct KeepsReducing final : Altered {
    using Altered::Altered;
    void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
      Altered::contents(call, member, index, send, out);
      out.reduce = true;  // in the second round, too
    }
  };
  EXPECT_EQ(violation_of(KeepsReducing("ring"), CollectiveKind::kAllReduce),
            "step 3: piece 0 of member 1 holds {1} and is given one of them again by member 0");
}

TEST(Proof, FindsAPieceThatIsForgotten) {
  struct StopsEarly final : Altered {
    using Altered::Altered;
    [[nodiscard]] int steps(const CollectiveCall& call) const override { return Altered::steps(call) - 1; }
  };
  EXPECT_EQ(violation_of(StopsEarly("ring"), CollectiveKind::kAllGather), "in the end piece 1 of member 0 holds {}");
  EXPECT_THAT(violation_of(StopsEarly("ring"), CollectiveKind::kAllReduce), HasSubstr("in the end piece"));
  EXPECT_THAT(violation_of(StopsEarly("pairwise"), CollectiveKind::kAllToAll), HasSubstr("in the end piece"));
}

TEST(Proof, FindsASumThatIsReplacedByAPartOfIt) {
  struct NeverReduces final : Altered {
    using Altered::Altered;
    void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
      Altered::contents(call, member, index, send, out);
      out.reduce = false;
    }
  };
  EXPECT_EQ(violation_of(NeverReduces("ring"), CollectiveKind::kReduceScatter),
            "in the end piece 0 of member 0 holds {1}");
}

TEST(Proof, FindsAMessageToTheWrongPeer) {
  struct SendsBack final : Altered {
    using Altered::Altered;
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      if (member == 2 && index == 1) out.sends[0].peer = 1;
    }
  };
  EXPECT_EQ(violation_of(SendsBack("ring"), CollectiveKind::kAllReduce),
            "step 1: member 3 awaits send 0 of member 2, which never arrives");
}

TEST(Proof, FindsAMessageWithoutReceiverAndToOneself) {
  struct SendsTo final : Altered {
    SendsTo(std::string_view name, int to) : Altered(name), peer(to) {}
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      if (member == 2) out.sends[0].peer = peer;
    }
    int peer;
  };
  EXPECT_EQ(violation_of(SendsTo("ring", 4), CollectiveKind::kAllReduce), "step 0: member 2 sends to 4");
  EXPECT_EQ(violation_of(SendsTo("ring", 2), CollectiveKind::kAllReduce), "step 0: member 2 sends to 2");
}

TEST(Proof, FindsAMessageThatIsNotAwaited) {
  struct DoesNotWait final : Altered {
    using Altered::Altered;
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      if (member == 1) out.awaits.clear();
    }
  };
  EXPECT_EQ(violation_of(DoesNotWait("ring"), CollectiveKind::kAllReduce),
            "step 0: member 1 does not await send 0 of member 0");
}

TEST(Proof, FindsAMessageThatIsAwaitedTwiceOrNeverSent) {
  struct WaitsMore final : Altered {
    WaitsMore(std::string_view name, CollectiveAwait await) : Altered(name), more(await) {}
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      if (member == 1) out.awaits.push_back(more);
    }
    CollectiveAwait more;
  };
  EXPECT_EQ(violation_of(WaitsMore("ring", {.peer = 0, .send = 0}), CollectiveKind::kAllReduce),
            "step 0: member 1 awaits send 0 of member 0 twice");
  EXPECT_EQ(violation_of(WaitsMore("ring", {.peer = 3, .send = 7}), CollectiveKind::kAllReduce),
            "step 0: member 1 awaits send 7 of member 3, which never arrives");
}

TEST(Proof, FindsDataThatIsSentBeforeItArrived) {
  struct Hurries final : Altered {
    using Altered::Altered;
    // Steps 0 and 1 are swapped: data that should arrive in step 0 are forwarded in it.
    void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
      Altered::contents(call, member, index < 2 ? 1 - index : index, send, out);
    }
  };
  EXPECT_EQ(violation_of(Hurries("ring"), CollectiveKind::kAllGather),
            "step 0: send 0 of member 0 carries piece 3 before it has arrived");
}

TEST(Proof, FindsASwitchThatAnswersBeforeAllHaveContributed) {
  struct NoBarrier final : Altered {
    using Altered::Altered;
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      out.await_everyone = false;
    }
  };
  EXPECT_EQ(violation_of(NoBarrier("in_switch"), CollectiveKind::kAllReduce),
            "step 1: send 0 of member 0 carries piece 0 before it has arrived");
}

TEST(Proof, FindsMembersThatDoNotAgreeOnABarrier) {
  struct OneDoesNot final : Altered {
    using Altered::Altered;
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      if (member == 3) out.await_everyone = false;
    }
  };
  EXPECT_EQ(violation_of(OneDoesNot("in_switch"), CollectiveKind::kAllReduce),
            "step 0: members 0 and 3 do not agree on awaiting everyone");
}

TEST(Proof, FindsWritesWhoseOrderMatters) {
  struct AllToOnePlace final : Altered {
    using Altered::Altered;
    // Direct reduce-scatter, but with data stored instead of added.
    void contents(const CollectiveCall& call, int member, int index, int send, SendContents& out) const override {
      Altered::contents(call, member, index, send, out);
      out.reduce = false;
    }
  };
  EXPECT_EQ(violation_of(AllToOnePlace("direct"), CollectiveKind::kReduceScatter),
            "step 0: the result of piece 2 of member 2 depends on the message order");
}

TEST(Proof, FindsASizeThatIsNotThatOfThePieces) {
  struct SendsLess final : Altered {
    using Altered::Altered;
    void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
      Altered::step(call, member, index, out);
      out.sends[0].size -= Bytes(1);
    }
  };
  EXPECT_EQ(violation_of(SendsLess("ring"), CollectiveKind::kAllReduce),
            "step 0: send 0 of member 0 has 999 bytes but its pieces have 1000");
}

TEST(Proof, FindsPiecesThatDoNotMakeUpTheBuffer) {
  struct ShortPiece final : Altered {
    using Altered::Altered;
    [[nodiscard]] Bytes piece_size(const CollectiveCall& call, int piece) const override {
      return Altered::piece_size(call, piece) - Bytes(piece == 1 ? 3 : 0);
    }
  };
  EXPECT_EQ(violation_of(ShortPiece("ring"), CollectiveKind::kAllReduce), "the pieces add up to 3997 bytes, not 4000");
  struct OnePieceMore final : Altered {
    using Altered::Altered;
    [[nodiscard]] int pieces(const CollectiveCall& call) const override { return Altered::pieces(call) + 1; }
  };
  EXPECT_EQ(violation_of(OnePieceMore("ring"), CollectiveKind::kAllGather),
            "5 pieces cannot be shared evenly by 4 members");
}

TEST(Proof, CountsBytesSentAndReceivedByMember) {
  const GroupLayout layout = make_block_layout(4, 4);
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast,
                            .bytes = Bytes(4'000),
                            .layout = &layout,
                            .dimension = DimensionId(0),
                            .root = 1};
  const Proof proof = prove(*find_algorithm("ring"), call);  // the chain 1, 2, 3, 0
  EXPECT_THAT(proof.sent, testing::ElementsAre(Bytes(0), Bytes(4'000), Bytes(4'000), Bytes(4'000)));
  EXPECT_THAT(proof.received, testing::ElementsAre(Bytes(4'000), Bytes(0), Bytes(4'000), Bytes(4'000)));
}

}  // namespace
}  // namespace ringwright::collectives::proof_test
