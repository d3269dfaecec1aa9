// Runs with shortcuts compared with runs without: every time, byte and call.
#pragma once

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs {

inline void expect_equal(const Played& found, const Played& expected, const std::string& text) {
  EXPECT_EQ(found.finished_at, expected.finished_at) << text;
  EXPECT_EQ(found.record.iteration_end, expected.record.iteration_end) << text;
  EXPECT_EQ(found.record.time_in, expected.record.time_in) << text;
  EXPECT_EQ(found.record.sent, expected.record.sent) << text;
  EXPECT_EQ(found.record.messages, expected.record.messages) << text;
  ASSERT_EQ(found.record.calls.size(), expected.record.calls.size()) << text;
  for (std::size_t call = 0; call < expected.record.calls.size(); ++call) {
    EXPECT_EQ(found.record.calls[call].count, expected.record.calls[call].count) << text;
    EXPECT_EQ(found.record.calls[call].sum, expected.record.calls[call].sum) << text;
    EXPECT_EQ(found.record.calls[call].shortest, expected.record.calls[call].shortest) << text;
  }
  ASSERT_EQ(found.usage.size(), expected.usage.size());
  for (std::size_t link = 0; link < expected.usage.size(); ++link) {
    EXPECT_EQ(found.usage[link].busy, expected.usage[link].busy) << text;
    EXPECT_NEAR(found.usage[link].bytes, expected.usage[link].bytes, 1e-9 * expected.usage[link].bytes) << text;
  }
}

// Passes at once against task by task. Returns the factor by which the number of events shrinks.
inline double expect_same_passes(const std::string& text) {
  const Scenario scenario = load(text);
  const Played by_task = play(scenario, FoldMode::kFold, SegmentPlay::kByTask);
  const Played at_once = play(scenario, FoldMode::kFold, SegmentPlay::kAtOnce);
  expect_equal(at_once, by_task, text);
  return static_cast<double>(by_task.events) / static_cast<double>(at_once.events);
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
