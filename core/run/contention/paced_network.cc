#include "core/run/contention/paced_network.h"

#include "core/base/random.h"

namespace ringwright {

PacedNetwork::End PacedNetwork::end_at(RankId rank) const {
  const ClassId of = classes_.class_of[rank.index()];
  return {.rank_class = of, .lag = clocks_.lag(of)};
}

void PacedNetwork::start(const Transfer& transfer, TransferListener& listener) {
  if (transfer.from == transfer.to) return network_.start(transfer, listener);
  if (free_.empty()) {
    free_.push_back(rows_.size());
    rows_.emplace_back();
  }
  const std::uint64_t slot = free_.back();
  free_.pop_back();
  Row& row = rows_[slot];
  row = {.listener = &listener, .token = transfer.token, .sender = {}, .receiver = {}};
  if (transfer.route_kind != RouteKind::kDownFromSwitch) row.sender = end_at(transfer.from);
  if (transfer.route_kind != RouteKind::kUpToSwitch) row.receiver = end_at(transfer.to);
  Transfer paced = transfer;
  paced.token = slot;
  network_.start(paced, *this);
}

void PacedNetwork::on_arrived(std::uint64_t slot) {
  const Row row = rows_[slot];
  rows_[slot].awaited = 1;  // no notification before both ends were checked
  wait_for(row.sender, slot);
  wait_for(row.receiver, slot);
  on_caught_up(slot);
}

void PacedNetwork::wait_for(const std::optional<End>& end, std::uint64_t slot) {
  if (end && !clocks_.is_through(end->rank_class, end->lag, *this, slot)) ++rows_[slot].awaited;
}

void PacedNetwork::on_caught_up(std::uint64_t slot) {
  if (--rows_[slot].awaited > 0) return;
  TransferListener* const listener = rows_[slot].listener;
  const std::uint64_t token = rows_[slot].token;
  rows_[slot].listener = nullptr;
  free_.push_back(slot);
  listener->on_arrived(token);
}

std::uint64_t PacedNetwork::digest_of(const std::optional<End>& end) const {
  return end ? clocks_.digest_of_lag(end->rank_class, end->lag) : 0;
}

std::uint64_t PacedNetwork::digest() const {
  std::uint64_t sum = 0;  // a sum: the slot of a transfer does not matter
  for (std::uint64_t slot = 0; slot < rows_.size(); ++slot) {
    const Row& row = rows_[slot];
    if (row.listener == nullptr) continue;
    const std::uint64_t lags = mix(digest_of(row.sender), digest_of(row.receiver));
    sum += mix(mix(identity(slot), lags), static_cast<std::uint64_t>(row.awaited));
  }
  return sum;
}

std::uint64_t PacedNetwork::identity(std::uint64_t slot) const {
  return rows_[slot].listener->identity(rows_[slot].token);
}

}  // namespace ringwright
