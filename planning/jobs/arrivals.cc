#include "planning/jobs/arrivals.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <fmt/format.h>

#include "core/base/random.h"

namespace ringwright::planning {
namespace {

constexpr double kDay = 86'400.0;
constexpr double kBusiestHour = 15.0 * 3600.0;

double rate_of_day(double at, double day_night) {
  return 1.0 + day_night * std::cos(2.0 * std::numbers::pi * (at - kBusiestHour) / kDay);
}

// Given how many there are in the span, arrivals of a Poisson process are independent draws of its rate.
double draw_submit(RandomStream& random, const ArrivalSettings& settings) {
  while (true) {
    const double at = random.next_unit() * settings.span;
    if (random.next_unit() * (1.0 + settings.day_night) <= rate_of_day(at, settings.day_night)) return at;
  }
}

double draw_normal(RandomStream& random) {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - random.next_unit()));
  return radius * std::cos(2.0 * std::numbers::pi * random.next_unit());
}

int draw_gpus(RandomStream& random, const ArrivalSettings& settings) {
  const std::int64_t sum = std::accumulate(settings.weights.begin(), settings.weights.end(), std::int64_t{0});
  auto left = static_cast<std::int64_t>(random.next_below(static_cast<std::uint64_t>(sum)));
  for (std::size_t i = 0; i < settings.gpus.size(); ++i) {
    left -= settings.weights[i];
    if (left < 0) return static_cast<int>(settings.gpus[i]);
  }
  return static_cast<int>(settings.gpus.back());
}

}  // namespace

std::vector<ClusterJob> generated_jobs(const ArrivalSettings& settings) {
  RandomStream submits(settings.seed, "submissions of jobs");
  RandomStream sizes(settings.seed, "GPUs of jobs");
  RandomStream lengths(settings.seed, "running times of jobs");
  RandomStream types(settings.seed, "types of jobs");
  std::vector<ClusterJob> jobs;
  for (int i = 0; i < settings.count; ++i) {
    ClusterJob& job = jobs.emplace_back();
    job.submit = draw_submit(submits, settings);
    job.gpus = draw_gpus(sizes, settings);
    job.service = std::clamp(settings.median * std::exp(settings.sigma * draw_normal(lengths)), 1.0, settings.longest);
    job.type = static_cast<std::uint32_t>(types.next_below(static_cast<std::uint64_t>(settings.types)));
    job.least = job.most = job.gpus;
    if (job.gpus == 1) job.part = job.share = settings.share;
  }
  std::ranges::stable_sort(jobs, {}, &ClusterJob::submit);
  for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].name = fmt::format("job {}", i);
  return jobs;
}

LoggedArrivals logged_jobs(const traces::JobLog& log, int gpus, double compress) {
  LoggedArrivals arrivals;
  const double first = log.jobs.empty() ? 0.0 : log.jobs.front().submit;
  for (const traces::LoggedJob& logged : log.jobs) {
    if (logged.gpus > gpus) {
      ++arrivals.too_large;
      continue;
    }
    ClusterJob& job = arrivals.jobs.emplace_back();
    job.name = logged.name;
    job.kind = logged.type;
    job.submit = (logged.submit - first) / compress;
    job.service = logged.run;
    job.gpus = std::max(1, static_cast<int>(std::ceil(logged.gpus)));
    if (logged.gpus < 1.0) {
      // 0.28 * 10'000 may be less than 2'800 in binary; what is beyond a ten-thousandth is left out, so that three
      // jobs of 0.33334 fit.
      constexpr double kRounding = 1e-6;
      job.part = std::clamp(static_cast<int>(std::floor(logged.gpus * kWholeGpu + kRounding)), 1, kWholeGpu);
      job.share = job.part;
    }
    job.least = job.most = job.gpus;
  }
  return arrivals;
}

}  // namespace ringwright::planning
