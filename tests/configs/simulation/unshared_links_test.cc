#include "configs/simulation/unshared_links.h"

#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "tests/configs/played.h"

namespace ringwright::configs::unshared_links_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two hosts of four GPUs.
std::vector<std::string> notes(int nics, int tp, const char* rung) {
  const Scenario scenario = load(
      std::string(kTinyModel) +
      fmt::format("training: {{global_batch: 16}}\nparallel: {{tp: {}, dp: auto}}\nsimulate: {{network: flow}}\n"
                  "collectives: {{model: {}}}\n"
                  "cluster: {{nodes: 2, fabric: {{type: fat_tree}}, "
                  "node: {{preset: dgx-h100, gpus: 4, pcie: {{switches: {}}}, nic: {{count: {}}}}}}}\n",
                  tp, rung, nics, nics));
  std::vector<std::string> texts;
  const auto simulation = assemble(scenario);
  const StepFacts facts = simulate(scenario, *simulation).report->facts;
  for (const ReportWarning& warning : facts.warnings) {
    if (warning.code == "W563") texts.push_back(warning.text);
  }
  return texts;
}

TEST(UnsharedLinks, AreNotedWhereGroupsMeetOnANic) {
  EXPECT_THAT(notes(1, 4, "closed_form"),
              ElementsAre(AllOf(HasSubstr("the 4 groups of dp on a host"), HasSubstr("up to 4.0 times"))));
  EXPECT_THAT(notes(2, 4, "closed_form"), ElementsAre(HasSubstr("up to 2.0 times")));
  EXPECT_THAT(notes(1, 2, "closed_form"), ElementsAre(HasSubstr("the 2 groups of dp on a host")));
}

TEST(UnsharedLinks, AreNoneWhereEachGroupHasItsOwn) {
  EXPECT_THAT(notes(4, 4, "closed_form"), IsEmpty());
  EXPECT_THAT(notes(1, 1, "closed_form"), IsEmpty());  // one group
  EXPECT_THAT(notes(1, 4, "steps"), IsEmpty());
}

}  // namespace
}  // namespace ringwright::configs::unshared_links_test
