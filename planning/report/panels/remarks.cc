// What a reader must know about a run or a sweep: warnings, assumed values, settings without effect, faults.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> remarks(const ResultInput& result) {
  PanelColumn what = text_column("what"), where = text_column("where"), text = text_column("remark");
  const auto add = [&](const std::string& kind, const std::string& place, const std::string& remark) {
    texts(what).push_back(kind);
    texts(where).push_back(place);
    texts(text).push_back(remark);
  };
  for (const JsonValue& warning : result.json["warnings"].list()) {
    add("warning " + warning["code"].text(), warning["where"].text(), warning["text"].text());
  }
  for (const JsonValue& fault : result.json["faults"].list()) add("fault", "", fault.text());
  for (const JsonValue& value : result.json["assumptions"].list()) {
    add("assumed", value["path"].text(), value["value"].text() + ": " + value["why"].text());
  }
  for (const JsonValue& value : result.json["ignored"].list()) {
    add("without effect", value["path"].text(), value["why"].text());
  }
  if (what.size() == 0) return {};
  return {Panel{.id = "remarks",
                .title = "Warnings and assumptions",
                .sentence = "What needs attention, values that nobody gave, and settings that have no effect here.",
                .chart = Chart::kTable,
                .columns = {what, where, text},
                .wide = true}};
}

}  // namespace ringwright::planning
