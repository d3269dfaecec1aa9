#include "planning/operation/operation_reader.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "planning/operation/idle_keys.h"
#include "planning/operation/interval.h"

namespace ringwright::planning {
namespace {

constexpr std::array kClocks{Option{"wall", "faults happen by the calendar, also while the job recovers"},
                             Option{"running", "faults happen only while the job computes"}};
constexpr std::int64_t kMostHosts = 1'000'000;
constexpr double kMostAgedParts = 1e7;
constexpr double kMostFaults = 5e8;  // of all repetitions of one policy

// What a preset says about the job holds where no scenario says it.
JobShape read_job(ConfigMap root, const JobShape& facts) {
  ConfigMap job = root.map("job", "the job, where no scenario says it");
  const bool scenario = facts.gpus > 0;
  const auto whole = [&](std::string_view name, std::string_view doc, std::int64_t fact, std::int64_t most) {
    const std::int64_t least = name == "tokens_per_step" ? 0 : 1;
    const std::int64_t read = job.integer({.name = name,
                                           .doc = doc,
                                           .fallback = fact >= least ? std::optional(fact) : std::nullopt,
                                           .min = least,
                                           .max = most});
    if (scenario && job.origin(name).starts_with("preset:")) return fact;
    if (scenario && fact > 0 && read != fact) {
      job.warn(name, "W131",
               fmt::format("{} of the scenario is {}, and has no effect: this file states {}", name, fact, read));
    }
    return read;
  };
  constexpr std::int64_t kMostTokens = 1'000'000'000'000'000;
  JobShape shape;
  shape.gpus = whole("gpus", "of the job", facts.gpus, 100'000'000);
  shape.gpus_per_host = whole("gpus_per_host", "of one host", scenario ? facts.gpus_per_host : 8, 1024);
  shape.replicas = whole("replicas", "data-parallel replicas, each with all of the model's state",
                         std::max<std::int64_t>(1, facts.replicas), 100'000'000);
  if (shape.replicas == facts.replicas) shape.data_parallel = facts.data_parallel;
  shape.tokens_per_step = whole("tokens_per_step", "of the whole job; 0: not known", 0, kMostTokens);
  if (shape.replicas > shape.gpus) {
    job.error("replicas", "E402",
              fmt::format("{} replicas do not fit on {} GPUs: each has one at least", shape.replicas, shape.gpus));
  }
  if (shape.replicas <= shape.gpus && shape.gpus % shape.replicas != 0) {
    const std::int64_t each = shape.gpus / shape.replicas;
    job.error(job.has("gpus") ? "gpus" : "replicas", "E402",
              fmt::format("{} GPUs are not a multiple of {} replicas", shape.gpus, shape.replicas),
              fmt::format("replicas of {} GPUs take {}", each, each * shape.replicas));
  }
  if (shape.hosts() > kMostHosts) job.error("gpus", "E404", "a job has at most a million hosts");
  if (!job.has("step_time") && scenario) return shape;
  const double step = read_seconds(job, {.name = "step_time", .doc = "of a healthy job"});
  if (scenario && job.origin("step_time").starts_with("preset:")) return shape;
  shape.step = job_seconds(step);
  if (shape.step <= JobTime()) {
    job.error("step_time", "E402", "a step takes at least a nanosecond");
    shape.step = JobTime(1);
  }
  return shape;
}

RunLength read_length(ConfigMap root) {
  RunLength length;
  if (wants(root, "work")) {
    length.work = job_seconds(
        read_seconds(root, {.name = "work", .doc = "healthy training time that the job needs, instead of `duration`"}));
    if (root.has("duration")) {
      root.error("work", "E402", "'duration' and 'work' are both given", "leave out one");
      root.ignore("duration", "'work' is given");
    }
    return length;
  }
  const double year = 365.0 * 86400.0;
  const double seconds = read_seconds(root, {.name = "duration", .doc = "of the job by the calendar"});
  if (!(seconds > 0.0) || seconds > 200.0 * year) {
    root.error("duration", "E402", "a job lasts longer than no time, and up to 200 years");
  }
  length.duration = std::min(std::max(job_seconds(seconds), JobTime(1)), job_seconds(200.0 * year));
  return length;
}

void read_detection(ConfigMap root, Operation& operation) {
  ConfigMap detection = root.map("detection", "from a fault until it is noticed, by what the job notices");
  const auto read = [&](FaultKind kind, std::string_view doc, double seconds) {
    operation.detection[static_cast<int>(kind)] =
        read_spread(detection, {.name = name_of(kind), .doc = doc, .fallback = Spread::fixed(seconds)});
  };
  read(FaultKind::kCrash, "processes that end", 30.0);
  read(FaultKind::kHang, "processes that wait: PyTorch's time-out of collectives is 600 s", 600.0);
  read(FaultKind::kSlow, "a slow part", 600.0);
  read(FaultKind::kCorruption, "wrong numbers", 86400.0);
  ConfigMap diagnosis = root.map("diagnosis", "which host it was");
  operation.diagnosis.time =
      read_spread(diagnosis, {.name = "time", .doc = "from noticing to knowing", .fallback = Spread::fixed(0.0)});
  operation.diagnosis.finds = diagnosis.percent({.name = "finds",
                                                 .doc = "share of faulty hosts that are found and removed",
                                                 .fallback = 1.0,
                                                 .min = 0.0,
                                                 .max = 1.0});
  operation.diagnosis.blames_wrong = diagnosis.percent({.name = "blames_wrong",
                                                        .doc = "share of those whose place a healthy host takes",
                                                        .fallback = 0.0,
                                                        .min = 0.0,
                                                        .max = 1.0});
  operation.diagnosis.swaps_missed =
      diagnosis.boolean({.name = "swaps_missed",
                         .doc = "a faulty host that is not found leaves the job, and stands by without a repair",
                         .fallback = false});
}

// Defaults: systems with a scheduler and containers take about a minute for each (docs/goodput.md).
Restart read_restart(ConfigMap root) {
  ConfigMap map = root.map("restart", "the parts of a restart of all ranks");
  Restart restart;
  restart.schedule =
      read_spread(map, {.name = "schedule", .doc = "of the job by the scheduler", .fallback = Spread::fixed(60.0)});
  restart.container =
      read_spread(map, {.name = "container", .doc = "start of processes", .fallback = Spread::fixed(60.0)});
  ConfigMap init = map.map("init", "of communicators: base + per_rank x ranks^exponent");
  restart.init_base = read_seconds(init, {.name = "base", .doc = "whatever the ranks", .fallback = 10.0});
  restart.init_per_rank = read_seconds(init, {.name = "per_rank", .doc = "of each rank", .fallback = 1e-3});
  restart.init_exponent =
      init.number({.name = "exponent", .doc = "of the number of ranks", .fallback = 1.0, .min = 0.0, .max = 3.0});
  restart.warmup =
      read_spread(map, {.name = "warmup", .doc = "what the first steps take longer", .fallback = Spread::fixed(0.0)});
  restart.succeeds = map.percent(
      {.name = "succeeds", .doc = "share of restarts that succeed", .fallback = 1.0, .min = 0.01, .max = 1.0});
  return restart;
}

Spares read_spares(ConfigMap root) {
  ConfigMap map = root.map("spares", "hosts that stand in");
  Spares spares;
  const auto standby =
      map.integer_or({.name = "standby", .doc = "warm hosts", .min = 0, .max = kMostHosts}, "unlimited");
  spares.unlimited = !standby.has_value();
  spares.standby = standby.value_or(0);
  spares.swap =
      read_spread(map, {.name = "swap", .doc = "of lost hosts with warm ones", .fallback = Spread::fixed(0.0)});
  const std::array later{"pool",   "select",  "reselect",     "fills_standby",
                         "others", "preempt", "retire_after", "retire_within"};
  if (spares.unlimited) {
    for (const char* key : later) {
      if (!map.has(key)) continue;
      map.error(key, "E406", fmt::format("'spares.{}' has no effect with unlimited hosts", key), "give spares.standby");
    }
  }
  spares.pool = map.integer(
      {.name = "pool", .doc = "idle hosts, which must be selected", .fallback = 0, .min = 0, .max = kMostHosts});
  spares.select = read_spread(map, {.name = "select",
                                    .doc = "hosts from the pool, which fills up the warm ones too",
                                    .fallback = Spread::fixed(0.0)});
  spares.reselects = map.boolean({.name = "reselect",
                                  .doc = "a selection chooses all hosts anew, those first that have been without a "
                                         "fault for longest, and draws which of them stand by",
                                  .fallback = false});
  spares.others = map.integer({.name = "others",
                               .doc = "hosts of other jobs, taken when the pool is empty",
                               .fallback = 0,
                               .min = 0,
                               .max = kMostHosts});
  spares.fills_standby = map.boolean({.name = "fills_standby",
                                      .doc = "once it takes hosts of other jobs, it also takes what warm ones lack",
                                      .fallback = false});
  if (spares.fills_standby && (spares.standby == 0 || spares.others == 0) && !spares.unlimited) {
    map.error("fills_standby", "E406", "'spares.fills_standby' has no effect without warm hosts and other jobs",
              "give spares.standby and spares.others");
  }
  spares.preempt =
      read_spread(map, {.name = "preempt", .doc = "one host of another job", .fallback = Spread::fixed(0.0)});
  spares.retire_after = map.integer({.name = "retire_after",
                                     .doc = "faults within `retire_within` after which a host "
                                            "does not return; 0: never",
                                     .fallback = 0,
                                     .min = 0,
                                     .max = 1000});
  spares.retire_within =
      job_seconds(read_seconds(map, {.name = "retire_within", .doc = "see `retire_after`", .fallback = 604800.0}));
  return spares;
}

Repair read_repair(ConfigMap root, bool unlimited_hosts) {
  ConfigMap map = root.map("repair", "of hosts that failed");
  if (unlimited_hosts && wants(root, "repair")) {
    root.warn("repair", "W131", "repair has no effect: with unlimited hosts none returns", "give spares.standby");
  }
  Repair repair;
  repair.first.time =
      read_spread(map, {.name = "time", .doc = "until a host returns", .fallback = Spread::exponential(86400.0)});
  repair.first.fails = map.percent(
      {.name = "fails", .doc = "share that return as they were, as lemons", .fallback = 0.0, .min = 0.0, .max = 1.0});
  repair.escalates = map.percent(
      {.name = "escalates", .doc = "share that go on to `second`", .fallback = 0.0, .min = 0.0, .max = 1.0});
  ConfigMap second = map.map("second", "a second repair, by hand");
  repair.second.time = read_spread(second, {.name = "time", .doc = "of it", .fallback = Spread::fixed(0.0)});
  repair.second.fails = second.percent(
      {.name = "fails", .doc = "share that return as they were", .fallback = 0.0, .min = 0.0, .max = 1.0});
  return repair;
}

void read_lemons(ConfigMap root, Operation& operation) {
  ConfigMap map = root.map("lemons", "hosts that fail more often, until a repair succeeds");
  operation.lemons.share =
      map.percent({.name = "share", .doc = "of all hosts", .fallback = 0.0, .min = 0.0, .max = 1.0});
  operation.lemons.factor =
      map.number({.name = "factor", .doc = "of their hazard", .fallback = 1.0, .min = 1.0, .max = 1e6});
  if (operation.lemons.share > 0.0 && operation.spares.unlimited) {
    map.error("share", "E406", "lemons return from repair, and with unlimited hosts none returns",
              "give spares.standby");
  }
  const bool any = std::ranges::any_of(operation.components, &ComponentClass::has_lemons);
  if (wants(root, "lemons") && !root.documenting() && !any) {
    root.warn("lemons", "W131", "lemons has no effect: no component of GPUs or hosts has a constant rate",
              "per: host, mtbf: 10000 h");
  }
}

void check_missed(const Operation& operation, ConfigMap root) {
  if (!operation.diagnosis.swaps_missed) return;
  ConfigMap map = root.map("diagnosis", "which host it was");
  if (operation.spares.unlimited) {
    map.error("swaps_missed", "E406", "'diagnosis.swaps_missed' has no effect with unlimited hosts",
              "give spares.standby");
  } else if (!(operation.diagnosis.finds < 1.0)) {
    map.error("swaps_missed", "E406", "'diagnosis.swaps_missed' has no effect where every faulty host is found",
              "diagnosis: { finds: 90% }");
  }
}

void check_clock(const Operation& operation, ConfigMap root) {
  if (operation.clock == FaultClock::kWall) return;
  for (const ComponentClass& part : operation.components) {
    if (!part.lifetime && part.times.empty()) continue;
    root.error("clock", "E402",
               fmt::format("'components.{}' has ages or recorded times, which follow the calendar", part.name),
               "clock: wall");
  }
}

}  // namespace

OperationRead read_operation(ConfigMap root, const ScenarioFacts& facts) {
  OperationRead read;
  Operation& operation = read.operation;
  operation.job = read_job(root, facts.shape);
  operation.length = read_length(root);
  operation.clock =
      root.choice({.name = "clock", .doc = "when faults happen", .fallback = std::string("wall")}, kClocks) == "running"
          ? FaultClock::kRunning
          : FaultClock::kWall;
  operation.repetitions =
      static_cast<int>(root.integer({.name = "repetitions",
                                     .doc = "simulated runs of the job, each with faults of its own",
                                     .fallback = 30,
                                     .min = 1,
                                     .max = 100'000}));
  operation.seed = static_cast<std::uint64_t>(
      root.integer({.name = "seed", .doc = "of all random numbers", .fallback = 1, .min = 0}));
  operation.components = read_components(root, operation.job, read.regimes);
  read_detection(root, operation);
  operation.restart = read_restart(root);
  operation.spares = read_spares(root);
  operation.repair = read_repair(root, operation.spares.unlimited);
  read_lemons(root, operation);
  operation.tiers = read_checkpoint(root, facts, operation.job, read.regimes);
  if (wants(root, "planned")) {
    ConfigMap planned = root.map("planned", "planned stops");
    operation.planned.every = read_spread(planned, {.name = "every", .doc = "from one to the next"});
    operation.planned.takes = read_spread(planned, {.name = "takes", .doc = "from stop to training"});
  }
  ConfigMap cost = root.map("cost", "what GPUs cost");
  operation.usd_per_gpu_hour = cost.number({.name = "usd_per_gpu_hour",
                                            .doc = "price of a GPU-hour; 0: not known",
                                            .fallback = facts.usd_per_gpu_hour,
                                            .min = 0.0,
                                            .max = 1e6});
  check_clock(operation, root);
  if (!root.documenting()) warn_of_idle_keys(operation, root);
  check_missed(operation, root);
  return read;
}

namespace {

// An interval that is not a number of steps is rounded.
std::int64_t nearest_steps(const Operation& operation, double seconds) {
  return static_cast<std::int64_t>(std::clamp(std::round(seconds / seconds_of(operation.job.step)), 1.0, 9e15));
}

}  // namespace

std::int64_t steps_of_interval(const Operation& operation, const CheckpointTier& tier, double seconds) {
  const auto written = (tier.write.count() + operation.job.step.count() - 1) / operation.job.step.count();
  return std::max(nearest_steps(operation, seconds), written);
}

void set_intervals(Operation& operation, ConfigMap root) {
  const double rate = operation.recoveries_per_hour();
  const double between = rate > 0.0 ? 3600.0 / rate : 1e9;
  for (CheckpointTier& tier : operation.tiers) {
    const CheckpointCost cost{.stall = seconds_of(tier.stall), .between_failures = between, .recovery = 0.0};
    double seconds =
        tier.every_steps > 0 ? seconds_of(operation.job.step) * static_cast<double>(tier.every_steps) : tier.every;
    if (tier.rule == IntervalRule::kYoung) seconds = young_interval(cost);
    if (tier.rule == IntervalRule::kDaly || tier.rule == IntervalRule::kBest) seconds = daly_interval(cost);
    const std::int64_t steps = steps_of_interval(operation, tier, seconds);
    const bool given = tier.rule == IntervalRule::kGiven;
    if (given && steps > nearest_steps(operation, seconds) && seconds_of(tier.write) > seconds) {
      root.warn("checkpoint", "W400",
                fmt::format("tier '{}' needs {} to write and cannot save every {}", tier.name, to_string(tier.write),
                            to_string(job_seconds(seconds))),
                fmt::format("it saves every {} instead", to_string(operation.job.step * steps)));
    }
    tier.every_steps = steps;
    tier.every = seconds_of(operation.job.step) * static_cast<double>(steps);
  }
}

void check_size(const Operation& operation, ConfigMap root) {
  const JobTime longest = operation.length.duration ? *operation.length.duration : *operation.length.work * 50;
  double events = 0.0;
  if (operation.planned.every) events += hours_of(longest) * 3600.0 / std::max(operation.planned.every->mean(), 1e-9);
  for (const ComponentClass& part : operation.components) {
    events += part.times.empty() ? operation.faults_per_hour(part) * hours_of(longest)
                                 : static_cast<double>(part.times.size());
  }
  double aged = 0.0;
  for (const ComponentClass& part : operation.components) {
    if (part.lifetime && part.per != Exposed::kJob) {
      aged += static_cast<double>(part.per == Exposed::kGpu ? operation.job.gpus : operation.job.hosts());
    }
  }
  if (aged > kMostAgedParts) {
    root.error("components", "E404",
               fmt::format("{:.3g} parts have ages, and at most {:.0g} may", aged, kMostAgedParts),
               "an exponential lifetime has no age");
  }
  if (!(events * operation.repetitions <= kMostFaults)) {
    root.error("components", "E404",
               fmt::format("{:.3g} faults and stops are expected in {} repetitions, and at most {:.0g} are simulated",
                           events * operation.repetitions, operation.repetitions, kMostFaults),
               "lower `repetitions`, `duration` or the rates");
  }
}

}  // namespace ringwright::planning
