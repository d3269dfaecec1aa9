// Installs the faulty router under the folded one, and reports the simulated faults.
#include "configs/simulation/fault_run.h"

#include <fmt/format.h>

namespace ringwright::configs {

FaultRun::FaultRun(const Simulation& simulation)
    : simulation_(simulation),
      faulty_(*simulation.network().router, simulation.fault_schedule(), 0, &simulation.fault_paths()) {
  if (simulation.fault_schedule().empty()) return;
  if (simulation.is_folded()) folded_ = make_folded_router(faulty_, simulation.folding());
}

const Router& FaultRun::router() const {
  if (simulation_.fault_schedule().empty()) return simulation_.router();
  if (folded_) return *folded_;
  return faulty_;
}

std::vector<bool> FaultRun::cables_with_failover() const {
  const std::span<const network_models::FailoverMode> modes = simulation_.fault_schedule().failover();
  const std::span<const std::uint32_t> class_of = simulation_.folding().links.class_of;
  std::vector<bool> cables;
  for (std::size_t link = 0; link < modes.size(); ++link) {
    if (modes[link] == network_models::FailoverMode::kNone) continue;
    cables.resize(router().capacities().size(), false);
    cables[class_of.empty() ? link : class_of[link]] = true;
  }
  return cables;
}

std::vector<Bandwidth> FaultRun::first_capacities() const {
  const std::span<const Bandwidth> healthy = router().capacities();
  std::vector<Bandwidth> capacities(healthy.begin(), healthy.end());
  const std::span<const std::uint32_t> class_of = simulation_.folding().links.class_of;
  for (const network_models::FaultMoment& moment : simulation_.fault_schedule().moments()) {
    if (moment.when > TimePoint()) break;
    for (const network_models::LinkChange& change : moment.changes) {
      const std::size_t link = class_of.empty() ? change.link.index() : class_of[change.link.index()];
      capacities[link] = healthy[link] * change.factor;
    }
  }
  return capacities;
}

void FaultRun::schedule(Engine& engine, NetworkModel& network) {
  if (simulation_.fault_schedule().empty()) return;
  player_.emplace(network_models::FaultPlayer::Parts{.engine = engine,
                                                     .schedule = simulation_.fault_schedule(),
                                                     .router = faulty_,
                                                     .network = network,
                                                     .capacities = router().capacities(),
                                                     .link_class_of = simulation_.folding().links.class_of});
  player_->schedule();
}

LinksMeet links_meet(const Scenario& scenario, const Simulation& simulation) {
  if (scenario.collectives.rung != collectives::Rung::kClosedForm) return LinksMeet::kAll;
  return simulation.plan().graph.messages.empty() ? LinksMeet::kNothing : LinksMeet::kMessages;
}

std::string_view remark(LinksMeet met) {
  return met == LinksMeet::kMessages ? " (affects messages, not collectives: closed_form)" : "";
}

namespace {

ReportWarning begins_late(const Place& place, std::string_view what, TimePoint end) {
  return {.code = "E125",
          .where = fmt::format("{}:{}", place.file, place.line),
          .text = fmt::format("{} has no effect: the run ends at {}", what, to_string(end.since_start()))};
}

}  // namespace

std::vector<ReportWarning> late_disturbances(const Scenario& scenario, TimePoint end) {
  std::vector<ReportWarning> late;
  for (const OrderedFault& fault : scenario.faults.ordered) {
    if (fault.at >= end) late.push_back(begins_late(fault.place, fmt::format("the fault '{}'", fault.text), end));
  }
  for (const BackgroundTraffic& traffic : scenario.background.described) {
    if (traffic.at >= end) late.push_back(begins_late(traffic.place, traffic.text, end));
  }
  return late;
}

void add_disturbances(const Scenario& scenario, LinksMeet met, TimePoint end, StepFacts& facts) {
  for (const OrderedFault& fault : scenario.faults.ordered) {
    const bool meets = fault.of_link && !fault.of_lost_nic;
    if (meets && met == LinksMeet::kNothing) continue;  // listed as without effect
    if (fault.at < end) {
      facts.faults.push_back(fault.text + std::string(meets ? remark(met) : ""));
    } else {
      facts.warnings.push_back(begins_late(fault.place, fmt::format("the fault '{}'", fault.text), end));
    }
  }
  if (met == LinksMeet::kNothing) return;
  for (const BackgroundTraffic& traffic : scenario.background.described) {
    if (traffic.at < end) {
      facts.faults.push_back(traffic.text + std::string(remark(met)));
    } else {
      facts.warnings.push_back(begins_late(traffic.place, traffic.text, end));
    }
  }
}

std::vector<std::string> tell_given_up(const Scenario& scenario, const Simulation& simulation,
                                       const StallReport& stall) {
  const Broken& broken = *stall.broken;
  const GivenUp& transfer = broken.transfer;
  const collectives::NcclKnobs& knobs = scenario.nccl.knobs;
  std::string where = "no link of their path carries anything";
  if (transfer.link) {
    const LinkId link = simulation.folding().links.representative[transfer.link->index()];
    where = simulation.network().fabric.name(link) + " is down";
  }
  std::string what = broken.task.empty() ? "background traffic" : fmt::format("'{}'", broken.task);
  if (!broken.call.empty()) what += ": " + broken.call;
  return {fmt::format("rank {} sends to rank {} in vain from {} to {}: {}", transfer.from.value, transfer.to.value,
                      to_string(transfer.since.since_start()), to_string(stall.at.since_start()), where),
          fmt::format("it belongs to {}", what),
          fmt::format("its NIC reports error 12 (IBV_WC_RETRY_EXC_ERR, transport retry counter exceeded), and NCCL "
                      "ends the job: NCCL_IB_TIMEOUT is {} and NCCL_IB_RETRY_CNT is {}, so NICs try for {}",
                      knobs.ib_timeout, knobs.ib_retries, to_string(knobs.ib_patience()))};
}

std::vector<std::string> links_down_at(const Faults& faults, TimePoint when) {
  std::vector<std::string> result;
  for (const OrderedFault& fault : faults.ordered) {
    if (fault.is_down && !fault.of_lost_nic && fault.at <= when && when < fault.until) result.push_back(fault.text);
  }
  return result;
}

}  // namespace ringwright::configs
