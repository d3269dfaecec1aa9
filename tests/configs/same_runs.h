// Runs with shortcuts compared with runs without: every time, byte and call.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs {

inline void expect_equal(const RunRecord& found, const RunRecord& expected, const std::string& text) {
  EXPECT_EQ(found.finished_at, expected.finished_at) << text;
  EXPECT_EQ(found.iteration_end, expected.iteration_end) << text;
  EXPECT_EQ(found.time_in, expected.time_in) << text;
  EXPECT_EQ(found.sent, expected.sent) << text;
  EXPECT_EQ(found.messages, expected.messages) << text;
  ASSERT_EQ(found.calls.size(), expected.calls.size()) << text;
  for (std::size_t call = 0; call < expected.calls.size(); ++call) {
    EXPECT_EQ(found.calls[call].count, expected.calls[call].count) << text;
    EXPECT_EQ(found.calls[call].sum, expected.calls[call].sum) << text;
    EXPECT_EQ(found.calls[call].shortest, expected.calls[call].shortest) << text;
  }
}

inline void expect_equal(const std::vector<LinkUsage>& found, const std::vector<LinkUsage>& expected,
                         const std::string& text) {
  ASSERT_EQ(found.size(), expected.size()) << text;
  for (std::size_t link = 0; link < expected.size(); ++link) {
    EXPECT_EQ(found[link].busy, expected[link].busy) << text;
    EXPECT_NEAR(found[link].bytes, expected[link].bytes, 1e-9 * expected[link].bytes) << text;
  }
}

inline void expect_equal(const Played& found, const Played& expected, const std::string& text) {
  EXPECT_EQ(found.finished_at, expected.finished_at) << text;
  expect_equal(found.record, expected.record, text);
  expect_equal(found.usage, expected.usage, text);
}

// Passes at once against task by task. Returns the factor by which the number of events shrinks.
inline double expect_same_passes(const std::string& text) {
  const Scenario scenario = load(text);
  const Played by_task = play(scenario, FoldMode::kFold, SegmentPlay::kByTask);
  const Played at_once = play(scenario, FoldMode::kFold, SegmentPlay::kAtOnce);
  expect_equal(at_once, by_task, text);
  return static_cast<double>(by_task.events) / static_cast<double>(at_once.events);
}

// With all shortcuts of a run against without any. Returns the factor by which the number of events shrinks.
inline double expect_same_runs(const std::string& text, FoldMode fold = FoldMode::kFold) {
  const Scenario scenario = load(text);
  const Played each = play_as_run(scenario, fold, network_models::FastForward::kOff);
  const Played at_once = play_as_run(scenario, fold, network_models::FastForward::kOn);
  EXPECT_EQ(at_once.outcome, each.outcome) << text;
  expect_equal(at_once, each, text);
  return static_cast<double>(each.events) / static_cast<double>(at_once.events);
}

// The report with all shortcuts against the one without any.
inline void expect_same_report(const std::string& text, std::vector<std::string> overrides) {
  const std::string fast = result_of(text, overrides);
  overrides.emplace_back("simulate.fast_forward=false");
  const std::string whole = result_of(text, overrides);
  for (const char* part : {"metrics", "breakdown", "links", "collectives", "pipeline"}) {
    EXPECT_FALSE(json_part(whole, part).empty()) << part;
    EXPECT_EQ(json_part(fast, part), json_part(whole, part)) << part;
  }
}

}  // namespace ringwright::configs
