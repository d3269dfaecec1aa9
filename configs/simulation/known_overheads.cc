#include "configs/simulation/known_overheads.h"

#include <utility>
#include <vector>

#include "configs/simulation/pair_router.h"

namespace ringwright::configs {
namespace {

template <class Table>
std::size_t size_of(const Table& table) {
  std::size_t size = 0;
  for (const auto& [bytes, known] : table) size += known.size();
  return size;
}

}  // namespace

std::uint32_t KnownOverheads::paths_between(const Router& router, RankId sender, RankId receiver) {
  const bool many_steps = accuracy_ == OverheadAccuracy::kInterpolated;
  const std::uint64_t pair = std::uint64_t{sender.value} << 32 | receiver.value;
  if (many_steps) {
    const std::scoped_lock lock(mutex_);
    if (const auto known = paths_of_pair_.find(pair); known != paths_of_pair_.end()) return known->second;
  }
  std::vector<std::uint64_t> signature = PairRouter(router, sender, receiver).signature();
  const std::scoped_lock lock(mutex_);
  const std::uint32_t paths =
      paths_.try_emplace(std::move(signature), static_cast<std::uint32_t>(paths_.size())).first->second;
  if (many_steps) paths_of_pair_.emplace(pair, paths);
  return paths;
}

std::size_t KnownOverheads::size() const {
  const std::scoped_lock lock(mutex_);
  return size_of(known_) + size_of(known_messages_);
}

}  // namespace ringwright::configs
