#include "planning/jobs/gpu_pool.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace ringwright::planning {

GpuPool::GpuPool(const ClusterShape& shape)
    : shape_(shape),
      free_(shape.gpus()),
      free_of_host_(static_cast<std::size_t>(shape.hosts), shape.gpus_per_host),
      hosts_with_(static_cast<std::size_t>(shape.gpus_per_host) + 1),
      whole_of_unit_(static_cast<std::size_t>(shape.units())),
      free_of_unit_(static_cast<std::size_t>(shape.units())) {
  for (int host = 0; host < shape.hosts; ++host) {
    hosts_with_.back().insert(host);
    whole_of_unit_[static_cast<std::size_t>(unit_of(host))].insert(host);
    free_of_unit_[static_cast<std::size_t>(unit_of(host))] += shape.gpus_per_host;
  }
}

void GpuPool::change(int host, int by) {
  int& free = free_of_host_[static_cast<std::size_t>(host)];
  hosts_with_[static_cast<std::size_t>(free)].erase(host);
  free += by;
  free_ += by;
  free_of_unit_[static_cast<std::size_t>(unit_of(host))] += by;
  hosts_with_[static_cast<std::size_t>(free)].insert(host);
  std::set<int>& whole = whole_of_unit_[static_cast<std::size_t>(unit_of(host))];
  if (free == shape_.gpus_per_host) {
    whole.insert(host);
  } else {
    whole.erase(host);
  }
}

std::optional<Grant> GpuPool::granted(Parts parts) {
  if (parts.empty()) return std::nullopt;
  Grant grant{.parts = std::move(parts)};
  for (const Grant::Part& part : grant.parts) {
    change(part.host, -part.gpus);
    if (grant.parts.size() > 1) grant.locality = std::max(grant.locality, Locality::kUnit);
    if (unit_of(part.host) != unit_of(grant.parts.front().host)) grant.locality = Locality::kFabric;
  }
  return grant;
}

// Best fit: the host with the fewest free GPUs that suffice.
GpuPool::Parts GpuPool::in_one_host(int gpus) const {
  for (auto free = static_cast<std::size_t>(gpus); free < hosts_with_.size(); ++free) {
    if (!hosts_with_[free].empty()) return Parts(1, {.host = *hosts_with_[free].begin(), .gpus = gpus});
  }
  return {};
}

int GpuPool::tightest_host_in_use(std::size_t unit, int gpus) const {
  const int first = static_cast<int>(unit) * shape_.hosts_per_unit;
  for (auto free = static_cast<std::size_t>(gpus); free + 1 < hosts_with_.size(); ++free) {
    const auto host = hosts_with_[free].lower_bound(first);
    if (host != hosts_with_[free].end() && *host < first + shape_.hosts_per_unit) return *host;
  }
  return -1;
}

// Whole hosts of the unit with the fewest that suffice; of a job larger than a unit, units with the most first. GPUs
// that do not fill a host are on one host more, if possible on one in use.
GpuPool::Parts GpuPool::in_whole_hosts(int gpus) const {
  auto full = static_cast<std::size_t>(gpus / shape_.gpus_per_host);
  const int rest = gpus % shape_.gpus_per_host;
  const std::size_t hosts = full + (rest > 0 ? 1 : 0);
  std::vector<std::size_t> units(whole_of_unit_.size());
  std::iota(units.begin(), units.end(), std::size_t{0});
  const auto whole = [&](std::size_t unit) { return whole_of_unit_[unit].size(); };
  const auto in_use = [&](std::size_t unit) { return rest > 0 ? tightest_host_in_use(unit, rest) : -1; };
  if (hosts <= static_cast<std::size_t>(shape_.hosts_per_unit)) {
    std::erase_if(units, [&](std::size_t unit) { return whole(unit) + (in_use(unit) < 0 ? 0 : 1) < hosts; });
    std::erase_if(units, [&](std::size_t unit) { return whole(unit) < full; });
    std::ranges::stable_sort(units, {}, whole);
    if (units.size() > 1) units.erase(units.begin() + 1, units.end());
  } else {
    std::ranges::stable_sort(units, std::ranges::greater{}, whole);
  }
  const auto with_rest = std::ranges::find_if(units, [&](std::size_t unit) { return in_use(unit) >= 0; });
  if (with_rest == units.end()) full = hosts;
  Parts parts;
  for (const std::size_t unit : units) {
    for (const int host : whole_of_unit_[unit]) {
      if (parts.size() == full) break;
      parts.push_back({.host = host, .gpus = std::min(gpus, shape_.gpus_per_host)});
      gpus -= parts.back().gpus;
    }
  }
  if (parts.size() < full) return {};
  if (gpus > 0) parts.push_back({.host = in_use(*with_rest), .gpus = gpus});
  return parts;
}

// In the unit with the fewest free GPUs that suffice, or in all; hosts with the most free GPUs first, so that they are
// few.
GpuPool::Parts GpuPool::anywhere(int gpus) const {
  int first = 0;
  int beyond = shape_.hosts;
  int fewest = std::numeric_limits<int>::max();
  for (std::size_t unit = 0; unit < free_of_unit_.size(); ++unit) {
    if (free_of_unit_[unit] < gpus || free_of_unit_[unit] >= fewest) continue;
    fewest = free_of_unit_[unit];
    first = static_cast<int>(unit) * shape_.hosts_per_unit;
    beyond = first + shape_.hosts_per_unit;
  }
  Parts parts;
  for (std::size_t free = hosts_with_.size() - 1; free > 0 && gpus > 0; --free) {
    const std::set<int>& hosts = hosts_with_[free];
    for (auto host = hosts.lower_bound(first); host != hosts.end() && *host < beyond && gpus > 0; ++host) {
      parts.push_back({.host = *host, .gpus = std::min(gpus, static_cast<int>(free))});
      gpus -= parts.back().gpus;
    }
  }
  return parts;
}

GpuPool::Parts GpuPool::place_of(int gpus, Search search) const {
  if (gpus > free_) return {};
  Parts parts = gpus <= shape_.gpus_per_host ? in_one_host(gpus) : in_whole_hosts(gpus);
  return parts.empty() && search == Search::kRelaxed ? anywhere(gpus) : parts;
}

std::optional<Grant> GpuPool::take(int gpus, Search search) {
  return granted(place_of(gpus, search));
}

bool GpuPool::has(const Wish& wish) const {
  if (wish.share == kWholeGpu) return !place_of(wish.gpus, wish.search).empty();
  return free_ > 0 || tightest(wish.share, wish.company);
}

std::optional<std::size_t> GpuPool::tightest(int share, Company company) const {
  std::optional<std::pair<int, std::size_t>> best;
  for (const OpenGpus& open : open_) {
    if (company == Company::kOnlyOne && &open == &open_.back()) continue;
    const auto fits = open.lower_bound({share, 0});
    if (fits != open.end() && (!best || *fits < *best)) best = *fits;
  }
  return best ? std::optional(best->second) : std::nullopt;
}

std::size_t GpuPool::open_shared(int host) {
  while (!unused_.empty() && shared_[unused_.back()].left < kWholeGpu) unused_.pop_back();
  std::size_t number = shared_.size();
  if (unused_.empty()) {
    shared_.emplace_back();
  } else {
    number = unused_.back();
    unused_.pop_back();
  }
  shared_[number] = {.host = host, .left = kWholeGpu};
  return number;
}

// A GPU of which nothing is used becomes a shared one.
Grant GpuPool::join_shared(std::size_t number, int share, Company company) {
  SharedGpu& gpu = shared_[number];
  if (gpu.left == kWholeGpu) {
    change(gpu.host, -1);
    ++shared_gpus_;
  }
  const bool only_one = company == Company::kOnlyOne;
  open_like(gpu).erase({gpu.left, number});
  gpu.left -= share;
  gpu.has_only_one = gpu.has_only_one || only_one;
  shared_parts_ += share;
  if (gpu.left > 0) open_like(gpu).insert({gpu.left, number});
  return Grant{.parts = {{.host = gpu.host, .gpus = 1}}, .share = share, .shared_gpu = number, .only_one = only_one};
}

std::optional<Grant> GpuPool::take_share(int share, Company company) {
  if (const auto fits = tightest(share, company)) return join_shared(*fits, share, company);
  const Parts whole = in_one_host(1);
  if (whole.empty()) return std::nullopt;
  return join_shared(open_shared(whole.front().host), share, company);
}

std::optional<Grant> GpuPool::take_again(const Grant& grant) {
  const auto is_free = [this](const Grant::Part& part) {
    return free_of_host_[static_cast<std::size_t>(part.host)] >= part.gpus;
  };
  const bool all_free = std::ranges::all_of(grant.parts, is_free);
  if (grant.share == kWholeGpu) {
    if (!all_free) return std::nullopt;
    for (const Grant::Part& part : grant.parts) change(part.host, -part.gpus);
    return grant;
  }
  const Company company = grant.only_one ? Company::kOnlyOne : Company::kAny;
  const SharedGpu& gpu = shared_[grant.shared_gpu];
  const int host = grant.parts.front().host;
  if (gpu.host == host && gpu.left < kWholeGpu) {
    const bool fits = gpu.left >= grant.share && !(grant.only_one && gpu.has_only_one);
    return fits ? std::optional(join_shared(grant.shared_gpu, grant.share, company)) : std::nullopt;
  }
  if (!all_free) return std::nullopt;
  return join_shared(gpu.host == host ? grant.shared_gpu : open_shared(host), grant.share, company);
}

void GpuPool::give_back(const Grant& grant) {
  if (grant.share == kWholeGpu) {
    for (const Grant::Part& part : grant.parts) change(part.host, part.gpus);
    return;
  }
  SharedGpu& gpu = shared_[grant.shared_gpu];
  open_like(gpu).erase({gpu.left, grant.shared_gpu});
  gpu.left += grant.share;
  if (grant.only_one) gpu.has_only_one = false;
  shared_parts_ -= grant.share;
  if (gpu.left < kWholeGpu) {
    open_like(gpu).insert({gpu.left, grant.shared_gpu});
    return;
  }
  change(gpu.host, 1);
  unused_.push_back(grant.shared_gpu);
  --shared_gpus_;
}

}  // namespace ringwright::planning
