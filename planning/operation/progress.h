// How far training has come: whole steps, the started one, and the versions that checkpoints hold. Runs of identical
// steps are advanced by multiples, not step by step; the result is the same to the nanosecond.
//
// A save belongs to the end of a step whose number is a multiple of its tier's interval: training stalls, and the
// version counts after its write time, during which training goes on. Write times are at most the interval, so that one
// version is being written at a time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planning/operation/accounts.h"

namespace ringwright::planning {

struct SaveRule {
  std::int64_t every = 1;  // steps
  JobTime stall;
  JobTime write;
  bool holds_all = true;  // versions, not only the newest
};

class Progress {
 public:
  Progress(JobTime step, std::vector<SaveRule> saves);

  // Steps take this long from here on, at least as long as a healthy one.
  void set_step_wall(JobTime wall) { step_wall_ = wall; }
  // Saves from here on stall training so long; by tier. What is left of one in progress changes in proportion.
  void set_stall(std::size_t tier, JobTime stall);
  [[nodiscard]] JobTime step_wall() const { return step_wall_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] JobTime step() const { return step_; }
  [[nodiscard]] std::int64_t saves() const { return saved_; }

  // Trains from `start` for `wall`, and charges the accounts.
  void run(JobTime start, JobTime wall, Accounts& accounts);
  // Wall time until so many steps are done, the stall after the last one left out.
  [[nodiscard]] JobTime until(std::int64_t steps) const;

  // The step of the newest version of a tier that counts at `now`; 0, the start, without any.
  [[nodiscard]] std::int64_t version(std::size_t tier, JobTime now) const;
  // The newest version at or before `step` of a tier that holds all versions.
  [[nodiscard]] std::int64_t version_before(std::size_t tier, JobTime now, std::int64_t step) const;
  // The time of the last save of a tier that counts.
  [[nodiscard]] bool saved_since(std::size_t tier, JobTime when, JobTime now) const;
  // Training stopped at `now`: what is being written is lost.
  void stop_writing(JobTime now);
  // A tier's versions are lost.
  void lose_versions(std::size_t tier);
  // Back to the end of `steps`; the time of the lost work moves from productive to replay. Returns that time. Later
  // versions, which hold wrong numbers, are dropped.
  JobTime roll_back(std::int64_t steps, Accounts& accounts);
  // The step in progress must be done again.
  JobTime drop_started_step(Accounts& accounts) { return roll_back(steps_, accounts); }

 private:
  struct Saved {
    std::int64_t version = 0;
    JobTime at;                // when it was saved
    std::int64_t writing = 0;  // a later version; 0: none
    JobTime written;           // when that one counts
    JobTime writing_saved;     // when that one was saved
  };
  // Of `count` steps after the last whole one, with their saves.
  [[nodiscard]] JobTime wall_of(std::int64_t count) const;
  [[nodiscard]] JobTime stall_after(std::int64_t step) const;
  void note_saves(std::int64_t from, std::int64_t to, JobTime start);
  void finish_started_step(JobTime& left, Accounts& accounts);
  void run_whole_steps(JobTime& now, JobTime& left, Accounts& accounts);

  JobTime step_;
  JobTime step_wall_;
  std::vector<SaveRule> rules_;
  std::vector<Saved> tiers_;
  std::int64_t steps_ = 0;
  JobTime started_;     // healthy time of the step in progress
  JobTime stall_left_;  // of the saves after the last whole step
  std::int64_t saved_ = 0;
};

}  // namespace ringwright::planning
