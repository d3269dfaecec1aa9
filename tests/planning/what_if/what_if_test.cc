#include "planning/what_if/what_if.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::planning::what_if_test {
namespace {

const std::string kJob = std::string(configs::kTinyModel) +
                         "training: {global_batch: 16}\nparallel: {tp: 2}\n"
                         "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";

class ScenarioFile {
 public:
  explicit ScenarioFile(const std::string& text)
      : path_(testing::TempDir() + "ringwright_what_if_" + std::to_string(::getpid()) + ".yaml") {
    std::ofstream(path_) << text;
  }
  ScenarioFile(const ScenarioFile&) = delete;
  ScenarioFile& operator=(const ScenarioFile&) = delete;
  ~ScenarioFile() { std::filesystem::remove(path_); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

WhatIfResult asked(const std::string& what_ifs, int threads = 0) {
  const ScenarioFile file(kJob + what_ifs);
  auto result = ask_what_ifs(file.path(), {}, {.workers = {.threads = threads}});
  if (!result) throw std::runtime_error(render(result.error()));
  return std::move(*result);
}

const std::string kThree =
    "cost: {usd_per_gpu_hour: 3}\n"
    "what_if:\n"
    "  - name: one slow host\n"
    "    faults: [{node: 0, compute_scale: 0.5}]\n"
    "  - {name: a dearer GPU, set: {cost.usd_per_gpu_hour: 6}}\n"
    "  - {name: three, set: {parallel.tp: 3}}\n";

TEST(WhatIf, ComparesEachWithTheScenario) {
  const WhatIfResult result = asked(kThree);
  ASSERT_EQ(result.outcomes.size(), 3U);
  const WhatIfOutcome& slow = result.outcomes[0];
  Duration sum;
  for (const PartChange& part : slow.changes) sum += part.change();
  EXPECT_GT(sum, Duration());
  EXPECT_EQ(sum, slow.point.figures.step - result.base.figures.step);
  // Twice the price of an hour, and the same step.
  const StepFigures& dear = result.outcomes[1].point.figures;
  EXPECT_EQ(dear.step, result.base.figures.step);
  EXPECT_NEAR(*dear.cost.usd_per_tera_tokens, 2.0 * *result.base.figures.cost.usd_per_tera_tokens, 1e-6);
  EXPECT_EQ(result.outcomes[2].point.status, PointStatus::kRefused);
}

// Another GPU at the price of the first one.
TEST(WhatIf, NamesThePriceThatIsNotOfTheGpu) {
  const WhatIfResult result = asked(
      "cost: {preset: dgx-h100}\nwhat_if: [{name: B200, set: {cluster.node.preset: dgx-b200}},\n"
      "  {name: priced, set: {cluster.node.preset: dgx-b200, cost.preset: dgx-b200}}]\n");
  const std::string text = render_what_if_text(result);
  EXPECT_NE(text.find("B200: cost.usd_per_gpu_hour is of H100-SXM5-80GB"), std::string::npos) << text;
  EXPECT_EQ(text.find("priced: "), std::string::npos) << text;
}

TEST(WhatIf, FaultsAreGivenInOnePlace) {
  const ScenarioFile file(kJob +
                          "what_if: [{name: a, set: {faults: [{node: 0, compute_scale: 0.5}]}, faults: [{node: 0, "
                          "compute_scale: 0.2}]}]\n");
  const auto result = ask_what_ifs(file.path(), {}, {.workers = {.threads = 1}});
  ASSERT_FALSE(result.has_value());
  EXPECT_NE(render(result.error()).find("gives its faults twice"), std::string::npos) << render(result.error());
}

TEST(WhatIf, TheListDoesNotChangeTheScenario) {
  const WhatIfResult with = asked(kThree);
  const configs::Scenario without = configs::load(kJob + "cost: {usd_per_gpu_hour: 3}\n");
  EXPECT_EQ(with.base.fingerprint, fingerprint_of(without));
  EXPECT_EQ(with.base.figures.step, simulate_point(without).figures.step);
}

TEST(WhatIf, DoesNotDependOnThreads) {
  EXPECT_EQ(render_what_if_json(asked(kThree, 1)), render_what_if_json(asked(kThree, 2)));
}

TEST(WhatIf, PrintsARowForEach) {
  const std::string text = render_what_if_text(asked(kThree));
  for (const char* part : {"as it is", "one slow host", "a dearer GPU", "+100.0 %", "refused: ", "slowed hosts +"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
}

// A ten-thousandth of the step names no cause, and nothing is said to fall by 0.0 %.
TEST(WhatIf, NamesNoCauseOfNextToNothing) {
  WhatIfResult slightly = asked(kThree);
  slightly.outcomes.resize(1);
  WhatIfOutcome& outcome = slightly.outcomes.front();
  outcome.point = slightly.base;
  outcome.point.figures.step += Duration(77);
  outcome.point.figures.tokens_per_second_per_gpu *= 1.0 - 1e-9;
  outcome.changes = {{.cause = "exposed tp", .before = Duration(), .after = Duration(77)}};
  const std::string text = render_what_if_text(slightly);
  EXPECT_EQ(text.find("exposed tp"), std::string::npos) << text;
  EXPECT_EQ(text.find("-0.0 %"), std::string::npos) << text;
  outcome.changes.front().after = slightly.base.figures.step;
  EXPECT_NE(render_what_if_text(slightly).find("exposed tp"), std::string::npos);
}

// A typo in a link's name is mended as in a run.
TEST(WhatIf, SaysHowToMendARefusedOne) {
  const WhatIfResult result = asked("what_if: [{name: typo, faults: [{nic: host0/nicc1}]}]\n");
  const std::string text = render_what_if_text(result);
  EXPECT_NE(text.find("; did you mean 'host0/nic1'?"), std::string::npos) << text;
}

TEST(WhatIf, NamesSettingsWithoutEffect) {
  const WhatIfResult result = asked(
      "what_if:\n"
      "  - {name: experts, set: {parallel.etp: 2}}\n"
      "  - {name: late, faults: [{link: host0/gpu0->host0/nvswitch0, at: 1000s}]}\n"
      "  - {name: alone, set: {parallel.tp: 1}}\n");
  ASSERT_EQ(result.outcomes[0].notes.size(), 1U);
  EXPECT_EQ(result.outcomes[0].notes[0], "parallel.etp has no effect: the model has no experts");
  ASSERT_EQ(result.outcomes[1].notes.size(), 1U);
  EXPECT_NE(result.outcomes[1].notes[0].find("has no effect: the run ends at"), std::string::npos);
  EXPECT_TRUE(result.outcomes[2].notes.empty());
  EXPECT_NE(render_what_if_text(result).find("  experts: parallel.etp has no effect"), std::string::npos);
  EXPECT_NE(render_what_if_json(result).find("\"notes\": [\"parallel.etp has no effect"), std::string::npos);
}

std::string mistakes(const std::string& what_ifs) {
  const ScenarioFile file(kJob + what_ifs);
  const auto result = ask_what_ifs(file.path(), {});
  return result ? "" : render(result.error());
}

TEST(WhatIf, RefusesListsWithoutChanges) {
  EXPECT_NE(mistakes("").find("E331"), std::string::npos);
  EXPECT_NE(mistakes("what_if: [{name: nothing}]\n").find("E330"), std::string::npos);
  EXPECT_NE(mistakes("what_if: [{set: {parallel.tp: 1}}]\n").find("E104"), std::string::npos);
  EXPECT_NE(mistakes("what_if: [{name: a, set: {parallel.tp: 1}}, {name: a, set: {parallel.tp: 4}}]\n").find("E330"),
            std::string::npos);
  EXPECT_NE(mistakes("what_if: [{name: a, set: {what_if: []}}]\n").find("E330"), std::string::npos);
}

}  // namespace
}  // namespace ringwright::planning::what_if_test
