// The lines of a log.
#pragma once

#include <algorithm>
#include <string_view>

namespace ringwright::traces {

// Calls `handle` with each line and whether a line break ends it, until it returns false.
template <class Handle>
void for_each_line(std::string_view text, Handle&& handle) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (!handle(text.substr(at, end - at), end < text.size())) return;
    at = end + 1;
  }
}

}  // namespace ringwright::traces
