#include "collectives/proof/step_knowledge.h"

#include <vector>

#include <gtest/gtest.h>

namespace ringwright::collectives::step_knowledge_test {
namespace {

// Member 1 awaits member 0, then member 2 awaits member 1.
TEST(StepKnowledge, PassesOnWhatWasKnownBeforeTheStep) {
  StepKnowledge knowledge(3);
  std::vector<CollectiveStep> steps(3);
  steps[1].awaits = {{.peer = 0, .send = 0}};
  steps[2].awaits = {{.peer = 1, .send = 0}};
  knowledge.learn(steps, 1);
  EXPECT_EQ(knowledge.steps(0, 0), 1);
  EXPECT_EQ(knowledge.steps(1, 0), 0) << "member 0 did not know its own step to be complete when it sent";
  knowledge.learn(steps, 2);
  EXPECT_EQ(knowledge.steps(1, 0), 1);
  EXPECT_EQ(knowledge.steps(2, 0), 0);
  knowledge.learn(steps, 3);
  EXPECT_EQ(knowledge.steps(2, 0), 1);
  EXPECT_EQ(knowledge.steps(0, 2), 0) << "nobody tells member 0 anything";
}

TEST(StepKnowledge, OfAllByAll) {
  StepKnowledge knowledge(2);
  std::vector<CollectiveStep> steps(2);
  for (CollectiveStep& step : steps) step.await_everyone = true;
  knowledge.learn(steps, 4);
  EXPECT_EQ(knowledge.steps(0, 1), 4);
  EXPECT_EQ(knowledge.steps(1, 0), 4);
}

}  // namespace
}  // namespace ringwright::collectives::step_knowledge_test
