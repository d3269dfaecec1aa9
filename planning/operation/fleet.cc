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

void Fleet::leave(std::int64_t slot) {
  slot_of_[static_cast<std::size_t>(host_at(slot))] = -1;
  host_at_[static_cast<std::size_t>(slot)] = kNoHost;
  empty_.push_back(slot);
}

void Fleet::remove(std::int64_t host, JobTime now, const ComponentClass& cause) {
  if (in_job(host)) {
    leave(slot_of(host));
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

void Fleet::keep(std::int64_t host) {
  history_[static_cast<std::size_t>(host)].returned = ++turn_;
}

void Fleet::stand_by(std::int64_t host) {
  if (in_job(host)) {
    leave(slot_of(host));
    come_back(host);
  }
}

void Fleet::come_back(std::int64_t host) {
  history_[static_cast<std::size_t>(host)].returned = ++turn_;
  (std::ssize(standby_) < operation_.spares.standby ? standby_ : pool_).push_back(host);
}

void Fleet::return_hosts(JobTime now) {
  while (!returns_.empty() && returns_.top().at <= now) {
    const std::int64_t host = returns_.top().host;
    returns_.pop();
    come_back(host);
  }
}

JobTime Fleet::next_return() const {
  return returns_.empty() ? kNever : returns_.top().at;
}

std::int64_t Fleet::spare() const {
  return std::ssize(standby_) + std::ssize(pool_) + std::ssize(others_);
}

// The job's hosts, warm ones and those of the pool, in the order in which they came or last failed.
void Fleet::choose_anew(RandomStream& stream) {
  std::vector<std::int64_t> all(standby_.begin(), standby_.end());
  all.insert(all.end(), pool_.begin(), pool_.end());
  for (const std::int64_t host : host_at_) {
    if (host != kNoHost) all.push_back(host);
  }
  std::ranges::sort(all, {}, [this](std::int64_t host) {
    return std::pair(history_[static_cast<std::size_t>(host)].returned, host);
  });
  const std::size_t places = std::min(all.size(), host_at_.size());
  const std::size_t warm = std::min(all.size() - places, static_cast<std::size_t>(operation_.spares.standby));
  // Any of the chosen ones stand by: those behind `places` after a partial shuffle.
  for (std::size_t i = 0; i < warm; ++i) {
    const std::size_t last = places + warm - 1 - i;
    std::swap(all[last], all[stream.next_below(last + 1)]);
  }
  std::vector<char> is_chosen(history_.size(), 0);
  for (std::size_t i = 0; i < places; ++i) is_chosen[static_cast<std::size_t>(all[i])] = 1;
  for (std::int64_t slot = 0; slot < std::ssize(host_at_); ++slot) {
    const std::int64_t host = host_at(slot);
    if (host != kNoHost && is_chosen[static_cast<std::size_t>(host)] == 0) leave(slot);
  }
  for (std::size_t i = 0; i < places; ++i) {
    if (in_job(all[i])) continue;
    join(empty_.front(), all[i]);
    empty_.erase(empty_.begin());
  }
  const auto chosen = all.begin() + static_cast<std::ptrdiff_t>(places);
  standby_.assign(chosen, chosen + static_cast<std::ptrdiff_t>(warm));
  pool_.assign(chosen + static_cast<std::ptrdiff_t>(warm), all.end());
}

JobTime Fleet::preempt(JobTime now, RandomStream& stream) {
  const Spares& spares = operation_.spares;
  JobTime time;
  const auto lacks = [&](std::int64_t standby) {
    return std::ssize(empty_) + standby > std::ssize(standby_) + std::ssize(pool_);
  };
  if (!lacks(0)) return time;
  while (lacks(spares.fills_standby ? spares.standby : 0) && !others_.empty()) {
    time += spares.preempt.draw(stream);
    return_hosts(now + time);
    const std::int64_t host = take_first(others_);
    keep(host);
    pool_.push_back(host);
  }
  return time;
}

Fleet::Taken Fleet::fill(JobTime now) {
  return_hosts(now);
  const Spares& spares = operation_.spares;
  RandomStream stream(mix(seed_, static_cast<std::uint64_t>(now.count())), "swaps");
  Taken taken;
  const auto take_all = [&](std::deque<std::int64_t>& hosts) {
    while (!empty_.empty() && !hosts.empty()) {
      join(empty_.front(), take_first(hosts));
      empty_.erase(empty_.begin());
    }
  };
  if (!empty_.empty() && !standby_.empty()) taken.time += spares.swap.draw(stream);
  take_all(standby_);
  if (empty_.empty()) return taken;
  taken.selected = !pool_.empty() || !others_.empty();
  if (!taken.selected) return taken;
  taken.time += spares.select.draw(stream);
  taken.time += preempt(now + taken.time, stream);
  if (spares.reselects) choose_anew(stream);
  take_all(standby_);
  take_all(pool_);
  while (std::ssize(standby_) < spares.standby && !pool_.empty()) standby_.push_back(take_first(pool_));
  return taken;
}

}  // namespace ringwright::planning
