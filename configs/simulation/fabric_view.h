// A view of a built cluster without a training step: its devices and links, paths through it, its bisection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "configs/scenario/scenario.h"
#include "core/base/units.h"
#include "network_models/builtin.h"

namespace ringwright::configs {

struct DeviceCount {
  std::string kind;
  std::size_t count = 0;
};

struct LinkKindCount {
  std::string from;
  std::string to;
  std::size_t count = 0;
  Bandwidth each;  // one direction
};

struct HopView {
  std::string link;  // "leaf3->spine5"
  Bandwidth bandwidth;
  Duration latency;
  double share = 1.0;  // of the flow
};

struct PathView {
  std::vector<HopView> hops;
  Duration latency;
  Bandwidth narrowest;  // the rate of one flow alone
};

struct Reachability {
  std::size_t unreachable_pairs = 0;
  std::vector<std::string> examples;  // "gpu3@host17 -> gpu0@host0"
};

class FabricView {
 public:
  explicit FabricView(const Cluster& cluster);

  [[nodiscard]] std::size_t gpus() const { return network_.fabric.gpus().size(); }
  [[nodiscard]] std::vector<DeviceCount> devices() const;
  [[nodiscard]] std::vector<LinkKindCount> links() const;
  // Every link, by its name in `faults`.
  [[nodiscard]] std::vector<HopView> named_links() const;
  [[nodiscard]] Reachability reachability() const;
  // From one rank to another, both below gpus() and different. `label` selects among equal-cost paths where the policy
  // hashes.
  [[nodiscard]] PathView path(std::size_t from, std::size_t to, std::uint32_t label = 0) const;
  // See bisection_bandwidth in core/fabric/graph_analysis.h.
  [[nodiscard]] Bandwidth bisection() const;
  [[nodiscard]] std::string drawing() const;  // Graphviz

 private:
  network_models::Network network_;
  std::size_t gpus_per_host_;
};

}  // namespace ringwright::configs
