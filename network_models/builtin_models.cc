// The table of network models.
#include <array>

#include "network_models/builtin.h"

namespace ringwright::network_models {

// One factory per model, in the file of its name.
std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_dcqcn(const ModelInputs& inputs);

std::span<const ModelEntry> models() {
  static constexpr std::array kModels = {
      ModelEntry{.name = "flow",
                 .help = "max-min fair sharing of every link of the fabric",
                 .make = make_flow,
                 .plays_faults = true},
      ModelEntry{.name = "alpha_beta",
                 .help = "latency + size / bandwidth; no sharing of links",
                 .make = make_alpha_beta,
                 .shares_links = false},
      ModelEntry{.name = "dcqcn",
                 .help = "a fluid with queues in switches: ECN, DCQCN's rates, PFC pauses",
                 .make = make_dcqcn,
                 .max_min = false},
  };
  return kModels;
}

}  // namespace ringwright::network_models
