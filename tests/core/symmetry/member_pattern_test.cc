// The role of an edge covers everything that decides the time of its traffic: any difference gives another role.
#include "core/symmetry/member_pattern.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/channel_doubles.h"
#include "tests/support/doubles.h"

namespace ringwright::member_pattern_test {
namespace {

using ChangePrimitive = std::function<void(Primitive&)>;
using ChangeBlock = std::function<void(ThreadBlock&)>;

// A pipe whose thread blocks and primitives differ slightly from the plain ones.
class ChangedPipe final : public ChannelAlgorithm {
 public:
  explicit ChangedPipe(
      ChangePrimitive primitive, ChangeBlock block = [](ThreadBlock&) {})
      : primitive_(std::move(primitive)), block_(std::move(block)) {}

  [[nodiscard]] std::string_view name() const override { return "changed"; }
  [[nodiscard]] std::string_view help() const override { return "not quite a pipe"; }
  [[nodiscard]] bool supports(const CollectiveCall&, const CollectivePlan&) const override { return true; }
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int block,
             ThreadBlock& out) const override {
    pipe_.block(call, plan, member, block, out);
    block_(out);
  }
  void primitive(const CollectiveCall& call, const CollectivePlan& plan, int member, int block, std::int64_t index,
                 Primitive& out) const override {
    pipe_.primitive(call, plan, member, block, index, out);
    primitive_(out);
  }
  [[nodiscard]] int pieces(const CollectiveCall&, const CollectivePlan&) const override { return 1; }
  [[nodiscard]] Bytes piece_size(const CollectiveCall& call, const CollectivePlan&, int) const override {
    return call.bytes;
  }
  void contents(const CollectiveCall&, const CollectivePlan&, int, int, std::int64_t,
                PrimitiveContents& out) const override {
    out.clear();
  }

 private:
  test::PlainPipe pipe_{2, Bytes(1000)};
  ChangePrimitive primitive_;
  ChangeBlock block_;
};

// Of member 0, which sends.
std::uint64_t role(const ChannelAlgorithm& algorithm, const CollectivePlan& plan = {}) {
  const GroupLayout layout = make_block_layout(2, 2);
  const CollectiveCall call{.kind = CollectiveKind::kBroadcast, .bytes = Bytes(2000), .layout = &layout};
  return make_call_pattern({.algorithm = &algorithm, .plan = plan}, call).edges.front().front().role;
}

TEST(MemberPattern, EveryFieldOfAPrimitiveCounts) {
  const std::uint64_t plain = role(ChangedPipe([](Primitive&) {}));
  const std::vector<ChangePrimitive> changes = {
      [](Primitive& p) { p.size = Bytes(999); },
      [](Primitive& p) { p.receives.count = 1; },
      [](Primitive& p) { p.sends.count = 0; },
      [](Primitive& p) { p.reads = false; },
      [](Primitive& p) { p.stores = true; },
      [](Primitive& p) { p.continues = true; },
      [](Primitive& p) { p.notifies = true; },
      [](Primitive& p) { p.after.push_back({.block = 0, .primitive = 0}); },
      [](Primitive& p) { p.adds = true; },
      [](Primitive& p) { p.stores_to.push_back(1); },
      [](Primitive& p) { p.loads_from.push_back(1); },
      [](Primitive& p) { p.signal_only = true; },
      [](Primitive& p) { p.operands = 2; },
      [](Primitive& p) { p.results = 2; },
  };
  for (std::size_t change = 0; change < changes.size(); ++change) {
    EXPECT_NE(role(ChangedPipe(changes[change])), plain) << change;
  }
}

TEST(MemberPattern, EveryFieldOfAThreadBlockCounts) {
  const ChangePrimitive same = [](Primitive&) {};
  const std::uint64_t plain = role(ChangedPipe(same));
  const std::vector<ChangeBlock> changes = {
      [](ThreadBlock& b) { b.copies = 2; },
      [](ThreadBlock& b) { b.slots_per_message = 2; },
      [](ThreadBlock& b) { b.thread_share = 0.5; },
      [](ThreadBlock& b) { b.primitives = 1; },
      [](ThreadBlock& b) {
        if (!b.sends.empty()) b.sends.front().sum = 0;
      },
  };
  for (std::size_t change = 0; change < changes.size(); ++change) {
    EXPECT_NE(role(ChangedPipe(same, changes[change])), plain) << change;
  }
}

TEST(MemberPattern, EveryResourceOfAPlanCounts) {
  const ChangedPipe pipe([](Primitive&) {});
  const std::uint64_t plain = role(pipe);
  for (const CollectivePlan& plan :
       {CollectivePlan{.algorithm = "pipe"}, CollectivePlan{.protocol = Protocol::kLl}, CollectivePlan{.channels = 2},
        CollectivePlan{.threads = 64}, CollectivePlan{.chunk = Bytes(512)}, CollectivePlan{.grain = Bytes(512)},
        CollectivePlan{.heads = 2}}) {
    EXPECT_NE(role(pipe, plan), plain) << plan.algorithm << plan.channels;
  }
}

}  // namespace
}  // namespace ringwright::member_pattern_test
