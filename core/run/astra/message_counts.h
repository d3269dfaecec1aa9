// Messages that arrived before anyone waited for them, and waits for messages that have not arrived, by receiver and
// sender.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringwright {

class MessageCounts {
 public:
  // True: one was waited for, and the wait is over. False: the message is stored.
  [[nodiscard]] bool arrive(std::uint32_t receiver, std::uint32_t sender) { return change(receiver, sender, 1); }
  // True: one has arrived, and is taken. False: the wait is stored.
  [[nodiscard]] bool wait(std::uint32_t receiver, std::uint32_t sender) { return change(receiver, sender, -1); }
  // True: one has arrived, and is taken. False: nothing is stored.
  [[nodiscard]] bool take(std::uint32_t receiver, std::uint32_t sender);
  [[nodiscard]] bool empty() const { return used_ == 0; }
  void clear();

 private:
  struct Cell {
    std::uint64_t key = kFree;
    std::int32_t surplus = 0;  // messages stored, or waits (negative)
  };
  static constexpr std::uint64_t kFree = UINT64_MAX;

  // Adds to the surplus; true when that brought it nearer to zero.
  bool change(std::uint32_t receiver, std::uint32_t sender, std::int32_t by);
  [[nodiscard]] std::size_t home(std::uint64_t key) const;
  void erase(std::size_t cell);
  void grow();

  std::vector<Cell> cells_;  // open addressing, linear probing; its size is a power of two
  std::size_t used_ = 0;
};

}  // namespace ringwright
