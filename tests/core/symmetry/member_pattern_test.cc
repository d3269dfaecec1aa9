// The role of an edge covers everything that decides the time of its traffic: any difference gives another role.
#include "core/symmetry/member_pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
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

// A ring of four whose pieces are of the given sizes.
class SizedRing final : public CollectiveAlgorithm {
 public:
  enum class Tells { kPhases, kNothing };
  SizedRing(std::vector<Bytes> sizes, Tells tells) : sizes_(std::move(sizes)), tells_(tells) {}
  [[nodiscard]] std::string_view name() const override { return "sized"; }
  [[nodiscard]] std::string_view help() const override { return "a ring with pieces of given sizes"; }
  [[nodiscard]] bool supports(const CollectiveCall&) const override { return true; }
  [[nodiscard]] int steps(const CollectiveCall& call) const override { return call.size() - 1; }
  void step(const CollectiveCall& call, int member, int index, CollectiveStep& out) const override {
    out.clear();
    const int n = call.size();
    out.sends.push_back({.peer = (member + 1) % n, .size = piece_size(call, (member + n - index) % n)});
    out.awaits.push_back({.peer = (member + n - 1) % n});
  }
  [[nodiscard]] int pieces(const CollectiveCall& call) const override { return call.size(); }
  [[nodiscard]] Bytes piece_size(const CollectiveCall&, int piece) const override {
    return sizes_[static_cast<std::size_t>(piece)];
  }
  void contents(const CollectiveCall&, int, int, int, SendContents&) const override {}
  [[nodiscard]] int same_until(const CollectiveCall& call, int index) const override {
    return tells_ == Tells::kPhases ? steps(call) : index + 1;
  }
  [[nodiscard]] std::optional<CyclicSizes> cyclic_sizes(const CollectiveCall& call) const override {
    if (tells_ == Tells::kNothing) return std::nullopt;
    CyclicSizes sizes{.cycles = {sizes_}, .of_member = {}};
    for (int m = 0; m < call.size(); ++m) {
      sizes.of_member.push_back({{.cycle = 0, .first = static_cast<std::uint32_t>(m)}});
    }
    return sizes;
  }

 private:
  std::vector<Bytes> sizes_;
  Tells tells_;
};

// By member: the first member with an equal send.
std::vector<std::size_t> equal_sends(const SizedRing& ring) {
  const GroupLayout layout = make_block_layout(4, 2);
  const CollectiveCall call{.kind = CollectiveKind::kAllGather, .bytes = Bytes(100), .layout = &layout};
  std::vector<std::uint64_t> roles;
  for (const std::vector<MemberEdge>& edges : make_call_pattern(ring, call).edges) {
    roles.push_back(std::ranges::find(edges, true, &MemberEdge::starts_flow)->role);
  }
  std::vector<std::size_t> first;
  for (const std::uint64_t role : roles) {
    first.push_back(static_cast<std::size_t>(std::ranges::find(roles, role) - roles.begin()));
  }
  return first;
}

TEST(MemberPattern, StepsOfAPhaseAreComparedAsOneByOne) {
  // Three of four pieces go over each edge: members whose windows of the cycle are equal have equal sends.
  for (const std::vector<int>& sizes : {std::vector{5, 5, 5, 5}, {5, 6, 5, 6}, {5, 5, 6, 6}, {5, 5, 5, 6}}) {
    std::vector<Bytes> bytes;
    for (const int size : sizes) bytes.emplace_back(size);
    EXPECT_EQ(equal_sends(SizedRing(bytes, SizedRing::Tells::kPhases)),
              equal_sends(SizedRing(bytes, SizedRing::Tells::kNothing)));
  }
  EXPECT_EQ(equal_sends(SizedRing({Bytes(5), Bytes(6), Bytes(5), Bytes(6)}, SizedRing::Tells::kPhases)),
            (std::vector<std::size_t>{0, 1, 0, 1}));
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
