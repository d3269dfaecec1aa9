// Small helpers for text that people read: joining and the nearest name ("did you mean").
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

[[nodiscard]] std::string join(std::span<const std::string> parts, std::string_view separator);

// Edits (insert, delete, replace, swap of neighbours) between two words: optimal string alignment distance.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// The candidate nearest to `word`, or empty when none is near enough to be a typo.
[[nodiscard]] std::string nearest_name(std::string_view word, std::span<const std::string> candidates);

// "16,384": digits in groups of three.
[[nodiscard]] std::string with_commas(long long number);
// "157.3", "20,480": four digits, and no exponent above them.
[[nodiscard]] std::string four_digits(double number);

}  // namespace ringwright
