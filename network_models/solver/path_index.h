// Finds a path by a hash of its links, among thousands that cross one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace ringwright::network_models {

// A hash table of path slots with open addressing; a chain of entries has no gaps, so that removal moves later ones up.
class PathIndex {
 public:
  void add(std::uint32_t hash, std::uint32_t path) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    insert({.hash = hash, .path = path});
    ++count_;
  }
  // It has been added with this hash.
  void remove(std::uint32_t hash, std::uint32_t path) {
    std::size_t gap = place(hash);
    while (entries_[gap].path != path) gap = next(gap);
    for (std::size_t at = next(gap); entries_[at].path != kNone; at = next(at)) {
      // An entry may move up to where its own chain begins.
      const std::size_t distance = (at - place(entries_[at].hash)) & (entries_.size() - 1);
      if (distance < ((at - gap) & (entries_.size() - 1))) continue;
      entries_[gap] = entries_[at];
      gap = at;
    }
    entries_[gap].path = kNone;
    --count_;
  }
  // The one that `is_same` accepts.
  template <class IsSame>
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t hash, const IsSame& is_same) const {
    if (count_ == 0) return std::nullopt;
    for (std::size_t at = place(hash); entries_[at].path != kNone; at = next(at)) {
      if (entries_[at].hash == hash && is_same(entries_[at].path)) return entries_[at].path;
    }
    return std::nullopt;
  }

 private:
  static constexpr std::uint32_t kNone = 0xFFFF'FFFF;
  static constexpr std::size_t kFirstEntries = 64;
  struct Entry {
    std::uint32_t hash = 0;
    std::uint32_t path = kNone;
  };

  [[nodiscard]] std::size_t place(std::uint32_t hash) const { return hash & (entries_.size() - 1); }
  [[nodiscard]] std::size_t next(std::size_t at) const { return (at + 1) & (entries_.size() - 1); }
  void insert(const Entry& entry) {
    std::size_t at = place(entry.hash);
    while (entries_[at].path != kNone) at = next(at);
    entries_[at] = entry;
  }
  void grow() {
    std::vector<Entry> old(entries_.empty() ? kFirstEntries : 2 * entries_.size());
    old.swap(entries_);
    for (const Entry& entry : old) {
      if (entry.path != kNone) insert(entry);
    }
  }

  std::vector<Entry> entries_;  // a power of two, at most half of them in use
  std::size_t count_ = 0;
};

}  // namespace ringwright::network_models
