// The shipped tables of NCCL's versions, and mistakes in others.
#include "collectives/nccl/tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/collectives/nccl/example_hosts.h"

namespace ringwright::collectives {
namespace {

TEST(NcclTables, EveryShippedVersionIsWhole) {
  for (const std::string version : {"2.18", "2.20", "2.23", "2.27", "2.30", "rccl"}) {
    const NcclTables tables = shipped_tables(version);
    EXPECT_EQ(tables.version, version);
    for (const Generation generation : kGenerations) {
      EXPECT_FALSE(tables.speeds_inside[index_of(generation)].empty());
      EXPECT_FALSE(tables.speeds_between[index_of(generation)].empty());
    }
    for (const Protocol protocol : kAllProtocols) {
      EXPECT_EQ(tables.tree_correction[index_of(protocol)].size(), tables.by_share ? 0u : 24u);
      EXPECT_GT(tables.base_us[index_of(NcclAlgorithm::kRing)][index_of(protocol)], 0.0);
    }
  }
}

TEST(NcclTables, VersionsExtendEachOther) {
  EXPECT_FALSE(shipped_tables("2.20").pat);
  EXPECT_TRUE(shipped_tables("2.23").pat);
  EXPECT_DOUBLE_EQ(shipped_tables("2.18").ring_ll_share, 0.25);
  EXPECT_DOUBLE_EQ(shipped_tables("2.27").tree_simple[index_of(Generation::kBlackwell)][2], 72.0);
  EXPECT_DOUBLE_EQ(shipped_tables("2.30").tree_simple[index_of(Generation::kBlackwell)][2], 24.0);
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
}  // namespace ringwright::collectives
