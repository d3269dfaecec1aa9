#include "traces/chakra/job.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/own_folder.h"

namespace ringwright::traces::job_test {
namespace {

class ChakraJobs : public testing::Test {
 protected:
  // The smallest trace: a head (version "1"), and a node with this id and kind COMP.
  void trace(const std::string& name, char id) {
    file(name, std::string("\x03\x0a\x01") + "1" + std::string("\x04\x08") + id + "\x18\x04");
  }
  void file(const std::string& name, const std::string& content) {
    std::ofstream(folder_ / name, std::ios::binary) << content;
  }
  [[nodiscard]] std::string prefix() const { return (folder_ / "step").string(); }
  [[nodiscard]] std::string error(std::size_t ranks = 0) const {
    const auto job = read_chakra_job(prefix(), ranks);
    return job ? "no error" : render(job.error());
  }
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(test::own_folder());
};

TEST_F(ChakraJobs, EqualFilesAreReadOnceAndShared) {
  trace("step.0.et", 5);
  trace("step.1.et", 6);  // as long as the others
  trace("step.2.et", 5);
  const ChakraJob job = read_chakra_job(prefix()).value().job;
  EXPECT_THAT(job.trace_of, testing::ElementsAre(0U, 1U, 0U));
  ASSERT_EQ(job.traces.size(), 2U);
  EXPECT_EQ(job.of(1).nodes[0].id, 6U);
  EXPECT_EQ(job.of(2).nodes[0].id, 5U);
}

TEST_F(ChakraJobs, RanksAreNumbersNotText) {
  for (const int rank : {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}) {
    trace("step." + std::to_string(rank) + ".et", static_cast<char>(rank + 1));
  }
  EXPECT_EQ(read_chakra_job(prefix()).value().job.of(10).nodes[0].id, 11U);
}

TEST_F(ChakraJobs, MissingRanksAreNamed) {
  trace("step.0.et", 1);
  trace("step.2.et", 1);
  trace("step.9.et", 1);
  EXPECT_THAT(error(), testing::HasSubstr("of 10 ranks 7 have no trace"));
  EXPECT_THAT(error(), testing::HasSubstr(": 1, 3-8"));
  EXPECT_THAT(error(12), testing::HasSubstr("of 12 ranks 9 have no trace"));
  EXPECT_THAT(error(), testing::HasSubstr("step.RANK.et': 1"));
}

TEST_F(ChakraJobs, MissingRanksAreNamedAsTheFilesThatAreThere) {
  file("step.0.json", "{}");
  file("step.2.json", "{}");
  EXPECT_THAT(error(), testing::HasSubstr("of 3 ranks 1 have no trace"));
  EXPECT_THAT(error(), testing::HasSubstr("step.RANK.json': 1"));
}

TEST_F(ChakraJobs, MoreTracesThanRanksAreAnError) {
  trace("step.0.et", 1);
  trace("step.1.et", 1);
  EXPECT_THAT(error(1), testing::HasSubstr("the job has 1 ranks, but there are traces up to rank 1"));
}

TEST_F(ChakraJobs, APrefixWithoutTracesIsAnError) {
  trace("step.x.et", 1);
  trace("step2.0.et", 1);
  trace("step.0.et.bak", 1);
  EXPECT_THAT(error(), testing::HasSubstr("there is no trace"));
}

TEST_F(ChakraJobs, TwoTracesOfOneRankAreAnError) {
  trace("step.0.et", 1);
  trace("step.00.et", 1);
  EXPECT_THAT(error(), testing::HasSubstr("rank 0 has two traces"));
}

TEST_F(ChakraJobs, MistakesOfAllFilesComeAtOnce) {
  file("step.0.et", "no trace");
  file("step.1.et", "none, too");
  EXPECT_THAT(error(), testing::AllOf(testing::HasSubstr("step.0.et"), testing::HasSubstr("step.1.et")));
}

TEST_F(ChakraJobs, AMapSaysWhichRanksShareAFile) {
  trace("one.et", 1);
  trace("two.et", 2);
  file("step.ranks.json", R"({"ranks": 6, "files": [{"file": "one.et", "ranks": "0-3,5"},
                                                    {"file": "two.et", "ranks": "4"}]})");
  EXPECT_THAT(read_chakra_job(prefix()).value().job.trace_of, testing::ElementsAre(0U, 0U, 0U, 0U, 1U, 0U));
}

TEST_F(ChakraJobs, MistakesInAMapAreNamed) {
  trace("one.et", 1);
  file("step.ranks.json", R"({"ranks": 6, "files": [{"file": "one.et", "ranks": "0-2"},
                                                    {"file": "one.et", "ranks": "2-4"},
                                                    {"file": "one.et", "ranks": "5-6"}]})");
  EXPECT_THAT(error(), testing::AllOf(testing::HasSubstr("rank 2 already has a file"),
                                      testing::HasSubstr("'5-6' is not a range of the 6 ranks")));
  file("step.ranks.json", R"({"ranks": 3, "files": [{"file": "one.et", "ranks": "0-1"}]})");
  EXPECT_THAT(error(), testing::HasSubstr("of 3 ranks 1 have no trace"));
}

}  // namespace
}  // namespace ringwright::traces::job_test
