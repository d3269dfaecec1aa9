// The HTML page of a report: one file that needs no network, with its data, its script and its charts inside.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"
#include "planning/report/panel.h"
#include "planning/report/result_input.h"

namespace ringwright::planning {

// Errors: a result of a kind that the report does not know (E342), or without values that it needs (E343).
[[nodiscard]] Result<ReportSection> section_of(const ResultInput& input);

// The same sections give the same bytes.
[[nodiscard]] std::string render_page(std::span<const ReportSection> sections);

// The page of one result that was just made, from its JSON; tasks as in ResultInput.
// Errors: more values than a page shows (E341).
[[nodiscard]] Result<std::string> page_of_result(std::string_view json, const traces::Timeline* timeline = nullptr,
                                                 const std::string& no_timeline = {});

// The data of the page as JSON, as render_page embeds it: no '<' in it, so that no text can end its element.
[[nodiscard]] std::string page_data(std::span<const ReportSection> sections);

}  // namespace ringwright::planning
