// The shipped tables of NCCL's versions, and mistakes in others.
#include "collectives/nccl/tables/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives::tables_test {
namespace {

TEST(NcclTables, EveryShippedVersionIsWhole) {
  for (const std::string version : {"2.8", "2.9", "2.12", "2.14", "2.15", "2.16", "2.17", "2.18", "2.19", "2.20",
                                    "2.21", "2.22", "2.23", "2.24", "2.25", "2.27", "2.30", "rccl"}) {
    const NcclTables tables = shipped_tables(version);
    EXPECT_EQ(tables.version, version);
    for (const Generation generation : kGenerations) {
      EXPECT_FALSE(tables.search.inside[index_of(generation)].empty());
      EXPECT_FALSE(tables.search.between[index_of(generation)].empty());
    }
    for (const Protocol protocol : kAllProtocols) {
      // The oldest table and RCCL's have lists of their own lengths.
      const std::size_t factors = tables.tree.correction[index_of(protocol)].size();
      const std::size_t least = tables.rccl.by_share ? 27 : 23;
      EXPECT_GE(factors, least);
      EXPECT_GT(tables.latency.base_us[index_of(NcclAlgorithm::kRing)][index_of(protocol)], 0.0);
    }
  }
}

TEST(NcclTables, VersionsExtendEachOther) {
  EXPECT_FALSE(shipped_tables("2.20").pat.supported);
  EXPECT_TRUE(shipped_tables("2.23").pat.supported);
  EXPECT_DOUBLE_EQ(shipped_tables("2.18").ring.ll_share, 0.25);
  EXPECT_DOUBLE_EQ(shipped_tables("2.27").bandwidth.tree_simple[index_of(Generation::kBlackwell)][2], 72.0);
  EXPECT_DOUBLE_EQ(shipped_tables("2.30").bandwidth.tree_simple[index_of(Generation::kBlackwell)][2], 24.0);
}

TEST(NcclTables, SpeedsMustFall) {
  auto document = ConfigDocument::load_text(
      "t.yaml", "extends: " + share_dir() + "/nccl/2.30.yaml\nsearch: {volta: {one_host: [20GB/s, 30GB/s]}}\n");
  ASSERT_TRUE(document.has_value());
  static_cast<void>(read_nccl_tables(document->root()));
  ASSERT_TRUE(document->log().diagnostics().has_errors());
  EXPECT_THAT(document->log().diagnostics().all().front().message, ::testing::HasSubstr("30GB/s"));
}

}  // namespace
}  // namespace ringwright::collectives::tables_test
