#include "traces/chakra/rank_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/config/config_document.h"

namespace ringwright::traces {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kEndings = {".et", ".et.gz", ".json"};
constexpr std::size_t kMostErrors = 20;
constexpr std::uint32_t kNoFile = ~std::uint32_t{0};

std::optional<std::uint32_t> parse_rank(std::string_view digits) {
  std::uint32_t rank = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, rank);
  if (error != std::errc() || stop != end || rank >= kMostTraceRanks) return std::nullopt;
  return rank;
}

// The rank in "step.12.et" for the prefix "step"; empty when it is no such name.
std::optional<std::uint32_t> rank_in(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix) || name.size() == prefix.size() || name[prefix.size()] != '.') return std::nullopt;
  name.remove_prefix(prefix.size() + 1);
  for (const std::string_view ending : kEndings) {
    if (name.ends_with(ending)) return parse_rank(name.substr(0, name.size() - ending.size()));
  }
  return std::nullopt;
}

struct Found {
  std::map<std::uint32_t, std::string> by_rank;
  Diagnostics problems;
};

Found files_of_prefix(const std::string& prefix) {
  Found found;
  const fs::path path(prefix);
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    found.problems =
        failure("E247", fmt::format("cannot read the folder of '{}': {}", prefix, error.message()), {.file = prefix});
    return found;
  }
  for (; entries != fs::directory_iterator(); entries.increment(error)) {
    const std::string name = entries->path().filename().string();
    const auto rank = rank_in(name, path.filename().string());
    if (!rank) continue;
    const std::string file = (path.parent_path() / name).string();
    const auto [at, fresh] = found.by_rank.try_emplace(*rank, file);
    if (fresh) continue;
    found.problems.add({.code = "E247",
                        .place = {.file = prefix},
                        .message = fmt::format("rank {} has two traces: '{}' and '{}'", *rank,
                                               std::min(at->second, file), std::max(at->second, file)),
                        .hint = "remove one of them"});
  }
  return found;
}

// "0-3,8" into ranks below `limit`; what is wrong, empty when nothing is.
std::string parse_ranges(std::string_view text, std::size_t limit, std::vector<std::uint32_t>& ranks) {
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t dash = part.find('-');
    const auto first = parse_rank(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_rank(part.substr(dash + 1));
    if (!first || !last || *last < *first || *last >= limit) {
      return fmt::format("'{}' is not a range of the {} ranks, such as '0-3' or '8'", part, limit);
    }
    for (std::uint32_t rank = *first; rank <= *last; ++rank) ranks.push_back(rank);
  }
  return {};
}

Result<RankFiles> read_rank_map(const std::string& path, const std::string& folder) {
  auto document = ConfigDocument::load(path);
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  RankFiles files;
  files.file_of.assign(
      static_cast<std::size_t>(
          root.integer({.name = "ranks", .doc = "number of ranks", .min = 1, .max = std::int64_t{kMostTraceRanks}})),
      kNoFile);
  for (ConfigMap& entry : root.maps("files", "each file with its ranks")) {
    const std::string file = entry.text({.name = "file", .doc = "name, relative to this file"});
    std::vector<std::uint32_t> ranks;
    const std::string ranges = entry.text({.name = "ranks", .doc = "ranges of ranks, such as 0-3,8"});
    if (const std::string wrong = parse_ranges(ranges, files.file_of.size(), ranks); !wrong.empty()) {
      entry.error("ranks", "E247", wrong);
    }
    for (const std::uint32_t rank : ranks) {
      if (files.file_of[rank] != kNoFile) {
        entry.error("ranks", "E247", fmt::format("rank {} already has a file", rank));
        if (document->log().diagnostics().error_count() > kMostErrors)
          return tl::unexpected(document->log().diagnostics());
        break;
      }
      files.file_of[rank] = static_cast<std::uint32_t>(files.files.size());
    }
    files.files.push_back((fs::path(folder) / file).string());
  }
  document->check_all_read();
  if (document->log().diagnostics().has_errors()) return tl::unexpected(document->log().diagnostics());
  return files;
}

// As the files that are there end: JSON traces stand for others.
std::string_view ending_of(const RankFiles& files) {
  for (const std::string& file : files.files) {
    const auto found = std::ranges::find_if(kEndings, [&](std::string_view ending) { return file.ends_with(ending); });
    if (found != kEndings.end()) return *found;
  }
  return kEndings.front();
}

// Errors about ranks that have no file, or files that no rank of the job has.
Diagnostics check_ranks(const RankFiles& files, const std::string& prefix, std::size_t ranks) {
  std::vector<std::uint32_t> missing;
  for (std::uint32_t rank = 0; rank < files.file_of.size(); ++rank) {
    if (files.file_of[rank] == kNoFile) missing.push_back(rank);
  }
  Diagnostics problems;
  if (!missing.empty()) {
    problems = failure("E247",
                       fmt::format("of {} ranks {} have no trace '{}.RANK{}': {}", files.file_of.size(),
                                   missing.size(), prefix, ending_of(files), ranges_text(missing)),
                       {.file = prefix});
  }
  if (ranks > 0 && ranks < files.file_of.size()) {
    problems = failure(
        "E247",
        fmt::format("the job has {} ranks, but there are traces up to rank {}", ranks, files.file_of.size() - 1),
        {.file = prefix}, "a cluster with as many GPUs as there are traces");
  }
  return problems;
}

}  // namespace

std::string ranges_text(std::span<const std::uint32_t> numbers) {
  constexpr std::size_t kMostRanges = 12;
  std::string text;
  std::size_t ranges = 0;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (++ranges > kMostRanges) return text + ", ...";
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[i]);
    if (end > i + 1) text += fmt::format("{}{}", end == i + 2 ? ", " : "-", numbers[end - 1]);
    i = end;
  }
  return text;
}

bool has_rank_files(const std::string& prefix) {
  std::error_code error;
  return fs::exists(prefix + ".ranks.json", error) || !files_of_prefix(prefix).by_rank.empty();
}

Result<RankFiles> find_rank_files(const std::string& prefix, std::size_t ranks) {
  RankFiles files;
  const std::string map = prefix + ".ranks.json";
  std::error_code error;
  if (fs::exists(map, error)) {
    auto listed = read_rank_map(map, fs::path(prefix).parent_path().string());
    if (!listed) return listed;
    files = std::move(*listed);
  } else {
    Found found = files_of_prefix(prefix);
    if (found.problems.has_errors()) return tl::unexpected(std::move(found.problems));
    if (found.by_rank.empty()) {
      return tl::unexpected(failure("E247", fmt::format("there is no trace '{}.RANK.et'", prefix), {.file = prefix},
                                    fs::exists(prefix, error) ? "the beginning of the name, without '.RANK.et'"
                                                              : "one file per rank: PREFIX.0.et, PREFIX.1.et, ..."));
    }
    files.file_of.assign(found.by_rank.rbegin()->first + std::size_t{1}, kNoFile);
    for (auto& [rank, file] : found.by_rank) {
      files.file_of[rank] = static_cast<std::uint32_t>(files.files.size());
      files.files.push_back(std::move(file));
    }
  }
  if (ranks > files.file_of.size()) files.file_of.resize(ranks, kNoFile);
  if (Diagnostics problems = check_ranks(files, prefix, ranks); problems.has_errors()) {
    return tl::unexpected(std::move(problems));
  }
  return files;
}

}  // namespace ringwright::traces
