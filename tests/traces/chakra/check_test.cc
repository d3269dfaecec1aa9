#include "traces/chakra/check.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "traces/chakra/trace_builder.h"

namespace ringwright::traces::check_test {
namespace {

using Ids = std::vector<std::uint64_t>;

struct Row {
  std::uint64_t id;
  Ids after;
};

ChakraTrace graph(const std::vector<Row>& rows) {
  ChakraTraceBuilder builder("t.0.et");
  for (const Row& row : rows) builder.add({.id = row.id, .name = "n", .data_dependencies = row.after});
  return std::move(builder).take();
}

Ids order(const ChakraTrace& trace) {
  Ids ids;
  const ChakraOrder ordered = order_nodes(trace).value();
  for (const std::uint32_t at : ordered.nodes) ids.push_back(trace.nodes[at].id);
  return ids;
}

std::string error(const std::vector<Row>& rows) {
  const auto result = order_nodes(graph(rows));
  return result ? "no error" : render(result.error());
}

TEST(ChakraCheck, NodesComeAfterThoseThatTheyDependOn) {
  EXPECT_EQ(order(graph({{3, {1, 2}}, {2, {1}}, {1, {}}})), (Ids{1, 2, 3}));
}

TEST(ChakraCheck, AmongReadyNodesTheSmallestIdIsFirst) {
  EXPECT_EQ(order(graph({{9, {}}, {4, {}}, {7, {4}}, {5, {9}}})), (Ids{4, 7, 9, 5}));
}

TEST(ChakraCheck, BothKindsOfDependenciesCountOnce) {
  ChakraTraceBuilder builder("t.0.et");
  const Ids one{1};
  builder.add({.id = 1});
  builder.add({.id = 2, .control_dependencies = one, .data_dependencies = one});
  const ChakraOrder ordered = order_nodes(builder.trace()).value();
  EXPECT_THAT(ordered.dependencies, testing::ElementsAre(0U));
}

TEST(ChakraCheck, DuplicateIdsAreNamed) {
  EXPECT_THAT(error({{1, {}}, {2, {}}, {1, {}}}), testing::HasSubstr("two nodes have id 1"));
}

TEST(ChakraCheck, DanglingDependenciesAreNamed) {
  EXPECT_THAT(error({{1, {77}}, {2, {78}}}),
              testing::AllOf(testing::HasSubstr("node 1 ('n') depends on node 77, which is not in the trace"),
                             testing::HasSubstr("node 78")));
}

TEST(ChakraCheck, ACycleIsNamedWithItsIds) {
  // 5 depends on the cycle, 1 is before it: neither is part of it.
  EXPECT_THAT(error({{1, {}}, {5, {4}}, {2, {1, 4}}, {3, {2}}, {4, {3}}}),
              testing::HasSubstr("3 nodes wait for each other: 4 -> 3 -> 2 -> 4"));
}

TEST(ChakraCheck, ANodeThatDependsOnItselfIsACycle) {
  EXPECT_THAT(error({{8, {8}}}), testing::HasSubstr("node 8 ('n') waits for itself: 8 -> 8"));
}

TEST(ChakraCheck, AllFindingsComeAtOnce) {
  EXPECT_THAT(error({{1, {}}, {1, {}}, {2, {99}}, {3, {3}}}),
              testing::AllOf(testing::HasSubstr("two nodes"), testing::HasSubstr("99"), testing::HasSubstr("3 -> 3")));
}

}  // namespace
}  // namespace ringwright::traces::check_test
