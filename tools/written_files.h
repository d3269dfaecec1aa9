// Writes results: a file is written completely or not at all, and the old contents stay until then.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace ringwright::tools {

// The contents of one file in a folder.
struct FileContent {
  std::string name;
  std::string text;
};

// Writes a temporary file in the folder of the target (".NAME.PID.N.tmp"), flushes it to the disk and renames it to
// the target. A device or a pipe is written directly. Returns what went wrong, and nothing is changed then; empty when
// done.
[[nodiscard]] std::string write_file(const std::string& path, std::string_view text);
// The same for files that belong together: all are written before the first one is renamed, and another process that
// writes into the same folder by this function waits. The folder is created.
[[nodiscard]] std::string write_files(const std::string& folder, std::span<const FileContent> files);

}  // namespace ringwright::tools
