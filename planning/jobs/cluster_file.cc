#include "planning/jobs/cluster_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/shipped_file.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/config/config_document.h"
#include "core/config/log_warnings.h"
#include "core/config/near_file.h"
#include "planning/jobs/cluster_effects.h"
#include "planning/jobs/scheduling_policy.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kClusterCode = "E485";
constexpr std::array kLogForms = {Option{"philly", "cluster_job_log of Microsoft's philly-traces (JSON)"},
                                  Option{"pai", "pai_task_table.csv of Alibaba's cluster-trace-gpu-v2020"},
                                  Option{"acme", "trace_seren.csv or trace_kalos.csv of AcmeTrace"},
                                  Option{"csv", "a head line with submit_s, gpus and run_s"}};
constexpr std::array kLocalityOptions = {
    Option{"strict", "a job waits for as few hosts as possible, in one unit where one is large enough"},
    Option{"relaxed", "after `relax_after` of waiting it takes GPUs anywhere"}};

constexpr std::array kSharingKinds = {
    Option{"parts", "jobs that ask for parts of a GPU have them, and do not disturb each other"},
    Option{"time_slicing", "CUDA without MPS: jobs share a GPU's time"},
    Option{"mps", "kernels of jobs run next to each other"},
    Option{"antman", "opportunistic jobs take what a guaranteed one leaves"},
    Option{"tgs", "the same, and the guaranteed one loses 3 %"}};

// An instance of MIG has 1, 2, 3, 4 or 7 of a GPU's seven slices, and 1, 2, 4, 4 or 8 eighths of its memory
// (configs/scenario/mig_profiles.cc). With these parts instances fit on a GPU exactly where both suffice: two of three
// slices have all of the memory, so that no seventh slice goes with them.
struct MigInstance {
  int slices = 0;
  int share = 0;
};
constexpr std::array kMigInstances = {MigInstance{1, 1'425}, MigInstance{2, 2'855}, MigInstance{3, 4'290},
                                      MigInstance{4, 5'710}, MigInstance{7, kWholeGpu}};

// Of the smallest that holds a part of a GPU.
int share_of_instance(int share) {
  return std::ranges::find_if(kMigInstances,
                              [share](const MigInstance& instance) { return instance.slices * kWholeGpu / 7 >= share; })
      ->share;
}

double seconds_of(Duration time) {
  return static_cast<double>(time.count()) / 1e12;
}
Duration hours(std::int64_t count) {
  return Duration(count * 3600 * 1'000'000'000'000);
}

class ClusterReader {
 public:
  explicit ClusterReader(ConfigMap root) : root_(root) {}

  ClusterPlan read() {
    static_cast<void>(root_.integer({.name = "version", .doc = "of this format", .fallback = 1, .min = 1, .max = 1}));
    plan_.name = root_.text({.name = "name", .doc = "in reports", .fallback = std::string("cluster")});
    read_shape();
    read_speed();
    read_jobs();
    read_sharing();
    read_scheduler();
    const double stands = plan_.scheduler.restart + plan_.scheduler.reconfigure;
    plan_.failures = read_failures(root_, plan_.shape, plan_.jobs, stands);
    return std::move(plan_);
  }

 private:
  void read_shape() {
    ConfigMap map = root_.map("cluster", "the hosts");
    plan_.shape.hosts =
        static_cast<int>(map.integer({.name = "hosts", .doc = "their number", .min = 1, .max = 100'000}));
    plan_.shape.gpus_per_host = static_cast<int>(
        map.integer({.name = "gpus_per_host", .doc = "GPUs of each", .fallback = 8, .min = 1, .max = 1'024}));
    plan_.shape.hosts_per_unit = static_cast<int>(map.integer({.name = "hosts_per_unit",
                                                               .doc = "hosts on the same leaf switches",
                                                               .fallback = 32,
                                                               .min = 1,
                                                               .max = 100'000}));
  }

  void read_speed() {
    ConfigMap map = root_.map("speed", "how fast jobs run on other GPUs than those they ask for");
    plan_.machine = map.text({.name = "machine",
                              .doc = "a scenario with `jobs`, whose simulated steps give the speeds of types of jobs",
                              .fallback = std::string()});
    plan_.machine = near_file(map.place("machine").file, plan_.machine).value_or(plan_.machine);
    plan_.speed.scaling = map.number({.name = "scaling",
                                      .doc = "speed grows with GPUs to the power of it",
                                      .fallback = 1.0,
                                      .min = 0.0,
                                      .max = 1.0});
    plan_.speed.factor[1] = map.percent({.name = "unit",
                                         .doc = "speed within a unit, of that within a host",
                                         .fallback = 1.0,
                                         .min = 0.01,
                                         .max = 1.0});
    plan_.speed.factor[2] = map.percent({.name = "fabric",
                                         .doc = "speed over several units, of that within a host",
                                         .fallback = plan_.speed.factor[1],
                                         .min = 0.01,
                                         .max = 1.0});
    if (plan_.speed.factor[2] > plan_.speed.factor[1]) {
      map.error("fabric", std::string(kClusterCode),
                "'speed.fabric' is above 'speed.unit', and more hops are no faster");
    }
    if (plan_.machine.empty()) return;
    for (const std::string_view key : {"scaling", "unit", "fabric"}) {
      if (map.has(key)) {
        map.error(key, std::string(kClusterCode),
                  fmt::format("'{}' and 'speed.machine' both say how fast jobs are", map.path_of(key)),
                  "leave one of them out");
      }
    }
  }

  void read_jobs() {
    ConfigMap map = root_.map("jobs", "jobs from a log (`log`, `form`), or generated");
    const std::string log = map.text(
        {.name = "log", .doc = "a log of jobs, relative to this file, plain or gzip", .fallback = std::string()});
    const double least = map.number({.name = "least",
                                     .doc = "GPUs that an elastic job can do with, of those it asks for",
                                     .fallback = 1.0,
                                     .min = 0.0,
                                     .max = 1.0});
    const double most = map.number({.name = "most",
                                    .doc = "GPUs that an elastic job can use, as a multiple of those it asks for",
                                    .fallback = 1.0,
                                    .min = 1.0,
                                    .max = 1024.0});
    plan_.shares_gpus =
        map.boolean({.name = "share_gpus", .doc = "jobs that ask for a part of a GPU share one", .fallback = true});
    const bool mig = map.boolean({.name = "mig",
                                  .doc = "a part of a GPU is the smallest MIG instance that holds it: 1, 2, 3, 4 or 7 "
                                         "of seven slices",
                                  .fallback = false});
    has_instances_ = mig;
    if (mig && !plan_.shares_gpus) map.error("mig", std::string(kClusterCode), "it needs 'share_gpus: true'");
    if (log.empty()) {
      read_generator(map);
    } else {
      read_log(map, log);
    }
    for (ClusterJob& job : plan_.jobs) {
      if (!plan_.shares_gpus) job.share = kWholeGpu;
      if (mig) job.share = share_of_instance(job.share);
      if (job.share < kWholeGpu) continue;  // a part does not grow
      job.least = std::clamp(static_cast<int>(std::ceil(job.gpus * least)), 1, job.gpus);
      job.most = std::clamp(static_cast<int>(std::floor(job.gpus * most)), job.gpus, plan_.shape.gpus());
    }
  }

  // One error for a key of another kind, which is known.
  static void deny_given(ConfigMap& map, std::string_view key, const std::string& why) {
    if (!map.has(key)) return;
    map.error(key, std::string(kClusterCode), why);
    map.ignore(key, why);
  }

  // What kernels take of a GPU at full speed: its time, or with MPS the multiprocessors that they fill of it.
  double read_demand(ConfigMap& map, SharingKind kind) {
    const double busy = map.percent({.name = "busy",
                                     .doc = "of a GPU's time that kernels of a job run at full speed",
                                     .fallback = 1.0,
                                     .min = 0.01,
                                     .max = 1.0});
    if (kind != SharingKind::kMps && !map.documenting()) {
      deny_given(map, "fill", "it needs 'kind: mps': otherwise a kernel has the whole GPU");
      return busy;
    }
    return busy * map.percent({.name = "fill",
                               .doc = "mps: of a GPU's multiprocessors that a kernel fills",
                               .fallback = 1.0,
                               .min = 0.01,
                               .max = 1.0});
  }

  void read_sharing() {
    if (!root_.has("sharing") && !root_.documenting()) return;
    ConfigMap map = root_.map("sharing", "of GPUs by jobs of one GPU, and how fast they then are");
    const std::string kind =
        map.choice({.name = "kind", .doc = "how jobs share a GPU", .fallback = std::string("parts")}, kSharingKinds);
    plan_.sharing =
        static_cast<SharingKind>(std::ranges::find(kSharingKinds, kind, &Option::name) - kSharingKinds.begin());
    if (plan_.sharing == SharingKind::kParts && !map.documenting()) return;
    const auto per_gpu = static_cast<int>(
        map.integer({.name = "per_gpu", .doc = "jobs on one GPU at most", .fallback = 2, .min = 2, .max = 16}));
    const double demand = read_demand(map, plan_.sharing);
    double opportunistic = 0.0;
    if (has_classes(plan_.sharing) || map.documenting()) {
      opportunistic = map.percent({.name = "opportunistic",
                                   .doc = "antman, tgs: share of the jobs of one GPU that are opportunistic",
                                   .fallback = 0.5,
                                   .min = 0.0,
                                   .max = 1.0});
    } else {
      deny_given(map, "opportunistic", "it needs 'kind: antman' or 'kind: tgs'");
    }
    const auto seed = static_cast<std::uint64_t>(
        map.integer({.name = "seed", .doc = "of the choice of opportunistic jobs", .fallback = 1, .min = 0}));
    if (has_instances_) map.error("kind", std::string(kClusterCode), "'jobs.mig' and 'sharing' both divide GPUs");
    if (!plan_.shares_gpus) map.error("kind", std::string(kClusterCode), "it needs 'jobs.share_gpus: true'");
    RandomStream classes(seed, "opportunistic jobs");
    plan_.draws_classes = opportunistic > 0.0 && opportunistic < 1.0;
    for (ClusterJob& job : plan_.jobs) {
      const double part = static_cast<double>(job.share) / kWholeGpu;  // that it asks for
      plan_.has_usual_demand = plan_.has_usual_demand || job.share == kWholeGpu;
      job.demand = job.share < kWholeGpu ? part : demand;
      if (job.gpus > 1) continue;
      job.opportunistic = classes.next_unit() < opportunistic;
      job.share = kWholeGpu / per_gpu;
      job.least = job.most = 1;
    }
  }

  void read_log(ConfigMap& map, const std::string& log) {
    const std::string form = map.choice({.name = "form", .doc = "what wrote the log"}, kLogForms);
    const double compress = map.number({.name = "compress",
                                        .doc = "times faster submissions than in the log",
                                        .fallback = 1.0,
                                        .min = 1e-3,
                                        .max = 1e3});
    const auto at = std::ranges::find(kLogForms, form, &Option::name);
    if (at == kLogForms.end() || !map.has("form")) return;
    const std::string path = near_file(map.place("log").file, log).value_or(log);
    auto read = traces::read_job_log(path, static_cast<traces::JobLogForm>(at - kLogForms.begin()));
    if (!read) {
      for (const Diagnostic& problem : read.error().all()) {
        const std::string place = problem.place.line > 0 ? fmt::format("{}:{}: ", path, problem.place.line) : "";
        map.error("log", problem.code, place + problem.message);
      }
      return;
    }
    LoggedArrivals arrivals = logged_jobs(*read, plan_.shape.gpus(), compress);
    plan_.jobs = std::move(arrivals.jobs);
    plan_.from_log = true;
    plan_.too_large = arrivals.too_large;
    plan_.without_gpus = read->without_gpus;
    plan_.without_times = read->without_times;
    if (plan_.jobs.empty()) map.error("log", std::string(kClusterCode), "none of its jobs fits the cluster");
  }

  void read_generator(ConfigMap& map) {
    ArrivalSettings settings;
    settings.count = static_cast<int>(
        map.integer({.name = "count", .doc = "generated jobs", .fallback = 10'000, .min = 1, .max = 10'000'000}));
    constexpr Duration kLeast(1'000'000'000'000);
    settings.span = seconds_of(
        map.duration({.name = "span", .doc = "time of all submissions", .fallback = hours(168), .min = kLeast}));
    settings.day_night = map.percent({.name = "day_night",
                                      .doc = "how much the rate of submissions changes in a day",
                                      .fallback = 0.5,
                                      .min = 0.0,
                                      .max = 1.0});
    if (map.has("gpus") || map.has("weights")) {
      settings.gpus = map.integers({.name = "gpus", .doc = "sizes of jobs", .min = 1});
      settings.weights = map.integers({.name = "weights", .doc = "how often each", .min = 0, .max = 1'000'000});
    }
    settings.median = seconds_of(
        map.duration({.name = "median", .doc = "of running times", .fallback = hours(1) / 2, .min = kLeast}));
    settings.sigma = map.number(
        {.name = "sigma", .doc = "of the logarithm of running times", .fallback = 1.8, .min = 0.0, .max = 5.0});
    settings.longest =
        seconds_of(map.duration({.name = "longest", .doc = "running time", .fallback = hours(72), .min = kLeast}));
    if (settings.median > settings.longest) {
      map.error("median", std::string(kClusterCode),
                "'jobs.median' is above 'jobs.longest', so that half of the jobs would be cut", "raise jobs.longest");
    }
    settings.seed =
        static_cast<std::uint64_t>(map.integer({.name = "seed", .doc = "of the generator", .fallback = 1, .min = 0}));
    settings.types = static_cast<int>(map.integer({.name = "types",
                                                   .doc = "types of jobs, in equal shares: the first of "
                                                          "'speed.machine'",
                                                   .fallback = 1,
                                                   .min = 1,
                                                   .max = 1'000}));
    settings.share =
        static_cast<int>(std::lround(kWholeGpu * map.percent({.name = "part",
                                                              .doc = "of a GPU that jobs of one GPU ask for",
                                                              .fallback = 1.0,
                                                              .min = 0.01,
                                                              .max = 1.0})));
    std::int64_t sum = 0;
    for (const std::int64_t weight : settings.weights) sum += weight;
    if (settings.gpus.size() != settings.weights.size() || sum <= 0) {
      map.error("weights", std::string(kClusterCode),
                "'jobs.gpus' and 'jobs.weights' are lists of one length, with a weight above 0");
      return;
    }
    if (std::ranges::max(settings.gpus) > plan_.shape.gpus()) {
      map.error("gpus", std::string(kClusterCode),
                fmt::format("'jobs.gpus' has {} GPUs, and the cluster {}", std::ranges::max(settings.gpus),
                            plan_.shape.gpus()),
                "list the sizes of jobs as gpus and weights");
      return;
    }
    plan_.jobs = generated_jobs(settings);
  }

  void read_scheduler() {
    ConfigMap map = root_.map("scheduler", "what decides which jobs run where");
    plan_.policies = map.texts({.name = "policies", .doc = "each is simulated: fifo, sjf, srtf, tiresias ..."});
    if (plan_.policies.empty()) plan_.policies = {"fifo"};
    for (std::size_t i = 1; i < plan_.policies.size(); ++i) {
      const auto here = plan_.policies.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::find(plan_.policies.begin(), here, *here) == here) continue;
      map.error("policies", std::string(kClusterCode), fmt::format("'{}' is listed twice", *here));
    }
    std::vector<std::string> names;
    for (const SchedulingPolicyEntry& entry : scheduling_policies()) names.emplace_back(entry.name);
    for (const std::string& policy : plan_.policies) {
      if (std::ranges::find(names, policy) != names.end()) continue;
      map.error("policies", std::string(kClusterCode), fmt::format("'{}' is no policy", policy),
                "there are " + join(names, ", "));
    }
    SchedulerSettings& settings = plan_.scheduler;
    settings.round = seconds_of(map.duration({.name = "round",
                                              .doc = "between decisions of policies that act in rounds",
                                              .fallback = hours(1) / 60,
                                              .min = Duration(1'000'000'000'000)}));
    const std::string locality =
        map.choice({.name = "locality", .doc = "where jobs run", .fallback = std::string("strict")}, kLocalityOptions);
    const Duration relax = map.duration({.name = "relax_after",
                                         .doc = "waiting after which locality is relaxed",
                                         .fallback = Duration(0),
                                         .min = Duration(0)});
    if (locality == "relaxed") {
      settings.relax_after = seconds_of(relax);
    } else if (map.has("relax_after")) {
      map.error("relax_after", std::string(kClusterCode), "it needs 'locality: relaxed'");
    }
    settings.backfill = map.boolean(
        {.name = "backfill", .doc = "jobs that fit start before larger ones that come first", .fallback = true});
    settings.migrate =
        map.boolean({.name = "migrate", .doc = "running jobs move to better places where it pays", .fallback = false});
    settings.restart = seconds_of(map.duration({.name = "restart",
                                                .doc = "without progress after each start but a job's first",
                                                .fallback = hours(1) / 120,
                                                .min = Duration(0)}));
    settings.reconfigure =
        seconds_of(map.duration({.name = "reconfigure",
                                 .doc = "without progress after every start: optical switches or a patch panel connect "
                                        "the hosts of the job (TPU v4: 10 s)",
                                 .fallback = Duration(0),
                                 .min = Duration(0)}));
  }

  ConfigMap root_;
  ClusterPlan plan_;
  bool has_instances_ = false;  // parts of GPUs are MIG instances
};

Result<ClusterPlan> read_cluster_plan(ConfigDocument document) {
  ClusterPlan plan = ClusterReader(document.root()).read();
  document.check_all_read();
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  list_cluster_keys_without_effect(plan, document.log());
  plan.warnings = warnings_of(document.log());
  return plan;
}

// A shipped file has keys for policies that --set may name; only what the user sets is worth a warning.
Diagnostics without_keys_of(const std::string& shipped, const Diagnostics& warnings) {
  Diagnostics others;
  for (const Diagnostic& warning : warnings.all()) {
    if (warning.code != "W131" || !warning.place.file.starts_with(shipped)) others.add(warning);
  }
  return others;
}

}  // namespace

Result<ClusterPlan> load_cluster_plan(const std::string& path, const std::vector<std::string>& settings) {
  const auto file = configs::find_shipped({.folder = "clusters", .what = "cluster over days"}, path);
  if (!file) return tl::unexpected(file.error());
  auto document = ConfigDocument::load(*file, {.overrides = settings});
  if (!document) return tl::unexpected(document.error());
  auto plan = read_cluster_plan(std::move(*document));
  if (plan && *file != path) plan->warnings = without_keys_of(*file, plan->warnings);
  return plan;
}

Result<ClusterPlan> load_cluster_plan_text(const std::string& name, std::string_view text) {
  auto document = ConfigDocument::load_text(name, text);
  if (!document) return tl::unexpected(document.error());
  return read_cluster_plan(std::move(*document));
}

}  // namespace ringwright::planning
