// The hosts of a job, those that can stand in, and those in repair.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <queue>
#include <vector>

#include "planning/operation/fault_timeline.h"
#include "planning/operation/operation.h"

namespace ringwright::planning {

class Fleet {
 public:
  // Both must outlive this.
  Fleet(const Operation& operation, const HostTable& hosts, std::uint64_t life_seed);

  [[nodiscard]] bool in_job(std::int64_t host) const { return slot_of_[static_cast<std::size_t>(host)] >= 0; }
  [[nodiscard]] std::int64_t slot_of(std::int64_t host) const { return slot_of_[static_cast<std::size_t>(host)]; }
  [[nodiscard]] std::int64_t host_at(std::int64_t slot) const { return host_at_[static_cast<std::size_t>(slot)]; }
  // A host fails as often as at the start, or less since a repair cured it: the ratio.
  [[nodiscard]] double hazard_left(std::int64_t host) const;

  // The host leaves the job, or the spare hosts, and goes to repair (or for good). One in repair stays there.
  void remove(std::int64_t host, JobTime now, const ComponentClass& cause);
  // Nobody repairs the host, which failed and counts as newly come.
  void keep(std::int64_t host);
  // The host leaves its place to another one and stands by as it is.
  void stand_by(std::int64_t host);
  // Empty places of the job, in the order in which they became empty.
  [[nodiscard]] const std::vector<std::int64_t>& empty() const { return empty_; }

  struct Taken {
    JobTime time;  // swap, selection and preemption
    bool selected = false;
  };
  // Fills empty places with hosts that are there now.
  [[nodiscard]] Taken fill(JobTime now);
  // Hosts that come back until `now` join the spare ones.
  void return_hosts(JobTime now);
  // When the next host returns; never when none will.
  [[nodiscard]] JobTime next_return() const;
  // Hosts that could join now.
  [[nodiscard]] std::int64_t spare() const;
  [[nodiscard]] std::int64_t retired() const { return retired_; }
  // GPUs of the job and of standby hosts, which cost as much; of the job's last host those that it uses.
  [[nodiscard]] std::int64_t paid_gpus() const {
    const JobShape& job = operation_.job;
    const std::int64_t last = std::ssize(host_at_) - 1;
    const std::int64_t hosts = std::ssize(host_at_) - std::ssize(empty_) + std::ssize(standby_);
    return hosts * job.gpus_per_host - (host_at(last) == kNoHost ? 0 : job.gpus_per_host - job.gpus_on(last));
  }

 private:
  struct Return {
    JobTime at;
    std::int64_t host;
    friend bool operator>(const Return& a, const Return& b) { return a.at != b.at ? a.at > b.at : a.host > b.host; }
  };
  struct History {
    std::uint64_t repairs = 0;
    std::int64_t returned = 0;  // turn of its last return or fault; those with low ones have been there longest
    bool lemon = false;
    bool cured = false;           // once repaired for good
    std::vector<JobTime> faults;  // recent ones, where hosts retire
  };
  void join(std::int64_t slot, std::int64_t host);
  void choose_anew(RandomStream& stream);
  // The host leaves its place in the job.
  void leave(std::int64_t slot);
  // Hosts come back: as warm ones if there is a place, else to the pool.
  void come_back(std::int64_t host);
  // Takes hosts of other jobs where the job's own are too few, and what that takes.
  [[nodiscard]] JobTime preempt(JobTime now, RandomStream& stream);
  [[nodiscard]] bool retires(History& history, JobTime now) const;
  [[nodiscard]] JobTime repair_time(std::int64_t host, const ComponentClass& cause);

  const Operation& operation_;
  std::uint64_t seed_;
  std::vector<std::int64_t> slot_of_;  // by host; -1: elsewhere
  std::vector<std::int64_t> host_at_;  // by slot
  std::vector<std::int64_t> empty_;
  std::deque<std::int64_t> standby_;
  std::deque<std::int64_t> pool_;
  std::deque<std::int64_t> others_;
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
  std::vector<History> history_;
  std::int64_t retired_ = 0;
  std::int64_t turn_ = 0;
};

}  // namespace ringwright::planning
