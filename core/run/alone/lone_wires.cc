#include "core/run/alone/lone_wires.h"

namespace ringwright {

void LoneWires::start(const Transfer& transfer, TransferListener& listener) {
  listener_ = &listener;
  const Seen key(transfer.from, transfer.to, transfer.route_kind, transfer.nics, transfer.label);
  if (seen_.insert(key).second) {
    queries_.push_back({.from = transfer.from,
                        .to = transfer.to,
                        .route_kind = transfer.route_kind,
                        .nics = transfer.nics,
                        .label = transfer.label});
  }
  network_.start(transfer, *this);
}

void LoneWires::on_arrived(std::uint64_t token) {
  last_arrival_ = engine_.now();
  listener_->on_arrived(token);
}

void LoneWires::begin_call() {
  queries_.clear();
  seen_.clear();
  last_arrival_ = engine_.now();
}

}  // namespace ringwright
