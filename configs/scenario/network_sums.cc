#include "configs/scenario/network_sums.h"

namespace ringwright::configs {
namespace {

constexpr const char* kRemedy = "set cluster.fabric.reduction: {enabled: true} where the switches have SHARP";

}  // namespace

void apply_network_sums(ConfigMap root, const network_models::SwitchSums& sums, collectives::NcclSetup& nccl,
                        collectives::CommSettings& comm) {
  nccl.host.network_reduces = sums.enabled;
  comm.costs.network_sum = sums.latency;
  comm.costs.network_sum_rate = sums.rate;
  if (sums.enabled || root.documenting()) return;
  ConfigMap map = root.map("comm", "the library that runs collectives");
  if (nccl.knobs.collnet) {
    map.map("env", "").warn("NCCL_COLLNET_ENABLE", "E186",
                            "the fabric's switches do not reduce, so NCCL does not use CollNet", kRemedy);
  }
  if (comm.plan && comm.plan->algorithm.starts_with("collnet")) {
    map.map("plan", "").error("algorithm", "E186", "CollNet needs a fabric whose switches reduce", kRemedy);
  }
}

}  // namespace ringwright::configs
