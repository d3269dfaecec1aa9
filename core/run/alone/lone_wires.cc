#include "core/run/alone/lone_wires.h"

#include "core/base/random.h"

namespace ringwright {

std::size_t LoneWires::HashOfWire::operator()(const Wire& wire) const {
  const auto [out, in, relay] = wire.nics;
  const auto bits = [](std::int16_t nic) { return std::uint64_t{static_cast<std::uint16_t>(nic)}; };
  const std::uint64_t rest = std::uint64_t{wire.label} << 8U | static_cast<std::uint64_t>(wire.route_kind);
  return mix(mix(std::uint64_t{wire.from.value} << 32U | wire.to.value, rest),
             bits(out) << 32U | bits(in) << 16U | bits(relay));
}

void LoneWires::start(const Transfer& transfer, TransferListener& listener) {
  listener_ = &listener;
  const Wire wire = {.from = transfer.from,
                     .to = transfer.to,
                     .route_kind = transfer.route_kind,
                     .nics = transfer.nics,
                     .label = transfer.label};
  note(wire);
  network_.start(transfer, *this);
}

void LoneWires::note(const Wire& wire) {
  Recent& recent = recent_[HashOfWire()(wire) & (recent_.size() - 1)];
  if (recent.call == call_ && recent.wire == wire) return;
  recent = {.wire = wire, .call = call_};
  if (!seen_.insert(wire).second) return;
  queries_.push_back(
      {.from = wire.from, .to = wire.to, .route_kind = wire.route_kind, .nics = wire.nics, .label = wire.label});
  if (4 * queries_.size() > recent_.size() && recent_.size() < kMostRecent) recent_.assign(4 * recent_.size(), {});
}

void LoneWires::on_arrived(std::uint64_t token) {
  last_arrival_ = engine_.now();
  listener_->on_arrived(token);
}

void LoneWires::begin_call() {
  queries_.clear();
  seen_.clear();
  ++call_;
  last_arrival_ = engine_.now();
}

}  // namespace ringwright
