#include "planning/operation/progress.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace ringwright::planning {

Progress::Progress(JobTime step, std::vector<SaveRule> saves)
    : step_(step), step_wall_(step), rules_(std::move(saves)), tiers_(rules_.size()) {
  CHECK(step_ > JobTime(), "a step takes time");
  for (const SaveRule& rule : rules_) CHECK(rule.every > 0, "a tier saves at some steps");
}

JobTime Progress::wall_of(std::int64_t count) const {
  JobTime wall = step_wall_ * count;
  for (const SaveRule& rule : rules_) {
    wall += rule.stall * ((steps_ + count) / rule.every - steps_ / rule.every);
  }
  return wall;
}

JobTime Progress::stall_after(std::int64_t step) const {
  JobTime stall;
  for (const SaveRule& rule : rules_) {
    if (step % rule.every == 0) stall += rule.stall;
  }
  return stall;
}

void Progress::set_stall(std::size_t tier, JobTime stall) {
  const JobTime before = stall_after(steps_);
  rules_[tier].stall = stall;
  const JobTime after = stall_after(steps_);
  if (stall_left_ > JobTime() && before > JobTime() && after != before) {
    stall_left_ = std::max(share_of(stall_left_, after, before), JobTime(1));  // it ends, and its save with it
  }
}

// The saves after the steps from + 1 .. to, whose first step begins at `start`; the stalls after `to` are over.
void Progress::note_saves(std::int64_t from, std::int64_t to, JobTime start) {
  for (std::size_t tier = 0; tier < rules_.size(); ++tier) {
    const SaveRule& rule = rules_[tier];
    const std::int64_t last = to / rule.every * rule.every;
    if (last <= from) continue;
    saved_ += to / rule.every - from / rule.every;
    Saved& saved = tiers_[tier];
    const auto ended = [&](std::int64_t step) { return start + wall_of(step - from); };
    const std::int64_t previous = last - rule.every;
    if (previous > from) {
      saved.version = previous;
      saved.at = ended(previous);
    } else if (saved.writing > 0) {
      saved.version = saved.writing;
      saved.at = saved.writing_saved;
    }
    saved.writing = last;
    saved.writing_saved = ended(last);
    saved.written = saved.writing_saved + rule.write;
  }
}

void Progress::finish_started_step(JobTime& left, Accounts& accounts) {
  const JobTime healthy = step_ - started_;
  const JobTime needed = share_of(step_wall_, healthy, step_);
  if (left >= needed) {
    accounts[Account::kProductive] += healthy;
    accounts[Account::kDegraded] += needed - healthy;
    left -= needed;
    started_ = {};
    ++steps_;
    stall_left_ = stall_after(steps_);
    return;
  }
  const JobTime done = std::min(share_of(step_, left, step_wall_), healthy);
  accounts[Account::kProductive] += done;
  accounts[Account::kDegraded] += left - done;
  started_ += done;
  left = {};
}

void Progress::run_whole_steps(JobTime& now, JobTime& left, Accounts& accounts) {
  std::int64_t low = 0;
  std::int64_t high = left.count() / step_wall_.count();
  while (low < high) {
    const std::int64_t middle = low + (high - low + 1) / 2;
    if (wall_of(middle) <= left)
      low = middle;
    else
      high = middle - 1;
  }
  if (low == 0) return;
  const JobTime wall = wall_of(low);
  accounts[Account::kProductive] += step_ * low;
  accounts[Account::kDegraded] += (step_wall_ - step_) * low;
  accounts[Account::kCheckpoint] += wall - step_wall_ * low;
  note_saves(steps_, steps_ + low, now);
  steps_ += low;
  now += wall;
  left -= wall;
}

void Progress::run(JobTime start, JobTime wall, Accounts& accounts) {
  JobTime now = start;
  JobTime left = wall;
  while (left > JobTime()) {
    if (stall_left_ > JobTime()) {
      const JobTime stalled = std::min(left, stall_left_);
      accounts[Account::kCheckpoint] += stalled;
      stall_left_ -= stalled;
      now += stalled;
      left -= stalled;
      if (stall_left_ == JobTime()) {
        --steps_;  // its saves end now
        note_saves(steps_, steps_ + 1, now - wall_of(1));
        ++steps_;
      }
      continue;
    }
    if (started_ == JobTime()) run_whole_steps(now, left, accounts);
    if (left == JobTime()) return;
    const JobTime before = left;
    const std::int64_t steps = steps_;
    finish_started_step(left, accounts);
    now += before - left;
    if (steps_ > steps && stall_left_ == JobTime()) {
      --steps_;
      note_saves(steps_, steps_ + 1, now - wall_of(1));
      ++steps_;
    }
  }
}

JobTime Progress::until(std::int64_t steps) const {
  if (steps <= steps_) return {};
  JobTime wall = stall_left_;
  if (started_ > JobTime()) wall += share_of(step_wall_, step_ - started_, step_) - step_wall_;
  return wall + wall_of(steps - steps_) - stall_after(steps);
}

std::int64_t Progress::version(std::size_t tier, JobTime now) const {
  const Saved& saved = tiers_[tier];
  return saved.writing > 0 && saved.written <= now ? saved.writing : saved.version;
}

std::int64_t Progress::version_before(std::size_t tier, JobTime now, std::int64_t step) const {
  const std::int64_t newest = version(tier, now);
  return std::min(newest, step / rules_[tier].every * rules_[tier].every);
}

bool Progress::saved_since(std::size_t tier, JobTime when, JobTime now) const {
  const Saved& saved = tiers_[tier];
  if (saved.writing > 0 && saved.written <= now) return saved.writing_saved > when;
  return saved.version > 0 && saved.at > when;
}

void Progress::stop_writing(JobTime now) {
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    Saved& saved = tiers_[tier];
    if (saved.writing > 0 && saved.written <= now) {
      saved.version = saved.writing;
      saved.at = saved.writing_saved;
    }
    saved.writing = 0;
  }
}

void Progress::lose_versions(std::size_t tier) {
  tiers_[tier] = {};
}

JobTime Progress::roll_back(std::int64_t steps, Accounts& accounts) {
  CHECK(steps <= steps_, "a version is not newer than training");
  const JobTime lost = step_ * (steps_ - steps) + started_;
  accounts[Account::kProductive] -= lost;
  accounts[Account::kReplay] += lost;
  steps_ = steps;
  started_ = {};
  stall_left_ = {};
  for (std::size_t tier = 0; tier < tiers_.size(); ++tier) {
    if (tiers_[tier].writing > steps) tiers_[tier].writing = 0;
    if (tiers_[tier].version <= steps) continue;
    const std::int64_t older = steps / rules_[tier].every * rules_[tier].every;
    tiers_[tier] = {.version = rules_[tier].holds_all ? older : 0};
  }
  return lost;
}

}  // namespace ringwright::planning
