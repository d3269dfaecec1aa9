#include "workload/checkpoint/save_time.h"

#include <algorithm>
#include <cmath>

namespace ringwright::workload {
namespace {

Duration time_at(Bytes size, Bandwidth rate) {
  return rate > Bandwidth() ? transfer_time(size, rate) : Duration();
}

}  // namespace

Duration write_time(const SaveSize& size, const SavePath& path) {
  return path.overhead +
         std::max({time_at(size.rank, path.snapshot), time_at(size.rank, path.serialise),
                          time_at(size.rank, path.per_rank), time_at(size.rank * size.ranks_per_host, path.per_host),
                          time_at(size.total, path.store)});
}

Duration snapshot_stall(Bytes rank, Bandwidth rate, Duration hidden) {
  return std::max(Duration(), time_at(rank, rate) - hidden);
}

Duration peer_copy_stall(const PeerCopies& copies) {
  return std::max(Duration(), time_at(copies.rank * (copies.copies - 1), copies.nic) - copies.idle);
}

Bytes parity_held(const ParityGroup& group) {
  const std::int64_t data = group.hosts - group.parity;
  return group.rank + Bytes((group.rank.count() * group.parity + data - 1) / data);
}

Bytes parity_repair(const ParityGroup& group) {
  return parity_held(group) * (group.hosts - group.parity);
}

Bytes incremental(Bytes state, double share) {
  return Bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(state.count()) * share)));
}

Duration checkpoint_period(const Flushes& flushes) {
  Duration period = flushes.steps + flushes.stall;
  for (const Duration level : flushes.levels) period = std::max(period, level);
  return period;
}

std::int64_t checkfreq_interval(Duration stall, Duration step, double budget) {
  const double steps = std::ceil(to_seconds(stall) / (budget * to_seconds(step)) - 1e-9);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(steps));
}

}  // namespace ringwright::workload
