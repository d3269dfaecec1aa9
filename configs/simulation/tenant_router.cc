#include "configs/simulation/tenant_router.h"

#include <algorithm>
#include <utility>

namespace ringwright::configs {
namespace {

constexpr unsigned kTenantBits = 24;  // above dimensions and channels (core/plan/task_graph.h)

void add_hops(std::vector<Hop>& to, const std::vector<Hop>& hops) {
  for (const Hop& hop : hops) {
    const auto same = std::ranges::find(to, hop.link, &Hop::link);
    if (same == to.end()) {
      to.push_back(hop);
    } else {
      same->share += hop.share;
    }
  }
}

}  // namespace

TenantRouter::TenantRouter(std::unique_ptr<Router> router, const GpuSharing& sharing, int gpus_per_host)
    : router_(std::move(router)), sharing_(sharing), gpus_per_host_(static_cast<std::size_t>(gpus_per_host)) {
  std::vector<std::uint32_t> tenants(sharing.gpu_of_rank.size());
  for (const RankId gpu : sharing.gpu_of_rank) tenant_of_rank_.push_back(tenants[gpu.index()]++);
}

Duration TenantRouter::route(const RouteQuery& query, std::vector<Hop>& hops) const {
  RouteQuery asked = query;
  asked.from = sharing_.gpu_of(query.from);
  asked.to = sharing_.gpu_of(query.to);
  if (!tenant_of_rank_.empty()) asked.label += tenant_of_rank_[query.from.index()] << kTenantBits;
  return lacks_peer_path(asked) ? through_host_memory(asked, hops) : router_->route(asked, hops);
}

bool TenantRouter::lacks_peer_path(const RouteQuery& query) const {
  if (sharing_.kind != SharingKind::kMig || stays_in_host(query.route_kind)) return false;
  return query.from.index() / gpus_per_host_ == query.to.index() / gpus_per_host_;
}

Duration TenantRouter::through_host_memory(RouteQuery query, std::vector<Hop>& hops) const {
  query.nics = {};
  const RankId to = std::exchange(query.to, query.from);
  query.route_kind = RouteKind::kToMemory;
  Duration latency = router_->route(query, hops);
  query.from = query.to = to;
  query.route_kind = RouteKind::kFromMemory;
  std::vector<Hop> back;
  latency += router_->route(query, back);
  add_hops(hops, back);
  return latency;
}

}  // namespace ringwright::configs
