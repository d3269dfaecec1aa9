#include "configs/simulation/sampled_hosts.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace ringwright::configs {
namespace {

// Of a sample: with more of them, few hosts would be enough for no block.
constexpr int kMostBlocks = 16;

// The fewest first hosts among which all kinds of paths within the block occur.
int hosts_with_all_kinds(const std::vector<std::uint64_t>& kinds, int block) {
  std::set<std::uint64_t> seen;
  int enough = 1;
  for (int host = 0; host + 1 < block; ++host) {
    if (seen.insert(kinds[static_cast<std::size_t>(host)]).second) enough = host + 2;
  }
  return enough;
}

}  // namespace

bool is_alike_on_hosts(const GroupLayout& layout) {
  if (!layout.even() || !layout.nic_set.empty() || layout.servers.count > 0) return false;
  const auto gpu = [&](int index) { return layout.gpu_of[static_cast<std::size_t>(index)]; };
  return std::ranges::all_of(layout.hosts, [&](const std::vector<int>& members) {
    return std::ranges::equal(members, layout.hosts.front(), {}, gpu, gpu);
  });
}

GroupLayout on_hosts(const GroupLayout& layout, const std::vector<int>& hosts) {
  std::vector<std::int64_t> host_of;
  std::vector<int> gpu_of;
  for (std::size_t index = 0; index < layout.host_of.size(); ++index) {
    const auto found = std::ranges::lower_bound(hosts, layout.host_of[index]);
    if (found == hosts.end() || *found != layout.host_of[index]) continue;
    host_of.push_back(found - hosts.begin());
    gpu_of.push_back(layout.gpu_of[index]);
  }
  return make_group_layout(host_of, gpu_of);
}

SampledHosts::SampledHosts(int hosts, KindOfPath kind) : hosts_(hosts), kind_(std::move(kind)) {
  for (int host = 0; host < hosts; ++host) kinds_.push_back(kind_(host, (host + 1) % hosts));
  for (int blocks = 1; blocks <= kMostBlocks; ++blocks) {
    if (!splits(blocks)) continue;
    const int least = hosts_with_all_kinds(kinds_, hosts / blocks);
    if (blocks_ > 0 && blocks * least >= blocks_ * least_) continue;
    blocks_ = blocks;
    least_ = least;
  }
}

// All blocks have equal paths within, and of one block, the path back to its beginning is one of them.
bool SampledHosts::splits(int blocks) const {
  if (hosts_ % blocks != 0 || hosts_ / blocks < 2) return false;
  const int size = hosts_ / blocks;
  const auto begin = kinds_.begin();
  if (blocks == 1) return std::find(begin, begin + size - 1, kinds_.back()) != begin + size - 1;
  for (int block = 1; block < blocks; ++block) {
    if (!std::equal(begin, begin + size - 1, begin + static_cast<std::ptrdiff_t>(block) * size)) return false;
  }
  return true;
}

bool SampledHosts::are_enough(int hosts) const {
  return blocks_ > 0 && hosts % blocks_ == 0 && hosts / blocks_ >= least_;
}

std::optional<std::vector<int>> SampledHosts::of(int hosts) const {
  if (blocks_ == 0 || hosts % blocks_ != 0) return std::nullopt;
  const int size = hosts_ / blocks_;
  const int part = hosts / blocks_;
  std::vector<int> sample;
  for (int block = 0; block < blocks_; ++block) {
    for (int host = 0; host < part; ++host) sample.push_back(block * size + host);
    const std::uint64_t seam = kinds_[static_cast<std::size_t>((block + 1) * size - 1)];
    if (blocks_ > 1 && kind_(sample.back(), (block + 1) % blocks_ * size) != seam) return std::nullopt;
  }
  return sample;
}

}  // namespace ringwright::configs
