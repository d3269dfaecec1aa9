// What a capacity study found, for programs: JSON and CSV.
#include <filesystem>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/capacity/capacity.h"
#include "planning/study/csv_field.h"
#include "planning/study/point_json.h"

namespace ringwright::planning {
namespace {

std::string json_layout(const std::vector<LayoutChoice>& layout) {
  std::vector<std::string> choices;
  for (const LayoutChoice& choice : layout) {
    choices.push_back(fmt::format("{}: {}", json_text(choice.axis), json_text(choice.value)));
  }
  return "{" + join(choices, ", ") + "}";
}

std::string json_offer(const CapacityPlan& plan, const Offer& offer) {
  std::string text =
      fmt::format("{{\"machine\": {}, \"hosts\": {}, \"gpus\": {}, \"status\": {}, \"code\": {}, \"reason\": {}",
                  json_text(plan.machines[offer.machine].name), offer.hosts, offer.gpus,
                  json_text(std::string(to_string(offer.status))), json_text(offer.code), json_text(offer.reason));
  if (!offer.was_simulated()) return text + "}";
  const StepFigures& step = offer.figures;
  std::vector<std::string> notes;
  for (const std::string& note : offer.notes) notes.push_back(json_text(note));
  if (!notes.empty()) text += fmt::format(", \"notes\": [{}]", join(notes, ", "));
  return text + fmt::format(
                    ", \"layout\": {}, \"layouts\": {}, \"step_ps\": {}, \"parts_ps\": {}, \"tokens_per_s\": {}, "
                    "\"mfu\": {}, \"memory_bytes\": {}, \"days\": {}, \"usd\": {}, \"megawatt_hours\": {}, "
                    "\"on_front\": {}}}",
                    json_layout(offer.layout), offer.layouts, step.step.count(), json_parts(step.parts),
                    step.tokens_per_second(), json_number(step.model_flop_utilisation), step.memory.count(), offer.days,
                    json_number(offer.usd), json_number(offer.megawatt_hours), offer.on_front);
}

std::string json_budget(const CapacityBudget& budget) {
  return fmt::format("{{\"days\": {}, \"usd\": {}, \"megawatt_hours\": {}, \"gpus\": {}}}", json_number(budget.days),
                     json_number(budget.usd), json_number(budget.megawatt_hours),
                     budget.gpus ? std::to_string(*budget.gpus) : "null");
}

std::string json_front(const LayoutOffer& each) {
  return fmt::format(
      "{{\"offer\": {}, \"gpus\": {}, \"layout\": {}, \"step_ps\": {}, \"memory_bytes\": {}, \"days\": {}, \"usd\": "
      "{}, "
      "\"megawatt_hours\": {}}}",
      each.offer, each.gpus, json_layout(each.layout), each.step.count(), each.memory.count(), each.days,
      json_number(each.usd), json_number(each.megawatt_hours));
}

}  // namespace

std::string layout_words(const std::vector<LayoutChoice>& layout) {
  std::vector<std::string> words;
  for (const LayoutChoice& choice : layout) words.push_back(choice.axis + "=" + choice.value);
  return join(words, " ");
}

std::string render_capacity_json(const CapacityPlan& plan, const CapacityResult& result) {
  const std::string scenario = std::filesystem::path(result.scenario).filename().string();
  std::vector<std::string> offers, ranking, front;
  for (const LayoutOffer& each : result.front) front.push_back(json_front(each));
  for (const Offer& offer : result.offers) offers.push_back(json_offer(plan, offer));
  for (const std::size_t index : result.ranking) ranking.push_back(std::to_string(index));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.capacity/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"name\": {},\n  \"scenario\": {},\n  \"tokens\": {},\n  \"goodput\": {},\n  \"objective\": {},\n"
      "  \"budget\": {},\n  \"offers\": [\n    {}\n  ],\n  \"ranking\": [{}],\n"
      "  \"front\": [{}]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(plan.name), json_text(scenario), plan.tokens, plan.goodput,
      json_text(std::string(to_string(plan.objective))), json_budget(plan.budget), join(offers, ",\n    "),
      join(ranking, ", "), front.empty() ? "" : "\n    " + join(front, ",\n    ") + "\n  ");
}

std::string render_capacity_csv(const CapacityPlan& plan, const CapacityResult& result) {
  std::string text =
      "machine,hosts,gpus,status,reason,layout,step_s,tokens_per_s,mfu,memory_bytes,days,usd,megawatt_hours,on_front\n";
  const auto number = [](const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; };
  for (const Offer& offer : result.offers) {
    text += fmt::format("{},{},{},{},{},", csv_field(plan.machines[offer.machine].name), offer.hosts, offer.gpus,
                        to_string(offer.status), csv_field(offer.reason));
    if (!offer.was_simulated()) {
      text += ",,,,,,,,\n";
      continue;
    }
    const StepFigures& step = offer.figures;
    text += fmt::format("{},{},{},{},{},{},{},{},{}\n", csv_field(layout_words(offer.layout)), to_seconds(step.step),
                        step.tokens_per_second(), number(step.model_flop_utilisation), step.memory.count(), offer.days,
                        number(offer.usd), number(offer.megawatt_hours), offer.on_front ? 1 : 0);
  }
  return text;
}

}  // namespace ringwright::planning
