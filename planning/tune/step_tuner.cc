#include "planning/tune/step_tuner.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/simulate.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/study/each_item.h"
#include "planning/tune/setting_descent.h"

namespace ringwright::planning {
namespace {

// Without computing: what communication takes when kernels leave it alone, and it them.
constexpr std::string_view kUndisturbed = "interference.model=none";

struct SimulatedStep {
  CallSetting setting;  // of the collective that moves most bytes
  Duration step;
  Duration communication;
};

std::vector<std::string> keys_of_step(const CallSetting& setting) {
  std::vector<std::string> keys;
  if (setting.algorithm.empty()) return keys;
  for (const std::string& variable : variables_of(setting)) keys.push_back("comm.env." + variable);
  return keys;
}

Duration communication_of(const Report& report) {
  Duration sum;
  for (const CollectiveUse& use : report.facts.collectives) {
    if (use.shortest) sum += *use.shortest * static_cast<std::int64_t>(use.calls);
  }
  return sum;
}

Result<SimulatedStep> simulated_step(const configs::Scenario& scenario) {
  const auto outcome = configs::simulate(scenario, configs::FoldMode::kFold);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!outcome->report) return tl::unexpected(failure("E520", "the step to tune for does not end", {}));
  const Report& report = *outcome->report;
  const auto bytes = [](const CollectiveUse& use) { return use.bytes * static_cast<std::int64_t>(use.calls); };
  const auto& uses = report.facts.collectives;
  const auto most = std::ranges::max_element(
      uses, {}, [&](const CollectiveUse& use) { return use.channels > 0 ? bytes(use) : Bytes(-1); });
  if (most == uses.end() || most->channels == 0) {
    return tl::unexpected(failure("E520",
                                  "collectives of this step are not carried out by NCCL's kernels, so there is nothing "
                                  "to tune",
                                  {}, "set collectives.model to chunks, and give the job several ranks"));
  }
  return SimulatedStep{.setting = {.algorithm = algorithm_variable(most->algorithm),
                                   .protocol = most->protocol,
                                   .channels = most->channels},
                       .step = report.step_time.mean,
                       .communication = communication_of(report)};
}

// Steps of one thread, each simulated once.
class StepTimes {
 public:
  explicit StepTimes(const LoadStep& load) : load_(load) {}

  [[nodiscard]] int simulated() const { return static_cast<int>(known_.size()); }
  // Nothing where the scenario does not take the setting.
  [[nodiscard]] std::optional<SimulatedStep> of(const CallSetting& setting, bool disturbed) {
    std::vector<std::string> keys = keys_of_step(setting);
    if (!disturbed) keys.emplace_back(kUndisturbed);
    const auto known = known_.find(keys);
    if (known != known_.end()) return known->second;
    std::optional<SimulatedStep> found;
    if (const auto scenario = load_(keys)) {
      if (auto simulated = simulated_step(*scenario)) found = std::move(*simulated);
    }
    return known_.emplace(std::move(keys), std::move(found)).first->second;
  }

  // By the time of the step with computing, or of communication without.
  [[nodiscard]] TimeOfSetting time_of(bool disturbed) {
    return [this, disturbed](CallSetting& setting) -> std::optional<Duration> {
      const auto step = of(setting, disturbed);
      if (!step || step->setting.algorithm != setting.algorithm || step->setting.protocol != setting.protocol) {
        return std::nullopt;
      }
      if (setting.channels > 0 && step->setting.channels != setting.channels) return std::nullopt;
      setting.channels = step->setting.channels;
      return disturbed ? step->step : step->communication;
    };
  }

 private:
  const LoadStep& load_;
  std::map<std::vector<std::string>, std::optional<SimulatedStep>> known_;
};

struct Start {
  std::string algorithm;
  std::string protocol;
};

// What both descents from one start found.
struct Found {
  std::optional<TriedSetting> step;
  std::optional<TriedSetting> alone;
  int tried = 0;
};

std::vector<Start> starts() {
  std::vector<Start> all;
  for (const TunableAlgorithm& algorithm : kTunedAlgorithms) {
    for (const std::string_view protocol : kTunedProtocols) {
      all.push_back({.algorithm = std::string(algorithm.variable), .protocol = std::string(protocol)});
    }
  }
  return all;
}

TunedStep measured(StepTimes& times, const CallSetting& setting) {
  const auto with = times.of(setting, true);
  const auto without = times.of(setting, false);
  return {.setting = setting,
          .step = with ? with->step : Duration(),
          .communication = without ? without->communication : Duration()};
}

// The variables of a setting that are not NCCL's own choice.
std::string environment_of(const CallSetting& setting) {
  std::vector<std::string> pairs;
  for (const std::string& variable : variables_of(setting)) {
    const std::size_t at = variable.find('=');
    pairs.push_back(variable.substr(0, at) + ": " + variable.substr(at + 1));
  }
  return "comm: { env: { " + join(pairs, ", ") + " } }";
}

std::string json_step(const TunedStep& step) {
  return fmt::format(
      "{{\"algorithm\": {}, \"protocol\": {}, \"channels\": {}, \"threads\": {}, \"buffer\": {}, \"step_ps\": {}, "
      "\"communication_ps\": {}}}",
      json_text(tuner_algorithm(step.setting.algorithm)), json_text(step.setting.protocol), step.setting.channels,
      step.setting.threads, step.setting.buffer.count(), step.step.count(), step.communication.count());
}

}  // namespace

std::vector<std::string> step_tuning_settings() {
  return {"collectives.model=chunks", "interference.model=share", "simulate.steps=1"};
}

Result<StepTuneResult> tune_step(const LoadStep& load, const StepTuneOptions& options) {
  const auto scenario = load({});
  if (!scenario) return tl::unexpected(scenario.error());
  const auto own = simulated_step(*scenario);
  if (!own) return tl::unexpected(own.error());
  StepTimes first(load);
  StepTuneResult result{.scenario = scenario->name};
  result.own = measured(first, {});
  result.own.setting = own->setting;
  const std::vector<Start> from = starts();
  std::vector<Found> found(from.size());
  each_item(from.size(), options.workers, [&](std::size_t item) {
    StepTimes times(load);
    const CallSetting start{.algorithm = from[item].algorithm, .protocol = from[item].protocol};
    const DescentRules rules{.most_channels = options.most_channels, .kernels = options.kernels};
    found[item].step = descend(start, rules, times.time_of(true));
    if (found[item].step) found[item].alone = descend(start, rules, times.time_of(false));
    found[item].tried = times.simulated();
  });
  std::optional<TriedSetting> best;
  std::optional<TriedSetting> alone;
  for (const Found& one : found) {
    result.tried += one.tried;
    if (one.step && (!best || one.step->time < best->time)) best = one.step;
    if (one.alone && (!alone || one.alone->time < alone->time)) alone = one.alone;
  }
  const auto faster = [&](Duration time, Duration than) { return ratio(time, than) < 1.0 - options.least_gain; };
  result.best = best && faster(best->time, result.own.step) ? measured(first, best->setting) : result.own;
  result.alone = alone && faster(alone->time, result.own.communication) ? measured(first, alone->setting) : result.own;
  result.tried += first.simulated();
  return result;
}

std::string render_step_tune_text(const StepTuneResult& result) {
  std::string text = fmt::format("{}: NCCL's settings for the step, {} steps simulated\n\n", result.scenario,
                                 result.tried);
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"", "setting", "step", "communication alone"});
  const auto add = [&table](const std::string& name, const TunedStep& step) {
    table.add_row({name, setting_text(step.setting), to_string(step.step), to_string(step.communication)});
  };
  add("NCCL's choice", result.own);
  add("tuned in isolation", result.alone);
  add("tuned with computing", result.best);
  for (const std::string& line : table.lines()) text += "  " + line + "\n";
  text += fmt::format("\n  {:.3f} times as fast as NCCL's choice, {:.3f} times as fast as tuned in isolation\n",
                      result.gain(), result.gain_over_alone());
  if (result.best.step < result.own.step) text += "  " + environment_of(result.best.setting) + "\n";
  return text;
}

std::string render_step_tune_json(const StepTuneResult& result) {
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.tune_step/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {},\n  \"tried\": {},\n  \"own\": {},\n  \"alone\": {},\n  \"best\": {}\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.tried, json_step(result.own),
      json_step(result.alone), json_step(result.best));
}

}  // namespace ringwright::planning
