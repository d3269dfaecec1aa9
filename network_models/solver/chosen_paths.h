// The paths that a solve fills anew, as a small problem: them and the links they cross, renumbered, on the capacity
// that all other paths leave.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "network_models/solver/max_min_solver.h"
#include "network_models/solver/path_table.h"

namespace ringwright::network_models {

class ChosenPaths {
 public:
  // The effect of the chosen paths on a link that they cross.
  struct Visit {
    std::uint32_t link = 0;
    std::uint32_t chosen = 0;         // how many of its members
    std::uint32_t chosen_before = 0;  // at the last filling
    bool is_bottleneck = false;
    double level = 0.0;  // the rate of the chosen flows that have their bottleneck here
  };

  explicit ChosenPaths(PathTable& table) : table_(table) {}

  // For the next solve; chooses none.
  void clear();
  // Another number for this solve, of which nothing is marked; for LocalFill.
  [[nodiscard]] std::uint32_t renumber();
  // Number of the solve, which marks what belongs to it.
  [[nodiscard]] std::uint32_t solve_number() const { return solve_number_; }
  [[nodiscard]] bool contains(const PathTable::Path& path) const { return path.chosen_in == solve_number_; }
  // Chooses a path, if it is not yet.
  void choose(PathSlot path) {
    PathTable::Path& row = table_.path(path);
    if (contains(row)) return;
    row.chosen_in = solve_number_;
    row.row = static_cast<std::uint32_t>(chosen_.size());
    chosen_.push_back(path);
  }
  [[nodiscard]] std::size_t size() const { return chosen_.size(); }
  [[nodiscard]] PathSlot operator[](std::size_t row) const { return chosen_[row]; }

  // Fills them all; what others take of a link is as they were filled before.
  void fill();
  // As of the last filling.
  [[nodiscard]] std::span<const Visit> visits() const { return visits_; }
  [[nodiscard]] double rate(std::size_t row) const { return solution_.rate[row]; }
  [[nodiscard]] std::uint32_t bottleneck(std::size_t row) const { return visits_[solution_.bottleneck[row]].link; }

 private:
  // Links are marked with the number of the solve: none needs to be reset before it.
  [[nodiscard]] std::uint32_t visit_of(std::uint32_t link);
  [[nodiscard]] double fixed_load(const PathTable::Link& link) const;
  void gather();

  PathTable& table_;
  std::uint32_t solve_number_ = 0;
  std::vector<PathSlot> chosen_;
  std::vector<Visit> visits_;
  // The problem: gathered up to some row of `chosen_`.
  std::vector<std::uint32_t> first_hop_;
  std::vector<std::uint32_t> hop_link_;
  std::vector<double> hop_share_;
  std::vector<double> capacity_;
  MaxMinSolver solver_;
  MaxMinSolution solution_;
};

}  // namespace ringwright::network_models
