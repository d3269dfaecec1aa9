#include "configs/simulation/vendor_tuner.h"

namespace ringwright::configs {

VendorTuner::VendorTuner(const collectives::NcclTuner& first, const collectives::NcclTuner& second,
                         const Cluster& cluster)
    : first_(first), second_(second) {
  for (const HostGroup& group : cluster.groups) is_second_.push_back(group.gpu.nvidia != cluster.gpu.nvidia);
}

const collectives::NcclTuner& VendorTuner::library_of(const GroupLayout& layout) const {
  for (int host = 0; host < layout.host_count(); ++host) {
    if (!is_second_[static_cast<std::size_t>(kind_of_host(layout.nic_set_of(host)))]) return first_;
  }
  return second_;
}

}  // namespace ringwright::configs
