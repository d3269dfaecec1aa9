// Messages between workers and parameter servers: every part is pushed once by each worker and pulled once by each.
#include "collectives/steps/parameter_server.h"

#include <map>
#include <utility>

#include <gtest/gtest.h>

namespace ringwright::collectives::parameter_server_test {
namespace {

struct Case {
  int members = 0;
  ParameterServers servers;
};

// Between two members.
using Traffic = std::map<std::pair<int, int>, Bytes>;

class Exchanges : public testing::TestWithParam<Case> {
 protected:
  Exchanges() : layout_(make_block_layout(GetParam().members, 1)) { layout_.servers = GetParam().servers; }

  [[nodiscard]] CollectiveCall call(CollectiveKind kind) const {
    return {.kind = kind, .bytes = Bytes(1001), .layout = &layout_, .dimension = DimensionId(0)};
  }
  [[nodiscard]] bool serves(int member) const { return member >= GetParam().members - GetParam().servers.count; }
  [[nodiscard]] bool works(int member) const { return !GetParam().servers.dedicated || !serves(member); }

  // Checks every wait against the message that it names.
  [[nodiscard]] Traffic traffic(const CollectiveCall& call) const {
    Traffic all;
    CollectiveStep own, other;
    for (int member = 0; member < call.size(); ++member) {
      parameter_server().step(call, member, 0, own);
      for (const CollectiveSend& send : own.sends) {
        EXPECT_TRUE(all.try_emplace({member, send.peer}, send.size).second) << member << " to " << send.peer;
      }
    }
    std::size_t awaited = 0;
    for (int member = 0; member < call.size(); ++member) {
      parameter_server().step(call, member, 0, own);
      awaited += own.awaits.size();
      for (const CollectiveAwait& await : own.awaits) {
        parameter_server().step(call, await.peer, 0, other);
        EXPECT_EQ(other.sends.at(static_cast<std::size_t>(await.send)).peer, member);
      }
    }
    EXPECT_EQ(awaited, all.size());
    return all;
  }

  GroupLayout layout_;
};

TEST_P(Exchanges, EveryWorkerPushesAPartToEveryServer) {
  const CollectiveCall push = call(CollectiveKind::kReduceScatter);
  ASSERT_TRUE(parameter_server().supports(push));
  const Traffic sent = traffic(push);
  std::size_t expected = 0;
  for (int worker = 0; worker < push.size(); ++worker) {
    if (!works(worker)) continue;
    Bytes all;
    for (int server = 0; server < push.size(); ++server) {
      if (!serves(server)) continue;
      const Bytes part = parameter_server().piece_size(push, server - (push.size() - layout_.servers.count));
      all += part;
      if (server == worker) continue;
      ++expected;
      ASSERT_TRUE(sent.contains({worker, server}));
      EXPECT_EQ(sent.at({worker, server}), part);
    }
    EXPECT_EQ(all, push.bytes);
  }
  EXPECT_EQ(sent.size(), expected);
}

TEST_P(Exchanges, APullIsThePushInReverse) {
  Traffic reversed;
  for (const auto& [pair, size] : traffic(call(CollectiveKind::kReduceScatter))) {
    reversed[{pair.second, pair.first}] = size;
  }
  EXPECT_EQ(traffic(call(CollectiveKind::kAllGather)), reversed);
}

TEST_P(Exchanges, APushAddsTheReceiversPart) {
  const CollectiveCall push = call(CollectiveKind::kReduceScatter);
  CollectiveStep own;
  SendContents contents;
  parameter_server().step(push, 0, 0, own);
  for (std::size_t send = 0; send < own.sends.size(); ++send) {
    parameter_server().contents(push, 0, 0, static_cast<int>(send), contents);
    EXPECT_TRUE(contents.reduce);
    ASSERT_EQ(contents.pieces.size(), 1U);
    EXPECT_EQ(parameter_server().piece_size(push, contents.pieces.front()), own.sends[send].size);
  }
}

INSTANTIATE_TEST_SUITE_P(Groups, Exchanges,
                         testing::Values(Case{2, {1, true}}, Case{7, {2, true}}, Case{7, {5, true}},
                                         Case{1, {1, false}}, Case{5, {5, false}}, Case{8, {3, false}}));

TEST(ParameterServer, NeedsServers) {
  const GroupLayout layout = make_block_layout(4, 1);
  EXPECT_FALSE(parameter_server().supports({.kind = CollectiveKind::kReduceScatter, .bytes = Bytes(64),
                                            .layout = &layout, .dimension = DimensionId(0)}));
}

}  // namespace
}  // namespace ringwright::collectives::parameter_server_test
