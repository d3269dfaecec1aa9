// NICs that are down from the start of a run and for good: the library does not find them, and they carry no traffic.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/fabric/fabric.h"
#include "network_models/host/host.h"
#include "network_models/topologies/fault_schedule.h"

namespace ringwright::configs {

struct NicsDown {
  std::map<int, std::vector<int>> of_host;  // numbers of NICs, ascending, by host with missing NICs
  std::set<LinkId> cables;                  // of these NICs

  // By sets of NICs, numbered in the order of hosts; no sets when no NIC is missing.
  [[nodiscard]] network_models::NicSets sets(std::int64_t hosts) const;
  [[nodiscard]] bool misses(int host, int nic) const;
};

// A NIC counts as down when none of its cables carries traffic in either direction, from time 0 on.
[[nodiscard]] NicsDown find_nics_down(const Fabric& fabric, std::span<const network_models::LinkFault> faults);

// Why hosts cannot reach each other any more; empty: they can.
struct NicsNeeded {
  std::int64_t hosts = 1;
  int nics = 0;              // of a complete host
  bool rails_apart = false;  // only NICs with the same number reach each other
  const network_models::Host* host = nullptr;  // with its kinds; null: all hosts have `nics`

  [[nodiscard]] int nics_of(int of_host) const { return host == nullptr ? nics : host->kind_at(of_host).nic.count; }
};
[[nodiscard]] std::string why_cut_off(const NicsDown& down, const NicsNeeded& needed);

}  // namespace ringwright::configs
