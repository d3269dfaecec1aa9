// The rows of a table that were looked up last: a program repeats the same few.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace ringwright::workload {

class RecentRows {
 public:
  // The number of a recent row that equals `wanted`.
  template <class Row, class Wanted>
  [[nodiscard]] std::optional<std::uint32_t> find(const std::vector<Row>& rows, const Wanted& wanted) const {
    for (const std::uint32_t recent : numbers_) {
      if (recent < rows.size() && rows[recent] == wanted) return recent;
    }
    return std::nullopt;
  }
  void note(std::uint32_t number) { numbers_[next_++ % kRecent] = number; }

 private:
  static constexpr std::size_t kRecent = 4;
  std::array<std::uint32_t, kRecent> numbers_{};
  std::size_t next_ = 0;
};

}  // namespace ringwright::workload
