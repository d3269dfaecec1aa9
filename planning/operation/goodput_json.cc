// Goodput as JSON: schema "ringwright.goodput/1" (docs/goodput.md).
#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/operation/goodput.h"
#include "planning/study/point_json.h"
#include "planning/study/quantiles.h"

namespace ringwright::planning {
namespace {

std::string json_summary(const Summary& summary) {
  return fmt::format(
      "{{\"mean\": {}, \"standard_error\": {}, \"median\": {}, \"median_low\": {}, \"median_high\": {}, "
      "\"least\": {}, \"most\": {}}}",
      summary.mean, summary.error, summary.median, summary.low, summary.high, summary.least, summary.most);
}

std::string json_accounts(const std::vector<double>& values) {
  std::vector<std::string> rows;
  for (std::size_t i = 0; i < values.size(); ++i) {
    rows.push_back(fmt::format("{}: {}", json_text(kAccountKeys[i]), values[i]));
  }
  return "{" + join(rows, ", ") + "}";
}

std::string json_policy(const GoodputResult& result, const PolicyOutcome& outcome) {
  if (!outcome.refusal.empty()) {
    return fmt::format("{{\"policy\": {}, \"status\": \"refused\", \"reason\": {}}}", json_text(outcome.policy),
                       json_text(outcome.refusal));
  }
  std::vector<std::string> classes;
  for (std::size_t i = 0; i < outcome.class_faults.size(); ++i) {
    classes.push_back(fmt::format("{{\"name\": {}, \"faults\": {}, \"lost_gpu_hours\": {}}}",
                                  json_text(result.operation.components[i].name), outcome.class_faults[i],
                                  outcome.class_gpu_hours[i]));
  }
  const std::string tokens =
      outcome.tokens_per_second ? ", \"tokens_per_s\": " + json_summary(*outcome.tokens_per_second) : "";
  return fmt::format(
      "{{\"policy\": {}, \"status\": \"ok\", \"lives\": {}, \"unfinished\": {}, \"ettr\": {}, \"ettr_quantiles\": {}, "
      "\"wall_hours\": {}{}, "
      "\"faults\": {}, \"seconds\": {}, \"lost_gpu_hours\": {}, \"components\": [{}], \"mtbf_hours\": {}, "
      "\"running_mtbf_hours\": {}, \"out_of_spares\": {}, \"waits\": {}, \"faults_in_recovery\": {}, "
      "\"recoveries_from_start\": {}, \"undetected_corruptions\": {}, \"host_selections\": {}, "
      "\"retired_hosts\": {}, \"usd\": {}, \"usd_per_productive_gpu_hour\": {}}}",
      json_text(outcome.policy), outcome.lives, outcome.unfinished, json_summary(outcome.ettr),
      json_numbers(outcome.ettr_quantiles), json_summary(outcome.wall_hours), tokens, json_summary(outcome.faults),
      json_accounts(outcome.seconds), json_accounts(outcome.lost_gpu_hours), join(classes, ", "),
      outcome.between_faults_hours, outcome.running_between_faults_hours, outcome.out_of_spares, outcome.waits,
      outcome.in_recovery, outcome.from_start, outcome.undetected, outcome.selections, outcome.retired,
      json_number(outcome.usd), json_number(outcome.usd_per_productive_gpu_hour));
}

std::string json_intervals(const GoodputResult& result) {
  std::vector<std::string> rows;
  for (const IntervalOutcome& one : result.intervals) {
    rows.push_back(fmt::format("{{\"rule\": {}, \"seconds\": {}, \"closed_form\": {}, \"ettr\": {}}}",
                               json_text(one.rule), one.seconds, one.closed_form, json_summary(one.ettr)));
  }
  return "[" + join(rows, ", ") + "]";
}

std::string json_tiers(const Operation& operation) {
  std::vector<std::string> rows;
  for (const CheckpointTier& tier : operation.tiers) {
    rows.push_back(fmt::format(
        "{{\"name\": {}, \"every_steps\": {}, \"stall_s\": {}, \"write_s\": {}, \"load_s\": {}, \"held_bytes\": {}}}",
        json_text(tier.name), tier.every_steps, seconds_of(tier.stall), seconds_of(tier.write), seconds_of(tier.load),
        tier.held ? fmt::format("{}", tier.held->count()) : "null"));
  }
  return "[" + join(rows, ", ") + "]";
}

}  // namespace

std::string render_goodput_json(const GoodputResult& result) {
  const Operation& operation = result.operation;
  std::vector<std::string> policies{json_policy(result, result.outcome)};
  for (const PolicyOutcome& outcome : result.others) policies.push_back(json_policy(result, outcome));
  const double rate = operation.faults_per_hour();
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.goodput/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"name\": {},\n  \"scenario\": {},\n  \"config\": {{\"sha256\": {}, \"seed\": {}, \"repetitions\": {}}},\n"
      "  \"job\": {{\"gpus\": {}, \"hosts\": {}, \"replicas\": {}, \"step_time_s\": {}, \"simulated\": {}, "
      "\"tokens_per_step\": {}{}, "
      "\"expected_mtbf_hours\": {}}},\n  \"checkpoints\": {},\n  \"policies\": [\n    {}\n  ],\n"
      "  \"interval\": {{\"tier\": {}, \"recovery_s\": {}, \"tried\": {}}}\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.name),
      result.scenario.empty() ? "null" : json_text(result.scenario), json_text(result.fingerprint), operation.seed,
      operation.repetitions, operation.job.gpus, operation.job.hosts(), operation.job.replicas,
      seconds_of(operation.job.step), operation.job.is_simulated, operation.job.tokens_per_step,
      json_processed(operation.job.processed),
      rate > 0.0 ? fmt::format("{}", 1.0 / rate) : "null", json_tiers(operation), join(policies, ",\n    "),
      result.tier.empty() ? "null" : json_text(result.tier), result.recovery_seconds, json_intervals(result));
}

}  // namespace ringwright::planning
