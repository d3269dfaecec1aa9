#include "traces/chakra/groups.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/chakra/trace_builder.h"

namespace ringwright::traces::groups_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string error_of(const Result<ChakraGroups>& groups) {
  return groups ? "no error" : render(groups.error());
}

// A job of ranks each of which defines groups.
ChakraJob job_with(const std::vector<std::string>& values) {
  ChakraJob job;
  for (const std::string& text : values) {
    ChakraTraceBuilder builder("t." + std::to_string(job.traces.size()) + ".et");
    builder.add({.id = 1, .name = kGroupsNodeName, .kind = ChakraKind::kMetadata});
    builder.trace().inputs_outputs[0].inputs.values = text;
    job.trace_of.push_back(static_cast<std::uint32_t>(job.traces.size()));
    job.traces.push_back(std::move(builder).take());
  }
  return job;
}

TEST(ChakraGroups, AFileListsRanksByName) {
  const ChakraGroups groups = parse_group_file("g.json", R"({"1": [0, 2], "tp": [3, 1]})", 4).value();
  ASSERT_EQ(groups.groups.size(), 2U);
  EXPECT_EQ(groups.groups[0].name, "1");
  EXPECT_THAT(groups.groups[0].ranks, ElementsAre(0U, 2U));
  EXPECT_THAT(groups.groups[groups.by_name.at("tp")].ranks, ElementsAre(3U, 1U));
}

TEST(ChakraGroups, NoRanksMeanAll) {
  EXPECT_THAT(parse_group_file("g.json", R"({"1": []})", 3).value().groups[0].ranks, ElementsAre(0U, 1U, 2U));
}

TEST(ChakraGroups, MistakesInAFileAreNamed) {
  EXPECT_THAT(error_of(parse_group_file("g.json", R"({"1": [0, 4], "2": [1, 1], "3": 5})", 4)),
              testing::AllOf(HasSubstr("between 0 and 3"), HasSubstr("'2' has rank 1 twice"), HasSubstr("list")));
  EXPECT_THAT(error_of(parse_group_file("g.json", "[1]", 4)), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of(parse_group_file("g.json", R"({"1": [0], "1": [1]})", 4)), HasSubstr("1"));
  EXPECT_THAT(error_of(read_group_file("no/such.json", 4)), HasSubstr("no such file"));
}

// As PyTorch writes it: a list with one text, which is JSON.
TEST(ChakraGroups, NodesOfPyTorchDefineGroups) {
  const ChakraJob job = job_with(
      {R"(['[{"pg_name": "0", "pg_desc": "default_pg", "backend_config": "cuda:nccl", "ranks": [], "group_size": 2,)"
       R"( "group_count": 3}, {"pg_name": "5", "ranks": [1, 0]}]'])",
       R"(["[{\"pg_name\": \"5\", \"ranks\": [1, 0]}]"])"});
  const ChakraGroups groups = groups_in_traces(job).value();
  EXPECT_THAT(groups.groups[groups.by_name.at("0")].ranks, ElementsAre(0U, 1U));
  EXPECT_THAT(groups.groups[groups.by_name.at("5")].ranks, ElementsAre(1U, 0U));
}

TEST(ChakraGroups, DefinitionsOfDifferentRanksMustAgree) {
  const ChakraJob job =
      job_with({R"(['[{"pg_name": "5", "ranks": [0, 1]}]'])", R"(['[{"pg_name": "5", "ranks": [1]}]'])"});
  EXPECT_THAT(error_of(groups_in_traces(job)), HasSubstr("process group '5' has ranks 1 here, and 0, 1 in another"));
}

TEST(ChakraGroups, BrokenDefinitionsAreErrors) {
  EXPECT_THAT(error_of(groups_in_traces(job_with({R"(['[{"pg_name": "5", "ranks": [0}]'])"}))),
              HasSubstr("cannot be read"));
  EXPECT_THAT(error_of(groups_in_traces(job_with({R"(['[{"pg_name": "5", "ranks": [9]}]'])"}))),
              HasSubstr("between 0 and 0"));
}

TEST(ChakraGroups, ATraceWithoutDefinitionsHasNone) {
  EXPECT_TRUE(groups_in_traces(job_with({"[]"})).value().groups.empty());
}

}  // namespace
}  // namespace ringwright::traces::groups_test
