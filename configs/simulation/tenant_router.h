// The paths of ranks that share GPUs: those of their GPUs.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/plan/gpu_sharing.h"
#include "core/ports/router.h"

namespace ringwright::configs {

// Processes on one GPU have connections of their own, which equal-cost paths are hashed by. Instances of MIG have no
// peer-to-peer path, over NVLink or PCIe (NVIDIA, "Multi-Instance GPU User Guide", application considerations): what
// they send to a GPU of the same host passes through host memory.
class TenantRouter final : public Router {
 public:
  TenantRouter(std::unique_ptr<Router> router, const GpuSharing& sharing, int gpus_per_host);

  Duration route(const RouteQuery& query, std::vector<Hop>& hops) const override;
  [[nodiscard]] std::span<const LinkId> twins() const override { return router_->twins(); }
  [[nodiscard]] std::span<const Bandwidth> capacities() const override { return router_->capacities(); }

 private:
  [[nodiscard]] bool lacks_peer_path(const RouteQuery& query) const;
  Duration through_host_memory(RouteQuery query, std::vector<Hop>& hops) const;

  std::unique_ptr<Router> router_;
  GpuSharing sharing_;
  std::vector<std::uint32_t> tenant_of_rank_;  // how many earlier ranks its GPU has
  std::size_t gpus_per_host_;
};

}  // namespace ringwright::configs
