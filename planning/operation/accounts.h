// Where the wall time of a job went: nine accounts that add up to it exactly.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "planning/operation/job_time.h"

namespace ringwright::planning {

// kReplay: work that was lost and had to be done again. kDegraded: what steps took longer than healthy ones. kRestart:
// all that a recovery does besides detection and diagnosis, swapping hosts included.
enum class Account { kProductive, kCheckpoint, kDetect, kDiagnose, kRestart, kReplay, kDegraded, kWaiting, kPlanned };
inline constexpr std::size_t kAccounts = 9;
inline constexpr std::array<std::string_view, kAccounts> kAccountNames{
    "productive", "checkpoint stall",   "detect", "diagnose", "restart", "replay",
    "degraded",   "waiting for spares", "planned"};
inline constexpr std::array<std::string_view, kAccounts> kAccountKeys{
    "productive", "checkpoint_stall", "detect", "diagnose", "restart", "replay", "degraded", "waiting", "planned"};

struct Accounts {
  std::array<JobTime, kAccounts> times{};

  [[nodiscard]] JobTime& operator[](Account account) { return times[static_cast<std::size_t>(account)]; }
  [[nodiscard]] JobTime operator[](Account account) const { return times[static_cast<std::size_t>(account)]; }
  [[nodiscard]] JobTime sum() const {
    JobTime all;
    for (const JobTime time : times) all += time;
    return all;
  }
};

}  // namespace ringwright::planning
