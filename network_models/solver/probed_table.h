// Maps a duration or a hash to small numbers: open addressing with linear probing, no allocation per entry.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/units.h"

namespace ringwright::network_models {

template <class Key>
class ProbedTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  ProbedTable() : cells_(kFirstSize) {}

  // The value of the key that `accepts` takes: a hash may have several. kNone: there is none.
  template <class Accepts>
  [[nodiscard]] std::uint32_t find(Key key, const Accepts& accepts) const {
    for (std::size_t cell = home(key);; cell = next(cell)) {
      const Cell& found = cells_[cell];
      if (found.value == kNone || (found.key == key && accepts(found.value))) return found.value;
    }
  }
  [[nodiscard]] std::uint32_t find(Key key) const { return find(key, kAny); }

  // The key must not have this value yet.
  void add(Key key, std::uint32_t value) {
    if (2 * (count_ + 1) > cells_.size()) grow();
    place({.key = key, .value = value});
    ++count_;
  }

  // The key must have the value. Entries behind the gap that would no longer be found move into it.
  void remove(Key key, std::uint32_t value) {
    std::size_t gap = home(key);
    while (cells_[gap].key != key || cells_[gap].value != value) gap = next(gap);
    for (std::size_t cell = next(gap); cells_[cell].value != kNone; cell = next(cell)) {
      const std::size_t wanted = home(cells_[cell].key);
      const bool reaches_over_gap = ((cell - wanted) & (cells_.size() - 1)) >= ((cell - gap) & (cells_.size() - 1));
      if (!reaches_over_gap) continue;
      cells_[gap] = cells_[cell];
      gap = cell;
    }
    cells_[gap].value = kNone;
    --count_;
  }

  [[nodiscard]] std::size_t size() const { return count_; }

 private:
  static constexpr auto kAny = [](std::uint32_t /*value*/) { return true; };
  static constexpr std::size_t kFirstSize = 64;  // a power of two, like all sizes

  struct Cell {
    Key key{};
    std::uint32_t value = kNone;  // kNone: the cell is free
  };

  [[nodiscard]] static std::uint64_t bits_of(std::uint32_t hash) { return hash; }
  [[nodiscard]] static std::uint64_t bits_of(Duration time) { return static_cast<std::uint64_t>(time.count()); }
  // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4): the upper bits of a product.
  [[nodiscard]] std::size_t home(Key key) const {
    const std::uint64_t product = bits_of(key) * 0x9E3779B97F4A7C15ULL;
    return static_cast<std::size_t>(product >> (64 - std::countr_zero(cells_.size())));
  }
  [[nodiscard]] std::size_t next(std::size_t cell) const { return (cell + 1) & (cells_.size() - 1); }

  void place(const Cell& entry) {
    std::size_t cell = home(entry.key);
    while (cells_[cell].value != kNone) cell = next(cell);
    cells_[cell] = entry;
  }

  void grow() {
    std::vector<Cell> old(2 * cells_.size());
    old.swap(cells_);
    for (const Cell& entry : old) {
      if (entry.value != kNone) place(entry);
    }
  }

  std::vector<Cell> cells_;
  std::size_t count_ = 0;
};

}  // namespace ringwright::network_models
