// Why combinations of a search were not predicted.
#include "planning/report/builtin_panels.h"

namespace ringwright::planning {

std::vector<Panel> search_refusals(const ResultInput& result) {
  PanelColumn reason = text_column("reason"), count = number_column("combinations", ""), code = text_column("code"),
              example = text_column("example");
  const auto add = [&](const std::string& why, double number, const std::string& number_code, const std::string& such) {
    if (!(number > 0.0)) return;
    texts(reason).push_back(why);
    numbers(count).push_back(number);
    texts(code).push_back(number_code);
    texts(example).push_back(such);
  };
  add("predicted", result.json["predicted"].number().value_or(0.0), "", "");
  add("do not fit into memory", result.json["too_large"].number().value_or(0.0), "", "");
  add("equivalent to another one", result.json["same"].number().value_or(0.0), "", "");
  for (const JsonValue& refusal : result.json["refused"].list()) {
    add(refusal["reason"].text(), refusal["count"].number().value_or(0.0), refusal["code"].text(),
        refusal["example"].text());
  }
  if (count.size() == 0) return {};
  return {Panel{.id = "search-refusals",
                .title = "What became of all combinations",
                .sentence = "Every combination of the axes is examined and counted once; `ringwright explain CODE` has "
                            "the page of a reason.",
                .chart = Chart::kBars,
                .columns = {reason, count, code, example},
                .wide = true}};
}

}  // namespace ringwright::planning
