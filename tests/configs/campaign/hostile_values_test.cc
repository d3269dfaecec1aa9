// Values that nobody would give: each key of key_trials.txt that takes a number, with numbers at the ends of what types
// and machines hold. Such a scenario is refused, or its report holds numbers that can be.
// RINGWRIGHT_CAMPAIGN and RINGWRIGHT_CAMPAIGN_FIRST as in folding_campaign_test.cc.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "core/base/random.h"
#include "tests/configs/campaign/random_scenario.h"
#include "tests/configs/key_trials.h"

namespace ringwright::configs::hostile_values_test {
namespace {

constexpr std::array kNumbers = {"0",          "-1",         "1",     "3",
                                 "65536",      "0.0000001",  "1e9",   "9223372036854775807",
                                 "4294967297", "2147483648", "1e300", "nan"};

// "50us" -> "us"; none where the value is not a number with a unit.
std::optional<std::string> unit_of(const std::string& value) {
  const std::size_t end = value.find_first_not_of("0123456789.");
  if (end == 0 || value.empty()) return std::nullopt;
  const std::string unit = end == std::string::npos ? "" : value.substr(end);
  const bool is_word = std::ranges::all_of(
      unit, [](char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '/' || c == '%'; });
  return is_word ? std::optional(unit) : std::nullopt;
}

struct Case {
  Settings settings;
  std::string described;
  std::string base;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const KeyTrial& trial : read_key_trials()) {
    const std::optional<std::string> unit = unit_of(trial.value);
    if (!unit || trial.key.find("[]") != std::string::npos) continue;
    for (const char* number : kNumbers) {
      Settings settings = trial.with;
      settings.push_back(trial.key + "=" + number + *unit);
      all.push_back({.settings = settings, .described = fmt::format("--set {}", fmt::join(settings, " --set ")),
                     .base = trial_base(trial.key)});
    }
  }
  return all;
}

TEST(HostileValues, AreRefusedOrGiveNumbersThatCanBe) {
  const std::uint64_t first = campaign_number("RINGWRIGHT_CAMPAIGN_FIRST", 0);
  const std::uint64_t count = campaign_number("RINGWRIGHT_CAMPAIGN", 150);
  const std::vector<Case> all = cases();
  ASSERT_GT(all.size(), 1'000U);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const Case& drawn = all[RandomStream(seed, "hostile values").next_below(all.size())];
    SCOPED_TRACE(fmt::format("seed {}: {}", seed, drawn.described));
    const auto scenario =
        load_scenario_text("test.yaml", drawn.base, {.overrides = drawn.settings, .share_folders = {}});
    if (!scenario) {
      EXPECT_GT(scenario.error().error_count(), 0U);
      continue;
    }
    const auto outcome = simulate(*scenario, FoldMode::kFold);
    if (!outcome || !outcome->report) continue;
    const Report& report = *outcome->report;
    EXPECT_GT(report.step_time.mean, Duration());
    EXPECT_FALSE(is_beyond_clock(report.step_time.mean));
    EXPECT_TRUE(std::isfinite(report.tokens_per_second_per_gpu));
    EXPECT_GE(report.everywhere.idle, Duration());
    EXPECT_TRUE(std::isfinite(report.hardware_flop_utilisation.value_or(0.0)));
    EXPECT_TRUE(std::isfinite(report.everywhere.share(report.everywhere.computing)));
  }
}

}  // namespace
}  // namespace ringwright::configs::hostile_values_test
