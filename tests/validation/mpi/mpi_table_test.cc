#include "validation/mpi/mpi_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "validation/tables/shipped_files.h"

namespace ringwright::validation::mpi_table_test {
namespace {

using configs::CollectiveOperation;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kHead[] =
    "# source: somebody\n# fitted: fugaku 2x4, leonardo 32\n"
    "system,nodes,collective,algorithm,bytes,median_ns\n";

TEST(MpiTable, ReadsNodesAsSidesOfATorus) {
  const auto table =
      parse_mpi_table("t.csv", std::string(kHead) + "fugaku,2x4,ALLREDUCE,default-recursive_doubling,1024,2500.5\n" +
                                   "leonardo,512,BCAST,binomial_ompi,8,30000\n");
  ASSERT_TRUE(table);
  ASSERT_EQ(table->rows.size(), 2U);
  EXPECT_THAT(table->rows[0].sides, ElementsAre(2, 4));
  EXPECT_EQ(table->rows[0].hosts(), 8);
  EXPECT_DOUBLE_EQ(table->rows[0].seconds, 2500.5e-9);
  EXPECT_TRUE(table->rows[0].fitted);
  EXPECT_EQ(table->rows[1].operation, CollectiveOperation::kBroadcast);
  EXPECT_FALSE(table->rows[1].fitted);
}

TEST(MpiTable, KnowsAlgorithmsByTheNamesOfTheirLibraries) {
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kAllReduce, "rabenseifner_ompi"), "halving_doubling");
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kReduce, "rabenseifner_mpich"), "scatter_allgather");
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kAllGather, "default-recursive-doubling"), "recursive_doubling");
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kReduceScatter, "recursive_distance_doubling_over"),
            "halving_doubling");
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kAllToAll, "modified_bruck_ompi"), "bruck");
  EXPECT_EQ(algorithm_of_mpi(CollectiveOperation::kAllReduce, "default_ompi"), "");  // the library's own choice
}

TEST(MpiTable, LeavesOutWhatHasNoCounterpart) {
  const auto table = parse_mpi_table(
      "t.csv", std::string(kHead) + "x,4,GATHER,binomial_ompi,8,3000\nx,4,ALLGATHER,sparbit_over,8,3000\n" +
                   "x,4,ALLGATHER,ring_ompi,8,3000\n");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows.size(), 1U);
  EXPECT_EQ(table->left_out, 2U);
}

TEST(MpiTable, ReportsWhereARowIsWrong) {
  const auto table = parse_mpi_table(
      "t.csv", std::string(kHead) + "x,4x,ALLGATHER,ring_ompi,8,3000\nx,4,ALLGATHER,ring_ompi,many,3000\n");
  ASSERT_FALSE(table);
  const auto& all = table.error().all();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].place.line, 4);
  EXPECT_THAT(all[0].message, HasSubstr("'4x' and must be a number or the sides of a torus"));
  EXPECT_EQ(all[1].place.line, 5);
  EXPECT_THAT(all[1].message, HasSubstr("many"));
}

TEST(MpiTable, TheShippedOneHasRowsOfThreeMachines) {
  const auto table = read_mpi_table(shipped_folder("mpi") + "/named_algorithms.csv");
  ASSERT_TRUE(table);
  for (const char* system : {"leonardo", "lumi", "fugaku"}) {
    EXPECT_TRUE(std::ranges::any_of(table->rows, [&](const MeasuredMpi& row) { return row.system == system; }))
        << system;
  }
  EXPECT_EQ(table->left_out, 0U);
}

}  // namespace
}  // namespace ringwright::validation::mpi_table_test
