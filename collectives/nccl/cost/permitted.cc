// Which algorithms and protocols a communicator may use: by the operation, the version, its hosts and variables.
#include "collectives/nccl/cost/permitted.h"

#include <algorithm>

#include "collectives/channels/nvls_parts.h"
#include "collectives/nccl/cost/cost.h"
#include "collectives/nccl/cost/families.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostDirect = 8;  // GPUs of a host with CollNet's direct pattern (NCCL_MAX_DIRECT_ARITY + 1)

}  // namespace

bool nccl_has(CollectiveKind kind, NcclAlgorithm algorithm, Protocol protocol) {
  const bool simple_only = algorithm != NcclAlgorithm::kTree && algorithm != NcclAlgorithm::kRing;
  if (simple_only && protocol != Protocol::kSimple) return false;
  switch (kind) {
    case CollectiveKind::kAllReduce: return algorithm != NcclAlgorithm::kPat;
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter:
      return algorithm == NcclAlgorithm::kRing || algorithm == NcclAlgorithm::kPat ||
             algorithm == NcclAlgorithm::kNvls || algorithm == NcclAlgorithm::kCollnetDirect;
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce: return algorithm == NcclAlgorithm::kRing;
    case CollectiveKind::kAllToAll: return false;
  }
  return false;
}

bool NcclCostModel::ll128_is_safe(const NcclGraph& graph) const {
  const NcclPathRules& rules = tables_.paths;
  const bool listed = rules.ll128_gpus.empty() || std::ranges::count(rules.ll128_gpus, host_.compute_capability) > 0;
  if (host_.compute_capability < 70 || !listed) return false;
  if (graph.inside > (rules.nvb_keeps_ll128 ? NcclPath::kNvlinkByGpu : NcclPath::kNvlink)) return false;
  if (group_.hosts == 1 || graph.between <= NcclPath::kPxb) return true;
  if (host_.compute_capability < 90 || !rules.pxn_keeps_ll128) return false;
  return graph.between <= NcclPath::kPxn && knobs_.ll128_over_c2c;
}

std::string_view NcclCostModel::why_not(const Case& c) const {
  const bool several_hosts = group_.hosts > 1;
  const bool collnet = knobs_.collnet && host_.network_reduces && group_.hosts >= knobs_.collnet_from_hosts;
  if (!knobs_.algorithms[index_of(c.kind)][index_of(c.algorithm)]) return "excluded by NCCL_ALGO";
  const Allowed protocol = knobs_.protocols[index_of(c.kind)][index_of(c.protocol)];
  if (protocol == Allowed::kNo) return "excluded by NCCL_PROTO";
  if (protocol == Allowed::kByRule && !(tables_.rccl.ll128_up_to > 0) && !ll128_is_safe(graph_of(c.algorithm))) {
    return "LL128 needs NVLink, a path to the NIC that avoids the CPU, and a GPU that the version knows";
  }
  if (is_nvls(c.algorithm)) {
    const bool gathers = one_way(c.kind) && !tables_.nvls.gathers;
    const bool trees = c.algorithm == NcclAlgorithm::kNvlsTree && !tables_.nvls.over_hosts;
    if (!tables_.nvls.supported || gathers || trees) return "not in this version";
    if (!knobs_.nvls) return "switched off by NCCL_NVLS_ENABLE";
    if (!host_.multicast) return "no NVSwitch with NVLS";
    if (smallest_host_ <= 2) return "needs more than two GPUs on a switch";
    if (graphs_.nvls.channels < 2) return "needs two channels";
    if (c.algorithm == NcclAlgorithm::kNvlsTree && !several_hosts) return "needs several hosts";
    // Of gathers NCCL's source says so; of trees between domains it is read from measurements: 128 GB200 in two NVL72
    // racks take the times of trees and rings (docs/validation-collectives.md).
    const bool many_gpus = group_.per_host() > kMostNvlsHeads;
    if (many_gpus && (one_way(c.kind) || c.algorithm == NcclAlgorithm::kNvlsTree)) {
      return "an NVLink domain has more GPUs than NVLS has heads (32)";
    }
    if (c.algorithm == NcclAlgorithm::kNvls && several_hosts && !collnet) return "needs CollNet between hosts";
    if (one_way(c.kind) && several_hosts && !tables_.nvls.gathers_over_hosts) return "not in this version";
  }
  if (is_collnet(c.algorithm)) {
    if (!host_.network_reduces) return "the network switches do not reduce";
    if (!collnet || !several_hosts) return "needs NCCL_COLLNET_ENABLE and several hosts";
    if (one_way(c.kind) && !tables_.collnet.gathers) return "not in this version";
    if (c.algorithm == NcclAlgorithm::kCollnetDirect && host_.links != NcclHost::Links::kSwitch) {
      return "needs an NVSwitch";
    }
    if (c.algorithm == NcclAlgorithm::kCollnetDirect && largest_host_ > kMostDirect) {
      return "needs at most eight GPUs a host";
    }
    if (graph_of(c.algorithm).channels == 0) return "the search finds no channels for it";
  }
  if (c.algorithm == NcclAlgorithm::kPat) {
    if (!tables_.pat.supported) return "not in this version";
    if (knobs_.pat == Allowed::kNo) return "switched off by NCCL_PAT_ENABLE";
    if (group_.hosts != group_.ranks) return "needs one GPU per host";
  }
  if (one_way(c.kind) && several_hosts && (is_nvls(c.algorithm) || is_collnet(c.algorithm)) &&
      group_.per_host() > graphs_.collnet.channels) {
    return "needs a NIC for each GPU";
  }
  return {};
}

}  // namespace ringwright::collectives
