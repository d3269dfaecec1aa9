#include "planning/report/memory_role.h"

#include <gtest/gtest.h>

namespace ringwright::planning::memory_role_test {
namespace {

TEST(MemoryRole, OlderResultsHaveStagesOnly) {
  EXPECT_EQ(role_of(*parse_json("result.json", R"({"stage": 3, "role": "tables 3"})")), "tables 3");
  EXPECT_EQ(role_of(*parse_json("result.json", R"({"stage": 3})")), "stage 3");
}

}  // namespace
}  // namespace ringwright::planning::memory_role_test
