#include "traces/chakra/replay.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/units.h"
#include "tests/support/own_folder.h"
#include "traces/chakra/trace_builder.h"

namespace ringwright::traces::replay_test {
namespace {

using namespace literals;
using testing::ElementsAre;
using testing::HasSubstr;
using Ids = std::vector<std::uint64_t>;

// A trace in the making.
class Rank {
 public:
  Rank& compute(std::uint64_t id, std::uint64_t micros, const Ids& after = {}, const ChakraAttributes& given = {}) {
    return add(id, ChakraKind::kCompute, after, given, micros);
  }
  Rank& collective(std::uint64_t id, ChakraCollective type, Bytes size, const std::string& group = "",
                   const Ids& after = {}) {
    ChakraAttributes given{.comm_type = type, .comm_size = size};
    if (!group.empty()) given.pg_name = builder_.text(group);
    return add(id, ChakraKind::kCollective, after, given);
  }
  Rank& send(std::uint64_t id, std::int64_t to, std::int64_t tag, Bytes size, const Ids& after = {}) {
    return add(id, ChakraKind::kSend, after, {.comm_size = size, .comm_dst = to, .comm_tag = tag});
  }
  Rank& receive(std::uint64_t id, std::int64_t from, std::int64_t tag, Bytes size, const Ids& after = {}) {
    return add(id, ChakraKind::kReceive, after, {.comm_size = size, .comm_src = from, .comm_tag = tag});
  }
  Rank& message(std::uint64_t id, ChakraKind kind, ChakraAttributes given, const std::string& group) {
    given.pg_name = builder_.text(group);
    return add(id, kind, {}, given);
  }
  Rank& add(std::uint64_t id, ChakraKind kind, const Ids& after, const ChakraAttributes& given,
            std::uint64_t micros = 0) {
    builder_.add({.id = id,
                  .name = "n" + std::to_string(id),
                  .kind = kind,
                  .data_dependencies = after,
                  .duration_micros = micros,
                  .attributes = &given});
    return *this;
  }
  [[nodiscard]] ChakraTrace trace() const { return ChakraTraceBuilder(builder_).take(); }

 private:
  ChakraTraceBuilder builder_{"t.et"};
};

ChakraJob job_of(const std::vector<Rank>& ranks) {
  ChakraJob job{.prefix = "t", .traces = {}, .trace_of = {}};
  for (const Rank& rank : ranks) {
    job.trace_of.push_back(static_cast<std::uint32_t>(job.traces.size()));
    job.traces.push_back(rank.trace());
  }
  return job;
}

// Ranks with one and the same trace.
ChakraJob equal_ranks(const Rank& rank, std::size_t count) {
  return {.prefix = "t", .traces = {rank.trace()}, .trace_of = std::vector<std::uint32_t>(count, 0)};
}

ChakraGroups groups_of(const std::vector<ChakraGroup>& groups) {
  ChakraGroups result;
  for (const ChakraGroup& group : groups) {
    result.by_name.emplace(group.name, static_cast<std::uint32_t>(result.groups.size()));
    result.groups.push_back(group);
  }
  return result;
}

ChakraReplay replay(const ChakraJob& job, const std::vector<ChakraGroup>& groups = {},
                    const ReplayOptions& options = {}) {
  auto result = replay_chakra(job, groups_of(groups), options);
  EXPECT_TRUE(result) << render(result.error());
  if (!result) return {};
  EXPECT_EQ(check_task_graph(result->graph), "");
  return std::move(*result);
}

std::string error(const ChakraJob& job, const std::vector<ChakraGroup>& groups = {}) {
  const auto result = replay_chakra(job, groups_of(groups));
  return result ? "no error" : render(result.error());
}

Ids before(const Program& program, std::size_t task) {
  const Task& entry = program.tasks[task];
  const auto first = program.dependencies.begin() + entry.first_dependency;
  return {first, first + entry.dependency_count};
}

std::vector<std::string> names(const TaskGraph& graph) {
  std::vector<std::string> result;
  for (const Dimension& dimension : graph.dimensions) result.push_back(dimension.name);
  return result;
}

TEST(ChakraReplay, ComputingTakesItsRecordedTimeInTheOrderOfTheTrace) {
  const TaskGraph graph = replay(job_of({Rank().compute(9, 5, {4}).compute(4, 7)})).graph;
  const Program& program = graph.programs.at(0);
  ASSERT_EQ(program.tasks.size(), 2U);
  EXPECT_EQ(graph.works[program.tasks[0].detail].recorded, 7_us);
  EXPECT_EQ(graph.works[program.tasks[1].detail].recorded, 5_us);
  EXPECT_THAT(before(program, 1), ElementsAre(0U));
  EXPECT_EQ(graph.labels[program.tasks[0].label], "n4");
  EXPECT_EQ(program.tasks[0].stream, kComputeStream);
}

TEST(ChakraReplay, TheExactDurationGoesBeforeMicroseconds) {
  const TaskGraph graph = replay(job_of({Rank().compute(1, 5, {}, {.duration_picos = Duration(4'999'999)})})).graph;
  EXPECT_EQ(graph.works[0].recorded, Duration(4'999'999));
}

TEST(ChakraReplay, ScaledTimesAreMultiples) {
  EXPECT_EQ(replay(job_of({Rank().compute(1, 10)}), {}, {.scale = 2.5}).graph.works[0].recorded, 25_us);
}

// 2 TFLOP at 1 TFLOP/s take 2 s, 8 GB at 1 GB/s take 8 s; node 2 has no num_ops.
TEST(ChakraReplay, RooflineTakesTheLongerOfArithmeticAndMemory) {
  const Rank rank = Rank()
                        .compute(1, 3, {}, {.num_ops = 2'000'000'000'000, .tensor_size = Bytes(1000)})
                        .compute(2, 3)
                        .compute(3, 3, {}, {.num_ops = 2'000'000'000'000, .tensor_size = Bytes(8'000'000'000)});
  const ChakraReplay result =
      replay(equal_ranks(rank, 2), {}, {.times = ReplayTimes::kRoofline, .peak = 1_TFLOPS, .memory = Bandwidth(1e9)});
  const Program& program = result.graph.programs.at(0);
  EXPECT_EQ(result.graph.works[program.tasks[0].detail].recorded, 2_s);
  EXPECT_EQ(result.graph.works[program.tasks[1].detail].recorded, 3_us);
  EXPECT_EQ(result.graph.works[program.tasks[2].detail].recorded, 8_s);
  EXPECT_EQ(result.computed, 4);  // of two ranks
  EXPECT_EQ(result.recorded, 2);
}

TEST(ChakraReplay, WorkOfTheHostIsDoneInTurnNextToTheGpu) {
  const ChakraAttributes host{.is_cpu_op = true};
  const TaskGraph graph = replay(job_of({Rank().compute(1, 5, {}, host).compute(2, 5).compute(3, 5, {}, host)})).graph;
  const Program& program = graph.programs.at(0);
  EXPECT_EQ(program.tasks[0].stream, kNoStream);
  EXPECT_THAT(before(program, 1), ElementsAre());
  EXPECT_THAT(before(program, 2), ElementsAre(0U));
}

TEST(ChakraReplay, NodesThatNameAStreamRunOnIt) {
  ChakraAttributes sum{.comm_type = ChakraCollective::kAllReduce, .comm_size = 8_B, .stream = 20};
  const Rank rank = Rank()
                        .compute(1, 5, {}, {.stream = 7})
                        .compute(2, 5, {}, {.stream = 20})
                        .compute(3, 5, {}, {.stream = -1})
                        .add(4, ChakraKind::kCollective, {}, sum);
  const TaskGraph graph = replay(equal_ranks(rank, 2)).graph;
  const std::vector<Task>& tasks = graph.programs.at(0).tasks;
  EXPECT_EQ(tasks[0].stream, kComputeStream);
  EXPECT_NE(tasks[1].stream, kComputeStream);
  EXPECT_EQ(tasks[1].stream, tasks[3].stream);
  EXPECT_EQ(tasks[2].stream, kNoStream);
}

// all-gather: comm_size is the shard, a call counts the gathered output.
TEST(ChakraReplay, SizesOfCollectivesAreThoseOfTheirLargestBuffer) {
  const Rank rank = Rank()
                        .collective(1, ChakraCollective::kAllGather, 10_MiB)
                        .collective(2, ChakraCollective::kReduceScatter, 10_MiB)
                        .collective(3, ChakraCollective::kBarrier, Bytes(0));
  const TaskGraph graph = replay(equal_ranks(rank, 4)).graph;
  ASSERT_EQ(graph.collectives.size(), 3U);
  EXPECT_EQ(graph.collectives[0].bytes, 40_MiB);
  EXPECT_EQ(graph.collectives[1].bytes, 10_MiB);
  EXPECT_EQ(graph.collectives[2].kind, CollectiveKind::kAllReduce);
  EXPECT_THAT(names(graph), ElementsAre("world"));
}

TEST(ChakraReplay, GroupsOfOneShapeAreOneDimension) {
  const auto rank = [](const std::string& tp, const std::string& dp) {
    return Rank()
        .collective(1, ChakraCollective::kAllReduce, 8_B, tp)
        .collective(2, ChakraCollective::kAllReduce, 8_B, dp);
  };
  const TaskGraph graph = replay(job_of({rank("1", "3"), rank("1", "4"), rank("2", "3"), rank("2", "4")}),
                                 {{.name = "1", .ranks = {0, 1}},
                                  {.name = "2", .ranks = {2, 3}},
                                  {.name = "3", .ranks = {0, 2}},
                                  {.name = "4", .ranks = {1, 3}},
                                  {.name = "unused", .ranks = {1, 2}}})
                              .graph;
  EXPECT_THAT(names(graph), ElementsAre("pg_1", "pg_3"));
  EXPECT_THAT(graph.dimensions[1].groups,
              ElementsAre(ElementsAre(RankId(0), RankId(2)), ElementsAre(RankId(1), RankId(3))));
  EXPECT_EQ(graph.programs.size(), 1U);  // all ranks do the same, each in its groups
}

// Rank 0 calls a collective with each of the other ranks in turn: groups that overlap need a dimension each.
std::pair<ChakraJob, std::vector<ChakraGroup>> pairs_with_rank_zero(std::uint32_t pairs) {
  Rank hub;
  std::vector<Rank> others;
  std::vector<ChakraGroup> groups;
  for (std::uint32_t p = 1; p <= pairs; ++p) {
    const std::string name = "pair" + std::to_string(p);
    hub.collective(p, ChakraCollective::kAllReduce, 8_B, name);
    others.push_back(Rank().collective(1, ChakraCollective::kAllReduce, 8_B, name));
    groups.push_back({.name = name, .ranks = {0, p}});
  }
  std::vector<Rank> ranks{hub};
  ranks.insert(ranks.end(), others.begin(), others.end());
  return {job_of(ranks), groups};
}

TEST(ChakraReplay, ARankIsAMemberOfManyGroups) {
  const auto [job, groups] = pairs_with_rank_zero(40);
  EXPECT_EQ(replay(job, groups).graph.dimensions.size(), 40U);
}

TEST(ChakraReplay, MoreOverlappingGroupsThanARecordHoldsAreAnError) {
  const auto [job, groups] = pairs_with_rank_zero(60);
  EXPECT_THAT(error(job, groups), HasSubstr("one rank is a member of more than 55 groups"));
}

TEST(ChakraReplay, RanksWithoutAGroupAreAloneInADimension) {
  const Rank member = Rank().collective(1, ChakraCollective::kAllReduce, 8_B, "a");
  const TaskGraph graph =
      replay(job_of({Rank().compute(1, 1), member, member}), {{.name = "a", .ranks = {2, 1}}}).graph;
  EXPECT_THAT(graph.dimensions[0].groups, ElementsAre(ElementsAre(RankId(2), RankId(1)), ElementsAre(RankId(0))));
}

TEST(ChakraReplay, ACollectiveOfOneRankOrOfNoBytesTakesNoTime) {
  const Rank rank = Rank()
                        .collective(1, ChakraCollective::kAllReduce, 8_B, "alone")
                        .collective(2, ChakraCollective::kAllReduce, Bytes(0))
                        .compute(3, 1, {1, 2});
  const TaskGraph graph = replay(job_of({rank}), {{.name = "alone", .ranks = {0}}}).graph;
  EXPECT_EQ(graph.programs[0].tasks[0].kind, TaskKind::kCompute);
  EXPECT_EQ(graph.works[graph.programs[0].tasks[0].detail].recorded, Duration());
  EXPECT_EQ(graph.programs[0].tasks[0].stream, kNoStream);
  EXPECT_THAT(before(graph.programs[0], 2), ElementsAre(0U, 1U));
}

TEST(ChakraReplay, RanksThatSendAroundARingShareAProgram) {
  std::vector<Rank> ranks;
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    ranks.push_back(Rank().send(1, (rank + 1) % 4, 0, 1_MiB).receive(2, (rank + 3) % 4, 0, 1_MiB));
  }
  const TaskGraph graph = replay(job_of(ranks)).graph;
  EXPECT_EQ(graph.programs.size(), 1U);
  EXPECT_TRUE(graph.messages[0].relative);
  EXPECT_EQ(graph.messages[0].peer, 1);
  EXPECT_EQ(graph.messages[1].peer, 3);
  EXPECT_THAT(names(graph), ElementsAre("p2p"));
}

// Rank 1 takes tag 8 before tag 7, which was sent first: matched by order alone, sizes would be swapped.
// A rank that sends to the rank after the next and receives from it, in the group that it names.
Rank in_pair(std::int64_t rank, const std::string& group) {
  const ChakraAttributes to{.comm_size = 8_KiB, .comm_dst = (rank + 2) % 4, .comm_tag = 0};
  const ChakraAttributes from{.comm_size = 8_KiB, .comm_src = (rank + 2) % 4, .comm_tag = 0};
  return Rank().message(1, ChakraKind::kSend, to, group).message(2, ChakraKind::kReceive, from, group);
}

TEST(ChakraReplay, MessagesThatNameAGroupPassWithinIt) {
  const std::vector<ChakraGroup> groups = {{.name = "even", .ranks = {0, 2}}, {.name = "odd", .ranks = {1, 3}}};
  const ChakraJob job = job_of({in_pair(0, "even"), in_pair(1, "odd"), in_pair(2, "even"), in_pair(3, "odd")});
  const TaskGraph graph = replay(job, groups).graph;
  EXPECT_THAT(names(graph), ElementsAre("pg_even"));
  EXPECT_EQ(graph.dimensions[0].groups.size(), 2U);
  EXPECT_EQ(graph.programs.size(), 1U);  // one place further in the group of two
  EXPECT_EQ(graph.messages.at(0).peer, 1);
}

// Rank 1 is not in "even": all messages that name it are outside of it, at both ends.
TEST(ChakraReplay, MessagesOutsideOfTheGroupThatTheyNamePassAmongAllRanks) {
  const std::vector<ChakraGroup> groups = {{.name = "even", .ranks = {0, 2}}, {.name = "odd", .ranks = {1, 3}}};
  const ChakraJob job = job_of({in_pair(0, "even"), in_pair(1, "even"), in_pair(2, "even"), in_pair(3, "odd")});
  const TaskGraph graph = replay(job, groups).graph;
  EXPECT_THAT(names(graph), ElementsAre("pg_odd", "p2p"));
  for (const Program& program : graph.programs) {
    for (const Task& task : program.tasks) EXPECT_EQ(task.dimension, DimensionId(1));
  }
}

TEST(ChakraReplay, MessagesThatOvertakeEachOtherAreMatchedByTag) {
  const TaskGraph graph = replay(job_of({Rank().send(1, 1, 7, 70_B).send(2, 1, 8, 80_B),
                                         Rank().receive(1, 0, 8, 80_B).receive(2, 0, 7, 70_B, {1})}))
                              .graph;
  const auto channel = [&](std::size_t program, std::size_t task) {
    return graph.messages[graph.programs[program].tasks[task].detail].channel;
  };
  EXPECT_EQ(channel(0, 0), channel(1, 1));
  EXPECT_EQ(channel(0, 1), channel(1, 0));
  EXPECT_NE(channel(0, 0), channel(0, 1));
}

TEST(ChakraReplay, MessagesWithoutPartnersAreCountedAndNamed) {
  const std::string found =
      error(job_of({Rank().send(1, 1, 7, 8_B).send(2, 1, 7, 8_B), Rank().receive(1, 0, 7, 8_B).receive(2, 0, 9, 8_B)}));
  EXPECT_THAT(found, HasSubstr("1 sends and 1 receives have no partner"));
  EXPECT_THAT(found, HasSubstr("send from rank 0 to rank 1 with tag 7"));
  EXPECT_THAT(found, HasSubstr("receive from rank 0 to rank 1 with tag 9"));
}

TEST(ChakraReplay, MessagesOfImpossiblePeersOrSizesAreErrors) {
  EXPECT_THAT(error(job_of({Rank().send(1, 0, 0, 8_B)})), HasSubstr("has comm_dst 0, which is the rank itself"));
  EXPECT_THAT(error(job_of({Rank().send(1, 5, 0, 8_B)})), HasSubstr("has comm_dst 5, which is no rank of the job"));
  EXPECT_THAT(error(job_of({Rank().send(1, 1, 0, 8_B), Rank().receive(1, 0, 0, 9_B)})),
              HasSubstr("rank 0 sends 8 bytes to rank 1 with tag 0, which expects 9 bytes"));
}

TEST(ChakraReplay, NodesThatLackAnAttributeAreErrors) {
  const std::string found =
      error(job_of({Rank()
                        .add(1, ChakraKind::kCollective, {}, {.comm_size = 8_B})
                        .add(2, ChakraKind::kCollective, {}, {.comm_type = ChakraCollective::kReduce})
                        .collective(3, ChakraCollective::kGather, 8_B)
                        .add(4, ChakraKind::kSend, {}, {.comm_size = 8_B})}));
  EXPECT_THAT(found, HasSubstr("node 1 ('n1') is a collective without attribute 'comm_type'"));
  EXPECT_THAT(found, HasSubstr("node 2 ('n2') is a collective without attribute 'comm_size'"));
  EXPECT_THAT(found, HasSubstr("node 3 ('n3') is a GATHER, which is not simulated"));
  EXPECT_THAT(found, HasSubstr("node 4 ('n4') names no peer"));
}

TEST(ChakraReplay, ImpossibleSizesAreErrors) {
  EXPECT_THAT(error(equal_ranks(Rank().collective(1, ChakraCollective::kAllGather, Bytes(1LL << 60)), 2)),
              HasSubstr("has comm_size = 1152921504606846976; at most 1 PiB can be simulated"));
}

TEST(ChakraReplay, TheHostsCallOfACollectiveIsWorkOfTheHost) {
  const TaskGraph graph = replay(job_of({Rank().add(1, ChakraKind::kCollective, {}, {.is_cpu_op = true}, 28)})).graph;
  EXPECT_EQ(graph.works[graph.programs[0].tasks[0].detail].recorded, 28_us);
}

TEST(ChakraReplay, MembersOfAGroupMustCallTheSameCollectives) {
  const Rank one =
      Rank().collective(1, ChakraCollective::kAllReduce, 8_B).collective(2, ChakraCollective::kAllReduce, 16_B);
  const Rank other =
      Rank().collective(1, ChakraCollective::kAllReduce, 8_B).collective(2, ChakraCollective::kBroadcast, 16_B);
  EXPECT_THAT(error(job_of({one, other})),
              HasSubstr("call different collectives: call 2 is all_reduce of 16 bytes and broadcast of 16 bytes"));
  EXPECT_THAT(error(job_of({one, Rank().compute(1, 1)})), HasSubstr("call 1 is all_reduce of 8 bytes and none"));
}

TEST(ChakraReplay, GroupsMustExistAndHaveTheirCallers) {
  const Rank rank = Rank().collective(1, ChakraCollective::kAllReduce, 8_B, "5");
  EXPECT_THAT(error(job_of({rank, rank})), HasSubstr("name the process group '5', and there is no such group"));
  EXPECT_THAT(error(job_of({rank, rank, rank}), {{.name = "5", .ranks = {0, 1}}}),
              HasSubstr("rank 2 calls a collective of process group '5', which has ranks 0, 1"));
}

TEST(ChakraReplay, AFileOfGroupsNextToTheTracesIsPointedAt) {
  const std::filesystem::path folder = test::own_folder();
  std::filesystem::create_directories(folder);
  const Rank rank = Rank().collective(1, ChakraCollective::kAllReduce, 8_B, "5");
  ChakraJob job = job_of({rank, rank});
  job.prefix = (folder / "step").string();
  EXPECT_THAT(error(job), HasSubstr("workload.groups: FILE, with {\"5\": [0, 1, ...]}"));
  std::ofstream(job.prefix + ".groups.json") << "{}";
  EXPECT_THAT(error(job), HasSubstr("workload.groups: " + job.prefix + ".groups.json"));
  std::filesystem::remove_all(folder);
}

TEST(ChakraReplay, CopiesToAndFromTheHostAreMessagesToItsMemory) {
  const TaskGraph graph = replay(job_of({Rank()
                                             .add(1, ChakraKind::kMemoryLoad, {}, {.tensor_size = 5_MiB})
                                             .add(2, ChakraKind::kMemoryStore, {}, {}, 9)}))
                              .graph;
  EXPECT_EQ(graph.messages[graph.programs[0].tasks[0].detail].path, DmaPath::kFromMemory);
  EXPECT_EQ(graph.works[graph.programs[0].tasks[1].detail].recorded, 9_us);
  EXPECT_THAT(names(graph), ElementsAre("memory"));
}

// The executor counts dependencies in 16 bits.
TEST(ChakraReplay, ANodeMayDependOnMoreThan65535Others) {
  Rank rank;
  Ids all;
  for (std::uint64_t id = 1; id <= 130'000; ++id) {
    rank.compute(id, 1);
    all.push_back(id);
  }
  rank.compute(200'000, 1, all);
  const TaskGraph graph = replay(job_of({rank})).graph;
  for (const Task& task : graph.programs[0].tasks) EXPECT_LE(task.dependency_count, 65'535U);
  EXPECT_EQ(graph.programs[0].tasks.size(), 130'001U + 2U);  // 130,001 = 60,000 + 60,000 + the rest
}

TEST(ChakraReplay, MistakesInTheGraphComeFirst) {
  EXPECT_THAT(error(job_of({Rank().compute(1, 1, {2}).compute(2, 1, {1})})), HasSubstr("wait for each other"));
}

}  // namespace
}  // namespace ringwright::traces::replay_test
