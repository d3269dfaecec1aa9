#include "traces/input/log_text.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

namespace ringwright::traces {
namespace {

// Longer names first: shorter ones may be contained in them. Those of tests that are not simulated are known as well,
// so that they are not taken for others.
constexpr std::array<std::string_view, 14> kOperations = {
    "all_reduce", "allreduce", "all_gather", "allgather", "reduce_scatter", "alltoallv", "alltoall",
    "all_to_all", "broadcast", "sendrecv",   "hypercube", "reduce",         "gather",    "scatter"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// A number that no double holds, as 1e400.
bool is_out_of_range(std::string_view text) {
  double number = 0.0;
  return std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc::result_out_of_range;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back(line.substr(at, end - at));
    at = end;
  }
  return words;
}

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  std::size_t at = 0;
  while (true) {
    const std::size_t comma = line.find(',', at);
    cells.push_back(trimmed(line.substr(at, comma - at)));
    if (comma == std::string_view::npos) return cells;
    at = comma + 1;
  }
}

std::string library_version_in(std::string_view text) {
  // "2.18.5": digits, dot, digits, dot, digits.
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!is_digit(text[at]) || (at > 0 && (is_digit(text[at - 1]) || text[at - 1] == '.'))) continue;
    std::size_t end = at;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '.')) ++end;
    while (end > at && text[end - 1] == '.') --end;
    const std::string_view candidate = text.substr(at, end - at);
    if (std::ranges::count(candidate, '.') >= 1 && candidate.size() >= 3) return std::string(candidate);
    at = end;
  }
  // NCCL_VERSION_CODE: 10000 * major + 100 * minor + patch since 2.9, 1000 * major + 100 * minor + patch before.
  const auto code = parse_number<int>(trimmed(text));
  if (!code || *code < 2000) return "";
  const int unit = *code >= 10'000 ? 10'000 : 1'000;
  return fmt::format("{}.{}.{}", *code / unit, *code % unit / 100, *code % 100);
}

std::string operation_in(std::string_view text) {
  for (const std::string_view operation : kOperations) {
    if (text.find(operation) != std::string_view::npos) return std::string(operation);
  }
  return "";
}

std::string tested_operation_in(std::string_view line) {
  constexpr std::string_view kSuffix = "_perf";
  for (std::size_t end = line.find(kSuffix); end != std::string_view::npos; end = line.find(kSuffix, end + 1)) {
    std::size_t begin = end;
    while (begin > 0 && (line[begin - 1] == '_' || (line[begin - 1] >= 'a' && line[begin - 1] <= 'z'))) --begin;
    const std::string_view word = line.substr(begin, end - begin);
    for (const std::string_view operation : kOperations) {
      if (word == operation) return std::string(operation);
    }
  }
  return "";
}

std::optional<Duration> measured_time(Bytes size, std::string_view microseconds, std::string_view algbw) {
  const auto us = parse_number<double>(microseconds);
  const auto within = [](Duration time) -> std::optional<Duration> {
    if (time <= Duration(0) || is_beyond_clock(time)) return std::nullopt;
    return time;
  };
  if (us && *us > 0.0) return within(from_seconds(*us * 1e-6));
  // Not what a bandwidth next to it claims.
  if ((us && *us < 0.0) || is_out_of_range(microseconds)) return std::nullopt;
  const auto rate = parse_number<double>(algbw);
  if (!rate || !(*rate > 0.0)) return std::nullopt;
  return within(transfer_time(size, Bandwidth(*rate * 1e9)));
}

std::string contradiction_of(Bytes size, std::string_view microseconds, std::string_view algbw) {
  constexpr double kLeastRate = 0.1;  // GB/s; tables round to 0.01
  constexpr double kMostRatio = 2.0;
  const auto us = parse_number<double>(microseconds);
  const auto rate = parse_number<double>(algbw);
  if (!us || !rate || !(*rate >= kLeastRate) || !(*us > 0.0)) return {};
  const double follows = static_cast<double>(size.count()) / *us * 1e-3;
  if (follows < kMostRatio * *rate && *rate < kMostRatio * follows) return {};
  return fmt::format("{} bytes in {} us are {:.4g} GB/s, and its algbw is {}", size.count(), microseconds, follows,
                     algbw);
}

double bus_factor_of(std::string_view operation, int ranks) {
  if (ranks < 2) return 1.0;
  const double to_others = static_cast<double>(ranks - 1) / ranks;
  const std::string known = operation_in(operation);
  if (known.starts_with("all_reduce") || known == "allreduce") return 2.0 * to_others;
  const bool once = known == "broadcast" || known == "sendrecv" || known == "reduce" || known.empty();
  return once ? 1.0 : to_others;
}

}  // namespace ringwright::traces
