#include "core/run/job/link_traffic.h"

namespace ringwright {

void add_traffic(const std::vector<UsedLink>& links, std::uint64_t times, std::vector<LinkUsage>& usage) {
  for (const UsedLink& used : links) {
    LinkUsage& link = usage[used.link.index()];
    link.bytes += used.usage.bytes * static_cast<double>(times);
    link.busy += used.usage.busy * static_cast<std::int64_t>(times);
  }
}

void LinkTraffic::add(const std::vector<UsedLink>& links, std::uint64_t times) {
  const auto [place, is_new] = place_of_.try_emplace(&links, entries_.size());
  if (is_new) entries_.push_back({.links = &links, .times = 0});
  entries_[place->second].times += times;
}

void LinkTraffic::add_to(std::vector<LinkUsage>& usage) const {
  for (const Entry& entry : entries_) add_traffic(*entry.links, entry.times, usage);
}

}  // namespace ringwright
