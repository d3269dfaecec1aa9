#include "planning/operation/fault_timeline.h"

#include <algorithm>
#include <cmath>

namespace ringwright::planning {
namespace {

std::int64_t parts_per_host(const ComponentClass& part, const JobShape& job) {
  return part.per == Exposed::kGpu ? job.gpus_per_host : 1;
}

}  // namespace

HostTable::HostTable(const Operation& operation, std::uint64_t life_seed) : hosts_(operation.job.hosts()) {
  const Spares& spares = operation.spares;
  if (!spares.unlimited) hosts_ += spares.standby + spares.pool + spares.others;
  if (!(operation.lemons.share > 0.0)) return;
  RandomStream stream(life_seed, "lemons");
  for (std::int64_t host = 0; host < hosts_; ++host) {
    (stream.next_unit() < operation.lemons.share ? lemons_ : others_).push_back(host);
  }
}

FaultTimeline::FaultTimeline(const Operation& operation, const HostTable& hosts, std::uint64_t life_seed)
    : operation_(operation), hosts_(hosts), seed_(life_seed) {
  for (std::size_t index = 0; index < operation.components.size(); ++index) {
    classes_.push_back({.stream = RandomStream(seed_, "faults of " + operation.components[index].name)});
    start_class(index);
    draw_next(index);
  }
  find_nearest();
}

void FaultTimeline::start_class(std::size_t index) {
  const ComponentClass& part = operation_.components[index];
  ClassFaults& faults = classes_[index];
  if (!part.times.empty()) return;
  const std::int64_t each = parts_per_host(part, operation_.job);
  if (!part.lifetime) {
    double hosts = 1.0;
    if (part.per != Exposed::kJob) {
      hosts = static_cast<double>(hosts_.size()) +
              static_cast<double>(hosts_.lemons().size()) * (operation_.lemons.factor - 1.0);
    }
    faults.highest_per_hour =
        hosts * static_cast<double>(each) * part.per_hour * std::max(1.0, part.early_factor) * part.highest_factor();
    return;
  }
  const std::int64_t parts = part.per == Exposed::kJob ? 1 : hosts_.size() * each;
  std::vector<PartFault> first;
  first.reserve(static_cast<std::size_t>(parts));
  for (std::int64_t i = 0; i < parts; ++i) first.push_back({.at = lifetime(index, i, 0), .part = i, .fault = 0});
  faults.parts = decltype(faults.parts)(std::greater<>(), std::move(first));
}

JobTime FaultTimeline::lifetime(std::size_t index, std::int64_t part, std::int64_t fault) const {
  const std::uint64_t key = mix(mix(seed_, static_cast<std::uint64_t>(part)), static_cast<std::uint64_t>(fault));
  RandomStream stream(key, operation_.components[index].name);
  return operation_.components[index].lifetime->draw(stream);
}

void FaultTimeline::draw_next(std::size_t index) {
  const ComponentClass& part = operation_.components[index];
  ClassFaults& faults = classes_[index];
  const std::uint64_t serial = faults.candidate.serial + 1;
  faults.candidate = {.at = kNever, .component = index, .serial = serial};
  if (!part.times.empty()) {
    if (faults.recorded < std::ssize(part.times)) {
      faults.candidate.at = part.times[static_cast<std::size_t>(faults.recorded++)];
    }
  } else if (part.lifetime) {
    draw_part(faults, part, index);
  } else if (faults.highest_per_hour > 0.0) {
    draw_exponential(faults, part);
  }
  // Recorded faults and those of the whole job hit any host of the job; their draw chooses it.
  if (!part.lifetime && part.times.empty()) return;
  faults.candidate.draw = faults.stream.next_unit();
}

void FaultTimeline::draw_exponential(ClassFaults& faults, const ComponentClass& part) {
  const double hours = -std::log(1.0 - faults.stream.next_unit()) / faults.highest_per_hour;
  faults.clock += job_seconds(hours * 3600.0);
  faults.candidate.at = faults.clock;
  const double place = faults.stream.next_unit();
  faults.candidate.draw = faults.stream.next_unit();
  if (part.per == Exposed::kJob) return;
  const auto pick = [&](double share, std::int64_t count) {
    return std::min(static_cast<std::int64_t>(share * static_cast<double>(count)), count - 1);
  };
  const std::vector<std::int64_t>& lemons = hosts_.lemons();
  if (lemons.empty()) {
    faults.candidate.host = pick(place, hosts_.size());
    return;
  }
  const double heavy = static_cast<double>(lemons.size()) * operation_.lemons.factor;
  const double light = static_cast<double>(hosts_.others().size());
  const double at = place * (heavy + light);
  faults.candidate.host =
      at < heavy ? lemons[static_cast<std::size_t>(pick(at / heavy, std::ssize(lemons)))]
                 : hosts_.others()[static_cast<std::size_t>(pick((at - heavy) / light, std::ssize(hosts_.others())))];
}

void FaultTimeline::draw_part(ClassFaults& faults, const ComponentClass& part, std::size_t index) {
  const PartFault fault = faults.parts.top();
  faults.parts.pop();
  faults.candidate.at = fault.at;
  if (part.per != Exposed::kJob) {
    const std::int64_t each = parts_per_host(part, operation_.job);
    faults.candidate.host = fault.part / each;
    faults.candidate.part = fault.part % each;
  }
  // A lifetime of zero would stop the clock.
  const JobTime next = std::max(lifetime(index, fault.part, fault.fault + 1), JobTime(1));
  faults.parts.push({.at = fault.at + next, .part = fault.part, .fault = fault.fault + 1});
}

void FaultTimeline::pop() {
  draw_next(nearest_.component);
  find_nearest();
}

void FaultTimeline::find_nearest() {
  nearest_ = {};
  for (const ClassFaults& faults : classes_) {
    if (faults.candidate.at < nearest_.at) nearest_ = faults.candidate;
  }
}

}  // namespace ringwright::planning
