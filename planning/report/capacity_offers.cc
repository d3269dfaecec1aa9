#include "planning/report/capacity_offers.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

std::vector<const JsonValue*> ranked_offers(const JsonValue& study) {
  const std::vector<JsonValue>& offers = study["offers"].list();
  std::vector<const JsonValue*> ranked;
  for (const JsonValue& index : study["ranking"].list()) {
    const double at = index.number().value_or(-1.0);
    if (at >= 0.0 && at < static_cast<double>(offers.size())) ranked.push_back(&offers[static_cast<std::size_t>(at)]);
  }
  return ranked;
}

bool was_simulated(const JsonValue& offer) {
  return offer["step_ps"].number().has_value();
}

std::string offer_name(const JsonValue& offer) {
  return fmt::format("{} x {}", count_text(offer["hosts"].number().value_or(0.0)), offer["machine"].text());
}

std::string offer_layout(const JsonValue& offer) {
  std::vector<std::string> words;
  for (const std::string& axis : offer["layout"].keys) words.push_back(axis + " " + offer["layout"][axis].text());
  return join(words, ", ");
}

}  // namespace ringwright::planning
