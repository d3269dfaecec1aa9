#include "collectives/shapes/spared_hosts.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "collectives/shapes/ring_order.h"

namespace ringwright::collectives {
namespace {

// Chains for each of several spared hosts. The head of a chain receives from all of them, a quarter of their slices
// with four chains for each.
constexpr int kChainsOfHost = 4;

int lost_count(const LostNics& nics) {
  return std::popcount(static_cast<unsigned>(nics.lost));
}

bool suits(const std::vector<int>& order, const std::vector<char>& is_spared) {
  const auto spared = [&](std::size_t place) {
    return is_spared[static_cast<std::size_t>(order[place % order.size()])] != 0;
  };
  if (order.size() % 2 == 1 && spared(0)) return false;
  for (std::size_t place = 0; place < order.size(); ++place) {
    if (spared(place) && spared(place + 1)) return false;
  }
  return true;
}

}  // namespace

bool can_spare(const GroupLayout& layout) {
  const std::vector<LostNics>& lost = layout.lost_nics;
  const bool fit = std::ranges::all_of(
      lost, [&](const LostNics& nics) { return nics.of == lost.front().of && lost_count(nics) < nics.of; });
  return fit && !lost.empty() && 2 * std::ssize(lost) <= layout.host_count();
}

SparedHosts::SparedHosts(const GroupLayout& layout) : spared_(layout.lost_nics) {
  put_in_order(layout);
  std::ranges::stable_sort(spared_, std::ranges::greater(), lost_count);
  const int hosts = layout.host_count();
  complete_at_.assign(static_cast<std::size_t>(hosts), -1);
  const int first = place_[static_cast<std::size_t>(spared_.front().host)] + 1;
  for (int i = 0; i < hosts; ++i) {
    const int host = order_[static_cast<std::size_t>(wrap(first + i, hosts))];
    if (losses(host) != nullptr) continue;
    complete_at_[static_cast<std::size_t>(host)] = complete();
    complete_.push_back(host);
  }
  const int several = static_cast<int>(spared_.size());
  chains_ = several == 1 ? 1 : std::min(complete(), kChainsOfHost * several);
  make_levels();
}

// That of the layout if it suits; else the spared hosts stand after the first complete ones.
void SparedHosts::put_in_order(const GroupLayout& layout) {
  const int hosts = layout.host_count();
  std::vector<char> is_spared(static_cast<std::size_t>(hosts), 0);
  for (const LostNics& nics : spared_) is_spared[static_cast<std::size_t>(nics.host)] = 1;
  for (int host = 0; host < hosts; ++host) order_.push_back(host);
  if (!suits(order_, is_spared)) {
    order_.clear();
    std::size_t next = 0;
    for (int host = 0; host < hosts; ++host) {
      if (is_spared[static_cast<std::size_t>(host)] != 0) continue;
      order_.push_back(host);
      if (next < spared_.size()) order_.push_back(spared_[next++].host);
    }
  }
  place_.resize(order_.size());
  for (std::size_t place = 0; place < order_.size(); ++place) {
    place_[static_cast<std::size_t>(order_[place])] = static_cast<int>(place);
  }
}

void SparedHosts::make_levels() {
  for (std::size_t i = 0; i < spared_.size(); ++i) {
    const int here = lost_count(spared_[i]);
    const int below = i + 1 < spared_.size() ? lost_count(spared_[i + 1]) : 0;
    if (here == below) continue;
    SparedLevel& level = levels_.emplace_back(SparedLevel{.hosts = {}, .nics = here - below});
    for (const int host : order_) {
      const LostNics* const nics = losses(host);
      if (nics == nullptr || lost_count(*nics) < here) level.hosts.push_back(host);
    }
  }
}

const LostNics* SparedHosts::losses(int host) const {
  const auto found = std::ranges::find(spared_, host, &LostNics::host);
  return found == spared_.end() ? nullptr : &*found;
}

const LostNics* SparedHosts::passed(int from, int to) const {
  const int hosts = static_cast<int>(order_.size());
  const int next = order_[static_cast<std::size_t>(wrap(place_[static_cast<std::size_t>(from)] + 1, hosts))];
  return next == to || from == to ? nullptr : losses(next);
}

int SparedHosts::first_without(int host) const {
  const auto without = [&](const SparedLevel& level) {
    return std::ranges::find(level.hosts, host) == level.hosts.end();
  };
  return static_cast<int>(std::ranges::find_if(levels_, without) - levels_.begin());
}

int SparedHosts::chain_host(int chain, int position) const {
  const int start = chain * complete() / chains_;
  return complete_[static_cast<std::size_t>(wrap(start + position, complete()))];
}

int SparedHosts::position_in(int chain, int host) const {
  const int start = chain * complete() / chains_;
  return wrap(complete_at_[static_cast<std::size_t>(host)] - start, complete());
}

std::vector<int> SparedHosts::hung_on(int chain, int host) const {
  const int from_end = complete() - 1 - position_in(chain, host);
  if (from_end >= static_cast<int>(spared_.size())) return {};
  return {spared_[static_cast<std::size_t>(from_end)].host};
}

int SparedHosts::parent(int chain, int spared_host) const {
  const auto number = static_cast<int>(std::ranges::find(spared_, spared_host, &LostNics::host) - spared_.begin());
  return chain_host(chain, complete() - 1 - number);
}

int SparedHosts::delay(int chain, int host) const {
  const bool is_complete = complete_at_[static_cast<std::size_t>(host)] >= 0;
  return is_complete ? position_in(chain, host) : position_in(chain, parent(chain, host)) + 1;
}

}  // namespace ringwright::collectives
