// A table of sets of members: which contributions each piece of each buffer holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ringwright::collectives {

class ContributionSets {
 public:
  using Words = std::span<const std::uint64_t>;

  ContributionSets(std::size_t cells, int members);

  void insert(std::size_t cell, int member);
  [[nodiscard]] Words at(std::size_t cell) const;
  [[nodiscard]] bool empty(std::size_t cell) const;
  [[nodiscard]] bool full(std::size_t cell) const;
  [[nodiscard]] bool is_only(std::size_t cell, int member) const;
  void replace(std::size_t cell, Words by);
  // False, without a change, when a contribution is already present.
  [[nodiscard]] bool add(std::size_t cell, Words more);
  [[nodiscard]] std::size_t words_per_cell() const { return words_; }
  // "{0, 3}"
  [[nodiscard]] std::string text(std::size_t cell) const;

 private:
  [[nodiscard]] int count(std::size_t cell) const;

  int members_;
  std::size_t words_;  // of 64 members each
  std::vector<std::uint64_t> bits_;
};

}  // namespace ringwright::collectives
