// Which links fail, degrade and recover, and when: a list of faults as moments of change and epochs of routing.
//
// While several faults affect a link their factors multiply; 0 is down. An *epoch* is a set of links that paths know to
// be down, and of losses: paths depend on the epoch alone, so folding (core/symmetry) has to consider one network per
// epoch. Epoch 0 has neither.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/router.h"

namespace ringwright::network_models {

inline constexpr TimePoint kForGood = TimePoint(Duration(std::numeric_limits<std::int64_t>::max()));

// What takes over the traffic of a NIC whose cable is down (network_models/topologies/nic_failover.h).
enum class FailoverMode : std::uint8_t { kNone, kMigrate, kBalance, kReplan };

struct LinkFault {
  LinkId link;
  TimePoint at;
  TimePoint until = kForGood;
  double factor = 0.0;  // of the link's capacity that is left, 0 to 1; 0: the link is down
  // Until paths avoid a link that is down: convergence of routing; of a NIC, detection and migration. Then flows wait.
  Duration reroute_after = {};
  FailoverMode failover = FailoverMode::kNone;  // only of cables of NICs
  double loss = 0.0;  // of packets, 0 to less than 1; with a factor of 1
};

using LinkLosses = std::map<LinkId, double>;  // share of packets that a link loses;

struct LinkChange {
  LinkId link;
  double factor = 1.0;  // of the capacity, from now on
};

// The changes at one instant.
struct FaultMoment {
  TimePoint when;
  std::vector<LinkChange> changes;  // by link id
  std::uint32_t epoch = 0;          // from now on
};

class FaultSchedule {
 public:
  FaultSchedule() : FaultSchedule({}, 0) {}
  FaultSchedule(std::span<const LinkFault> faults, std::size_t link_count);

  [[nodiscard]] bool empty() const { return moments_.empty(); }
  [[nodiscard]] const std::vector<FaultMoment>& moments() const { return moments_; }
  [[nodiscard]] std::size_t epoch_count() const { return epochs_.size(); }
  // By link; null while none is down, as in epoch 0.
  [[nodiscard]] const LinksDown* down(std::uint32_t epoch) const {
    return epochs_[epoch].any_down ? &epochs_[epoch].down : nullptr;
  }
  [[nodiscard]] const LinkLosses& losses(std::uint32_t epoch) const { return epochs_[epoch].losses; }
  [[nodiscard]] bool any_losses() const;
  // By link: equal exactly for links with the same faults at the same times.
  [[nodiscard]] std::vector<std::uint64_t> link_colours() const;
  // By link; empty: none has any.
  [[nodiscard]] std::span<const FailoverMode> failover() const { return failover_; }

 private:
  struct Epoch {
    LinksDown down;
    LinkLosses losses;
    bool any_down = false;
    friend bool operator==(const Epoch&, const Epoch&) = default;
  };
  std::uint32_t number_epoch(const Epoch& epoch);

  std::size_t link_count_;
  std::vector<FaultMoment> moments_;  // by time
  std::vector<Epoch> epochs_;         // distinct
  std::vector<FailoverMode> failover_;
};

}  // namespace ringwright::network_models
