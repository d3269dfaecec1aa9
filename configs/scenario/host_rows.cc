#include "configs/scenario/host_rows.h"

#include <algorithm>
#include <map>

#include "workload/layout/stage_meshes.h"
#include "workload/memory/host_memory.h"
#include "workload/recommendation/recommendation_memory.h"

namespace ringwright::configs {
namespace {

using workload::HostHoldings;
using Items = std::vector<workload::MemoryItem>;

// Of one host: how many of its ranks each stage has.
using StagesOfHost = std::map<int, std::int64_t>;

// Roles of a recommendation model's ranks.
std::vector<int> stages_of(const Job& job) {
  if (!job.recommendation) return workload::stage_of_ranks(job.parallel);
  const std::vector<std::uint32_t>& roles = job.recommendation->placement.role_of_rank;
  return {roles.begin(), roles.end()};
}

std::vector<HostHoldings> holdings_of(const Job& job) {
  if (job.recommendation) {
    return workload::recommendation_host_holdings(job.recommendation->model, job.recommendation->placement);
  }
  return workload::host_holdings({.shape = job.model, .training = job.training, .parallel = job.parallel});
}

std::vector<StagesOfHost> stages_of_hosts(const Cluster& cluster, const Job& job) {
  const std::vector<int> stages = stages_of(job);
  const auto per_host = static_cast<std::size_t>(cluster.host.gpus);
  std::vector<StagesOfHost> hosts((stages.size() + per_host - 1) / per_host);
  for (std::size_t rank = 0; rank < stages.size(); ++rank) ++hosts[rank / per_host][stages[rank]];
  return hosts;
}

HostRow sum(const std::vector<HostHoldings>& holdings, const StagesOfHost& host, Items HostHoldings::*where) {
  HostRow row;
  for (const auto& [stage, ranks] : host) {
    for (const workload::MemoryItem& item : holdings[static_cast<std::size_t>(stage)].*where) {
      auto at = std::ranges::find(row.items, item.name, &MemoryItem::name);
      if (at == row.items.end()) at = row.items.insert(at, {.name = item.name, .size = Bytes(0)});
      at->size += item.bytes * ranks;
      row.total += item.bytes * ranks;
    }
  }
  return row;
}

// By share of the capacity, since hosts of several kinds differ in it; where it is not known, by size.
bool is_fuller(const HostRow& row, const HostRow& than) {
  if (row.total == Bytes(0) || than.total == Bytes(0)) return row.total > than.total;
  const bool known = row.capacity > Bytes(0);
  if (known != (than.capacity > Bytes(0))) return known;
  return known ? ratio(row.total, row.capacity) > ratio(than.total, than.capacity) : row.total > than.total;
}

}  // namespace

std::vector<HostRow> host_rows(const Scenario& scenario) {
  return host_rows(scenario.cluster, scenario.job);
}

std::vector<HostRow> host_rows(const Cluster& cluster, const Job& job) {
  const std::vector<HostHoldings> holdings = holdings_of(job);
  if (holdings.empty()) return {};
  HostRow memory;
  HostRow drives;
  const std::vector<StagesOfHost> hosts = stages_of_hosts(cluster, job);
  for (std::size_t host = 0; host < hosts.size(); ++host) {
    const network_models::Host& kind = cluster.host.kind_at(static_cast<std::int64_t>(host));
    const auto take = [&](HostRow& fullest, const char* what, Items HostHoldings::*where, Bytes capacity) {
      HostRow row = sum(holdings, hosts[host], where);
      row.capacity = capacity;
      if (!is_fuller(row, fullest)) return;
      fullest = std::move(row);
      fullest.what = what;
      fullest.host = static_cast<std::int64_t>(host);
    };
    take(memory, "memory", &HostHoldings::memory, kind.memory.capacity * kind.pcie.sockets);
    take(drives, "drives", &HostHoldings::drives, kind.storage.capacity * kind.storage.drives);
  }
  std::vector<HostRow> rows;
  for (HostRow* row : {&memory, &drives}) {
    if (row->total > Bytes(0)) rows.push_back(std::move(*row));
  }
  return rows;
}

}  // namespace ringwright::configs
