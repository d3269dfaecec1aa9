#include "validation/kineto/stream_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::validation::stream_groups_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(StreamGroups, AreAStreamAndItsRanks) {
  const auto groups = parse_stream_groups({"363=0,8", "7=3,1,2"}, 16);
  ASSERT_TRUE(groups.has_value());
  ASSERT_EQ(groups->size(), 2u);
  EXPECT_EQ((*groups)[0].stream, 363);
  EXPECT_THAT((*groups)[0].ranks, ElementsAre(0, 8));
  EXPECT_THAT((*groups)[1].ranks, ElementsAre(3, 1, 2));
}

TEST(StreamGroups, RefuseEverythingElse) {
  for (const char* text : {"", "363", "363=", "363=0", "363=0,16", "363=0,0", "363=0,-1", "a=0,1", "363=0,b"}) {
    const auto groups = parse_stream_groups({text}, 16);
    ASSERT_FALSE(groups.has_value()) << text;
    EXPECT_THAT(render(groups.error()), HasSubstr("error[E264]: --group is '")) << text;
  }
}

traces::RankCalls calls_on_streams(const std::vector<int>& streams) {
  traces::RankCalls calls{.file = "a.json", .groups = {{.id = "", .description = "", .size = 16, .ranks = {}}}};
  for (const int stream : streams) {
    calls.calls.push_back({.operation = "alltoall", .kernel = "", .dtype = "", .stream = stream});
  }
  return calls;
}

TEST(StreamGroups, PlaceTheCallsOfTheirStream) {
  traces::RankCalls calls = calls_on_streams({84, 363, 363});
  const auto groups = parse_stream_groups({"363=0,8"}, 16);
  EXPECT_FALSE(place_streams(*groups, calls).has_errors());
  EXPECT_EQ(calls.groups.at(calls.calls[0].group).size, 16);
  EXPECT_THAT(calls.groups.at(calls.calls[1].group).ranks, ElementsAre(0, 8));
  EXPECT_EQ(calls.calls[1].sequence, 0);
  EXPECT_EQ(calls.calls[2].sequence, 1);
}

TEST(StreamGroups, OfAStreamWithoutCallsAreAMistake) {
  traces::RankCalls calls = calls_on_streams({84});
  const Diagnostics problems = place_streams(*parse_stream_groups({"363=0,8"}, 16), calls);
  EXPECT_THAT(render(problems), HasSubstr("error[E264]: stream 363 of --group has no calls of collectives"));
}

}  // namespace
}  // namespace ringwright::validation::stream_groups_test
