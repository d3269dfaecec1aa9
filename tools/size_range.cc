#include "tools/size_range.h"

#include <charconv>
#include <cmath>
#include <cstdint>

namespace ringwright::tools {
namespace {

constexpr Bytes kLargest{std::int64_t{1} << 50U};

// 0 for any word other than the suffixes of nccl-tests.
double suffix_factor(std::string_view suffix) {
  if (suffix.empty()) return 1.0;
  if (suffix.size() > 1) return 0.0;
  switch (suffix.front()) {
    case 'k':
    case 'K': return 1024.0;
    case 'm':
    case 'M': return 1024.0 * 1024.0;
    case 'g':
    case 'G': return 1024.0 * 1024.0 * 1024.0;
    case 't':
    case 'T': return 1024.0 * 1024.0 * 1024.0 * 1024.0;
    default: return 0.0;
  }
}

}  // namespace

std::optional<Bytes> parse_test_size(std::string_view text) {
  double number = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || !(number > 0.0)) return std::nullopt;
  const double factor = suffix_factor({rest, static_cast<std::size_t>(end - rest)});
  if (!(factor > 0.0)) {
    const auto bytes = parse_bytes(text);
    return bytes && *bytes > Bytes(0) && *bytes <= kLargest ? bytes : std::nullopt;
  }
  const double bytes = number * factor;
  if (!(bytes <= static_cast<double>(kLargest.count())) || bytes < 1.0) return std::nullopt;
  return Bytes(static_cast<std::int64_t>(bytes));
}

std::vector<Bytes> sizes_of(const SizeRange& range) {
  std::vector<Bytes> sizes;
  Bytes size = range.from;
  while (size <= range.to) {
    sizes.push_back(size);
    const Bytes next = range.increment ? size + *range.increment : scale(size, range.factor);
    if (next <= size) break;
    size = next;
  }
  return sizes;
}

}  // namespace ringwright::tools
