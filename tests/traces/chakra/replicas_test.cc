#include "traces/chakra/replicas.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "traces/chakra/replay.h"
#include "traces/chakra/trace_builder.h"

namespace ringwright::traces::replicas_test {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;

// Four ranks: each sums in the pair of "tensor" groups, passes a message to its neighbour in the other pair, and joins
// the collective of its "data" group.
class Step {
 public:
  // `of_messages`: the group that messages name; of "data" that of their ranks.
  explicit Step(ChakraCollective last = ChakraCollective::kAllReduce, const std::string& of_messages = "") {
    for (std::int64_t rank = 0; rank < 4; ++rank) job_.traces.push_back(trace_of(rank, last, of_messages));
    job_.trace_of = {0, 1, 2, 3};
    add("tensor", {0, 1});
    add("tensor2", {2, 3});
    add("data", {0, 2});
    add("data2", {1, 3});
    add("pipeline", {0, 1, 2, 3});
  }

  [[nodiscard]] Result<ChakraReplay> replay(const ReplicaOptions& options) const {
    ReplayOptions all;
    all.replicas = options;
    return replay_chakra(job_, groups_, all);
  }
  [[nodiscard]] std::string errors(const ReplicaOptions& options) const {
    const auto made = replay(options);
    return made ? "no error" : render(made.error());
  }

 private:
  void add(const std::string& name, std::vector<std::uint32_t> ranks) {
    groups_.by_name.emplace(name, static_cast<std::uint32_t>(groups_.groups.size()));
    groups_.groups.push_back({.name = name, .ranks = std::move(ranks)});
  }

  static std::string data_group(std::int64_t rank) { return rank % 2 == 0 ? "data" : "data2"; }

  static ChakraTrace trace_of(std::int64_t rank, ChakraCollective last, const std::string& of_messages) {
    ChakraTraceBuilder builder("t.et");
    const std::string pair = rank < 2 ? "" : "2";
    const ChakraAttributes tensor{.comm_type = ChakraCollective::kAllReduce,
                                  .comm_size = 1_MiB,
                                  .pg_name = builder.text("tensor" + pair)};
    builder.add({.id = 1, .name = "tensor", .kind = ChakraKind::kCollective, .attributes = &tensor});
    const bool sends = rank < 2;
    ChakraAttributes message{.comm_size = 1_MiB, .comm_tag = 0};
    if (!of_messages.empty()) message.pg_name = builder.text(of_messages == "data" ? data_group(rank) : of_messages);
    (sends ? message.comm_dst : message.comm_src) = (rank + 2) % 4;
    builder.add({.id = 2,
                 .name = "message",
                 .kind = sends ? ChakraKind::kSend : ChakraKind::kReceive,
                 .attributes = &message});
    const ChakraAttributes data{.comm_type = last,
                                .comm_size = 2_MiB,
                                .pg_name = builder.text(data_group(rank))};
    builder.add({.id = 3, .name = "data", .kind = ChakraKind::kCollective, .attributes = &data});
    return std::move(builder).take();
  }

  ChakraJob job_{.prefix = "t", .traces = {}, .trace_of = {}};
  ChakraGroups groups_;
};

std::vector<std::vector<std::uint32_t>> groups_of(const TaskGraph& graph, const std::string& dimension) {
  std::vector<std::vector<std::uint32_t>> groups;
  for (const Dimension& each : graph.dimensions) {
    if (each.name != dimension) continue;
    for (const std::vector<RankId>& members : each.groups) {
      std::vector<std::uint32_t>& ranks = groups.emplace_back();
      for (const RankId rank : members) ranks.push_back(rank.value);
    }
  }
  return groups;
}

const ReplicaOptions kThree{.count = 3, .data_parallel = {"data", "data2"}};

TEST(Replicas, DataParallelGroupsHaveTheRanksOfAll) {
  const auto replay = Step().replay(kThree);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_EQ(replay->graph.rank_count(), 12U);
  EXPECT_THAT(groups_of(replay->graph, "pg_data"),
              ElementsAre(ElementsAre(0, 2, 4, 6, 8, 10), ElementsAre(1, 3, 5, 7, 9, 11)));
}

TEST(Replicas, OtherGroupsAndMessagesStayWithinOne) {
  const auto replay = Step().replay(kThree);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_THAT(groups_of(replay->graph, "pg_tensor"),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3), ElementsAre(4, 5), ElementsAre(8, 9),
                          ElementsAre(6, 7), ElementsAre(10, 11)));
  EXPECT_THAT(groups_of(replay->graph, "p2p"),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9, 10, 11)));
  EXPECT_EQ(check_task_graph(replay->graph), "");
}

// A pipeline over all recorded ranks stays within a replica.
TEST(Replicas, GroupsOfMessagesAloneAreNotDataParallel) {
  EXPECT_THAT(Step(ChakraCollective::kAllReduce, "pipeline").errors({.count = 2, .data_parallel = {}}),
              testing::AllOf(HasSubstr("no process group has all 4 recorded ranks"),
                             testing::Not(HasSubstr("pipeline"))));
  EXPECT_THAT(Step(ChakraCollective::kAllReduce, "pipeline").errors({.count = 2, .data_parallel = {"pipeline"}}),
              HasSubstr("no collective of the traces names a process group 'pipeline'"));
  const auto replay = Step(ChakraCollective::kAllReduce, "pipeline").replay(kThree);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_THAT(groups_of(replay->graph, "pg_pipeline"),
              ElementsAre(ElementsAre(0, 1, 2, 3), ElementsAre(4, 5, 6, 7), ElementsAre(8, 9, 10, 11)));
  EXPECT_EQ(check_task_graph(replay->graph), "");
}

// Messages of a group that grows keep their peers: they pass among the ranks of a replica.
TEST(Replicas, MessagesKeepTheirPeersInGroupsThatGrow) {
  const auto replay = Step(ChakraCollective::kAllReduce, "data").replay(kThree);
  ASSERT_TRUE(replay) << render(replay.error());
  EXPECT_EQ(groups_of(replay->graph, "p2p").size(), 3U);
  EXPECT_EQ(check_task_graph(replay->graph), "");
}

TEST(Replicas, ACollectiveKeepsItsSize) {
  const auto one = Step(ChakraCollective::kAllGather).replay({});
  const auto three = Step(ChakraCollective::kAllGather).replay(kThree);
  ASSERT_TRUE(one && three);
  ASSERT_EQ(one->graph.collectives.size(), three->graph.collectives.size());
  for (std::size_t i = 0; i < one->graph.collectives.size(); ++i) {
    EXPECT_EQ(one->graph.collectives[i].bytes, three->graph.collectives[i].bytes);
  }
}

TEST(Replicas, WarnsWhereRanksWouldOwnSmallerShards) {
  EXPECT_TRUE(Step().replay(kThree)->warnings.all().empty());
  const auto sharded = Step(ChakraCollective::kReduceScatter).replay(kThree);
  ASSERT_EQ(sharded->warnings.all().size(), 1U);
  EXPECT_EQ(sharded->warnings.all()[0].code, "W626");
  EXPECT_THAT(sharded->warnings.all()[0].message, HasSubstr("with shards of 4 and not 12 ranks"));
}

TEST(Replicas, RefusesWhatWouldNotCommunicate) {
  EXPECT_THAT(Step().errors({.count = 2, .data_parallel = {}}),
              testing::AllOf(HasSubstr("no process group has all 4 recorded ranks"), HasSubstr("data: ranks 0, 2")));
  EXPECT_THAT(Step().errors({.count = 2, .data_parallel = {"dp"}}),
              HasSubstr("no collective of the traces names a process group 'dp'"));
}

}  // namespace
}  // namespace ringwright::traces::replicas_test
