#include "core/run/astra/message_counts.h"

#include <algorithm>

#include "core/base/random.h"

namespace ringwright {
namespace {

constexpr std::size_t kFewestCells = 64;

}  // namespace

std::size_t MessageCounts::home(std::uint64_t key) const {
  return static_cast<std::size_t>(splitmix64(key)) & (cells_.size() - 1);
}

bool MessageCounts::change(std::uint32_t receiver, std::uint32_t sender, std::int32_t by) {
  if ((used_ + 1) * 2 > cells_.size()) grow();
  const std::uint64_t key = std::uint64_t{receiver} << 32U | sender;
  std::size_t at = home(key);
  while (cells_[at].key != key && cells_[at].key != kFree) at = (at + 1) & (cells_.size() - 1);
  if (cells_[at].key == kFree) {
    cells_[at] = {.key = key, .surplus = by};
    ++used_;
    return false;
  }
  cells_[at].surplus += by;
  const bool nearer = (cells_[at].surplus >= 0) == (by < 0);
  if (cells_[at].surplus == 0) {
    erase(at);
    return true;
  }
  return nearer;
}

bool MessageCounts::take(std::uint32_t receiver, std::uint32_t sender) {
  if (used_ == 0) return false;
  const std::uint64_t key = std::uint64_t{receiver} << 32U | sender;
  for (std::size_t at = home(key); cells_[at].key != kFree; at = (at + 1) & (cells_.size() - 1)) {
    if (cells_[at].key != key) continue;
    if (cells_[at].surplus <= 0) return false;
    if (--cells_[at].surplus == 0) erase(at);
    return true;
  }
  return false;
}

void MessageCounts::erase(std::size_t cell) {
  const std::size_t mask = cells_.size() - 1;
  std::size_t hole = cell;
  for (std::size_t at = (hole + 1) & mask; cells_[at].key != kFree; at = (at + 1) & mask) {
    // A key may move into the hole when its home does not lie between the hole and its place.
    if (((at - home(cells_[at].key)) & mask) < ((at - hole) & mask)) continue;
    cells_[hole] = cells_[at];
    hole = at;
  }
  cells_[hole] = Cell();
  --used_;
}

void MessageCounts::grow() {
  std::vector<Cell> old(std::max(kFewestCells, cells_.size() * 2));
  old.swap(cells_);
  const std::size_t mask = cells_.size() - 1;
  for (const Cell& cell : old) {
    if (cell.key == kFree) continue;
    std::size_t at = home(cell.key);
    while (cells_[at].key != kFree) at = (at + 1) & mask;
    cells_[at] = cell;
  }
}

void MessageCounts::clear() {
  if (used_ == 0) return;
  std::ranges::fill(cells_, Cell());
  used_ = 0;
}

}  // namespace ringwright
