#include "planning/report/page.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/page_assets.h"

namespace ringwright::planning {
namespace {

std::string list_text(const std::vector<std::string>& entries) {
  return "[" + join(entries, ",") + "]";
}

std::string strings_text(const std::vector<std::string>& words) {
  std::vector<std::string> entries;
  for (const std::string& word : words) entries.push_back(json_text(word));
  return list_text(entries);
}

// Texts of long columns repeat: each is written once.
std::string cells_text(const std::vector<std::string>& cells) {
  std::map<std::string_view, std::size_t> numbers;
  std::vector<std::string> words;
  std::string index;
  for (const std::string& cell : cells) {
    const auto [known, is_new] = numbers.try_emplace(cell, words.size());
    if (is_new) words.push_back(cell);
    index += fmt::format("{}{}", index.empty() ? "" : ",", known->second);
  }
  return fmt::format("\"words\":{},\"index\":[{}]", strings_text(words), index);
}

std::string cells_text(const std::vector<double>& cells) {
  std::string text;
  for (const double cell : cells) {
    if (!text.empty()) text += ",";
    text += std::isfinite(cell) ? fmt::format("{:.9g}", cell) : "null";
  }
  return "\"numbers\":[" + text + "]";
}

std::string column_text(const PanelColumn& column) {
  return fmt::format("{{\"name\":{},\"unit\":{},{}}}", json_text(column.name), json_text(column.unit),
                     std::visit([](const auto& cells) { return cells_text(cells); }, column.cells));
}

std::string mark_text(const PanelMark& mark) {
  return fmt::format("{{\"kind\":\"{}\",\"name\":{},\"value\":{:.9g}}}",
                     mark.kind == PanelMark::Kind::kLevel ? "level" : "diagonal", json_text(mark.name), mark.value);
}

std::string panel_text(const Panel& panel) {
  std::vector<std::string> columns, marks;
  for (const PanelColumn& column : panel.columns) columns.push_back(column_text(column));
  for (const PanelMark& mark : panel.marks) marks.push_back(mark_text(mark));
  return fmt::format(
      "{{\"id\":{},\"title\":{},\"sentence\":{},\"chart\":\"{}\",\"xlog\":{},\"ylog\":{},\"wide\":{},\"note\":{},"
      "\"total\":{},"
      "\"points\":{},\"marks\":{},\"columns\":{}}}",
      json_text(panel.id), json_text(panel.title), json_text(panel.sentence), to_string(panel.chart),
      panel.x_scale == AxisScale::kLogarithmic, panel.y_scale == AxisScale::kLogarithmic, panel.wide,
      json_text(panel.note), json_text(panel.total), strings_text(panel.drawn_as_points), list_text(marks),
      list_text(columns));
}

std::string section_text(const ReportSection& section) {
  std::vector<std::string> figures, badges, panels;
  for (const KeyFigure& figure : section.figures) {
    figures.push_back(strings_text({figure.name, figure.value, figure.remark}));
  }
  for (const EvidenceBadge& badge : section.badges) {
    badges.push_back(strings_text({badge.input, badge.level, badge.source}));
  }
  for (const Panel& panel : section.panels) panels.push_back(panel_text(panel));
  return fmt::format(
      "{{\"title\":{},\"subtitle\":{},\"figures\":{},\"badges\":{},\"sentences\":{},\"command\":{},\"fingerprint\":{},"
      "\"panels\":{}}}",
      json_text(section.title), json_text(section.subtitle), list_text(figures), list_text(badges),
      strings_text(section.sentences), strings_text(section.command), json_text(section.fingerprint),
      list_text(panels));
}

std::string replaced(std::string_view text, char what, std::string_view by) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    if (c == what)
      result += by;
    else
      result += c;
  }
  return result;
}

std::string escaped_html(std::string_view text) {
  return replaced(replaced(replaced(text, '&', "&amp;"), '<', "&lt;"), '>', "&gt;");
}

const JsonValue& value_at(const JsonValue& root, std::string_view path) {
  const JsonValue* value = &root;
  while (!path.empty()) {
    const std::size_t dot = path.find('.');
    value = &(*value)[path.substr(0, dot)];
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return *value;
}

std::string_view name_of(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull: return "null";
    case JsonValue::Kind::kFlag: return "true or false";
    case JsonValue::Kind::kNumber: return "a number";
    case JsonValue::Kind::kText: return "a text";
    case JsonValue::Kind::kList: return "a list";
    case JsonValue::Kind::kMap: return "a map";
  }
  return "";
}

Diagnostics unknown_kind(const ResultInput& input) {
  std::vector<std::string> schemas, commands;
  for (const ResultKind& kind : result_kinds()) {
    schemas.emplace_back(kind.schema);
    commands.emplace_back(kind.command);
  }
  const std::string& schema = input.json["schema"].text();
  const std::string near = nearest_name(schema, schemas);
  return failure("E342",
                 schema.empty() ? std::string("the file names no schema, so it is no result")
                                : fmt::format("the schema is '{}', which the report does not know{}", schema,
                                              near.empty() ? "" : "; did you mean '" + near + "'?"),
                 {.file = input.name}, "results are written by " + join(commands, ", "));
}

// All values that the result lacks at once.
Diagnostics missing_values(const ResultInput& input, const ResultKind& kind) {
  Diagnostics missing;
  for (const RequiredValue& required : kind.required) {
    const JsonValue& value = value_at(input.json, required.path);
    if (value.kind == required.kind) continue;
    missing.add({.code = "E343",
                 .place = {.file = input.name},
                 .message = fmt::format("{} is {} and must be {}", required.path,
                                        value.kind == JsonValue::Kind::kNull ? "missing" : name_of(value.kind),
                                        name_of(required.kind)),
                 .hint = fmt::format("write the file again: {}", kind.command)});
  }
  return missing;
}

}  // namespace

Result<ReportSection> section_of(const ResultInput& input) {
  const auto kind = std::ranges::find(result_kinds(), input.json["schema"].text(), &ResultKind::schema);
  if (kind == result_kinds().end()) return tl::unexpected(unknown_kind(input));
  if (Diagnostics missing = missing_values(input, *kind); missing.has_errors())
    return tl::unexpected(std::move(missing));
  ReportSection section = kind->header(input);
  for (PanelMaker* const make : kind->panels) std::ranges::move(make(input), std::back_inserter(section.panels));
  return section;
}

std::string page_data(std::span<const ReportSection> sections) {
  std::vector<std::string> entries;
  for (const ReportSection& section : sections) entries.push_back(section_text(section));
  return replaced(fmt::format("{{\"tool\":\"ringwright {}\",\"sections\":{}}}", RINGWRIGHT_VERSION, list_text(entries)),
                  '<', "\\u003c");
}

std::string render_page(std::span<const ReportSection> sections) {
  const std::string title = sections.empty() ? "ringwright" : escaped_html(sections.front().title) + " - ringwright";
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      // Nothing is loaded from anywhere, whatever the data hold.
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src "
      "'unsafe-inline'; img-src data: blob:\">\n";
  page += fmt::format("<title>{}</title>\n<style>\n", title);
  page += page_style();
  page +=
      "</style>\n</head>\n<body>\n<noscript>This report draws its charts with JavaScript, which is switched off "
      "here.</noscript>\n<main id=\"report\"></main>\n<script type=\"application/json\" id=\"data\">";
  page += page_data(sections);
  page += "</script>\n<script>\n";
  page += page_library();
  page += "</script>\n<script>\n";
  page += page_charts();
  page += page_script();
  page += "</script>\n</body>\n</html>\n";
  return page;
}

Result<std::string> page_of_result(std::string_view json, const traces::Timeline* timeline,
                                   const std::string& no_timeline) {
  auto value = parse_json("result.json", json);
  if (!value) return tl::unexpected(std::move(value.error()));
  const auto section =
      section_of({.name = "result.json", .json = std::move(*value), .timeline = timeline, .no_timeline = no_timeline});
  CHECK(section.has_value(), "a result that was just made can be shown");
  return render_page({&*section, 1});
}

}  // namespace ringwright::planning
