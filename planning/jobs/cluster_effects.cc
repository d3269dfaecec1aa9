#include "planning/jobs/cluster_effects.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/key_effect.h"
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kElastic = "only elastic policies change the GPUs of a job";
constexpr std::string_view kBest =
    "every job waits for its best locality, where its speed is 1: 'scheduler.locality: relaxed' and elastic policies "
    "take others";
constexpr std::string_view kAnywhere = "elastic policies take any free GPUs, and change sizes instead";
constexpr std::string_view kNoParts = "no job asks for a part of a GPU";
constexpr std::string_view kAllParts = "every job asks for a part of a GPU, which is its demand";
constexpr std::string_view kNoOneGpu = "no job is of one GPU";

constexpr std::array kEffects{
    KeyEffect{.keys = "jobs.least", .needs = "policies.resize=yes", .why = kElastic},
    KeyEffect{.keys = "jobs.most", .needs = "policies.resize=yes", .why = kElastic},
    KeyEffect{.keys = "jobs.types", .needs = "plan.machine=yes", .why = "types have speeds in 'speed.machine'"},
    KeyEffect{.keys = "jobs.part", .needs = "jobs.one_gpu=yes", .why = kNoOneGpu},
    KeyEffect{.keys = "jobs.part", .needs = "jobs.parts=yes", .why = "'jobs.share_gpus: false' gives them whole GPUs"},
    KeyEffect{.keys = "jobs.mig", .needs = "jobs.parts=yes", .why = kNoParts},
    KeyEffect{.keys = "sharing", .needs = "jobs.one_gpu=yes", .why = kNoOneGpu},
    KeyEffect{.keys = "sharing", .needs = "sharing.kind!=parts | jobs.parts=yes", .why = kNoParts},
    KeyEffect{.keys = "sharing.busy", .needs = "jobs.whole=yes", .why = kAllParts},
    KeyEffect{.keys = "sharing.fill", .needs = "jobs.whole=yes", .why = kAllParts},
    KeyEffect{.keys = "sharing.seed", .needs = "jobs.classes=drawn", .why = "no classes of jobs are drawn"},
    KeyEffect{.keys = "speed.scaling", .needs = "policies.resize=yes", .why = kElastic},
    KeyEffect{.keys = "speed.machine", .needs = "plan.anywhere=yes", .why = kBest},
    KeyEffect{.keys = "speed.unit", .needs = "plan.anywhere=yes", .why = kBest},
    KeyEffect{.keys = "speed.fabric", .needs = "plan.anywhere=yes", .why = kBest},
    KeyEffect{.keys = "scheduler.migrate", .needs = "plan.anywhere=yes", .why = kBest},
    KeyEffect{.keys = "scheduler.migrate",
              .needs = "speed.places=differ",
              .why = "a job is as fast in every place: 'speed.unit', 'speed.fabric' and 'speed.machine' say otherwise"},
    KeyEffect{.keys = "scheduler.round", .needs = "policies.in_rounds=yes", .why = "no policy here acts in rounds"},
    KeyEffect{.keys = "scheduler.restart", .needs = "plan.stops=yes", .why = "no job is stopped or moved"},
    KeyEffect{.keys = "scheduler.locality", .needs = "policies.keep_sizes=yes", .why = kAnywhere},
    KeyEffect{.keys = "scheduler.relax_after", .needs = "policies.keep_sizes=yes", .why = kAnywhere},
    KeyEffect{.keys = "scheduler.backfill", .needs = "policies.keep_sizes=yes", .why = kAnywhere},
};

std::vector<std::unique_ptr<SchedulingPolicy>> policies_of(const ClusterPlan& plan) {
  std::vector<std::unique_ptr<SchedulingPolicy>> made;
  for (const std::string& name : plan.policies) {
    const auto entry = std::ranges::find(scheduling_policies(), name, &SchedulingPolicyEntry::name);
    if (entry != scheduling_policies().end()) made.push_back(entry->make());
  }
  return made;
}

std::string yes_or_no(bool holds) {
  return holds ? "yes" : "no";
}

void add_plan_facts(const ClusterPlan& plan, SettingValues& values) {
  const auto policies = policies_of(plan);
  const auto any = [&](auto ask) {
    return std::ranges::any_of(policies, [ask](const auto& policy) { return std::invoke(ask, *policy); });
  };
  const bool resizes = any(&SchedulingPolicy::resizes);
  const bool anywhere = resizes || plan.scheduler.relax_after >= 0.0;
  const bool places_differ = !plan.machine.empty() || plan.speed.factor[2] < 1.0;
  const bool moves = anywhere && places_differ && plan.scheduler.migrate;
  const auto opportunistic = std::ranges::count(plan.jobs, true, &ClusterJob::opportunistic);
  const bool classes = opportunistic > 0 && opportunistic < std::ssize(plan.jobs);
  const bool stops = resizes || any(&SchedulingPolicy::preempts) || moves || classes || plan.failures.any();
  values.add("policies.resize", yes_or_no(resizes));
  values.add("policies.in_rounds", yes_or_no(any(&SchedulingPolicy::in_rounds)));
  values.add("policies.keep_sizes", yes_or_no(any([](const SchedulingPolicy& made) { return !made.resizes(); })));
  values.add("plan.machine", yes_or_no(!plan.machine.empty()));
  values.add("speed.places", places_differ ? "differ" : "equal");
  values.add("plan.anywhere", yes_or_no(anywhere));
  values.add("plan.stops", yes_or_no(stops));
  values.add("jobs.whole", yes_or_no(plan.has_usual_demand));
  values.add("jobs.classes", plan.draws_classes ? "drawn" : "given");
  values.add("jobs.one_gpu",
             yes_or_no(std::ranges::any_of(plan.jobs, [](const ClusterJob& job) { return job.gpus == 1; })));
  values.add("jobs.parts",
             yes_or_no(std::ranges::any_of(plan.jobs, [](const ClusterJob& job) { return job.share < kWholeGpu; })));
}

}  // namespace

void list_cluster_keys_without_effect(const ClusterPlan& plan, ConfigLog& log) {
  SettingValues values(log);
  add_plan_facts(plan, values);
  list_without_effect(kEffects, values, log);
}

}  // namespace ringwright::planning
