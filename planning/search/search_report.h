// What a search found: as text for people, as JSON and as a CSV table for programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "planning/search/search.h"

namespace ringwright::planning {

struct SearchReport {
  const configs::Scenario& scenario;
  const configs::SearchSettings& settings;
  const SearchResult& result;
  Detail detail = Detail::kNormal;  // kQuiet: only the best and the scenario's own
  std::vector<std::string> command = {};    // that was given; empty where there was none
};

[[nodiscard]] std::string render_search_text(const SearchReport& report);
// Schema "ringwright.search/1" (docs/search.md).
[[nodiscard]] std::string render_search_json(const SearchReport& report);
// A row for every legal layout, best first and then those that do not fit.
[[nodiscard]] std::string render_search_csv(const SearchReport& report);

// The value of a layout on an axis.
[[nodiscard]] std::string value_on(const Layout& layout, std::string_view axis);
// Time in which nothing is computed and communication is in flight.
[[nodiscard]] Duration exposed(const TimeBreakdown& breakdown);

}  // namespace ringwright::planning
