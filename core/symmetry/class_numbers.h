// Classes of equal colours, numbered in the order of their smallest members.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace ringwright {

template <class Class, class Member>
void number_classes(const std::vector<std::uint64_t>& colours, std::vector<Class>& class_of,
                    std::vector<Member>& representative, std::vector<std::uint32_t>& size) {
  class_of.resize(colours.size());
  std::unordered_map<std::uint64_t, std::uint32_t> number_of;
  for (std::size_t first = 0; first < colours.size();) {
    const auto [entry, is_new] = number_of.try_emplace(colours[first], static_cast<std::uint32_t>(size.size()));
    if (is_new) {
      representative.push_back(Member(first));
      size.push_back(0);
    }
    // Nearly always the next member is of the same class.
    std::size_t end = first + 1;
    while (end < colours.size() && colours[end] == colours[first]) ++end;
    std::fill_n(class_of.begin() + static_cast<std::ptrdiff_t>(first), end - first, Class(entry->second));
    size[entry->second] += static_cast<std::uint32_t>(end - first);
    first = end;
  }
}

}  // namespace ringwright
