#include "validation/mpi/mpi_play.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/builtin.h"
#include "validation/tables/shipped_files.h"
#include "tests/support/own_folder.h"

namespace ringwright::validation::mpi_play_test {
namespace {

using testing::HasSubstr;

constexpr char kHead[] = "# source: somebody\nsystem,nodes,collective,algorithm,bytes,median_ns\n";

std::vector<double> play(const std::string& rows, const MpiPlayOptions& options = {}) {
  const auto table = parse_mpi_table("t.csv", kHead + rows);
  EXPECT_TRUE(table);
  const auto seconds = play_mpi(*table, options);
  EXPECT_TRUE(seconds);
  return seconds.value_or(std::vector<double>{});
}

// Measured: 5497.7 us on 2 x 2 x 2 nodes and 32,652 us on 8 x 8 x 8, six times as long for three times the steps,
// because messages over 2 and 4 hops of a torus share its links.
TEST(MpiPlay, TorusSlowsDistantPartnersAsItWasMeasured) {
  const auto seconds = play(
      "fugaku,2x2x2,ALLREDUCE,default-recursive_doubling,8388608,5497700\n"
      "fugaku,8x8x8,ALLREDUCE,default-recursive_doubling,8388608,32652000\n");
  EXPECT_NEAR(seconds[1] / seconds[0], 32.652 / 5.4977, 1.5);
}

TEST(MpiPlay, ResultOfARowIsIndependentOfOtherRows) {
  const std::string ring = "leonardo,16,ALLGATHER,ring_ompi,1048576,100000\n";
  const auto alone = play(ring);
  const auto together = play("leonardo,4,ALLREDUCE,ring_ompi,1024,100000\n" + ring + ring);
  EXPECT_EQ(alone[0], together[1]);
  EXPECT_EQ(alone[0], together[2]);
}

TEST(MpiPlay, TakesOverrides) {
  const std::string row = "lumi,8,ALLREDUCE,recursive_doubling_over,67108864,70000000\n";
  EXPECT_GT(play(row)[0],
            play(row, {.overrides = {"collectives.step_costs.reduce_rate=500GB/s"}, .cluster = {}})[0] * 1.5);
}

TEST(MpiPlay, NamesTheMachinesThatItKnows) {
  const auto table = parse_mpi_table("t.csv", std::string(kHead) + "leonarda,4,ALLREDUCE,ring_ompi,8,1000\n");
  const auto seconds = play_mpi(*table, {});
  ASSERT_FALSE(seconds);
  const Diagnostic& problem = seconds.error().all().front();
  EXPECT_EQ(problem.code, "E240");
  EXPECT_EQ(problem.place.line, 3);
  EXPECT_THAT(problem.hint, HasSubstr("fugaku, leonardo, lumi"));
}

TEST(MpiPlay, ReportsNodesThatAnAlgorithmCannotUse) {
  const auto table =
      parse_mpi_table("t.csv", std::string(kHead) + "leonardo,12,ALLGATHER,recursive_doubling_ompi,1200,1000\n");
  const auto seconds = play_mpi(*table, {});
  ASSERT_FALSE(seconds);
  EXPECT_THAT(seconds.error().all().front().message, HasSubstr("'recursive_doubling' does not support the all_gather"));
}

TEST(ValidateMpi, ScoresRowsThatNothingWasFittedOn) {
  const std::string file = test::own_folder() + "ringwright_mpi.csv";
  FILE* const out = std::fopen(file.c_str(), "w");
  ASSERT_NE(out, nullptr);
  std::fputs(
      "# source: us\n# fitted: lumi 4\nsystem,nodes,collective,algorithm,bytes,median_ns\n"
      "lumi,4,ALLREDUCE,ring_over,1024,1\nlumi,8,ALLREDUCE,ring_over,8388608,4270600\n",
      out);
  std::fclose(out);
  const auto outcome = validate_mpi({.files = {file}, .overrides = {}});
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->passed);  // the absurd row is a fitted one
  EXPECT_THAT(outcome->text, HasSubstr("ring_over"));
  const auto strict = validate_mpi({.files = {file}, .overrides = {}, .threshold = 1e-6});
  ASSERT_TRUE(strict);
  EXPECT_FALSE(strict->passed);
}

}  // namespace
}  // namespace ringwright::validation::mpi_play_test
