// The link traffic of work that is not simulated: how often each of known amounts was added.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/ports/network_model.h"

namespace ringwright {

class LinkTraffic {
 public:
  // Outlive this.
  void add(const std::vector<UsedLink>& links, std::uint64_t times = 1);
  void add_to(std::vector<LinkUsage>& usage) const;

 private:
  struct Entry {
    const std::vector<UsedLink>* links = nullptr;
    std::uint64_t times = 0;
  };
  std::vector<Entry> entries_;  // in the order of their first use
  std::unordered_map<const std::vector<UsedLink>*, std::size_t> place_of_;
};

// Adds it so many times.
void add_traffic(const std::vector<UsedLink>& links, std::uint64_t times, std::vector<LinkUsage>& usage);

}  // namespace ringwright
