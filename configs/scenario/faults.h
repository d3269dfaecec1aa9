// Faults during a run: links that go down or degrade for a while, hosts that compute slowly; read from `faults`.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/units.h"
#include "core/config/config_map.h"
#include "network_models/builtin.h"
#include "network_models/host/nic_sets.h"
#include "network_models/topologies/fault_schedule.h"

namespace ringwright::configs {

// A fault as it was ordered, for reports.
struct OrderedFault {
  std::string text;  // "leaf3.2->spine5 down from 2 s to 32 s"; before its time is known, without it
  TimePoint at;
  TimePoint until = network_models::kForGood;
  bool is_down = false;
  bool of_link = false;      // otherwise of a host
  bool of_lost_nic = false;  // all of its links are cables of NICs that are missing for the whole run
  std::int64_t host = -1;    // that is slow
  std::string path;          // "faults[2].nic"
  Place place;
};

// A fault that begins within a step, whose time is not known before the step is simulated. Times of its links count
// from its beginning.
struct StepFault {
  double at_step = 0.0;     // 1.4: after 40 % of the second step, warm-up included
  std::size_t ordered = 0;  // its number in Faults::ordered
  std::vector<network_models::LinkFault> links;
};

struct Faults {
  std::vector<network_models::LinkFault> links;  // without those of lost NICs
  network_models::NicSets lost_nics;             // down from the start and for good: the library does not use them
  std::vector<int> nics_to_plan_around;          // down with `failover: replan`, by host, a bit each; empty: none
  std::vector<double> slowdown_of_host;          // 1 = nominal; empty: all are
  std::vector<double> nic_share_of_host;  // what degraded NICs leave of its bandwidth, for the whole run; empty: all
  std::vector<OrderedFault> ordered;
  std::vector<StepFault> at_steps;  // not in `links` (configs/simulation/fault_times.h)

  // Whether the network is the same during the whole run: its links fail at the start and for good, and paths avoid
  // them at once.
  [[nodiscard]] bool last() const;
};

struct FaultContext {
  const network_models::Topology& topology;  // built to look up names, when there are faults of links
  const network_models::ModelEntry& model;   // one that does not simulate faults ignores those of links
  std::int64_t hosts = 1;
  int nics = 0;                                // of a host
  std::string_view fabric = {};                // name of the topology
  const network_models::Host* host = nullptr;  // with its kinds; null: all hosts have `nics`
  bool fabric_is_wrong = false;                // and reported, so that it cannot be built
};

// "from 2 s to 32 s"
[[nodiscard]] std::string when_text(TimePoint at, TimePoint until);

// The list `faults` of the document's root.
[[nodiscard]] Faults read_faults(ConfigMap& root, const FaultContext& context);

}  // namespace ringwright::configs
