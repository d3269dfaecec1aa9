// NCCL's variables: what they set, and the errors for names and values that NCCL does not accept.
#include "collectives/nccl/environment.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/nccl/tables/vocabulary.h"
#include "core/config/config_document.h"

namespace ringwright::collectives::environment_test {
namespace {

using ::testing::HasSubstr;

struct Read {
  NcclKnobs knobs;
  Diagnostics problems;
  std::vector<IgnoredKey> ignored;
};

Read read(const std::string& env) {
  auto document = ConfigDocument::load_text("env.yaml", env);
  EXPECT_TRUE(document.has_value()) << env;
  if (!document) return {};
  Read result{.knobs = read_nccl_environment(document->root()), .problems = {}, .ignored = {}};
  document->check_all_read();
  result.problems = document->log().diagnostics();
  result.ignored = document->log().ignored();
  return result;
}

std::string mistake(const std::string& env) {
  const Read result = read(env);
  if (result.problems.error_count() != 1) return std::to_string(result.problems.error_count()) + " mistakes";
  const Diagnostic& problem = result.problems.all().front();
  EXPECT_GT(problem.place.line, 0);
  return problem.message + " / " + problem.hint;
}

bool allows(const NcclKnobs& knobs, CollectiveKind kind, NcclAlgorithm algorithm) {
  return knobs.algorithms[index_of(kind)][index_of(algorithm)];
}

TEST(NcclEnvironment, SetsWhetherChannelsMayCrossNics) {
  EXPECT_EQ(NcclKnobs().cross_nic, 2);
  EXPECT_EQ(read("NCCL_CROSS_NIC: 0").knobs.cross_nic, 0);
  EXPECT_TRUE(read("NCCL_CROSS_NIC: 0").knobs.merge_ports);
  EXPECT_FALSE(read("NCCL_IB_MERGE_NICS: 0").knobs.merge_ports);
  EXPECT_THAT(mistake("NCCL_CROSS_NIC: 3"), HasSubstr("NCCL_CROSS_NIC is '3'"));
}

TEST(NcclEnvironment, NothingSetChangesNothing) {
  const Read result = read("{}");
  EXPECT_FALSE(result.problems.has_errors());
  EXPECT_TRUE(allows(result.knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kTree));
  EXPECT_FALSE(result.knobs.min_channels.has_value());
}

TEST(NcclEnvironment, AListAllowsWhatItNames) {
  const NcclKnobs knobs = read("NCCL_ALGO: Ring,tree").knobs;
  EXPECT_TRUE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kRing));
  EXPECT_TRUE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kTree));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kNvls));
}

TEST(NcclEnvironment, ACaretExcludes) {
  const NcclKnobs knobs = read("NCCL_ALGO: ^NVLS,NVLSTree").knobs;
  EXPECT_TRUE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kRing));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kNvls));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kNvlsTree));
}

TEST(NcclEnvironment, FunctionsHaveListsOfTheirOwn) {
  const NcclKnobs knobs = read("NCCL_ALGO: \"ring;allreduce:tree;allgather:^ring\"").knobs;
  EXPECT_TRUE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kTree));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kAllReduce, NcclAlgorithm::kRing));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kAllGather, NcclAlgorithm::kRing));
  EXPECT_TRUE(allows(knobs, CollectiveKind::kAllGather, NcclAlgorithm::kPat));
  EXPECT_TRUE(allows(knobs, CollectiveKind::kBroadcast, NcclAlgorithm::kRing));
  EXPECT_FALSE(allows(knobs, CollectiveKind::kBroadcast, NcclAlgorithm::kTree));
}

TEST(NcclEnvironment, NamedLl128IsUsedWithoutAsking) {
  EXPECT_EQ(read("{}").knobs.protocols[0][index_of(Protocol::kLl128)], Allowed::kByRule);
  const NcclKnobs knobs = read("NCCL_PROTO: LL128").knobs;
  EXPECT_EQ(knobs.protocols[0][index_of(Protocol::kLl128)], Allowed::kYes);
  EXPECT_EQ(knobs.protocols[0][index_of(Protocol::kSimple)], Allowed::kNo);
  // A list for one function leaves the rule of the others alone.
  const NcclKnobs one = read("NCCL_PROTO: \"broadcast:Simple\"").knobs;
  EXPECT_EQ(one.protocols[index_of(CollectiveKind::kAllReduce)][index_of(Protocol::kLl128)], Allowed::kByRule);
  EXPECT_EQ(one.protocols[index_of(CollectiveKind::kBroadcast)][index_of(Protocol::kLl)], Allowed::kNo);
}

TEST(NcclEnvironment, ALevelOfLocMeansNotAtAll) {
  EXPECT_TRUE(read("{NCCL_NET_GDR_LEVEL: PHB, NCCL_P2P_LEVEL: 3}").knobs.gpudirect);
  EXPECT_TRUE(read("{NCCL_NET_GDR_LEVEL: PHB, NCCL_P2P_LEVEL: 3}").knobs.peer_to_peer);
  EXPECT_FALSE(read("NCCL_NET_GDR_LEVEL: LOC").knobs.gpudirect);
  EXPECT_FALSE(read("NCCL_NET_GDR_LEVEL: 0").knobs.gpudirect);
  EXPECT_TRUE(read("NCCL_NET_GDR_LEVEL: 0").knobs.peer_to_peer);
  EXPECT_TRUE(read("NCCL_NET_GDR_LEVEL: near").problems.has_errors());
}

// Every NIC is farther from a GPU than its NVLink.
TEST(NcclEnvironment, ANicIsNeverAsNearAsNvlink) {
  EXPECT_FALSE(read("NCCL_NET_GDR_LEVEL: NVL").knobs.gpudirect);
  EXPECT_TRUE(read("NCCL_NET_GDR_LEVEL: PIX").knobs.gpudirect);
  EXPECT_TRUE(read("NCCL_NET_GDR_LEVEL: PXN").knobs.gpudirect);
  EXPECT_TRUE(read("NCCL_P2P_LEVEL: NVB").knobs.peer_to_peer);
}

// A buffer has eight slots; 7 bytes of it would be slots of none, which stood for NCCL's default.
TEST(NcclEnvironment, ABufferHoldsALineInEachSlot) {
  EXPECT_THAT(mistake("NCCL_BUFFSIZE: 7"), HasSubstr("from 1024 to"));
  EXPECT_THAT(mistake("NCCL_LL128_BUFFSIZE: 1023"), HasSubstr("from 1024 to"));
  EXPECT_EQ(read("NCCL_LL_BUFFSIZE: 1024").knobs.buffer[index_of(Protocol::kLl)], Bytes(1024));
}

TEST(NcclEnvironment, SocketsHaveAKeyOfTheirOwn) {
  const Read result = read("{NCCL_IB_DISABLE: 1, NCCL_NET: Socket}");
  ASSERT_EQ(result.ignored.size(), 2u);
  for (const IgnoredKey& key : result.ignored) EXPECT_THAT(key.why, HasSubstr("cluster.node.nic.transport"));
}

TEST(NcclEnvironment, NumbersAreReadAsNcclReadsThem) {
  const NcclKnobs knobs = read("{NCCL_MIN_NCHANNELS: 8, NCCL_MAX_CTAS: 16, NCCL_BUFFSIZE: 0x800000, "
                               "NCCL_NET_OVERHEAD: 1500, NCCL_NTHREADS: 256}").knobs;
  EXPECT_EQ(knobs.min_channels, 8);
  EXPECT_EQ(knobs.max_blocks, 16);
  EXPECT_EQ(knobs.buffer[index_of(Protocol::kSimple)], Bytes(8 << 20));
  EXPECT_DOUBLE_EQ(*knobs.net_overhead_us, 1.5);
  EXPECT_EQ(knobs.threads, 256);
}

TEST(NcclEnvironment, SixThresholds) {
  const NcclKnobs knobs = read("NCCL_THREAD_THRESHOLDS: \"8 8 64 16 -2 128\"").knobs;
  EXPECT_EQ(knobs.thread_thresholds[0][2], 64);
  EXPECT_EQ(knobs.thread_thresholds[1][0], 16);
  EXPECT_EQ(knobs.thread_thresholds[1][1], 0);  // as NCCL has it
  EXPECT_EQ(knobs.thread_thresholds[1][2], 128);
  EXPECT_THAT(mistake("NCCL_THREAD_THRESHOLDS: \"8 x\""), HasSubstr("six whole numbers"));
}

TEST(NcclEnvironment, PeersCanBeForbidden) {
  EXPECT_FALSE(read("NCCL_P2P_DISABLE: 1").knobs.peer_to_peer);
  EXPECT_FALSE(read("NCCL_P2P_LEVEL: LOC").knobs.peer_to_peer);
  EXPECT_TRUE(read("NCCL_P2P_LEVEL: NVL").knobs.peer_to_peer);
  EXPECT_THAT(mistake("NCCL_P2P_LEVEL: NVLINK"), HasSubstr("LOC, NVL"));
}

// 4.096 us * 2^20 = 4.295 s, once and seven times more.
TEST(NcclEnvironment, SetsHowLongNicsRetry) {
  EXPECT_EQ(NcclKnobs().ib_patience(), Duration(34'359'738'368'000));
  EXPECT_EQ(read("NCCL_IB_TIMEOUT: 22").knobs.ib_patience(), NcclKnobs().ib_patience() * 4);
  EXPECT_EQ(read("NCCL_IB_RETRY_CNT: 0").knobs.ib_patience() * 8, NcclKnobs().ib_patience());
  EXPECT_EQ(read("NCCL_IB_TIMEOUT: 0").knobs.ib_patience(), Duration(0));  // forever
  EXPECT_THAT(mistake("NCCL_IB_TIMEOUT: 32"), HasSubstr("from 0 to 31"));
  EXPECT_THAT(mistake("NCCL_IB_RETRY_CNT: 8"), HasSubstr("from 0 to 7"));
}

TEST(NcclEnvironment, KnownVariablesWithoutEffectAreListed) {
  const Read result = read("{NCCL_DEBUG: INFO, NCCL_IB_HCA: mlx5, NCCL_TOPO_FILE: a.xml}");
  EXPECT_FALSE(result.problems.has_errors());
  ASSERT_EQ(result.ignored.size(), 3u);
  EXPECT_THAT(result.ignored.back().why, HasSubstr("cluster.node.nccl_topo"));
}

TEST(NcclEnvironment, UnknownNamesAreMistakes) {
  EXPECT_THAT(mistake("NCCL_ALGOS: Ring"), HasSubstr("did you mean 'NCCL_ALGO'"));
  EXPECT_THAT(mistake("OMP_NUM_THREADS: 4"), HasSubstr("not a variable of NCCL"));
}

TEST(NcclEnvironment, BadValuesAreMistakes) {
  EXPECT_THAT(mistake("NCCL_ALGO: Rnig"), HasSubstr("did you mean 'ring'"));
  EXPECT_THAT(mistake("NCCL_ALGO: \"alreduce:ring\""), HasSubstr("'alreduce' is none of broadcast"));
  EXPECT_THAT(mistake("NCCL_ALGO: \"allreduce:ring;tree\""), HasSubstr("names no function"));
  EXPECT_THAT(mistake("NCCL_MIN_NCHANNELS: many"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(mistake("NCCL_MIN_NCHANNELS: 65"), HasSubstr("from 1 to 64"));
  EXPECT_THAT(mistake("NCCL_BUFFSIZE: 4MiB"), HasSubstr("whole number"));
  EXPECT_THAT(mistake("NCCL_NTHREADS: 100"), HasSubstr("multiple of 32"));
  EXPECT_THAT(mistake("NCCL_NVLS_ENABLE: 3"), HasSubstr("from 0 to 2"));
  EXPECT_THAT(mistake("{NCCL_MIN_NCHANNELS: 16, NCCL_MAX_NCHANNELS: 8}"), HasSubstr("contradict"));
}

TEST(NcclEnvironment, NamesAreSortedAndUnique) {
  const std::vector<std::string> names = nccl_variables();
  EXPECT_TRUE(std::is_sorted(names.begin(), names.end()));
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
  EXPECT_GT(names.size(), 90u);
}

}  // namespace
}  // namespace ringwright::collectives::environment_test
