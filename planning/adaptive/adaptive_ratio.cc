#include "planning/adaptive/adaptive_ratio.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/machine_overheads.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/point.h"

namespace ringwright::planning {
namespace {

struct MeasuredStep {
  Duration step;
  Duration exchange;  // that nothing hides
};

constexpr std::string_view kRatioKey = "training.compression.ratio=";

// What a phase may change: the network under the job, and how it is used and simulated.
constexpr std::array<std::string_view, 6> kOfTheNetwork{"cluster", "faults",      "background",
                                                        "comm",    "collectives", "simulate"};

std::string ratio_setting(double ratio) {
  return fmt::format("{}{:.17g}", kRatioKey, ratio);
}

// Steps by phase and ratio.
class AdaptiveSteps {
 public:
  explicit AdaptiveSteps(const AdaptiveQuestion& question) : question_(question) {}

  Result<MeasuredStep> measure(std::size_t phase, double ratio) {
    const auto [known, is_new] = known_.try_emplace({phase, ratio});
    if (!is_new) return known->second;
    std::vector<std::string> settings = question_.phases[phase].settings;
    settings.push_back(ratio_setting(ratio));
    const auto scenario = question_.load(settings);
    if (!scenario) return tl::unexpected(scenario.error());
    const Point point = simulate_point(*scenario, overheads_.of(*scenario));
    if (!point.was_simulated()) {
      return tl::unexpected(failure(point.code.empty() ? "E522" : point.code, point.reason, {}));
    }
    MeasuredStep measured{.step = point.figures.step, .exchange = {}};
    for (const StepPart& part : point.figures.parts) {
      if (part.cause.starts_with("exposed ")) measured.exchange += part.time;
    }
    return known->second = measured;
  }

 private:
  const AdaptiveQuestion& question_;
  configs::MachineOverheads overheads_;
  std::map<std::pair<std::size_t, double>, MeasuredStep> known_;
};

// The nearest of the ratios that are simulated, counted from the most.
double simulated_ratio(double ratio, double most) {
  const double octaves = std::log2(ratio / most);
  return most * std::exp2(std::round(octaves * kRatiosPerOctave) / kRatiosPerOctave);
}

double next_ratio(double ratio, const MeasuredStep& last, const AdaptiveRatio& held) {
  if (last.exchange <= Duration()) return held.most;
  const double wanted = ratio * (to_seconds(held.exchange) / to_seconds(last.exchange));
  return simulated_ratio(std::clamp(wanted, held.least, held.most), held.most);
}

Result<double> ratio_of(const AdaptiveQuestion& question, const std::vector<std::string>& settings) {
  const auto scenario = question.load(settings);
  if (!scenario) return tl::unexpected(scenario.error());
  const workload::GradientCompression& compression = scenario->job.training.compression;
  if (compression.codec != workload::GradientCodec::kTopK) {
    return tl::unexpected(failure("E522", "the scenario's codec has no ratio that could follow delays", {},
                                  "training: { compression: { codec: topk, ratio: 1% } }"));
  }
  return compression.ratio;
}

}  // namespace

Result<RatioPhase> parse_phase(const std::string& text) {
  RatioPhase phase;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), phase.steps);
  const bool counted = error == std::errc() && phase.steps >= 1 && phase.steps <= 1'000'000;
  if (!counted || (end != text.data() + text.size() && *end != ' ')) {
    return tl::unexpected(failure("E522", fmt::format("'{}' is no phase", text), {},
                                  "a number of steps and settings: 20 cluster.node.nic.bandwidth=2Gbps"));
  }
  for (const char* at = end; at != text.data() + text.size();) {
    const char* const begin = at + 1;
    at = std::find(begin, text.data() + text.size(), ' ');
    if (at != begin) phase.settings.emplace_back(begin, at);
  }
  for (const std::string& set : phase.settings) {
    const std::string first = set.substr(0, set.find_first_of(".="));
    if (std::ranges::find(kOfTheNetwork, first) != kOfTheNetwork.end() || set.starts_with(kRatioKey)) continue;
    return tl::unexpected(failure("E522", fmt::format("'{}' changes the job, and a phase changes the network", set), {},
                                  "--set for all phases"));
  }
  if (std::ranges::any_of(phase.settings, [](const std::string& set) { return set.starts_with(kRatioKey); })) {
    return tl::unexpected(failure("E522", fmt::format("'{}' sets the ratio, which follows delays", text), {},
                                  "the most is the scenario's ratio, the least --least"));
  }
  return phase;
}

double AdaptiveRatio::gain() const {
  Duration fixed, adaptive;
  for (const AdaptivePhase& phase : phases) fixed += phase.fixed, adaptive += phase.adaptive;
  return adaptive > Duration() ? to_seconds(fixed) / to_seconds(adaptive) : 1.0;
}

Result<AdaptiveRatio> adapt_ratio(const AdaptiveQuestion& question) {
  if (question.phases.empty()) {
    return tl::unexpected(failure("E522", "there are no phases", {}, "--phase '20 cluster.node.nic.bandwidth=2Gbps'"));
  }
  const auto most = ratio_of(question, {});
  if (!most) return tl::unexpected(most.error());
  const auto least = ratio_of(question, {std::string(kRatioKey) + question.least});
  if (!least) return tl::unexpected(least.error());
  if (*least > *most) {
    return tl::unexpected(failure("E522", fmt::format("the least ratio, {}, is above the scenario's", question.least),
                                  {}, "--least 0.1%"));
  }
  AdaptiveSteps steps(question);
  const auto first = steps.measure(0, *most);
  if (!first) return tl::unexpected(first.error());
  const auto name = question.load({});
  AdaptiveRatio result{
      .scenario = name->name, .most = *most, .least = *least, .exchange = first->exchange, .phases = {}};
  double ratio = *most;
  for (std::size_t p = 0; p < question.phases.size(); ++p) {
    AdaptivePhase row{.phase = question.phases[p]};
    const auto fixed = steps.measure(p, *most);
    const auto lowest = steps.measure(p, *least);
    if (!fixed || !lowest) return tl::unexpected(fixed ? lowest.error() : fixed.error());
    for (std::int64_t step = 0; step < row.phase.steps; ++step) {
      const auto measured = steps.measure(p, ratio);
      if (!measured) return tl::unexpected(measured.error());
      row.adaptive += measured->step;
      row.mean_ratio += ratio / static_cast<double>(row.phase.steps);
      ratio = next_ratio(ratio, *measured, result);
    }
    row.fixed = fixed->step * row.phase.steps;
    row.least = lowest->step * row.phase.steps;
    result.phases.push_back(std::move(row));
  }
  return result;
}

std::string render_adaptive_text(const AdaptiveRatio& result) {
  std::string text = fmt::format("{}: ratio between {:g} % and {:g} %, held at an exchange of {}\n\n", result.scenario,
                                 result.least * 100.0, result.most * 100.0, to_string(result.exchange));
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"steps", "network", "mean ratio", "adaptive", "fixed", "least"});
  for (const AdaptivePhase& row : result.phases) {
    table.add_row({std::to_string(row.phase.steps), join(row.phase.settings, " "),
                   fmt::format("{:.3g} %", row.mean_ratio * 100.0), to_string(row.adaptive), to_string(row.fixed),
                   to_string(row.least)});
  }
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  return text +
         fmt::format("\n  {:.3f} times as fast as the fixed ratio; convergence is not modelled\n", result.gain());
}

std::string render_adaptive_json(const AdaptiveRatio& result) {
  std::vector<std::string> rows;
  for (const AdaptivePhase& row : result.phases) {
    rows.push_back(
        fmt::format("{{\"steps\": {}, \"settings\": {}, \"mean_ratio\": {}, \"adaptive_ps\": {}, "
                    "\"fixed_ps\": {}, \"least_ps\": {}}}",
                    row.phase.steps, json_text(join(row.phase.settings, " ")), row.mean_ratio, row.adaptive.count(),
                    row.fixed.count(), row.least.count()));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.adaptive/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {}, \"most\": {}, \"least\": {}, \"exchange_ps\": {}, \"gain\": {},\n  \"phases\": [\n    {}\n"
      "  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.most, result.least, result.exchange.count(),
      result.gain(), join(rows, ",\n    "));
}

}  // namespace ringwright::planning
