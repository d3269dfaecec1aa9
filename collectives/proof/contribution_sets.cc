// Sets of members as rows of bits.
#include "collectives/proof/contribution_sets.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "core/base/text.h"

namespace ringwright::collectives {

ContributionSets::ContributionSets(std::size_t cells, int members)
    : members_(members), words_((static_cast<std::size_t>(members) + 63) / 64), bits_(cells * words_) {}

void ContributionSets::insert(std::size_t cell, int member) {
  const auto bit = static_cast<std::size_t>(member);
  bits_[cell * words_ + bit / 64] |= std::uint64_t{1} << (bit % 64);
}

ContributionSets::Words ContributionSets::at(std::size_t cell) const {
  return Words(bits_).subspan(cell * words_, words_);
}

int ContributionSets::count(std::size_t cell) const {
  int total = 0;
  for (const std::uint64_t word : at(cell)) total += std::popcount(word);
  return total;
}

bool ContributionSets::empty(std::size_t cell) const { return count(cell) == 0; }
bool ContributionSets::full(std::size_t cell) const { return count(cell) == members_; }

bool ContributionSets::is_only(std::size_t cell, int member) const {
  const auto bit = static_cast<std::size_t>(member);
  return count(cell) == 1 && ((at(cell)[bit / 64] >> (bit % 64)) & 1U) != 0;
}

void ContributionSets::replace(std::size_t cell, Words by) {
  std::ranges::copy(by, bits_.begin() + static_cast<std::ptrdiff_t>(cell * words_));
}

bool ContributionSets::add(std::size_t cell, Words more) {
  for (std::size_t w = 0; w < words_; ++w) {
    if ((bits_[cell * words_ + w] & more[w]) != 0) return false;
  }
  for (std::size_t w = 0; w < words_; ++w) bits_[cell * words_ + w] |= more[w];
  return true;
}

std::string ContributionSets::text(std::size_t cell) const {
  std::vector<std::string> names;
  for (int member = 0; member < members_; ++member) {
    const auto bit = static_cast<std::size_t>(member);
    if (((at(cell)[bit / 64] >> (bit % 64)) & 1U) != 0) names.push_back(std::to_string(member));
  }
  return "{" + join(names, ", ") + "}";
}

}  // namespace ringwright::collectives
