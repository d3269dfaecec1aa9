#include "planning/jobs/gpu_pool.h"

#include <algorithm>
#include <numeric>

namespace ringwright::planning {

GpuPool::GpuPool(const ClusterShape& shape)
    : shape_(shape),
      free_(shape.gpus()),
      free_of_host_(static_cast<std::size_t>(shape.hosts), shape.gpus_per_host),
      hosts_with_(static_cast<std::size_t>(shape.gpus_per_host) + 1),
      whole_of_unit_(static_cast<std::size_t>(shape.units())) {
  for (int host = 0; host < shape.hosts; ++host) {
    hosts_with_.back().insert(host);
    whole_of_unit_[static_cast<std::size_t>(unit_of(host))].insert(host);
  }
}

void GpuPool::change(int host, int by) {
  int& free = free_of_host_[static_cast<std::size_t>(host)];
  hosts_with_[static_cast<std::size_t>(free)].erase(host);
  free += by;
  free_ += by;
  hosts_with_[static_cast<std::size_t>(free)].insert(host);
  std::set<int>& whole = whole_of_unit_[static_cast<std::size_t>(unit_of(host))];
  if (free == shape_.gpus_per_host) {
    whole.insert(host);
  } else {
    whole.erase(host);
  }
}

Grant GpuPool::granted(std::vector<Grant::Part> parts) {
  Grant grant{.parts = std::move(parts)};
  for (const Grant::Part& part : grant.parts) {
    change(part.host, -part.gpus);
    if (grant.parts.size() > 1) grant.locality = std::max(grant.locality, Locality::kUnit);
    if (unit_of(part.host) != unit_of(grant.parts.front().host)) grant.locality = Locality::kFabric;
  }
  return grant;
}

// Best fit: the host with the fewest free GPUs that suffice.
std::optional<Grant> GpuPool::take_in_one_host(int gpus) {
  for (auto free = static_cast<std::size_t>(gpus); free < hosts_with_.size(); ++free) {
    if (!hosts_with_[free].empty()) return granted({{.host = *hosts_with_[free].begin(), .gpus = gpus}});
  }
  return std::nullopt;
}

// Whole hosts of the unit with the fewest that suffice; of a job larger than a unit, units with the most first. GPUs
// that do not fill a host are on one host more.
std::optional<Grant> GpuPool::take_whole_hosts(int gpus) {
  const auto hosts = static_cast<std::size_t>((gpus + shape_.gpus_per_host - 1) / shape_.gpus_per_host);
  std::vector<std::size_t> units(whole_of_unit_.size());
  std::iota(units.begin(), units.end(), std::size_t{0});
  const auto whole = [&](std::size_t unit) { return whole_of_unit_[unit].size(); };
  if (hosts <= static_cast<std::size_t>(shape_.hosts_per_unit)) {
    std::erase_if(units, [&](std::size_t unit) { return whole(unit) < hosts; });
    std::ranges::stable_sort(units, {}, whole);
  } else {
    std::ranges::stable_sort(units, std::ranges::greater{}, whole);
  }
  std::vector<Grant::Part> parts;
  for (const std::size_t unit : units) {
    for (const int host : whole_of_unit_[unit]) {
      if (gpus == 0) break;
      parts.push_back({.host = host, .gpus = std::min(gpus, shape_.gpus_per_host)});
      gpus -= parts.back().gpus;
    }
  }
  if (gpus > 0) return std::nullopt;
  return granted(std::move(parts));
}

// Hosts with the most free GPUs first, so that they are few.
std::optional<Grant> GpuPool::take_anywhere(int gpus) {
  if (gpus > free_) return std::nullopt;
  std::vector<Grant::Part> parts;
  for (std::size_t free = hosts_with_.size() - 1; free > 0 && gpus > 0; --free) {
    for (const int host : hosts_with_[free]) {
      if (gpus == 0) break;
      parts.push_back({.host = host, .gpus = std::min(gpus, static_cast<int>(free))});
      gpus -= parts.back().gpus;
    }
  }
  return granted(std::move(parts));
}

std::optional<Grant> GpuPool::take(int gpus, Search search) {
  if (gpus > free_) return std::nullopt;
  auto grant = gpus <= shape_.gpus_per_host ? take_in_one_host(gpus) : take_whole_hosts(gpus);
  return grant || search == Search::kStrict ? std::move(grant) : take_anywhere(gpus);
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

std::optional<Grant> GpuPool::take_share(int share, Company company) {
  const bool only_one = company == Company::kOnlyOne;
  const auto fits = tightest(share, company);
  std::size_t number = 0;
  if (fits) {
    number = *fits;
    open_like(shared_[number]).erase({shared_[number].left, number});
  } else {
    const auto whole = take_in_one_host(1);
    if (!whole) return std::nullopt;
    number = shared_.size();
    if (unused_.empty()) {
      shared_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    shared_[number] = {.host = whole->parts.front().host, .left = kWholeGpu};
    ++shared_gpus_;
  }
  SharedGpu& gpu = shared_[number];
  gpu.left -= share;
  gpu.has_only_one = gpu.has_only_one || only_one;
  shared_parts_ += share;
  if (gpu.left > 0) open_like(gpu).insert({gpu.left, number});
  return Grant{.parts = {{.host = gpu.host, .gpus = 1}}, .share = share, .shared_gpu = number, .only_one = only_one};
}

bool GpuPool::take_again(const Grant& grant) {
  const auto is_free = [this](const Grant::Part& part) {
    return free_of_host_[static_cast<std::size_t>(part.host)] >= part.gpus;
  };
  if (grant.share < kWholeGpu || !std::ranges::all_of(grant.parts, is_free)) return false;
  for (const Grant::Part& part : grant.parts) change(part.host, -part.gpus);
  return true;
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
