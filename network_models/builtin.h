// The tables of this wing: topologies (the shape of a network) and network models (its behaviour).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/config/config_map.h"
#include "core/engine/engine.h"
#include "core/fabric/fabric.h"
#include "core/ports/network_model.h"
#include "core/ports/router.h"
#include "network_models/congestion/congestion_settings.h"
#include "network_models/congestion/link_kinds.h"
#include "network_models/host/nic_sets.h"

namespace ringwright::network_models {

class CentralRouter;  // network_models/topologies/central_router.h
struct AstraTopology;  // network_models/topologies/dimensions/astra_topology.h
struct Host;  // network_models/host/host.h: the contents of a server (GPUs, NVLink, PCIe tree, NICs)

// A built network: the fabric, and its router. GPU number g of the fabric is GPU g % gpus_per_host of host g /
// gpus_per_host; rank r is on GPU r.
struct Network {
  Fabric fabric;
  std::unique_ptr<Router> router;  // refers to nothing but itself: a Network may be moved
  CentralRouter* central = nullptr;  // the router, where a plan of the job's pairs decides its paths
};

// How hosts see each other: through tiers of switches, or as neighbours on the rings of a grid.
enum class HostsMeet : std::uint8_t { kOtherwise, kAtSwitches, kOnRings };

// Checked settings of one topology, ready to build.
class Topology {
 public:
  virtual ~Topology() = default;
  [[nodiscard]] virtual Network build() const = 0;
  // From now on it builds hosts without GPUDirect (Host::gpudirect), whose GPUs copy to and from host memory at this
  // rate, all thread blocks combined. No effect on a topology without hosts.
  virtual void pass_through_host_memory(Bandwidth copies) = 0;
  // From now on it builds hosts whose GPUs do not write to each other's memory: PCIe carries what NVLink did. No effect
  // on a topology without hosts.
  virtual void leave_out_nvlink() = 0;
  // From now on hosts are without the NICs that their sets leave out: GPUs take the nearest of the others. No effect on
  // a topology without hosts.
  virtual void leave_out_nics(const NicSets& sets) = 0;
  // Sides of the grid in which hosts connect to their neighbours only, the first dimension varying fastest: of a torus
  // that wraps. Empty: all pairs of hosts are equivalent.
  [[nodiscard]] virtual std::vector<int> grid() const { return {}; }
  [[nodiscard]] virtual HostsMeet hosts_meet() const { return HostsMeet::kOtherwise; }
  // Of a fabric that is described by ASTRA-sim's dimensions; null otherwise.
  [[nodiscard]] virtual const AstraTopology* dimensions() const { return nullptr; }
};

struct TopologyRequest {
  const Host& host;
  int hosts = 1;
};

struct TopologyEntry {
  std::string_view name;  // cluster.fabric.type
  std::string_view help;
  // Reads its own settings from the `cluster.fabric` map; mistakes are recorded there. Never null.
  std::unique_ptr<Topology> (*read)(ConfigMap& fabric, const TopologyRequest& request);
};
[[nodiscard]] std::span<const TopologyEntry> topologies();

// Whether repeated transfers may be simulated as one where no other flow shares their links. Results are the same to
// the picosecond.
enum class FastForward { kOn, kOff };

struct ModelOptions {
  FastForward fast_forward = FastForward::kOn;
  // flow: prove every re-solve against a full one; slow. The largest difference is a counter.
  bool verify_fairness = false;
  // How long a transfer between hosts may stall before its NICs give it up and the run ends; 0: forever. Only for
  // models that simulate faults.
  Duration patience = {};
  // Cables of NICs whose connections move to other NICs, by link id of the router (empty: none), and the chunk of bytes
  // that a connection sends again if it was not acknowledged. Only for models that simulate faults.
  std::vector<bool> cables_with_failover = {};
  Bytes unacknowledged = {};
  std::uint32_t ranks_per_host = 1;  // determines which transfers are between hosts
  CongestionSettings congestion = {};  // dcqcn
};

struct ModelInputs {
  Engine& engine;
  const Router& router;
  ModelOptions options = {};
  std::span<const LinkKind> links = {};  // by link id of the router; empty: no link queues. Outlives the model
};

struct ModelEntry {
  std::string_view name;  // simulate.network
  std::string_view help;
  std::unique_ptr<NetworkModel> (*make)(const ModelInputs& inputs);
  bool plays_faults = false;  // set_capacity() and reroute()
  bool shares_links = true;   // otherwise a transfer takes its time alone
  // Shares are max-min fair at any time, which start_coupled(), priorities and calls that are simulated alone need.
  // Otherwise links are distinguished by their kinds, and the past of a flow matters.
  bool max_min = true;
  // Equal ranks take equal times. Otherwise the order of messages that reach a link at the same moment decides, and
  // every rank is simulated.
  bool folds = true;
  bool in_dimensions = false;       // sees ASTRA-sim's dimensions instead of the fabric (seen_dimensions.h)
  Duration rounding = Duration(1);  // of the time over one link
};
[[nodiscard]] std::span<const ModelEntry> models();

}  // namespace ringwright::network_models
