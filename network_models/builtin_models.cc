// The table of network models.
#include <array>

#include "network_models/builtin.h"

namespace ringwright::network_models {

// One factory per model, in the file of its name.
std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_flow(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_dcqcn(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_astra_unaware_model(const ModelInputs& inputs);
std::unique_ptr<NetworkModel> make_astra_aware_model(const ModelInputs& inputs);

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
      ModelEntry{.name = "astra_unaware",
                 .help = "ASTRA-sim's network without congestion: dimensions, latency + size / bandwidth in whole ns",
                 .make = make_astra_unaware_model,
                 .shares_links = false,
                 .in_dimensions = true,
                 .rounding = Duration(1'000)},
      ModelEntry{.name = "astra_aware",
                 .help = "ASTRA-sim's network with congestion: one dimension, links send messages one after another",
                 .make = make_astra_aware_model,
                 .max_min = false,
                 .folds = false,
                 .in_dimensions = true,
                 .rounding = Duration(1'000)},
  };
  return kModels;
}

}  // namespace ringwright::network_models
