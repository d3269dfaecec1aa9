// Links in the order of their levels, the lowest first: a 4-ary heap that knows the place of each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace ringwright::network_models {

class LevelQueue {
 public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::uint32_t first() const { return heap_.front().item; }
  [[nodiscard]] double lowest() const { return heap_.front().level; }
  // Inserts the item, or brings it forward; one that is queued with a level no higher stays. Items are numbered densely
  // by the caller.
  void lower(std::uint32_t item, double level) {
    if (item >= places_.size()) places_.resize(item + 1, kNone);
    std::uint32_t place = places_[item];
    if (place == kNone) {
      place = static_cast<std::uint32_t>(heap_.size());
      heap_.emplace_back();
    } else if (heap_[place].level <= level) {
      return;
    }
    sift_up(place, {.level = level, .item = item});
  }
  // Puts the first one back to a level no lower.
  void raise_first(double level) { sift_down(0, {.level = level, .item = heap_.front().item}); }
  void remove_first() {
    places_[heap_.front().item] = kNone;
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sift_down(0, last);
  }

 private:
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

  struct Entry {
    double level = 0.0;
    std::uint32_t item = 0;
  };

  void put(std::size_t place, const Entry& entry) {
    heap_[place] = entry;
    places_[entry.item] = static_cast<std::uint32_t>(place);
  }
  void sift_up(std::size_t place, const Entry& entry) {
    for (; place > 0 && heap_[(place - 1) / 4].level > entry.level; place = (place - 1) / 4) {
      put(place, heap_[(place - 1) / 4]);
    }
    put(place, entry);
  }
  void sift_down(std::size_t place, const Entry& entry) {
    while (4 * place + 1 < heap_.size()) {
      std::size_t least = 4 * place + 1;
      const std::size_t end = std::min(least + 4, heap_.size());
      for (std::size_t child = least + 1; child < end; ++child) {
        if (heap_[child].level < heap_[least].level) least = child;
      }
      if (heap_[least].level >= entry.level) break;
      put(place, heap_[least]);
      place = least;
    }
    put(place, entry);
  }

  std::vector<Entry> heap_;
  std::vector<std::uint32_t> places_;  // by item
};

}  // namespace ringwright::network_models
