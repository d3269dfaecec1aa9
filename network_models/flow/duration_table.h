// Maps a duration to a small number: open addressing with linear probing, no allocation per entry.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/base/units.h"

namespace ringwright::network_models {

class DurationTable {
 public:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  DurationTable() : cells_(kFirstSize) {}

  [[nodiscard]] std::uint32_t find(Duration key) const {
    for (std::size_t cell = home(key);; cell = next(cell)) {
      if (cells_[cell].value == kNone || cells_[cell].key == key) return cells_[cell].value;
    }
  }

  // The key must not be in the table.
  void add(Duration key, std::uint32_t value) {
    if (2 * (count_ + 1) > cells_.size()) grow();
    place({.key = key, .value = value});
    ++count_;
  }

  // The key must be in the table. Entries behind the gap that would no longer be found move into it.
  void remove(Duration key) {
    std::size_t gap = home(key);
    while (cells_[gap].key != key || cells_[gap].value == kNone) gap = next(gap);
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
  static constexpr std::size_t kFirstSize = 64;  // a power of two, like all sizes

  struct Cell {
    Duration key;
    std::uint32_t value = kNone;  // kNone: the cell is free
  };

  // Fibonacci hashing (Knuth, The Art of Computer Programming, vol. 3, section 6.4): the upper bits of a product.
  [[nodiscard]] std::size_t home(Duration key) const {
    const std::uint64_t product = static_cast<std::uint64_t>(key.count()) * 0x9E3779B97F4A7C15ULL;
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
