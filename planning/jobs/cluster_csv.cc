// Each job of a cluster over days under each policy, as CSV.
#include <string_view>

#include <fmt/format.h>

#include "planning/jobs/cluster_study.h"
#include "planning/study/csv_field.h"

namespace ringwright::planning {
namespace {

std::string_view place_name(Locality locality) {
  switch (locality) {
    case Locality::kHost: return "host";
    case Locality::kUnit: return "unit";
    case Locality::kFabric: return "units";
  }
  return "host";
}

// That it asks for: a fraction of one, or whole ones.
double gpus_of(const ClusterJob& job) {
  return job.part < kWholeGpu ? static_cast<double>(job.part) / kWholeGpu : static_cast<double>(job.gpus);
}

}  // namespace

std::string render_cluster_csv(const ClusterPlan& plan, const ClusterStudy& study) {
  std::string text =
      "policy,name,type,submit_s,gpus,run_s,opportunistic,first_start_s,end_s,waited_s,with_gpus_s,starts,place\n";
  for (const PolicyResult& policy : study.policies) {
    for (std::size_t i = 0; i < policy.jobs.size(); ++i) {
      const ClusterJob& job = plan.jobs[i];
      const JobResult& result = policy.jobs[i];
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", policy.policy, csv_field(job.name),
                          csv_field(job.kind), job.submit, gpus_of(job), job.service, job.opportunistic ? 1 : 0,
                          result.first_start, result.end, result.waited, result.running, result.starts,
                          place_name(result.last));
    }
  }
  return text;
}

}  // namespace ringwright::planning
