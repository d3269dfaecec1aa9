// What each choice of a search costs: the best layout with each value of each axis, against the best of all; and how
// far the best is from a bound that no layout of the space can beat.
//
// The bound: a step takes at least as long as its GPUs compute on average, so no layout that was predicted is faster
// than the shortest computing time of them all. What lies above it is exposed communication and waiting, which another
// layout, schedule or network could at best remove.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "planning/search/search.h"

namespace ringwright::planning {

// All layouts with one value on one axis, by the formulas that all were predicted with.
struct ChoiceClass {
  std::string axis;
  std::string value;
  std::size_t fitting = 0;
  std::size_t too_large = 0;
  std::optional<std::size_t> best;     // of SearchResult::ranked, the fastest; empty: none fits
  std::optional<std::size_t> closest;  // of SearchResult::misfits, where none fits
};

// Axes with more than one value, in the order of the search; values in theirs. Values without any legal layout have no
// class.
[[nodiscard]] std::vector<ChoiceClass> choice_classes(const SearchResult& result);

struct StepBound {
  Duration computing;        // of the layout that computes shortest
  std::size_t shortest = 0;  // that layout, of SearchResult::ranked
  Duration fastest;         // the shortest step, by formulas as well
};

// Empty where no layout fits.
[[nodiscard]] std::optional<StepBound> step_bound(const SearchResult& result);

// Between two predictions of one model: "+1.2 s: bubble +0.8 s", "as fast".
[[nodiscard]] std::string why_slower(const configs::Prediction& faster, const configs::Prediction& slower);

}  // namespace ringwright::planning
