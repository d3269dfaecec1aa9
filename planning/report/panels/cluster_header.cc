// The head of a cluster over days: the policy that ends jobs soonest, and the one that uses most of the GPUs.
#include <fmt/format.h>

#include "planning/report/builtin_panels.h"
#include "planning/report/scales.h"

namespace ringwright::planning {

ReportSection cluster_header(const ResultInput& input) {
  const JsonValue& study = input.json;
  const std::vector<JsonValue>& policies = study["policies"].list();
  ReportSection section{.title = study["name"].text(),
                        .subtitle = fmt::format("A cluster over days: {} on {} in {}",
                                                number_text(study["jobs"].number().value_or(0.0), "job"),
                                                number_text(study["gpus"].number().value_or(0.0), "GPU"),
                                                number_text(study["hosts"].number().value_or(0.0), "host"))};
  const JsonValue *soonest = nullptr, *fullest = nullptr;
  const auto completion = [](const JsonValue& policy) { return policy["completion_s"]["mean"].number_or_unknown(); };
  for (const JsonValue& policy : policies) {
    if (soonest == nullptr || completion(policy) < completion(*soonest)) soonest = &policy;
    if (fullest == nullptr || policy["productive"].number_or_unknown() > (*fullest)["productive"].number_or_unknown()) {
      fullest = &policy;
    }
  }
  if (soonest == nullptr) return section;
  section.figures.push_back({.name = "Shortest mean completion",
                             .value = long_time_text(completion(*soonest)),
                             .remark = (*soonest)["policy"].text()});
  section.figures.push_back({.name = "Mean waiting",
                             .value = long_time_text((*soonest)["waiting_s"]["mean"].number_or_unknown()),
                             .remark = (*soonest)["policy"].text()});
  section.figures.push_back({.name = "Most productive GPU time",
                             .value = percent_text((*fullest)["productive"].number_or_unknown()),
                             .remark = (*fullest)["policy"].text()});
  const JsonValue& first = policies.front();
  if (soonest != &first) {
    section.sentences.push_back(fmt::format("With '{}' a job ends after {} in the mean, {:+.1f} % against '{}'.",
                                            (*soonest)["policy"].text(), long_time_text(completion(*soonest)),
                                            100.0 * (completion(*soonest) / completion(first) - 1.0),
                                            first["policy"].text()));
  }
  const JsonValue& left_out = study["left_out"];
  const double all = left_out["too_large"].number().value_or(0.0) + left_out["without_gpus"].number().value_or(0.0) +
                     left_out["without_times"].number().value_or(0.0);
  if (all > 0.0) section.sentences.push_back(fmt::format("{} jobs of the log are left out.", count_text(all)));
  return section;
}

}  // namespace ringwright::planning
