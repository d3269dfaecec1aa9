#include "planning/operation/fleet.h"

#include <algorithm>
#include <utility>

namespace ringwright::planning {
namespace {

std::int64_t take_first(std::deque<std::int64_t>& hosts) {
  const std::int64_t host = hosts.front();
  hosts.pop_front();
  return host;
}

}  // namespace

Fleet::Fleet(const Operation& operation, const HostTable& hosts, std::uint64_t life_seed)
    : operation_(operation),
      seed_(life_seed),
      slot_of_(static_cast<std::size_t>(hosts.size()), -1),
      host_at_(static_cast<std::size_t>(operation.job.hosts())),
      history_(static_cast<std::size_t>(hosts.size())) {
  for (const std::int64_t host : hosts.lemons()) history_[static_cast<std::size_t>(host)].lemon = true;
  std::int64_t next = 0;
  for (std::int64_t slot = 0; slot < std::ssize(host_at_); ++slot) join(slot, next++);
  if (operation.spares.unlimited) return;
  for (std::int64_t i = 0; i < operation.spares.standby; ++i) standby_.push_back(next++);
  for (std::int64_t i = 0; i < operation.spares.pool; ++i) pool_.push_back(next++);
  for (std::int64_t i = 0; i < operation.spares.others; ++i) others_.push_back(next++);
}

void Fleet::join(std::int64_t slot, std::int64_t host) {
  host_at_[static_cast<std::size_t>(slot)] = host;
  slot_of_[static_cast<std::size_t>(host)] = slot;
}

double Fleet::hazard_left(std::int64_t host) const {
  const History& history = history_[static_cast<std::size_t>(host)];
  return history.lemon && history.cured ? 1.0 / operation_.lemons.factor : 1.0;
}

bool Fleet::retires(History& history, JobTime now) const {
  const Spares& spares = operation_.spares;
  if (spares.retire_after <= 0) return false;
  history.faults.push_back(now);
  std::erase_if(history.faults, [&](JobTime fault) { return now - fault > spares.retire_within; });
  return std::ssize(history.faults) >= spares.retire_after;
}

// All repairs of a host have a stream of their own, so that policies see the same ones.
JobTime Fleet::repair_time(std::int64_t host, const ComponentClass& cause) {
  History& history = history_[static_cast<std::size_t>(host)];
  const Repair& repair = operation_.repair;
  RandomStream stream(mix(mix(seed_, static_cast<std::uint64_t>(host)), history.repairs++), "repairs");
  if (cause.repair) {
    history.cured = true;
    return cause.repair->draw(stream);
  }
  JobTime time = repair.first.time.draw(stream);
  double fails = repair.first.fails;
  if (stream.next_unit() < repair.escalates) {
    time += repair.second.time.draw(stream);
    fails = repair.second.fails;
  }
  if (stream.next_unit() >= fails) history.cured = true;
  return time;
}

void Fleet::remove(std::int64_t host, JobTime now, const ComponentClass& cause) {
  const std::int64_t slot = slot_of(host);
  if (slot >= 0) {
    slot_of_[static_cast<std::size_t>(host)] = -1;
    host_at_[static_cast<std::size_t>(slot)] = kNoHost;
    empty_.push_back(slot);
  } else {
    if (std::erase(standby_, host) + std::erase(pool_, host) == 0) return;
  }
  // With unlimited spare hosts the next one takes this one's name.
  if (operation_.spares.unlimited) {
    standby_.push_back(host);
    return;
  }
  if (retires(history_[static_cast<std::size_t>(host)], now)) {
    ++retired_;
    return;
  }
  returns_.push({.at = now + repair_time(host, cause), .host = host});
}

void Fleet::return_hosts(JobTime now) {
  while (!returns_.empty() && returns_.top().at <= now) {
    const std::int64_t host = returns_.top().host;
    returns_.pop();
    history_[static_cast<std::size_t>(host)].returned = ++turn_;
    (std::ssize(standby_) < operation_.spares.standby ? standby_ : pool_).push_back(host);
  }
}

JobTime Fleet::next_return() const {
  return returns_.empty() ? kNever : returns_.top().at;
}

std::int64_t Fleet::spare() const {
  return std::ssize(standby_) + std::ssize(pool_) + std::ssize(others_);
}

// All hosts that are there, in the order in which they came: first the job's, then warm ones, then the pool.
void Fleet::choose_anew() {
  std::vector<std::int64_t> all(standby_.begin(), standby_.end());
  all.insert(all.end(), pool_.begin(), pool_.end());
  for (const std::int64_t host : host_at_) {
    if (host != kNoHost) all.push_back(host);
  }
  const auto turn = [this](std::int64_t host) {
    return std::pair(history_[static_cast<std::size_t>(host)].returned, host);
  };
  std::ranges::sort(all, {}, turn);
  const auto places = std::min(all.size(), host_at_.size());
  const std::vector<std::int64_t> chosen(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(places));
  for (std::int64_t slot = 0; slot < std::ssize(host_at_); ++slot) {
    const std::int64_t host = host_at(slot);
    if (host == kNoHost || std::ranges::binary_search(chosen, turn(host), {}, turn)) continue;
    slot_of_[static_cast<std::size_t>(host)] = -1;
    host_at_[static_cast<std::size_t>(slot)] = kNoHost;
    empty_.push_back(slot);
  }
  for (const std::int64_t host : chosen) {
    if (in_job(host)) continue;
    join(empty_.front(), host);
    empty_.erase(empty_.begin());
  }
  standby_.clear();
  pool_.assign(all.begin() + static_cast<std::ptrdiff_t>(places), all.end());
}

Fleet::Taken Fleet::fill(JobTime now) {
  return_hosts(now);
  const Spares& spares = operation_.spares;
  RandomStream stream(mix(seed_, static_cast<std::uint64_t>(now.count())), "swaps");
  Taken taken;
  const auto take = [&](std::deque<std::int64_t>& hosts) {
    const std::int64_t slot = empty_.front();
    empty_.erase(empty_.begin());
    join(slot, take_first(hosts));
  };
  if (!empty_.empty() && !standby_.empty()) taken.time += spares.swap.draw(stream);
  while (!empty_.empty() && !standby_.empty()) take(standby_);
  if (empty_.empty()) return taken;
  taken.selected = !pool_.empty() || !others_.empty();
  if (taken.selected) taken.time += spares.select.draw(stream);
  if (taken.selected && spares.reselects) choose_anew();
  while (!empty_.empty() && !pool_.empty()) take(pool_);
  while (std::ssize(standby_) < spares.standby && !pool_.empty()) standby_.push_back(take_first(pool_));
  while (!empty_.empty() && !others_.empty()) {
    taken.time += spares.preempt.draw(stream);
    take(others_);
  }
  return taken;
}

}  // namespace ringwright::planning
