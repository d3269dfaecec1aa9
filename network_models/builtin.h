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
#include "network_models/host/nic_sets.h"

namespace ringwright::network_models {

struct Host;  // network_models/host/host.h: what a server holds (GPUs, NVLink, PCIe tree, NICs)

// A built network: the fabric, and the way through it. GPU number g of the fabric is GPU g % gpus_per_host of host
// g / gpus_per_host; rank r sits on GPU r.
struct Network {
  Fabric fabric;
  std::unique_ptr<Router> router;  // refers to nothing but itself: a Network may be moved
};

// Checked settings of one topology, ready to build.
class Topology {
 public:
  virtual ~Topology() = default;
  [[nodiscard]] virtual Network build() const = 0;
  // From now on it builds hosts without GPUDirect (Host::gpudirect), whose GPUs copy to and from host memory at this
  // rate, all thread blocks together. Where hosts are no part of it, nothing changes.
  virtual void pass_through_host_memory(Bandwidth copies) = 0;
  // From now on hosts are without the NICs that their sets lack: GPUs take the nearest of the others. Where hosts are
  // no part of it, nothing changes.
  virtual void leave_out_nics(const NicSets& sets) = 0;
  // Sides of the grid in which hosts are joined to their neighbours only, the first one counting fastest: of a torus
  // that wraps. Empty: any host reaches any other alike.
  [[nodiscard]] virtual std::vector<int> grid() const { return {}; }
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

// Whether repeated transfers may be played as one where nothing disturbs them. Results are the same to the picosecond.
enum class FastForward { kOn, kOff };

struct ModelOptions {
  FastForward fast_forward = FastForward::kOn;
  // flow: prove every re-solve against a full one; slow. The largest difference is a counter.
  bool verify_fairness = false;
  // How long a transfer between hosts may stand still before its NICs give it up and the run ends; 0: for ever. Only
  // for models that play faults.
  Duration patience = {};
  std::uint32_t ranks_per_host = 1;  // tells which transfers are between hosts
};

struct ModelInputs {
  Engine& engine;
  const Router& router;
  ModelOptions options = {};
};

struct ModelEntry {
  std::string_view name;  // simulate.network
  std::string_view help;
  std::unique_ptr<NetworkModel> (*make)(const ModelInputs& inputs);
  bool plays_faults = false;  // set_capacity() and reroute()
  bool shares_links = true;   // otherwise a transfer takes what it would take alone
};
[[nodiscard]] std::span<const ModelEntry> models();

}  // namespace ringwright::network_models
