#include "configs/simulation/probe_study.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "core/base/random.h"
#include "network_models/probing/net_bouncer.h"
#include "network_models/probing/probe_plan.h"

namespace ringwright::configs {
namespace {

using network_models::ProbedCable;
using network_models::ProbePlan;

// By number of a cable: the share of probes that it lets pass, both directions.
using Faulty = std::map<std::uint32_t, double>;

// The cables of the listed faults, as if all began together.
Faulty listed_cables(const Faults& faults, const ProbePlan& plan) {
  std::map<LinkId, double> passes;
  for (const network_models::LinkFault& fault : faults.links) {
    const double passed = fault.factor <= 0.0 ? 0.0 : 1.0 - fault.loss;
    if (passed < 1.0) passes.try_emplace(fault.link, 1.0).first->second *= passed;
  }
  Faulty faulty;
  for (std::uint32_t number = 0; number < plan.cables().size(); ++number) {
    const ProbedCable& cable = plan.cables()[number];
    double passed = 1.0;
    for (const LinkId link : {cable.up, cable.down}) {
      if (const auto found = passes.find(link); found != passes.end()) passed *= found->second;
    }
    if (passed < 1.0) faulty[number] = passed;
  }
  return faulty;
}

class Rounds {
 public:
  Rounds(const ProbePlan& plan, const ProbingSettings& probing)
      : plan_(plan),
        probing_(probing),
        random_(probing.seed, "probes"),
        round_(to_seconds(probing.interval) * probing.probes_per_path * static_cast<double>(plan.paths_of_port())) {}

  [[nodiscard]] double round() const { return round_; }

  void play(const Faulty& faulty, ProbeStudy& study) {
    find_affected(faulty);
    std::set<std::uint32_t> wrong;
    std::size_t missed = 0;
    const double begins = random_.next_unit();
    ++study.tried;
    for (int number = 0; number < probing_.rounds; ++number) {
      const double since = number == 0 ? 1.0 - begins : 1.0;
      const network_models::LossyParts parts = report(since);
      const std::vector<std::uint32_t>& found = parts.cables;
      study.switches += parts.switches.size();
      missed = 0;
      for (const auto& [cable, passed] : faulty) missed += std::ranges::binary_search(found, cable) ? 0U : 1U;
      for (const std::uint32_t cable : found) {
        if (!faulty.contains(cable)) wrong.insert(cable);
      }
      if (missed > 0) continue;
      ++study.localised;
      study.seconds.push_back((number + 1 - begins) * round_ + to_seconds(probing_.analysis));
      break;
    }
    study.missed_cables += missed;
    study.wrong_cables += wrong.size();
  }

 private:
  void find_affected(const Faulty& faulty) {
    affected_.clear();
    for (std::size_t path = 0; path < plan_.path_count(); ++path) {
      double passed = 1.0;
      for (const std::uint32_t cable : plan_.path(path)) {
        if (const auto found = faulty.find(cable); found != faulty.end()) passed *= found->second;
      }
      if (passed < 1.0) affected_.emplace_back(path, passed);
    }
  }

  // Of a round in which the fault is there for this share of the time, at its end.
  network_models::LossyParts report(double since) {
    success_.assign(plan_.path_count(), 1.0);
    const int probes = probing_.probes_per_path;
    const int met = static_cast<int>(std::lround(since * probes));
    for (const auto& [path, passed] : affected_) {
      int arrived = probes - met;
      for (int probe = 0; probe < met; ++probe) arrived += random_.next_unit() < passed ? 1 : 0;
      success_[path] = static_cast<double>(arrived) / probes;
    }
    return network_models::find_lossy_parts(plan_, success_,
                                            {.penalty = probing_.penalty, .threshold = probing_.threshold});
  }

  const ProbePlan& plan_;
  const ProbingSettings& probing_;
  RandomStream random_;
  double round_;                                          // seconds
  std::vector<std::pair<std::size_t, double>> affected_;  // paths over faulty cables, and what passes
  std::vector<double> success_;
};

std::optional<Diagnostics> refuse_fabric(const Scenario& scenario, const Fabric& fabric) {
  if (!network_models::has_tiers(fabric)) {
    return failure("E640",
                   "probes are sent back by the switches of the highest tier, but the fabric '" +
                       scenario.cluster.fabric + "' has no tiers of switches",
                   {}, "cluster.fabric.type: fat_tree, rail_optimized or rail_only");
  }
  if (!scenario.faults.lost_nics.empty()) {
    return failure("E641", "a NIC that is down from the start and for good is not part of the job, and not probed", {},
                   "'at: 1ns' makes it a fault");
  }
  return std::nullopt;
}

}  // namespace

double ProbeStudy::mean_seconds() const {
  if (seconds.empty()) return 0.0;
  return std::accumulate(seconds.begin(), seconds.end(), 0.0) / static_cast<double>(seconds.size());
}

double ProbeStudy::quantile_seconds(double share) const {
  if (seconds.empty()) return 0.0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(seconds.size())));
  return seconds[std::clamp<std::size_t>(rank, 1, seconds.size()) - 1];
}

Result<ProbeStudy> study_probes(const Scenario& scenario, const ProbingSettings& probing) {
  const network_models::Network network = scenario.cluster.topology->build();
  if (auto problems = refuse_fabric(scenario, network.fabric)) return tl::unexpected(std::move(*problems));
  const ProbePlan plan(network.fabric, static_cast<std::size_t>(probing.paths_per_port));
  Rounds rounds(plan, probing);
  ProbeStudy study{.fabric = scenario.cluster.fabric, .cables = plan.cables().size(), .paths = plan.path_count()};
  study.round_seconds = rounds.round();
  std::vector<bool> covered(study.cables, false);
  for (std::size_t path = 0; path < plan.path_count(); ++path) {
    for (const std::uint32_t cable : plan.path(path)) covered[cable] = true;
  }
  study.uncovered = static_cast<std::size_t>(std::ranges::count(covered, false));
  for (const network_models::LinkFault& fault : scenario.faults.links) {
    if (fault.factor > 0.0 && fault.loss <= 0.0) ++study.degraded;
  }
  const Faulty listed = listed_cables(scenario.faults, plan);
  for (const OrderedFault& fault : scenario.faults.ordered) {
    if (fault.of_link) study.faults.push_back(fault.text);
  }
  const bool given = !scenario.faults.ordered.empty() || !scenario.faults.at_steps.empty();
  if (given && (listed.empty() || !scenario.faults.at_steps.empty())) {
    return tl::unexpected(failure("E641", "'faults' has none that loses packets of a cable from a time on", {},
                                  "faults: [{link: leaf0.0->spine0, at: 1ns}], or no faults: each cable in turn"));
  }
  const std::size_t sets = study.faults.empty() ? std::min(study.cables, static_cast<std::size_t>(probing.cables)) : 1;
  for (std::size_t i = 0; i < sets; ++i) {
    // Evenly over all cables.
    const Faulty one = {{static_cast<std::uint32_t>(i * study.cables / sets), 1.0 - probing.loss}};
    for (int repetition = 0; repetition < probing.repetitions; ++repetition) {
      rounds.play(study.faults.empty() ? one : listed, study);
    }
  }
  std::ranges::sort(study.seconds);
  return study;
}

}  // namespace ringwright::configs
