// Where each host's share of a numbering begins: multiples where all hosts are of one kind, sums where they are not.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace ringwright::network_models {

class HostOffsets {
 public:
  // By kind of host, what one host takes; the kind of each host, empty where all are of the first.
  HostOffsets(std::span<const std::uint32_t> each, std::span<const int> kind_of_host) : each_(each.front()) {
    if (kind_of_host.empty()) return;
    first_.push_back(0);
    for (const int kind : kind_of_host) first_.push_back(first_.back() + each[static_cast<std::size_t>(kind)]);
  }

  // Of the number of hosts: what all of them take.
  [[nodiscard]] std::uint32_t operator()(std::uint32_t host) const {
    return first_.empty() ? host * each_ : first_[host];
  }

 private:
  std::uint32_t each_;
  std::vector<std::uint32_t> first_;  // by host, and of all; empty: multiples of each_
};

}  // namespace ringwright::network_models
