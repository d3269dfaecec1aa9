// Pipeline templates: pipelines of prepared sizes are built anew over all hosts that are left (Oobleck, Jang et al.,
// SOSP 2023; pipeline_templates.h). Layers that a pipeline lacks are copied from others, so that only the step in
// progress is done again, unless more than f hosts were lost at once.
#include <fmt/format.h>

#include "planning/operation/pipeline_templates.h"
#include "planning/operation/policies/builtin_policies.h"
#include "planning/operation/policies/least_left.h"

namespace ringwright::planning {
namespace {

struct TemplateSettings {
  Spread reconfigure;
  PipelineRules rules;
  std::int64_t tolerated = 1;
};

class Templates final : public RecoveryPolicy {
 public:
  Templates(const Operation& operation, const TemplateSettings& settings)
      : operation_(operation), settings_(settings) {}

  [[nodiscard]] RecoveryPlan plan(const JobView& job, RandomStream& stream) const override {
    if (job.lost > settings_.tolerated || !slowdown(job)) {
      return {.stall = whole_restart(operation_, stream),
              .loss = Loss::kVersion,
              .fills = !slowdown(job),
              .takes_spare = true,
              .whole_restart = true};
    }
    return {.stall = settings_.reconfigure.draw(stream), .loss = Loss::kStep, .fills = false, .takes_spare = true};
  }
  [[nodiscard]] std::optional<double> slowdown(const JobView& job) const override {
    const std::int64_t hosts = job.shape().hosts();
    const std::int64_t left = hosts - std::ssize(job.empty);
    if (left < (settings_.tolerated + 1) * settings_.rules.least) return std::nullopt;
    const auto time = template_time(settings_.rules, left);
    const auto full = template_time(settings_.rules, hosts);
    if (!time || !full) return std::nullopt;
    return *time / *full;
  }
  [[nodiscard]] Joining joining(const JobView& /*job*/, RandomStream& stream) const override {
    return {.after = {}, .stall = settings_.reconfigure.draw(stream)};
  }

 private:
  const Operation& operation_;
  TemplateSettings settings_;
};

// Otherwise the job could not even begin.
void check_whole_job(ConfigMap& map, const TemplateSettings& settings, std::int64_t hosts) {
  const bool given = map.has("f") || map.has("least_hosts") || map.has("most_hosts");
  if (!given || settings.rules.least > hosts) return;
  if (settings.tolerated + 1 > hosts / settings.rules.least) {
    map.error("", "E403",
              fmt::format("the loss of {} hosts at once needs {} pipelines of {} hosts, and the job has {} hosts",
                          settings.tolerated, settings.tolerated + 1, settings.rules.least, hosts),
              "a smaller f, or fewer least_hosts");
  } else if (cover_hosts(settings.rules, hosts).empty()) {
    map.error("", "E403",
              fmt::format("no pipelines of {} to {} hosts make up the {} hosts of the job", settings.rules.least,
                          settings.rules.most, hosts),
              fmt::format("most_hosts: {}", 2 * settings.rules.least - 1));
  }
}

}  // namespace

std::unique_ptr<RecoveryPolicy> make_templates(ConfigMap map, const Operation& job) {
  TemplateSettings settings;
  settings.reconfigure = read_spread(map, {.name = "reconfigure",
                                           .doc = "until pipelines are built anew; default: initialising communicators",
                                           .fallback = Spread::fixed(job.restart.init_seconds(job.job.gpus))});
  settings.tolerated =
      map.integer({.name = "f", .doc = "hosts that may be lost at once without a checkpoint", .fallback = 1, .min = 1});
  settings.rules.least = read_least(map, {.name = "least_hosts",
                                          .doc = "hosts of the shortest pipeline that holds the model",
                                          .fallback = job.job.hosts_per_replica(),
                                          .has = job.job.hosts()});
  settings.rules.most = map.integer({.name = "most_hosts",
                                     .doc = "hosts of the longest pipeline; at least 2 x least_hosts - 1 covers every "
                                            "number of hosts",
                                     .fallback = 2 * settings.rules.least - 1,
                                     .min = 1});
  settings.rules.microbatches = map.integer({.name = "microbatches",
                                             .doc = "of a step, all pipelines together; 0: as many as wanted",
                                             .fallback = 0,
                                             .min = 0});
  if (settings.rules.most < settings.rules.least) {
    map.error("most_hosts", "E403", "the longest pipeline has fewer hosts than the shortest");
    settings.rules.most = settings.rules.least;
  }
  check_whole_job(map, settings, job.job.hosts());
  return std::make_unique<Templates>(job, settings);
}

}  // namespace ringwright::planning
