// A pool of blocks of 2^k items in one array: many small lists, few allocations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringwright::network_models {

// The smallest k with 2^k >= count.
[[nodiscard]] constexpr std::uint32_t block_order(std::size_t count) {
  std::uint32_t order = 0;
  while ((std::size_t{1} << order) < count) ++order;
  return order;
}

template <class Item>
class BlockPool {
 public:
  // The index of the first of 2^order items. Invalidates references into the pool: the array may move.
  std::uint32_t take(std::uint32_t order) {
    std::vector<std::uint32_t>& free = free_[order];
    if (!free.empty()) {
      const std::uint32_t first = free.back();
      free.pop_back();
      return first;
    }
    const auto first = static_cast<std::uint32_t>(items_.size());
    items_.resize(items_.size() + (std::size_t{1} << order));
    return first;
  }
  void give_back(std::uint32_t first, std::uint32_t order) { free_[order].push_back(first); }

  [[nodiscard]] Item& operator[](std::size_t index) { return items_[index]; }
  [[nodiscard]] const Item& operator[](std::size_t index) const { return items_[index]; }
  [[nodiscard]] const Item* at(std::uint32_t first) const { return items_.data() + first; }
  [[nodiscard]] Item* at(std::uint32_t first) { return items_.data() + first; }
  [[nodiscard]] std::size_t size() const { return items_.size(); }

 private:
  std::vector<Item> items_;
  std::array<std::vector<std::uint32_t>, 32> free_;  // by order
};

}  // namespace ringwright::network_models
