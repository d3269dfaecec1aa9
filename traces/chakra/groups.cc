#include "traces/chakra/groups.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/config/config_document.h"
#include "traces/chakra/rank_files.h"
#include "traces/input/byte_stream.h"

namespace ringwright::traces {
namespace {

// Groups of a million ranks in every one of three dimensions take some 30 MiB.
constexpr std::size_t kMostGroupBytes = std::size_t{256} << 20U;

void add_group(ChakraGroups& groups, std::string name, std::vector<std::uint32_t> ranks) {
  groups.by_name.emplace(name, static_cast<std::uint32_t>(groups.groups.size()));
  groups.groups.push_back({.name = std::move(name), .ranks = std::move(ranks)});
}

std::vector<std::uint32_t> all_of(std::size_t ranks) {
  std::vector<std::uint32_t> all(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) all[rank] = static_cast<std::uint32_t>(rank);
  return all;
}

// The ranks under a key, of which an empty list means all; mistakes are recorded at the key.
std::vector<std::uint32_t> read_ranks(ConfigMap& map, std::string_view key, std::size_t ranks) {
  const std::int64_t most = static_cast<std::int64_t>(ranks == 0 ? kMostTraceRanks : ranks) - 1;
  const auto listed = map.integers({.name = key, .doc = "ranks of the group, in its order", .min = 0, .max = most});
  if (listed.empty()) return all_of(ranks);
  std::vector<std::uint32_t> members;
  for (const std::int64_t rank : listed) members.push_back(static_cast<std::uint32_t>(rank));
  std::vector<std::uint32_t> sorted = members;
  std::ranges::sort(sorted);
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice != sorted.end()) map.error(key, "E248", fmt::format("'{}' has rank {} twice", map.path_of(key), *twice));
  return members;
}

// PyTorch writes the list as a JSON text within the text of a list of values: ['[{"pg_name": ...}]'] in various quotes.
std::string_view json_within(std::string_view values) {
  const std::size_t first = values.find("[{");
  const std::size_t last = values.rfind("}]");
  if (first == std::string_view::npos || last == std::string_view::npos || last < first) return {};
  return values.substr(first, last + 2 - first);
}

std::string without_escapes(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\');
    if (escape) ++i;
    plain += text[i];
  }
  return plain;
}

class DefinedGroups {
 public:
  explicit DefinedGroups(const ChakraJob& job) : job_(job) {}

  [[nodiscard]] Result<ChakraGroups> read() {
    for (const ChakraTrace& trace : job_.traces) {
      for (const auto& [at, tensors] : trace.inputs_outputs) {
        if (trace.name_of(trace.nodes[at]) == kGroupsNodeName) read_node(trace, trace.nodes[at], tensors.inputs.values);
        if (problems_.error_count() > 20) return tl::unexpected(std::move(problems_));
      }
    }
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(groups_);
  }

 private:
  void error(const ChakraTrace& trace, std::string message) {
    problems_.add({.code = "E248", .place = {.file = trace.file}, .message = std::move(message)});
  }

  void read_node(const ChakraTrace& trace, const ChakraNode& node, const std::string& values) {
    const std::string_view json = json_within(values);
    if (json.empty()) {
      if (values.find("pg_name") == std::string::npos) return;  // an empty list of groups
      return error(trace,
                   fmt::format("{} defines process groups, but its input is no list of them", describe(trace, node)));
    }
    std::string text =
        "{\"groups\": " + (json.find("\\\"") == std::string_view::npos ? std::string(json) : without_escapes(json)) +
        "}";
    auto document = ConfigDocument::load_text(trace.file + "#groups.json", text);
    if (!document) {
      for (const Diagnostic& found : document.error().all()) {
        error(trace, fmt::format("the groups in {} cannot be read: {}", describe(trace, node), found.message));
      }
      return;
    }
    for (ConfigMap& entry : document->root().maps("groups", "process groups")) {
      const std::string name = entry.text({.name = "pg_name", .doc = "name"});
      std::vector<std::uint32_t> ranks = read_ranks(entry, "ranks", job_.ranks());
      entry.ignore_rest("not needed");
      if (!document->log().diagnostics().has_errors()) define(trace, name, std::move(ranks));
    }
    for (const Diagnostic& found : document->log().diagnostics().all()) {
      error(trace, fmt::format("the groups in {}: {}", describe(trace, node), found.message));
    }
  }

  void define(const ChakraTrace& trace, const std::string& name, std::vector<std::uint32_t> ranks) {
    const auto known = groups_.by_name.find(name);
    if (known == groups_.by_name.end()) return add_group(groups_, name, std::move(ranks));
    const ChakraGroup& group = groups_.groups[known->second];
    if (group.ranks == ranks) return;
    error(trace, fmt::format("process group '{}' has ranks {} here, and {} in another trace", name, ranges_text(ranks),
                             ranges_text(group.ranks)));
  }

  const ChakraJob& job_;
  ChakraGroups groups_;
  Diagnostics problems_;
};

}  // namespace

Result<ChakraGroups> read_group_file(const std::string& path, std::size_t ranks) {
  const auto text = read_all(path, kMostGroupBytes);
  if (!text) return tl::unexpected(failure("E248", "cannot read the groups: " + text.error(), {.file = path}));
  return parse_group_file(path, *text, ranks);
}

Result<ChakraGroups> parse_group_file(const std::string& name, std::string_view text, std::size_t ranks) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || text[first] != '{') {
    return tl::unexpected(failure("E248", "the groups are not a JSON object of lists of ranks", {.file = name},
                                  "{\"1\": [0, 1], \"2\": [2, 3]}"));
  }
  auto document = ConfigDocument::load_text(name, text);
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  ChakraGroups groups;
  for (const std::string& key : root.keys()) {
    std::vector<std::uint32_t> members = read_ranks(root, key, ranks);
    add_group(groups, key, std::move(members));
  }
  if (document->log().diagnostics().has_errors()) return tl::unexpected(document->log().diagnostics());
  return groups;
}

Result<ChakraGroups> groups_in_traces(const ChakraJob& job) {
  return DefinedGroups(job).read();
}

}  // namespace ringwright::traces
