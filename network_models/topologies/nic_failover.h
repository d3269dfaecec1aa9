// Paths around NICs that fail during a run, over the other NICs of the same host.
//
// Migrate: a connection moves to one backup NIC, which then carries its own traffic and that of the failed NIC.
// Balance: it is spread evenly over all NICs of the host that are up. These are modes 1 and 2 of R2CCL (arXiv
// 2512.25059); with one of n NICs lost, balance makes a ring 1 / (1 - 1/n) times as long. Replan (mode 3): as balance,
// but what leaves the host arrives at the receivers' own NICs where rails are connected; all-reduces are planned around
// the host (collectives/steps/around_lost_nics.cc).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/base/ids.h"
#include "core/fabric/fabric.h"
#include "core/ports/router.h"
#include "network_models/topologies/fault_schedule.h"

namespace ringwright::network_models {

class NicFailover {
 public:
  // `modes`: by link, of cables of NICs (FaultSchedule::failover()).
  NicFailover(const Fabric& fabric, const Router& router, std::span<const FailoverMode> modes);

  // As router.route(), but not over cables that are down (`query.down` is not null) of NICs with failover. Where the
  // host has no other NIC, over them.
  Duration route(const Router& router, const RouteQuery& query, std::vector<Hop>& hops) const;

 private:
  struct Nic {
    std::vector<LinkId> cables;  // both directions; empty: the host has no such NIC
    int owner = -1;              // the rank of the first GPU whose traffic it carries; -1: none
  };
  using Nics = std::vector<Nic>;  // of a host, by number
  // A cable whose NIC has failover.
  struct Failing {
    int host = 0;
    int nic = 0;
    FailoverMode mode = FailoverMode::kNone;
  };

  void find_owners(const Router& router);
  // Of the first NIC on the path that is down; null: none.
  [[nodiscard]] const Failing* find_failed(std::span<const Hop> hops, const LinksDown& down) const;
  // The path over the owner of a NIC: on both hosts, or on the failed one's alone.
  enum class Ends : std::uint8_t { kBoth, kFailed };
  struct Detour {
    std::size_t number = 0;  // of the NIC
    int failed_host = 0;
    Ends ends = Ends::kBoth;
  };
  Duration over(const Router& router, const RouteQuery& query, const Detour& detour, std::vector<Hop>& hops) const;
  // Numbers of NICs that are up on both hosts and carry the traffic of a GPU, from the failed one's next on: on one
  // rail, so that a path exists where rails are not connected, too.
  [[nodiscard]] std::vector<std::size_t> stand_ins(const RouteQuery& query, const Failing& failed) const;

  std::map<LinkId, Failing> failing_;  // both directions
  std::vector<Nics> hosts_;
  std::vector<int> host_of_;  // by rank
};

}  // namespace ringwright::network_models
