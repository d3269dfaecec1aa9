// ASTRA-sim's congestion-unaware rule for the transfers of any scenario: the latency of the path + size / bandwidth of
// its narrowest link, rounded down to a nanosecond, whatever else is in flight.
#include <memory>

#include "network_models/astra/astra_time.h"
#include "network_models/flow/lone_transfers.h"

namespace ringwright::network_models {

std::unique_ptr<NetworkModel> make_astra_unaware_model(const ModelInputs& inputs);

namespace {

Duration astra_unaware_time(const LonePath& path, Bytes size) {
  return in_nanoseconds(astra_link(path.narrowest, path.latency).delay(1, size.count()));
}

}  // namespace

std::unique_ptr<NetworkModel> make_astra_unaware_model(const ModelInputs& inputs) {
  return std::make_unique<LoneTransfers>(inputs, astra_unaware_time);
}

}  // namespace ringwright::network_models
