// The recovery of a job's life: from a fault to training again.
#include <algorithm>

#include "planning/operation/job_life.h"
#include "planning/operation/placement.h"

namespace ringwright::planning {

void JobLife::lose_copies(const Fault& fault) {
  std::vector<std::int64_t> slots;
  for (const std::int64_t host : victims(fault)) slots.push_back(fleet_.slot_of(host));
  pending_.lost_hosts += std::ssize(slots);
  for (std::size_t tier = 0; tier < operation_.tiers.size(); ++tier) {
    if (!operation_.tiers[tier].outlives_process) progress_.lose_versions(tier);
  }
  if (slots.empty()) return;
  for (std::size_t tier = 0; tier < operation_.tiers.size(); ++tier) {
    const CheckpointTier& rule = operation_.tiers[tier];
    if (rule.place == CheckpointPlace::kStorage) continue;
    LostCopies& lost = lost_copies_[tier];
    if (progress_.saved_since(tier, lost.at, now_)) lost.slots.clear();
    for (const std::int64_t slot : slots) {
      if (std::ranges::find(lost.slots, slot) == lost.slots.end()) lost.slots.push_back(slot);
    }
    lost.at = now_;
    const CopyRule copies{.hosts = operation_.job.hosts(),
                          .copies = rule.place == CheckpointPlace::kHost ? 1 : rule.copies,
                          .placement = rule.placement,
                          .jump = rule.jump,
                          .parity = rule.place == CheckpointPlace::kPeers ? rule.parity : 0};
    if (!survives(copies, lost.slots)) progress_.lose_versions(tier);
  }
}

void JobLife::remove_hosts(const Fault& fault) {
  RandomStream stream = stream_of(fault, "blame");
  const auto keep = [&](std::int64_t host) {
    fleet_.keep(host);
    if (component(fault).kind == FaultKind::kSlow) pending_.missed_host = host;
  };
  for (const std::int64_t host : victims(fault)) {
    if (stream.next_unit() >= operation_.diagnosis.finds) {
      if (operation_.diagnosis.swaps_missed) {
        fleet_.stand_by(host);
      } else {
        keep(host);
      }
      continue;
    }
    std::int64_t blamed = host;
    if (stream.next_unit() < operation_.diagnosis.blames_wrong) {
      const auto slots = static_cast<std::uint64_t>(operation_.job.hosts());
      blamed = fleet_.host_at(static_cast<std::int64_t>(stream.next_below(slots)));
      if (blamed != host) keep(host);
    }
    if (blamed != kNoHost) fleet_.remove(blamed, now_, component(fault));
  }
}

JobLife::Version JobLife::newest_version(const Fault& fault) const {
  const bool corrupt = component(fault).kind == FaultKind::kCorruption;
  const std::int64_t good = pending_.corruption.step;
  Version best;
  for (std::size_t tier = 0; tier < operation_.tiers.size(); ++tier) {
    const CheckpointTier& rule = operation_.tiers[tier];
    std::int64_t step = progress_.version(tier, now_);
    if (corrupt && step > good) {
      step = rule.place == CheckpointPlace::kStorage ? progress_.version_before(tier, now_, good) : 0;
    }
    if (step > best.step || (step == best.step && step > 0 && rule.load < best.load)) best = {step, rule.load};
  }
  return best;
}

void JobLife::recover(Fault fault) {
  ++result_.recoveries;
  std::vector<Fault> open;
  while (recover_once(fault, open) == PhaseEnd::kFault) fault = pending_.interrupting;
  pending_.lost_hosts = 0;
  pending_.planned_at = std::max(pending_.planned_at, now_);
  schedule_join();
}

JobLife::PhaseEnd JobLife::recover_once(const Fault& fault, std::vector<Fault>& open) {
  progress_.stop_writing(now_);
  lose_copies(fault);
  open.push_back(fault);
  RandomStream stream = stream_of(fault, "recovery");
  const ComponentClass& part = component(fault);
  const Spread& detect = operation_.detection_of(part);
  const JobTime detection = detect.draw(stream);
  const JobTime diagnosis = operation_.diagnosis.time.draw(stream);
  const bool goes_on = policy_.goes_on_meanwhile() && part.kind != FaultKind::kCorruption;
  if (!fault.is_known && !goes_on) {
    if (const PhaseEnd end = phase(detection, Account::kDetect, fault); end != PhaseEnd::kDone) return end;
  }
  if (!goes_on) {
    if (const PhaseEnd end = phase(diagnosis, Account::kDiagnose, fault); end != PhaseEnd::kDone) return end;
  }
  for (const Fault& one : open) remove_hosts(one);
  open.clear();
  const RecoveryPlan plan = policy_.plan(view(), stream);
  if (plan.fills) {
    if (const PhaseEnd end = fill_places(fault); end != PhaseEnd::kDone) return end;
  } else if (plan.takes_spare) {
    const JobTime swaps = fleet_.fill(now_).time;
    if (const PhaseEnd end = phase(swaps, Account::kRestart, fault); end != PhaseEnd::kDone) return end;
  }
  return restore(fault, plan, stream);
}

JobLife::PhaseEnd JobLife::fill_places(const Fault& fault) {
  JobTime swaps;
  bool has_waited = false;
  for (;;) {
    const Fleet::Taken taken = fleet_.fill(now_);
    if (taken.selected) ++result_.selections;
    swaps += taken.time;
    if (fleet_.empty().empty()) break;
    if (!has_waited) ++result_.waits;
    has_waited = true;
    const JobTime next = fleet_.next_return();
    if (const PhaseEnd end = phase(next - now_, Account::kWaiting, fault); end != PhaseEnd::kDone) return end;
  }
  return phase(swaps, Account::kRestart, fault);
}

JobLife::PhaseEnd JobLife::restore(const Fault& fault, const RecoveryPlan& plan, RandomStream& stream) {
  const bool corrupt = component(fault).kind == FaultKind::kCorruption;
  const bool loads = corrupt || plan.loss == Loss::kVersion || plan.loss == Loss::kLog;
  const Version version = loads ? newest_version(fault) : Version{};
  const JobTime stall = plan.stall + (loads ? version.load : JobTime());
  const double succeeds = plan.whole_restart ? operation_.restart.succeeds : 1.0;
  for (;;) {
    if (const PhaseEnd end = phase(stall, Account::kRestart, fault); end != PhaseEnd::kDone) return end;
    if (stream.next_unit() < succeeds) break;
  }
  if (loads && version.step == 0) ++result_.from_start;
  if (plan.loss == Loss::kLog && !corrupt) {
    const double lost = seconds_of(progress_.step()) * static_cast<double>(progress_.steps() - version.step);
    result_.lost[fault.component] += progress_.drop_started_step(result_.accounts);
    return phase(job_seconds(lost * plan.replay_share), Account::kReplay, fault);
  }
  if (loads) result_.lost[fault.component] += progress_.roll_back(version.step, result_.accounts);
  if (!loads && plan.loss == Loss::kStep) {
    result_.lost[fault.component] += progress_.drop_started_step(result_.accounts);
  }
  if (!loads && plan.loss == Loss::kCommit) {
    const std::int64_t committed = progress_.steps() - progress_.steps() % plan.commit_every;
    result_.lost[fault.component] += progress_.roll_back(committed, result_.accounts);
  }
  if (pending_.corruption.found_at < kNever && (corrupt || progress_.steps() <= pending_.corruption.step)) {
    pending_.corruption = {};
  }
  return plan.again > JobTime() && !loads ? phase(plan.again, Account::kReplay, fault) : PhaseEnd::kDone;
}

}  // namespace ringwright::planning
