// The map `comm`: which library and version, and the files that it names.
#include "collectives/nccl/settings.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/libraries/settings.h"
#include "core/config/config_document.h"
#include "tests/collectives/msccl/example_programs.h"
#include "tests/paths.h"
#include "tests/support/own_folder.h"

namespace ringwright::collectives::settings_test {
namespace {

using ::testing::HasSubstr;

struct Read {
  NcclSetup setup;
  Diagnostics problems;
  std::vector<Assumption> assumptions;
};

Read read(const std::string& comm, bool nvidia = true) {
  auto document = ConfigDocument::load_text(test::own_folder() + "comm.yaml", comm);
  EXPECT_TRUE(document.has_value());
  if (!document) return {};
  Diagnostics foreign;
  const NcclFiles files{.share_folders = {share_dir()}};
  const LibrarySettings library = read_library(document->root(), nvidia);
  Read result{
      .setup = read_nccl_settings(document->root(), files, library, foreign), .problems = {}, .assumptions = {}};
  document->check_all_read();
  for (const Diagnostic& problem : foreign.all()) document->log().add(problem);
  result.problems = document->log().diagnostics();
  result.assumptions = document->log().assumptions();
  return result;
}

TEST(NcclSettings, TheNewestVersionIsTheDefault) {
  const Read result = read("{}");
  EXPECT_FALSE(result.problems.has_errors());
  EXPECT_EQ(result.setup.tables.version, "2.30");
  EXPECT_TRUE(result.assumptions.empty());
}

TEST(NcclSettings, AVersionWithoutATableTakesTheNewestOlderOneAndReportsIt) {
  const Read result = read("nccl_version: 2.13.4");
  EXPECT_EQ(result.setup.tables.version, "2.12");
  ASSERT_EQ(result.assumptions.size(), 1u);
  EXPECT_EQ(result.assumptions[0].value, "2.12");
  EXPECT_TRUE(read("nccl_version: 2.27").assumptions.empty());
}

TEST(NcclSettings, VersionsAreComparedAsNumbers) {
  const std::vector<std::string> shipped = {"2.9", "2.18", "2.30"};
  EXPECT_EQ(nearest_version(shipped, "2.10"), "2.9");
  EXPECT_EQ(nearest_version(shipped, "2.18.3"), "2.18");
  EXPECT_EQ(nearest_version(shipped, "3.0"), "2.30");
  EXPECT_EQ(nearest_version(shipped, "1.3"), "2.9");
  EXPECT_EQ(nearest_version(shipped, "newest"), "");
}

TEST(NcclSettings, AmdsGpusUseRccl) {
  EXPECT_EQ(read("{}", false).setup.tables.version, "rccl");
  EXPECT_EQ(read("library: nccl", false).setup.tables.version, "2.30");
  EXPECT_EQ(read("library: rccl").setup.tables.version, "rccl");
}

TEST(NcclSettings, RefusesWhatIsNoVersion) {
  const Read result = read("nccl_version: newest");
  ASSERT_TRUE(result.problems.has_errors());
  EXPECT_THAT(result.problems.all().front().message, HasSubstr("'newest' is not a version"));
}

TEST(NcclSettings, ReadsATunerFileNextToTheScenario) {
  std::ofstream(test::own_folder() + "/tuner.csv") << "allreduce,0,1024,tree,ll,2,-1,-1\n";
  EXPECT_EQ(read("tuner_config: tuner.csv").setup.tuner.lines.size(), 1u);
  const Read missing = read("tuner_config: none.csv");
  ASSERT_TRUE(missing.problems.has_errors());
  EXPECT_THAT(missing.problems.all().front().message, HasSubstr("cannot read"));
}

TEST(NcclSettings, MistakesInTheTunerFileAreReported) {
  std::ofstream(test::own_folder() + "/bad.csv") << "# ours\nallreduce,0,1024,tree\n";
  const Read result = read("tuner_config: bad.csv");
  ASSERT_TRUE(result.problems.has_errors());
  EXPECT_EQ(result.problems.all().front().place.line, 2);
}

TEST(NcclSettings, ReadsGraphsAndAlgorithms) {
  std::ofstream(test::own_folder() + "/ring.xml") << ring_all_reduce(4);
  const Read result = read("algorithms: [ring.xml]");
  EXPECT_FALSE(result.problems.has_errors());
  ASSERT_EQ(result.setup.algorithms.size(), 1u);
  EXPECT_EQ(result.setup.algorithms[0].name, "own_ring");
  EXPECT_TRUE(read("algorithms: [none.xml]").problems.has_errors());
  EXPECT_TRUE(read("graph: ring.xml").problems.has_errors());
  EXPECT_FALSE(read("{}").setup.graph.has_value());
}

TEST(NcclSettings, RcclHasOneTable) {
  const Read result = read("{library: rccl, nccl_version: 2.20}");
  EXPECT_FALSE(result.problems.has_errors());
  EXPECT_EQ(result.setup.tables.version, "rccl");
  EXPECT_EQ(result.problems.all().size(), 1u);
}

}  // namespace
}  // namespace ringwright::collectives::settings_test
