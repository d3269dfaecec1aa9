#include "planning/sensitivity/sensitivity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/config/scalar.h"
#include "core/report/text_table.h"
#include "planning/study/difference.h"
#include "planning/study/each_item.h"

namespace ringwright::planning {
namespace {

constexpr std::size_t kTornadoWidth = 16;  // of each side, in columns

struct Parameter {
  std::string key;
  KeyType type = KeyType::kNumber;
  double value = 0.0;  // in base units
  std::string text;
  Evidence evidence = Evidence::kAssumed;
};

bool is_physical(std::string_view key) {
  constexpr std::array<std::string_view, 6> kBlocks{"cluster.",      "compute.",       "comm.",
                                                    "interference.", "data_pipeline.", "recommendation."};
  const bool in_block = std::ranges::any_of(kBlocks, [key](std::string_view block) { return key.starts_with(block); });
  const bool is_version = key.ends_with(".gpu.compute_capability");      // a number, and no quantity
  const bool is_upkeep = key.starts_with("recommendation.upkeep.");      // a step does not use it
  return in_block && !is_version && !is_upkeep;
}

// As documented: "cluster.groups[].node.nic.bandwidth" of cluster.groups[0].
std::string documented_path(std::string path) {
  for (std::size_t open = path.find('['); open != std::string::npos; open = path.find('[', open + 1)) {
    path.erase(open + 1, path.find(']', open) - open - 1);
  }
  return path;
}

// The first has the value of the second unless it is given: then the second stands for both.
bool repeats_another(const ValueRead& value) {
  constexpr std::array kTaken{"compute.step_speed", "compute.host_issue"};
  return value.origin == "default" && std::ranges::find(kTaken, value.path) != kTaken.end();
}

bool is_quantity(KeyType type) {
  switch (type) {
    case KeyType::kDuration:
    case KeyType::kBandwidth:
    case KeyType::kFlopRate:
    case KeyType::kRatio:
    case KeyType::kPercent:
    case KeyType::kNumber: return true;
    case KeyType::kInteger:
    case KeyType::kBoolean:
    case KeyType::kText:
    case KeyType::kChoice:
    case KeyType::kBytes:
    case KeyType::kIntegerOrWord:
    case KeyType::kIntegers:
    case KeyType::kTexts:
    case KeyType::kMap:
    case KeyType::kMaps: return false;
  }
  return false;
}

// In the unit of its kind, as --set takes it, with twelve digits: 1.1 times a value has no more that mean something.
std::string written_value(KeyType type, double exact) {
  const double value = std::strtod(fmt::format("{:.12g}", exact).c_str(), nullptr);
  if (type == KeyType::kDuration) return write_duration(Duration(std::llround(value)));
  if (type == KeyType::kBandwidth) return write_bandwidth(Bandwidth(value));
  if (type == KeyType::kFlopRate) return write_flop_rate(FlopRate(value));
  return fmt::format("{}", value);
}

std::vector<Parameter> parameters_of(const configs::Scenario& scenario) {
  std::map<std::string, KeyType> types;
  for (const KeyDoc& doc : configs::scenario_keys()) types.emplace(doc.path, doc.type);
  std::vector<Parameter> parameters;
  for (const ValueRead& value : scenario.document.log().values()) {
    const auto type = types.find(documented_path(value.path));
    if (type == types.end() || !is_quantity(type->second) || !is_physical(value.path)) continue;
    if (repeats_another(value)) continue;
    double number = 0.0;
    const char* const end = value.canonical.data() + value.canonical.size();
    const auto [last, error] = std::from_chars(value.canonical.data(), end, number);
    if (error != std::errc() || last != end || !(std::abs(number) > 0.0)) continue;  // a share of 0 stays 0
    parameters.push_back(
        {.key = value.path, .type = type->second, .value = number, .text = value.text, .evidence = value.evidence});
  }
  std::ranges::sort(parameters, {}, &Parameter::key);
  return parameters;
}

ParameterSide side_of(PointSource& source, const std::vector<std::string>& settings, const Parameter& parameter,
                      double factor) {
  ParameterSide side{.value = written_value(parameter.type, parameter.value * factor), .step = {}, .reason = {}};
  std::vector<std::string> all = settings;
  all.push_back(parameter.key + "=" + side.value);
  const Point point = source.simulate(all);
  if (point.was_simulated())
    side.step = point.figures.step;
  else
    side.reason = point.reason;
  return side;
}

double elasticity_of(const ParameterResponse& response, Duration base, double share) {
  const Duration low = response.low.step.value_or(base);
  const Duration high = response.high.step.value_or(base);
  const double sides = (response.low.step ? 1.0 : 0.0) + (response.high.step ? 1.0 : 0.0);
  return sides > 0.0 && base > Duration() ? ratio(high - low, base) / (sides * share) : 0.0;
}

void sort_responses(std::vector<ParameterResponse>& all, SensitivityResult& result) {
  for (ParameterResponse& response : all) {
    const auto moves = [&](const ParameterSide& side) { return side.step && *side.step != result.step; };
    if (!response.low.step && !response.high.step) {
      result.unknown.push_back(response.key + ": " + response.high.reason);
    } else if (!moves(response.low) && !moves(response.high)) {
      result.without_effect.push_back(response.key);
    } else {
      response.elasticity = elasticity_of(response, result.step, result.share);
      result.responses.push_back(std::move(response));
    }
  }
  std::ranges::stable_sort(result.responses, std::ranges::greater(),
                           [](const ParameterResponse& response) { return std::abs(response.elasticity); });
}

std::string side_text(const ParameterSide& side, Duration base) {
  return side.step ? percent_of(*side.step - base, base) : "-";
}

std::string json_side_of(const ParameterSide& side) {
  const std::string step = side.step ? std::to_string(side.step->count()) : "null";
  const std::string reason = side.reason.empty() ? "" : ", \"reason\": " + json_text(side.reason);
  return fmt::format("{{\"value\": {}, \"step_ps\": {}{}}}", json_text(side.value), step, reason);
}

std::string json_texts(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(json_text(text));
  return "[" + join(quoted, ", ") + "]";
}

}  // namespace

std::optional<double> parse_share(std::string_view text) {
  const auto share = read_percent(text);
  if (!share || !(*share > 0.0) || !(*share < 1.0)) return std::nullopt;
  return *share;
}

Result<SensitivityResult> sensitivity(const std::string& path, const std::vector<std::string>& settings,
                                      const SensitivityOptions& options) {
  const auto scenario = configs::load_scenario(path, {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  PointSource source(path, options.store);
  const Point base = source.simulate(settings);
  if (!base.was_simulated()) return tl::unexpected(failure(base.code, base.reason, {.file = path}));
  SensitivityResult result{.scenario = scenario->name, .share = options.share, .step = base.figures.step};
  std::vector<Parameter> parameters = parameters_of(*scenario);
  std::erase_if(parameters, [&result](const Parameter& parameter) {
    const bool in_list = parameter.key.find('[') != std::string::npos;  // entries of lists cannot be set alone
    if (in_list) result.not_varied.push_back(parameter.key);
    return in_list;
  });
  std::vector<ParameterResponse> responses(parameters.size());
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    responses[i].key = parameters[i].key;
    responses[i].value = parameters[i].text;
    responses[i].evidence = parameters[i].evidence;
  }
  each_item(2 * parameters.size(), options.workers, [&](std::size_t item) {
    ParameterResponse& response = responses[item / 2];
    const bool up = item % 2 == 1;
    (up ? response.high : response.low) =
        side_of(source, settings, parameters[item / 2], up ? 1.0 + options.share : 1.0 - options.share);
  });
  sort_responses(responses, result);
  return result;
}

std::string render_sensitivity_text(const SensitivityResult& result, std::size_t top) {
  std::string text = fmt::format("{}: step {}, every parameter {:.4g} % down and up\n\n", result.scenario,
                                 to_string(result.step), result.share * 100.0);
  const std::size_t shown = std::min(top, result.responses.size());
  Duration largest;
  for (const ParameterResponse& response : result.responses) {
    for (const ParameterSide* side : {&response.low, &response.high}) {
      const Duration change = side->step.value_or(result.step) - result.step;
      largest = std::max({largest, change, Duration() - change});
    }
  }
  TextTable table(
      {Align::kLeft, Align::kLeft, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft});
  table.add_row({"parameter", "value", "evidence", "down", "up", "elasticity", "step time when it is larger"});
  for (std::size_t i = 0; i < shown; ++i) {
    const ParameterResponse& response = result.responses[i];
    const Duration up = response.high.step.value_or(result.step) - result.step;
    table.add_row({response.key, shorten_end(response.value, 18), std::string(to_string(response.evidence)),
                   side_text(response.low, result.step), side_text(response.high, result.step),
                   fmt::format("{:+.3f}", response.elasticity), signed_bar(up, largest, kTornadoWidth)});
  }
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  if (shown < result.responses.size()) text += fmt::format("  and {} weaker ones\n", result.responses.size() - shown);
  text += fmt::format("\n{} further parameters do not change the step time.\n", result.without_effect.size());
  if (!result.not_varied.empty()) {
    text += fmt::format("{} parameters of entries of lists are not varied, as {}.\n", result.not_varied.size(),
                        result.not_varied.front());
  }
  for (const std::string& unknown : result.unknown) text += "Cannot be changed: " + unknown + "\n";
  return text;
}

std::string render_sensitivity_json(const SensitivityResult& result) {
  std::vector<std::string> responses;
  for (const ParameterResponse& response : result.responses) {
    responses.push_back(
        fmt::format("{{\"key\": {}, \"value\": {}, \"evidence\": {}, \"elasticity\": {}, \"low\": {}, \"high\": {}}}",
                    json_text(response.key), json_text(response.value), json_text(to_string(response.evidence)),
                    response.elasticity, json_side_of(response.low), json_side_of(response.high)));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.sensitivity/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {},\n  \"share\": {},\n  \"step_ps\": {},\n  \"parameters\": [\n    {}\n  ],\n"
      "  \"without_effect\": {},\n  \"not_varied\": {},\n  \"unknown\": {}\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.share, result.step.count(),
      join(responses, ",\n    "), json_texts(result.without_effect), json_texts(result.not_varied),
      json_texts(result.unknown));
}

}  // namespace ringwright::planning
