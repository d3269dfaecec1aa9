#include "planning/report/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "planning/report/builtin_panels.h"
#include "tests/planning/report/sample_results.h"

namespace ringwright::planning::page_test {
namespace {

using namespace samples;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kHostile = "</script><img src=x onerror=alert(1)>";

std::string mistakes_of(std::string_view text) {
  const auto section = section_of({.name = "a.json", .json = parse_json("a.json", text).value()});
  return section ? "" : render(section.error());
}

std::string with(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::size_t count(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Page, EqualResultsGiveEqualBytes) {
  const std::vector<ReportSection> sections = {section_from(kRunResult), section_from(kSearchResult)};
  EXPECT_EQ(render_page(sections), render_page(sections));
}

TEST(Page, DataAreJson) {
  const std::vector<ReportSection> sections = {section_from(kRunResult), section_from(kSearchResult)};
  const auto data = nlohmann::json::parse(page_data(sections));
  ASSERT_EQ(data["sections"].size(), 2U);
  EXPECT_EQ(data["sections"][0]["title"], "two stages");
  for (const auto& section : data["sections"]) {
    for (const auto& panel : section["panels"]) {
      std::size_t rows = 0;
      for (const auto& column : panel["columns"]) {
        const auto& cells = column.contains("numbers") ? column["numbers"] : column["index"];
        if (&column == &panel["columns"].front()) rows = cells.size();
        EXPECT_EQ(cells.size(), rows) << panel["id"];
      }
      EXPECT_FALSE(panel["sentence"].get<std::string>().empty()) << panel["id"];
    }
  }
}

// A name cannot end the element of the data, nor become an element of its own.
TEST(Page, HostileNamesStayText) {
  const std::string plain = render_page({});
  std::string text = with(std::string(kRunResult), "two stages", std::string(kHostile));
  text = with(text, "a data sheet", std::string(kHostile));
  text = with(text, "gpu0->nvswitch0", std::string(kHostile));
  const std::vector<ReportSection> sections = {section_from(text)};
  const std::string page = render_page(sections);
  EXPECT_EQ(count(page, "</script>"), count(plain, "</script>"));
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("<title>&lt;/script&gt;&lt;img"));
  EXPECT_EQ(nlohmann::json::parse(page_data(sections))["sections"][0]["title"], kHostile);
}

// The only addresses are those of namespaces and of licences in comments; the policy forbids to load any.
TEST(Page, LoadsNothing) {
  const std::string page = render_page({});
  EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  EXPECT_THAT(page, Not(HasSubstr("<link")));
  EXPECT_THAT(page, Not(HasSubstr(" src=")));
}

TEST(Page, NamesKnownKindsWhereTheSchemaIsAnother) {
  EXPECT_THAT(mistakes_of(R"({"schema": "ringwright.result/2"})"), HasSubstr("did you mean 'ringwright.result/1'?"));
  EXPECT_THAT(mistakes_of(R"({"a": 1})"), HasSubstr("a.json: error[E342]: the file names no schema"));
  EXPECT_THAT(mistakes_of("[]"), HasSubstr("error[E342]"));
}

TEST(Page, NamesAllMissingValues) {
  const std::string mistakes = mistakes_of(R"({"schema": "ringwright.result/1", "scenario": 3, "metrics": {}})");
  EXPECT_THAT(mistakes, HasSubstr("scenario is a number and must be a text"));
  EXPECT_THAT(mistakes, HasSubstr("metrics.step_time_s.mean is missing"));
  EXPECT_THAT(mistakes, HasSubstr("breakdown is missing"));
}

// What is not required may be missing or of another type.
TEST(Page, EveryPanelSurvivesOtherTypes) {
  for (const ResultKind& kind : result_kinds()) {
    for (const std::string_view value : {"null", "7", "\"text\"", "[]", "[[]]", "[{}]", "{}", R"({"a": [1]})"}) {
      std::string text = R"({"schema": ")" + std::string(kind.schema) + "\"";
      for (const char* key : {"slowest_stage", "pipeline", "memory", "links", "link_tiers", "kernels", "collectives",
                              "published", "warnings", "config", "layouts", "results", "refused", "own", "gemms"}) {
        text += ", \"" + std::string(key) + "\": " + std::string(value);
      }
      const ResultInput input{.name = "a.json", .json = parse_json("a.json", text + "}").value()};
      ReportSection section = kind.header(input);
      for (PanelMaker* const make : kind.panels) std::ranges::move(make(input), std::back_inserter(section.panels));
      EXPECT_TRUE(nlohmann::json::accept(page_data({&section, 1}))) << kind.schema << " " << value;
    }
  }
}

}  // namespace
}  // namespace ringwright::planning::page_test
