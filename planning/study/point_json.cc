#include "planning/study/point_json.h"

#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"

namespace ringwright::planning {

std::string json_number(const std::optional<double>& number) {
  return number ? fmt::format("{}", *number) : "null";
}

std::string json_processed(std::string_view processed) {
  return processed == "tokens" ? std::string() : ", \"tokens_are\": " + json_text(processed);
}

std::string json_parts(std::span<const StepPart> parts) {
  std::vector<std::string> rows;
  for (const StepPart& part : parts) {
    rows.push_back(fmt::format("{{\"cause\": {}, \"ps\": {}}}", json_text(part.cause), part.time.count()));
  }
  return "[" + join(rows, ", ") + "]";
}

std::string json_point(const Point& point) {
  std::string text = fmt::format("\"status\": {}", json_text(to_string(point.status)));
  if (!point.code.empty()) text += ", \"code\": " + json_text(point.code);
  if (!point.reason.empty()) text += ", \"reason\": " + json_text(point.reason);
  text += ", \"fingerprint\": " + json_text(point.fingerprint);
  if (!point.was_simulated()) return text;
  const StepFigures& figures = point.figures;
  text += fmt::format(
      ", \"step_time_s\": {}, \"step_ps\": {}, \"tokens_per_s\": {}, \"tokens_per_s_per_gpu\": {}, \"mfu\": {}, "
      "\"gpus\": {}, \"tokens_per_step\": {}{}, \"memory_bytes\": {}, \"memory_capacity_bytes\": {}",
      static_cast<double>(figures.step.count()) / 1e12, figures.step.count(), figures.tokens_per_second(),
      figures.tokens_per_second_per_gpu, json_number(figures.model_flop_utilisation), figures.gpus,
      figures.tokens_per_step, json_processed(figures.processed), figures.memory.count(),
      figures.memory_capacity.count());
  const StepCost& cost = figures.cost;
  if (cost.usd || cost.joules) {
    text += fmt::format(
        ", \"usd_per_step\": {}, \"usd_per_1e12_tokens\": {}, \"joules_per_step\": {}, \"joules_per_token\": {}",
        json_number(cost.usd), json_number(cost.usd_per_tera_tokens), json_number(cost.joules),
        json_number(cost.joules_per_token));
  }
  return text + ", \"parts_ps\": " + json_parts(figures.parts);
}

}  // namespace ringwright::planning
