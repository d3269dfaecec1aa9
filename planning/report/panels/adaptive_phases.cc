// Compression whose ratio follows delays, phase by phase of the network: the time of a step, and the ratio.
#include <algorithm>
#include <array>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

struct RatioChoice {
  std::string_view name;
  std::string_view key;  // of a phase: the time of all its steps
};
constexpr std::array kRatioChoices{RatioChoice{"follows delays", "adaptive_ps"},
                                   RatioChoice{"scenario's ratio", "fixed_ps"}, RatioChoice{"least ratio", "least_ps"}};

double steps_of(const JsonValue& phase) {
  return phase["steps"].number().value_or(0.0);
}

double step_seconds(const JsonValue& phase, std::string_view key) {
  return phase[key].number_or_unknown() * 1e-12 / steps_of(phase);
}

double longest_step(const JsonValue& study) {
  double longest = 0.0;
  for (const JsonValue& phase : study["phases"].list()) {
    for (const RatioChoice& choice : kRatioChoices) longest = std::max(longest, step_seconds(phase, choice.key));
  }
  return longest;
}

}  // namespace

// A level line from the first to the last step of each phase.
std::vector<Panel> adaptive_steps(const ResultInput& result) {
  const UnitScale scale = time_scale(longest_step(result.json));
  PanelColumn series = text_column("ratio"), at = number_column("step", ""),
              time = number_column("time of a step", std::string(scale.unit)), network = text_column("network");
  for (const RatioChoice& choice : kRatioChoices) {
    double begin = 0.0;
    for (const JsonValue& phase : result.json["phases"].list()) {
      for (const double end : {begin, begin + steps_of(phase)}) {
        texts(series).emplace_back(choice.name);
        numbers(at).push_back(end);
        numbers(time).push_back(step_seconds(phase, choice.key) * scale.factor);
        texts(network).push_back(phase["settings"].text());
      }
      begin += steps_of(phase);
    }
  }
  if (series.size() == 0) return {};
  return {Panel{.id = "adaptive-steps",
                .title = "Time of a step while the network changes",
                .sentence = "The mean of each phase: with a ratio that follows delays, with the scenario's and with "
                            "the least one all the time.",
                .chart = Chart::kLines,
                .columns = {series, at, time, network},
                .wide = true}};
}

std::vector<Panel> adaptive_ratios(const ResultInput& result) {
  PanelColumn series = text_column("ratio"), at = number_column("step", ""),
              ratio = number_column("mean ratio", "% of the gradients"), network = text_column("network");
  double begin = 0.0;
  for (const JsonValue& phase : result.json["phases"].list()) {
    for (const double end : {begin, begin + steps_of(phase)}) {
      texts(series).emplace_back(kRatioChoices.front().name);
      numbers(at).push_back(end);
      numbers(ratio).push_back(100.0 * phase["mean_ratio"].number_or_unknown());
      texts(network).push_back(phase["settings"].text());
    }
    begin += steps_of(phase);
  }
  if (series.size() == 0) return {};
  return {Panel{.id = "adaptive-ratios",
                .title = "What is sent",
                .sentence = "The mean share of the gradients that steps of a phase send, between the two bounds.",
                .chart = Chart::kLines,
                .columns = {series, at, ratio, network},
                .marks = {{.name = "most", .value = 100.0 * result.json["most"].number_or_unknown()},
                          {.name = "least", .value = 100.0 * result.json["least"].number_or_unknown()}},
                .wide = true}};
}

std::vector<Panel> adaptive_table(const ResultInput& result) {
  const UnitScale scale = time_scale(longest_step(result.json));
  PanelColumn network = text_column("network"), steps = number_column("steps", ""),
              ratio = number_column("mean ratio", "%"), gain = number_column("gain", "times as fast");
  std::vector<PanelColumn> times;
  for (const RatioChoice& choice : kRatioChoices) {
    times.push_back(number_column(std::string(choice.name), std::string(scale.unit) + " a step"));
  }
  for (const JsonValue& phase : result.json["phases"].list()) {
    const std::string& settings = phase["settings"].text();
    texts(network).push_back(settings.empty() ? "as in the scenario" : settings);
    numbers(steps).push_back(steps_of(phase));
    numbers(ratio).push_back(100.0 * phase["mean_ratio"].number_or_unknown());
    for (std::size_t i = 0; i < times.size(); ++i) {
      numbers(times[i]).push_back(step_seconds(phase, kRatioChoices[i].key) * scale.factor);
    }
    numbers(gain).push_back(phase["fixed_ps"].number_or_unknown() / phase["adaptive_ps"].number_or_unknown());
  }
  if (network.size() == 0) return {};
  return {Panel{.id = "adaptive-phases",
                .title = "All phases",
                .sentence = "The gain is the time with the scenario's ratio over that with one that follows delays.",
                .columns = {network, steps, ratio, times[0], times[1], times[2], gain},
                .wide = true}};
}

}  // namespace ringwright::planning
