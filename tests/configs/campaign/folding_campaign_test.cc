// Folding and shortcuts are exact for every scenario: random scenarios, folded and with all shortcuts, and with every
// rank and every message simulated, agree to the picosecond in everything that a report states.
//
// The ordinary run simulates a hundred of them. `cmake --workflow --preset campaign` simulates 5,000; or set
//
//   RINGWRIGHT_CAMPAIGN        how many scenarios
//   RINGWRIGHT_CAMPAIGN_FIRST  the seed of the first one
//
// A failure prints the seed and the YAML: RINGWRIGHT_CAMPAIGN_FIRST=SEED RINGWRIGHT_CAMPAIGN=1 repeats it, and so does
// `ringwright run` on the YAML, with and without --no-fold. While a scenario runs its YAML is in the test's temporary
// folder (`ringwright_*/scenario.yaml`), where it stays when the process dies.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/scenario/known_files.h"
#include "configs/simulation/simulate.h"
#include "tests/configs/campaign/random_scenario.h"
#include "tests/configs/played.h"
#include "tests/support/own_folder.h"

namespace ringwright::configs::folding_campaign_test {
namespace {

constexpr std::uint64_t kBlocks = 10;  // tests, so that several processes can share the work

// Of a run that did not stall: of every rank and every link of the cluster, and of the report.
struct Observed {
  RunOutcome outcome = RunOutcome::kFinished;
  RunRecord record;
  Folding folding;
  std::vector<LinkUsage> usage;  // by link class
  std::string report;
};

std::string text_of(const Report& report) {
  const std::string json = render_json(report);
  return json_part(json, "metrics") + json_part(json, "breakdown") + json_part(json, "memory");
}

Observed see(const Scenario& scenario, FoldMode fold) {
  Observed observed;
  const auto simulation = assemble(scenario, fold);
  PlayedPlan played = play_plan(scenario, *simulation);
  observed.outcome = played.run.outcome;
  observed.record = std::move(played.run.record);
  observed.usage = std::move(played.run.usage);
  observed.folding = simulation->folding();
  if (observed.outcome != RunOutcome::kFinished) return observed;
  const auto outcome = simulate(scenario, fold);
  if (!outcome) return observed;
  if (outcome->report) observed.report = text_of(*outcome->report);
  return observed;
}

std::string difference_of_ranks(const Observed& folded, const Observed& whole) {
  for (std::size_t rank = 0; rank < whole.folding.ranks.class_of.size(); ++rank) {
    const std::size_t stand_in = folded.folding.ranks.class_of[rank].index();
    const auto differs = [&](const auto& a, const auto& b) { return !(a[stand_in] == b[rank]); };
    if (differs(folded.record.finished_at, whole.record.finished_at)) {
      return fmt::format("rank {} ends at {} folded, at {} unfolded (ps)", rank,
                         folded.record.finished_at[stand_in].since_start().count(),
                         whole.record.finished_at[rank].since_start().count());
    }
    if (differs(folded.record.time_in, whole.record.time_in))
      return fmt::format("rank {} spends its time differently", rank);
    if (differs(folded.record.sent, whole.record.sent)) return fmt::format("rank {} sends other bytes", rank);
  }
  return {};
}

std::string difference_of_links(const Observed& folded, const Observed& whole) {
  for (std::size_t link = 0; link < whole.usage.size(); ++link) {
    const LinkUsage& a = folded.usage[folded.folding.links.class_of[link]];
    const LinkUsage& b = whole.usage[link];
    const bool same_bytes = std::abs(a.bytes - b.bytes) <= 1e-9 * b.bytes + 1e-3;
    if (!same_bytes) return fmt::format("link {} carries {} bytes folded, {} unfolded", link, a.bytes, b.bytes);
    if (a.busy != b.busy) {
      return fmt::format("link {} is busy for {} ps folded, for {} ps unfolded", link, a.busy.count(), b.busy.count());
    }
  }
  return {};
}

// Where links are not shared, a search folds by the narrowest links alone: times are still the same.
std::string difference_of_times(const Scenario& scenario, const Observed& whole) {
  if (scenario.simulate.network->shares_links) return {};
  const auto simulation = assemble(scenario, FoldMode::kTimesOnly);
  const PlayedPlan times = play_plan(scenario, *simulation);
  if (times.run.record.iteration_end == whole.record.iteration_end) return {};
  return fmt::format("folded for its times alone the run takes {} ps, unfolded {} ps",
                     times.run.record.iteration_end.back().since_start().count(),
                     whole.record.iteration_end.back().since_start().count());
}

// Empty: they agree. `one_by_one`: the same without shortcuts.
std::string difference(const Scenario& scenario, const Scenario& one_by_one) {
  const Observed folded = see(scenario, FoldMode::kFold);
  const Observed whole = see(one_by_one, FoldMode::kNoFold);
  if (folded.outcome != whole.outcome) return "one run ends and the other does not";
  if (whole.outcome != RunOutcome::kFinished) return {};
  if (folded.record.iteration_end != whole.record.iteration_end) {
    return fmt::format("the run takes {} ps folded, {} ps unfolded",
                       folded.record.iteration_end.back().since_start().count(),
                       whole.record.iteration_end.back().since_start().count());
  }
  if (std::string ranks = difference_of_ranks(folded, whole); !ranks.empty()) return ranks;
  if (std::string links = difference_of_links(folded, whole); !links.empty()) return links;
  if (std::string times = difference_of_times(scenario, whole); !times.empty()) return times;
  if (folded.report != whole.report) return "the reports differ\n" + folded.report + "\n" + whole.report;
  return {};
}

// Why the scenario cannot be simulated; empty when it can.
std::string refusal(const std::string& text, KnownFiles& known) {
  const auto scenario =
      load_scenario_text("random.yaml", text, {.overrides = {}, .share_folders = {}, .known = &known});
  if (!scenario) return render(scenario.error());
  const auto simulation = Simulation::assemble(*scenario, FoldMode::kNoFold);
  return simulation ? std::string() : render(simulation.error());
}

class FoldingCampaign : public testing::TestWithParam<std::uint64_t> {};

TEST_P(FoldingCampaign, IsExactInRandomScenarios) {
  const std::uint64_t first = campaign_number("RINGWRIGHT_CAMPAIGN_FIRST", 0);
  const std::uint64_t count = campaign_number("RINGWRIGHT_CAMPAIGN", 100);
  std::uint64_t drawn = 0;
  std::uint64_t refused = 0;
  std::string refusals;
  KnownFiles known;
  const std::string scenario_file = test::own_folder() + "scenario.yaml";
  for (std::uint64_t seed = first + GetParam(); seed < first + count; seed += kBlocks) {
    ++drawn;
    const std::string text = random_scenario(seed);
    std::ofstream(scenario_file) << "# seed " << seed << "\n" << text;
    if (const std::string why = refusal(text, known); !why.empty()) {
      ++refused;
      refusals += fmt::format("seed {}: {}", seed, why);
      continue;
    }
    const std::string problem = difference(load(text, {}, &known), load(text, {"simulate.fast_forward=false"}, &known));
    EXPECT_EQ(problem, "") << "seed " << seed << "\n" << text;
  }
  std::filesystem::remove_all(std::filesystem::path(scenario_file).parent_path());
  RecordProperty("drawn", static_cast<int>(drawn));
  RecordProperty("refused", static_cast<int>(refused));
  EXPECT_LE(refused * 5, drawn) << refused << " of " << drawn << " scenarios are refused\n" << refusals;
}

INSTANTIATE_TEST_SUITE_P(Blocks, FoldingCampaign, testing::Range(std::uint64_t{0}, kBlocks));

}  // namespace
}  // namespace ringwright::configs::folding_campaign_test
