#include "planning/capacity/capacity_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"

namespace ringwright::planning::capacity_file_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kMachine =
    "machines: [{name: H100, hosts: [2, 1, 2], set: {cluster.node.preset: dgx-h100}}]\n";

std::string problems(const std::string& text) {
  const auto plan = load_capacity_text("plan.yaml", text);
  return plan ? std::string() : render(plan.error());
}

TEST(CapacityFile, NamesMachinesWithNumbersOfHostsInOrder) {
  const auto plan = load_capacity_text("plan.yaml", "scenario: gpt2-1.5b-dgx-a100\ntokens: 3e11\n" +
                                                        std::string(kMachine) +
                                                        "budget: {usd: 1e6, gpus: 64}\ngoodput: 90%\nobjective: usd\n");
  ASSERT_TRUE(plan) << render(plan.error());
  EXPECT_DOUBLE_EQ(plan->tokens, 3e11);
  EXPECT_DOUBLE_EQ(plan->goodput, 0.9);
  EXPECT_EQ(plan->objective, CapacityObjective::kUsd);
  ASSERT_EQ(plan->machines.size(), 1U);
  EXPECT_THAT(plan->machines[0].hosts, ElementsAre(1, 2));
  EXPECT_THAT(plan->machines[0].settings, ElementsAre("cluster.node.preset=dgx-h100"));
  EXPECT_EQ(plan->budget.gpus, 64);
  EXPECT_FALSE(plan->budget.days.has_value());
}

TEST(CapacityFile, NeedsMachinesAndTokens) {
  EXPECT_THAT(problems("scenario: gpt2-1.5b-dgx-a100\ntokens: 1e9\n"), HasSubstr("no machine is given"));
  EXPECT_THAT(problems("scenario: gpt2-1.5b-dgx-a100\n" + std::string(kMachine)), HasSubstr("tokens"));
}

TEST(CapacityFile, RefusesUnknownKeysOfScenarios) {
  EXPECT_THAT(problems("scenario: a\ntokens: 1\nmachines: [{name: b, set: {cluster.nodess: 4}}]\n"),
              HasSubstr("did you mean 'cluster.nodes'?"));
}

TEST(CapacityFile, RefusesOneNameForTwoMachines) {
  EXPECT_THAT(problems("scenario: a\ntokens: 1\nmachines: [{name: b}, {name: b}]\n"),
              HasSubstr("two machines have the name 'b'"));
}

// The search would replace it in silence. The scenario's own recomputation is one that it tries.
TEST(CapacityFile, RefusesKeysThatTheSearchChooses) {
  const std::string head = "scenario: a\ntokens: 1\nmachines: [{name: b, set: ";
  EXPECT_THAT(problems(head + "{parallel.tp: 2}}]\n"), HasSubstr("limit the search: search.tp: [2]"));
  EXPECT_THAT(problems(head + "{training.micro_batch: 2}}]\n"), HasSubstr("E620"));
  EXPECT_THAT(problems(head + "{parallel: {tp: 2}}}]\n"), HasSubstr("limit the search: search.tp: [2]"));
  EXPECT_THAT(problems(head + "{parallel: {dp: 2}}}]\n"), HasSubstr("'parallel.dp' follows from the GPUs"));
  EXPECT_THAT(problems("scenario: a\ntokens: 1\nset: {training: {micro_batch: 2}}\nmachines: [{name: b}]\n"),
              HasSubstr("plan.yaml:3:31: error[E620]: 'training.micro_batch'"));
  EXPECT_EQ(problems(head + "{search.tp: [2], training.recompute: full}}]\n"), "");
  EXPECT_EQ(problems(head + "{search: {tp: [2]}, training: {recompute: full}, parallel.dp: auto}}]\n"), "");
}

TEST(CapacityFile, RefusesHostsThatAreGivenTwice) {
  EXPECT_THAT(problems("scenario: a\ntokens: 1\nmachines: [{name: b, hosts: [4], set: {cluster.nodes: 2}}]\n"),
              HasSubstr("gives its hosts twice"));
  EXPECT_THAT(problems("scenario: a\ntokens: 1\nmachines: [{name: b, hosts: [4], set: {cluster: {nodes: 2}}}]\n"),
              HasSubstr("gives its hosts twice"));
}

}  // namespace
}  // namespace ringwright::planning::capacity_file_test
