// The kinds of traces and logs that ringwright knows, each recognised by its content.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "traces/input/file_summary.h"

namespace ringwright::traces {

struct FileKind {
  std::string_view name;  // "chakra"
  std::string_view doc;   // "Chakra execution trace (.et)"
  std::string_view use;   // besides `inspect`: what simulates it, or compares it with a simulation; empty: nothing
  // Whether the file may be of this kind, from its first bytes: decompressed, kBeginningBytes or all of it.
  bool (*matches)(std::string_view beginning);
  // What it holds; problems are in the summary.
  FileSummary (*inspect)(const std::string& path);
};
inline constexpr std::size_t kBeginningBytes = 64 * 1024;

// In the order in which they are tried.
[[nodiscard]] std::span<const FileKind> file_kinds();
// Null: none.
[[nodiscard]] const FileKind* kind_of_content(std::string_view beginning);
// Null: none, or it cannot be read.
[[nodiscard]] const FileKind* kind_of_file(const std::string& path);

struct InspectedFile {
  std::string path;
  std::string_view kind;  // of the table; "chakra job" for the traces of all ranks
  std::string_view doc;
  FileSummary summary;
};

// `path` is a file, or the PREFIX of the traces PREFIX.RANK.et of a job. Fails when it cannot be read, or is of no
// known kind.
[[nodiscard]] Result<InspectedFile> inspect_file(const std::string& path);

// Files of one job, joined: profilers' traces of several ranks, several communication logs, execution traces of the
// host with the profiler's traces of their processes. Empty where there is nothing to join.
[[nodiscard]] std::vector<InspectedFile> inspect_together(const std::vector<InspectedFile>& files);

}  // namespace ringwright::traces
