#include "planning/operation/goodput.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "planning/operation/goodput_file.h"
#include "planning/operation/interval.h"
#include "planning/operation/operation_reader.h"
#include "planning/study/each_item.h"
#include "planning/study/quantiles.h"

namespace ringwright::planning {
namespace {

// Around Daly's interval, in ratios of sqrt(2); the optimum is flat.
constexpr int kIntervalsEachSide = 5;

Summary summary_of(const std::vector<LifeResult>& lives, const auto& value) {
  std::vector<double> values;
  for (const LifeResult& life : lives) values.push_back(value(life));
  return summarise_values(std::move(values));
}

double mean_of(const std::vector<LifeResult>& lives, const auto& value) {
  return summary_of(lives, value).mean;
}

double ettr_of(const LifeResult& life) {
  return seconds_of(life.accounts[Account::kProductive]) / std::max(seconds_of(life.wall), 1e-9);
}

void add_times(PolicyOutcome& outcome, const Operation& operation, const std::vector<LifeResult>& lives) {
  const auto gpus = static_cast<double>(operation.job.gpus);
  for (std::size_t account = 0; account < kAccounts; ++account) {
    const double mean =
        mean_of(lives, [account](const LifeResult& life) { return seconds_of(life.accounts.times[account]); });
    outcome.seconds.push_back(mean);
    outcome.lost_gpu_hours.push_back(account == 0 ? 0.0 : mean / 3600.0 * gpus);
  }
  for (std::size_t part = 0; part < operation.components.size(); ++part) {
    outcome.class_faults.push_back(
        mean_of(lives, [part](const LifeResult& life) { return static_cast<double>(life.faults[part]); }));
    outcome.class_gpu_hours.push_back(
        mean_of(lives, [part](const LifeResult& life) { return hours_of(life.lost[part]); }) * gpus);
  }
}

PolicyOutcome outcome_of(const std::string& policy, const Operation& operation, const std::vector<LifeResult>& lives) {
  PolicyOutcome outcome{.policy = policy, .lives = static_cast<int>(lives.size())};
  outcome.unfinished = static_cast<int>(std::ranges::count(lives, false, &LifeResult::finished));
  outcome.ettr = summary_of(lives, ettr_of);
  std::vector<double> ratios;
  for (const LifeResult& life : lives) ratios.push_back(ettr_of(life));
  outcome.ettr_quantiles = quantiles_of(std::move(ratios));
  outcome.wall_hours = summary_of(lives, [](const LifeResult& life) { return hours_of(life.wall); });
  if (operation.job.tokens_per_step > 0) {
    const auto tokens = static_cast<double>(operation.job.tokens_per_step);
    outcome.tokens_per_second = summary_of(lives, [tokens](const LifeResult& life) {
      return static_cast<double>(life.steps) * tokens / std::max(seconds_of(life.wall), 1e-9);
    });
  }
  const auto count = [&](const auto& value) {
    return mean_of(lives, [&](const LifeResult& life) { return static_cast<double>(value(life)); });
  };
  outcome.faults = summary_of(lives, [](const LifeResult& life) { return static_cast<double>(life.all_faults()); });
  add_times(outcome, operation, lives);
  if (outcome.faults.mean > 0.0) {
    const double computing = outcome.seconds[static_cast<std::size_t>(Account::kProductive)] +
                             outcome.seconds[static_cast<std::size_t>(Account::kReplay)] +
                             outcome.seconds[static_cast<std::size_t>(Account::kDegraded)];
    outcome.between_faults_hours = outcome.wall_hours.mean / outcome.faults.mean;
    outcome.running_between_faults_hours = computing / 3600.0 / outcome.faults.mean;
  }
  outcome.out_of_spares = count([](const LifeResult& life) { return life.waits > 0 ? 1 : 0; });
  outcome.waits = count([](const LifeResult& life) { return life.waits; });
  outcome.in_recovery = count([](const LifeResult& life) { return life.in_recovery; });
  outcome.from_start = count([](const LifeResult& life) { return life.from_start; });
  outcome.undetected = count([](const LifeResult& life) { return life.undetected; });
  outcome.selections = count([](const LifeResult& life) { return life.selections; });
  outcome.retired = count([](const LifeResult& life) { return life.retired; });
  if (operation.usd_per_gpu_hour > 0.0) {
    const double paid = mean_of(lives, [](const LifeResult& life) { return life.paid_gpu_hours; });
    outcome.usd = paid * operation.usd_per_gpu_hour;
    const double productive = outcome.seconds[0] / 3600.0 * static_cast<double>(operation.job.gpus);
    if (productive > 0.0) outcome.usd_per_productive_gpu_hour = *outcome.usd / productive;
  }
  return outcome;
}

// Of the classic model: what a recovery from a fault takes besides the work that is done again.
double recovery_seconds(const Operation& operation) {
  double detect = 0.0;
  double rate = 0.0;
  for (const ComponentClass& part : operation.components) {
    Operation alone = operation;
    alone.components = {part};
    const double own = alone.recoveries_per_hour();
    detect += own * operation.detection_of(part).mean();
    rate += own;
  }
  const Restart& restart = operation.restart;
  double load = 0.0;
  if (!operation.tiers.empty()) load = seconds_of(operation.tiers.back().load);
  return (rate > 0.0 ? detect / rate : 0.0) + operation.diagnosis.time.mean() + restart.schedule.mean() +
         restart.container.mean() + restart.init_seconds(operation.job.gpus) + restart.warmup.mean() + load +
         operation.spares.swap.mean();
}

// The tier whose interval decides: the one with a rule, else the last.
std::size_t studied_tier(const Operation& operation) {
  const auto found = std::ranges::find_if(operation.tiers,
                                          [](const CheckpointTier& tier) { return tier.rule != IntervalRule::kGiven; });
  return found != operation.tiers.end() ? static_cast<std::size_t>(found - operation.tiers.begin())
                                        : operation.tiers.size() - 1;
}

// The simulated efficiency at Young's and Daly's interval and around them, all with the same faults.
void study_intervals(const GoodputPlan& plan, const Workers& workers, GoodputResult& result) {
  Operation& operation = *plan.operation;
  const std::size_t index = studied_tier(operation);
  CheckpointTier& tier = operation.tiers[index];
  const CheckpointTier as_it_is = tier;
  result.tier = tier.name;
  const CheckpointCost cost{.stall = seconds_of(tier.stall),
                            .between_failures = result.between_recoveries(),
                            .recovery = result.recovery_seconds};
  struct Candidate {
    std::string rule;
    double seconds;
  };
  std::vector<Candidate> candidates{{"given", tier.every}};
  const double daly = std::max(daly_interval(cost), seconds_of(operation.job.step));
  candidates.push_back({"Young", young_interval(cost)});
  candidates.push_back({"Daly", daly});
  for (int i = -kIntervalsEachSide; i <= kIntervalsEachSide; ++i) {
    if (i != 0) candidates.push_back({"searched", daly * std::pow(2.0, i / 2.0)});
  }
  std::vector<std::int64_t> tried;
  for (const Candidate& candidate : candidates) {
    tier.every_steps = steps_of_interval(operation, tier, candidate.seconds);
    tier.every = static_cast<double>(tier.every_steps) * seconds_of(operation.job.step);
    if (candidate.rule == "searched" && std::ranges::find(tried, tier.every_steps) != tried.end()) continue;
    tried.push_back(tier.every_steps);
    const std::vector<LifeResult> lives = live_all(operation, *plan.policies.front().policy, workers);
    result.intervals.push_back({.rule = candidate.rule,
                                .seconds = tier.every,
                                .closed_form = exact_efficiency(cost, tier.every),
                                .ettr = summary_of(lives, ettr_of)});
  }
  const auto best =
      std::ranges::max_element(result.intervals, {}, [](const IntervalOutcome& one) { return one.ettr.mean; });
  tier = as_it_is;
  if (as_it_is.rule == IntervalRule::kBest) tier.every = best->seconds;
  if (as_it_is.rule == IntervalRule::kBest) tier.every_steps = steps_of_interval(operation, tier, best->seconds);
}

// Such a policy looks better than those that are compared with it.
void warn_of_copy(const std::string& policy, Diagnostics& warnings) {
  warnings.add({.severity = Severity::kWarning,
                .code = "W408",
                .message = fmt::format("policy '{}' copies the state of a replica in no time", policy),
                .hint = fmt::format("recovery.{}: {{ state: 100 GB, bandwidth: 25GB/s }}", policy)});
}

Result<GoodputResult> study(Result<GoodputPlan> loaded, const GoodputOptions& options) {
  if (!loaded) return tl::unexpected(loaded.error());
  GoodputPlan& plan = *loaded;
  Operation& operation = *plan.operation;
  GoodputResult result{.name = plan.name,
                       .scenario = plan.scenario,
                       .fingerprint = plan.fingerprint,
                       .operation = operation,
                       .warnings = plan.warnings};
  result.recovery_seconds = recovery_seconds(operation);
  const bool searched =
      std::ranges::any_of(operation.tiers, [](const CheckpointTier& tier) { return tier.rule == IntervalRule::kBest; });
  if ((options.intervals || searched) && !operation.tiers.empty() && operation.recoveries_per_hour() > 0.0) {
    study_intervals(plan, options.workers, result);
  }
  result.operation = operation;
  const std::size_t policies = options.compare ? plan.policies.size() : 1;
  for (std::size_t i = 0; i < policies; ++i) {
    const NamedPolicy& named = plan.policies[i];
    PolicyOutcome outcome{.policy = named.name, .refusal = named.refusal};
    if (named.refusal.empty()) {
      outcome = outcome_of(named.name, operation, live_all(operation, *named.policy, options.workers));
      if (named.copies_for_nothing) warn_of_copy(named.name, result.warnings);
    }
    if (i == 0)
      result.outcome = std::move(outcome);
    else
      result.others.push_back(std::move(outcome));
  }
  return result;
}

}  // namespace

std::vector<LifeResult> live_all(const Operation& operation, const RecoveryPolicy& policy, const Workers& workers) {
  std::vector<LifeResult> lives(static_cast<std::size_t>(operation.repetitions));
  each_item(lives.size(), {.threads = workers.threads, .progress = {}}, [&](std::size_t repetition) {
    lives[repetition] = JobLife(operation, policy, mix(operation.seed, repetition)).live();
  });
  return lives;
}

Result<GoodputResult> goodput(const std::string& path, const GoodputOptions& options) {
  return study(load_goodput(path, options.settings, options.workers), options);
}

Result<GoodputResult> goodput_text(const std::string& name, std::string_view text, const GoodputOptions& options) {
  return study(load_goodput_text(name, text, options.settings, options.workers), options);
}

}  // namespace ringwright::planning
