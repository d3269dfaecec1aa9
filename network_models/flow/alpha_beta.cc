// Alpha-beta model: time = latency of the path + size / bandwidth of its narrowest link, as if every transfer were
// alone.
//
// Hockney, "The communication challenge for MPI" (Parallel Computing 20, 1994). Links are not shared: two transfers on
// one link both get all of it, so this is a lower bound of the flow model.
#include <memory>

#include "network_models/flow/lone_transfers.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs);

namespace {

Duration alpha_beta_time(const LonePath& path, Bytes size) {
  return path.latency + transfer_time(size, path.narrowest);
}

}  // namespace

std::unique_ptr<NetworkModel> make_alpha_beta(const ModelInputs& inputs) {
  return std::make_unique<LoneTransfers>(inputs, alpha_beta_time);
}

}  // namespace ringwright::network_models
