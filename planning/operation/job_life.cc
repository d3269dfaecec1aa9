#include "planning/operation/job_life.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/base/check.h"

namespace ringwright::planning {
namespace {

// A job that is as long as its work ends at the latest after this many times its work.
constexpr std::int64_t kLongestLife = 50;

std::vector<SaveRule> save_rules(const Operation& operation) {
  std::vector<SaveRule> rules;
  for (const CheckpointTier& tier : operation.tiers) {
    rules.push_back({.every = tier.every_steps,
                     .stall = tier.stall,
                     .write = tier.write,
                     .holds_all = tier.place == CheckpointPlace::kStorage});
  }
  return rules;
}

}  // namespace

std::int64_t LifeResult::all_faults() const {
  return std::accumulate(faults.begin(), faults.end(), std::int64_t{0});
}

JobLife::JobLife(const Operation& operation, const RecoveryPolicy& policy, std::uint64_t life_seed)
    : operation_(operation),
      policy_(policy),
      seed_(life_seed),
      hosts_(operation, life_seed),
      faults_(operation, hosts_, life_seed),
      fleet_(operation, hosts_, life_seed),
      progress_(operation.job.step, save_rules(operation)),
      lost_copies_(operation.tiers.size()) {
  result_.faults.resize(operation.components.size());
  result_.lost.resize(operation.components.size());
  if (operation.planned.every) {
    RandomStream stream(seed_, "planned stops");
    pending_.planned_at = operation.planned.every->draw(stream);
  }
}

const ComponentClass& JobLife::component(const Fault& fault) const {
  return operation_.components[fault.component];
}

RandomStream JobLife::stream_of(const Fault& fault, std::string_view what) const {
  return {mix(mix(seed_, fault.component), fault.serial), what};
}

JobView JobLife::view() const {
  return {.operation = operation_, .empty = fleet_.empty(), .lost = pending_.lost_hosts};
}

JobTime JobLife::end() const {
  if (operation_.length.duration) return *operation_.length.duration;
  return *operation_.length.work * kLongestLife;
}

LifeResult JobLife::live() {
  const std::int64_t target =
      operation_.length.work
          ? (operation_.length.work->count() + operation_.job.step.count() - 1) / operation_.job.step.count()
          : 0;
  result_.finished = target == 0;
  while (now_ < end()) {
    const SlowPart* const slowest = set_speed();
    const JobTime event = std::min(next_event(), end());
    if (target > 0) {
      const JobTime done = now_ + progress_.until(target);
      if (done <= event) {
        train(done, slowest);
        result_.finished = true;
        break;
      }
    }
    train(event, slowest);
    if (now_ < end()) handle_events();
  }
  result_.wall = now_;
  result_.steps = progress_.steps();
  result_.retired = fleet_.retired();
  CHECK(result_.accounts.sum() == result_.wall, "every moment belongs to one account");
  return std::move(result_);
}

void JobLife::train(JobTime until, const SlowPart* slowest) {
  const JobTime wall = until - now_;
  const JobTime degraded = result_.accounts[Account::kDegraded];
  progress_.run(now_, wall, result_.accounts);
  if (slowest != nullptr) charge(*slowest, result_.accounts[Account::kDegraded] - degraded);
  result_.paid_gpu_hours += hours_of(wall) * static_cast<double>(fleet_.paid_gpus());
  now_ = until;
}

void JobLife::spend(JobTime time, Account account) {
  result_.accounts[account] += time;
  result_.paid_gpu_hours += hours_of(time) * static_cast<double>(fleet_.paid_gpus());
  now_ += time;
}

const JobLife::SlowPart* JobLife::set_speed() {
  std::erase_if(slow_,
                [this](const SlowPart& part) { return part.fault.host != kNoHost && !fleet_.in_job(part.fault.host); });
  const SlowPart* slowest = nullptr;
  double slowdown = 1.0;
  for (const SlowPart& part : slow_) {
    if (component(part.fault).slowdown <= slowdown) continue;
    slowest = &part;
    slowdown = component(part.fault).slowdown;
  }
  set_stalls();
  const double factor = std::max(1.0, policy_.slowdown(view()).value_or(1.0) * slowdown);
  progress_.set_step_wall(JobTime(std::llround(static_cast<double>(operation_.job.step.count()) * factor)));
  return slowest;
}

// Its share of what steps took longer: hosts that are missing make them longer, too.
void JobLife::charge(const SlowPart& slowest, JobTime degraded) {
  const double own = component(slowest.fault).slowdown;
  const double missing = policy_.slowdown(view()).value_or(1.0);
  if (degraded == JobTime()) return;
  const double share = std::clamp(missing * (own - 1.0) / (missing * own - 1.0), 0.0, 1.0);
  result_.lost[slowest.fault.component] += JobTime(std::llround(static_cast<double>(degraded.count()) * share));
}

// The longest of all slow parts.
void JobLife::set_stalls() {
  for (std::size_t tier = 0; tier < operation_.tiers.size(); ++tier) {
    JobTime stall = operation_.tiers[tier].stall;
    for (const SlowPart& part : slow_) {
      const std::vector<JobTime>& stalls = component(part.fault).stalls;
      if (!stalls.empty()) stall = std::max(stall, stalls[tier]);
    }
    progress_.set_stall(tier, stall);
  }
}

JobTime JobLife::next_event() const {
  JobTime next = std::min({faults_.next().at, pending_.planned_at, pending_.join_at, pending_.corruption.found_at});
  for (const SlowPart& part : slow_) next = std::min({next, part.found_at, part.ends_at});
  if (!fleet_.empty().empty()) next = std::min(next, fleet_.next_return());
  return std::max(next, now_);
}

void JobLife::handle_events() {
  if (!fleet_.empty().empty() && fleet_.next_return() <= now_) {
    fleet_.return_hosts(now_);
    schedule_join();
  }
  if (faults_.next().at <= now_) return take_candidate();
  if (pending_.corruption.found_at <= now_) {
    Fault fault = pending_.corruption.fault;
    fault.is_known = true;
    return recover(fault);
  }
  if (pending_.planned_at <= now_) return stop_as_planned();
  if (pending_.join_at <= now_) return join();
  handle_slow_parts();
}

std::int64_t JobLife::gpus_used(const FaultCandidate& candidate) const {
  const JobShape& job = operation_.job;
  const bool of_gpu = operation_.components[candidate.component].per == Exposed::kGpu;
  if (!of_gpu || candidate.host == kNoHost || !fleet_.in_job(candidate.host)) return job.gpus_per_host;
  return job.gpus_on(fleet_.slot_of(candidate.host));
}

bool JobLife::is_hit(const FaultCandidate& candidate) const {
  const ComponentClass& part = operation_.components[candidate.component];
  const std::int64_t used = gpus_used(candidate);
  if (part.lifetime && candidate.part >= used) return false;
  // The candidate was drawn at the highest hazard.
  double hazard = 1.0;
  if (!part.lifetime && part.times.empty()) {
    const double highest = std::max(1.0, part.early_factor);
    hazard = (candidate.at < part.early_until ? part.early_factor : 1.0) / highest;
    if (candidate.host != kNoHost) {
      hazard *= fleet_.hazard_left(candidate.host) * part.factor_at(candidate.host) / part.highest_factor();
      hazard *= static_cast<double>(used) / static_cast<double>(operation_.job.gpus_per_host);
    }
    if (candidate.draw >= hazard) return false;
  }
  if (candidate.host == kNoHost) return true;
  if (part.hosts <= 1) return fleet_.in_job(candidate.host);
  return !victims({.component = candidate.component, .host = candidate.host}).empty();
}

std::vector<std::int64_t> JobLife::victims(const Fault& fault) const {
  const std::int64_t count = component(fault).hosts;
  std::vector<std::int64_t> hit;
  if (count == 0 || fault.host == kNoHost) return hit;
  const std::int64_t first = fault.host / count * count;
  for (std::int64_t host = first; host < std::min(first + count, hosts_.size()); ++host) {
    if (fleet_.in_job(host)) hit.push_back(host);
  }
  return hit;
}

JobLife::Fault JobLife::fault_of(const FaultCandidate& candidate) const {
  Fault fault{.component = candidate.component, .host = candidate.host, .serial = candidate.serial};
  if (fault.host == kNoHost && component(fault).hosts > 0) {
    const auto slots = static_cast<std::uint64_t>(operation_.job.hosts());
    fault.host = fleet_.host_at(static_cast<std::int64_t>(stream_of(fault, "victim").next_below(slots)));
  }
  return fault;
}

void JobLife::take_candidate() {
  const FaultCandidate candidate = faults_.next();
  faults_.pop();
  if (!is_hit(candidate)) return;
  ++result_.faults[candidate.component];
  const Fault fault = fault_of(candidate);
  switch (component(fault).kind) {
    case FaultKind::kCrash:
    case FaultKind::kHang: return recover(fault);
    case FaultKind::kSlow: return begin_slow(fault);
    case FaultKind::kCorruption: return begin_corruption(fault);
  }
}

void JobLife::begin_slow(const Fault& fault) {
  RandomStream stream = stream_of(fault, "recovery");
  const ComponentClass& part = component(fault);
  const Spread& detect = operation_.detection_of(part);
  SlowPart slow{.fault = fault};
  slow.fault.is_known = true;
  const JobTime found = now_ + detect.draw(stream);
  if (part.lasts.mean() > 0.0) slow.ends_at = now_ + part.lasts.draw(stream);
  if (part.evicts) slow.found_at = found;
  slow_.push_back(slow);
}

// One corruption at a time: a later one is found, or not, with the first.
void JobLife::begin_corruption(const Fault& fault) {
  RandomStream stream = stream_of(fault, "recovery");
  const ComponentClass& part = component(fault);
  const Spread& detect = operation_.detection_of(part);
  const JobTime found = now_ + detect.draw(stream);
  if (stream.next_unit() >= part.found) {
    ++result_.undetected;
    return;
  }
  if (pending_.corruption.found_at < kNever) return;
  pending_.corruption = {.fault = fault, .step = progress_.steps(), .found_at = found};
}

void JobLife::handle_slow_parts() {
  const auto found = std::ranges::find_if(slow_, [this](const SlowPart& part) { return part.found_at <= now_; });
  if (found != slow_.end()) {
    const SlowPart part = *found;
    slow_.erase(found);
    return recover_from_slow(part);
  }
  std::erase_if(slow_, [this](const SlowPart& part) { return part.ends_at <= now_; });
}

// Where diagnosis misses the host, it stays slow until it is found again, after one step at least.
void JobLife::recover_from_slow(SlowPart part) {
  pending_.missed_host = kNoHost;
  recover(part.fault);
  if (pending_.missed_host == kNoHost || part.ends_at <= now_) return;
  part.fault.host = pending_.missed_host;
  part.fault.serial = mix(part.fault.serial, 1);  // other draws
  RandomStream stream = stream_of(part.fault, "recovery");
  part.found_at = now_ + std::max(operation_.detection_of(component(part.fault)).draw(stream), operation_.job.step);
  slow_.push_back(part);
}

void JobLife::stop_as_planned() {
  RandomStream stream(mix(seed_, static_cast<std::uint64_t>(++result_.planned)), "planned stops");
  const JobTime takes = std::min(operation_.planned.takes.draw(stream), end() - now_);
  spend(takes, Account::kPlanned);
  while (faults_.next().at < now_) faults_.pop();
  pending_.planned_at = now_ + std::max(operation_.planned.every->draw(stream), JobTime(1));
}

void JobLife::schedule_join() {
  if (pending_.join_at < kNever || fleet_.empty().empty() || fleet_.spare() == 0) return;
  if (!policy_.wants(view(), fleet_.spare())) return;
  RandomStream stream(mix(seed_, static_cast<std::uint64_t>(now_.count())), "joining");
  const Joining joining = policy_.joining(view(), stream);
  pending_.join_at = now_ + joining.after;
  pending_.join_stall = joining.stall;
}

void JobLife::join() {
  pending_.join_at = kNever;
  const std::size_t before = fleet_.empty().size();
  static_cast<void>(fleet_.fill(now_));                         // hosts are swapped while the job goes on
  if (fleet_.empty().size() == before) return schedule_join();  // a recovery took them meanwhile
  const Fault nobody{.component = operation_.components.size()};
  if (phase(pending_.join_stall, Account::kRestart, nobody) == PhaseEnd::kFault) return recover(pending_.interrupting);
  schedule_join();
}

JobLife::PhaseEnd JobLife::phase(JobTime length, Account account, const Fault& cause) {
  const JobTime last = std::min(now_ + length, end());
  const auto charge = [&](JobTime until) {
    if (cause.component < result_.lost.size()) result_.lost[cause.component] += until - now_;
    spend(until - now_, account);
  };
  while (faults_.next().at < last) {
    const FaultCandidate candidate = faults_.next();
    faults_.pop();
    if (operation_.clock == FaultClock::kRunning || !is_hit(candidate)) continue;
    const FaultKind kind = operation_.components[candidate.component].kind;
    if (kind == FaultKind::kCorruption) continue;  // nothing is computed
    const Fault fault = fault_of(candidate);
    ++result_.faults[candidate.component];
    charge(std::max(candidate.at, now_));
    if (kind == FaultKind::kSlow) {
      begin_slow(fault);
      continue;
    }
    ++result_.in_recovery;
    pending_.interrupting = fault;
    return PhaseEnd::kFault;
  }
  charge(last);
  return now_ >= end() ? PhaseEnd::kOver : PhaseEnd::kDone;
}

}  // namespace ringwright::planning
