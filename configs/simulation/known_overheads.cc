#include "configs/simulation/known_overheads.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "configs/simulation/pair_router.h"

namespace ringwright::configs {
namespace {

template <class Table, class Key>
std::optional<Duration> find_in(const Table& table, const Key& key) {
  const auto of_size = table.find(key.bytes);
  if (of_size == table.end()) return std::nullopt;
  const auto known = std::ranges::find(of_size->second, key, &std::pair<Key, Duration>::first);
  return known == of_size->second.end() ? std::nullopt : std::optional(known->second);
}

// Another thread may have found it in the meantime.
template <class Table, class Key>
void add_to(Table& table, const Key& key, Duration overhead) {
  if (!find_in(table, key)) table[key.bytes].emplace_back(key, overhead);
}

template <class Table>
std::size_t size_of(const Table& table) {
  std::size_t size = 0;
  for (const auto& [bytes, known] : table) size += known.size();
  return size;
}

}  // namespace

std::optional<Duration> KnownOverheads::find(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_, key);
}

std::optional<Duration> KnownOverheads::find(const MessageKey& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_messages_, key);
}

std::optional<Duration> KnownOverheads::find_kernels(const Key& key) const {
  const std::scoped_lock lock(mutex_);
  return find_in(known_kernels_, key);
}

void KnownOverheads::add_kernels(const Key& key, Duration time) {
  const std::scoped_lock lock(mutex_);
  add_to(known_kernels_, key, time);
}

void KnownOverheads::add(const Key& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  add_to(known_, key, overhead);
}

void KnownOverheads::add(const MessageKey& key, Duration overhead) {
  const std::scoped_lock lock(mutex_);
  add_to(known_messages_, key, overhead);
}

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
