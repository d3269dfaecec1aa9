// Overheads of costly calls in a file, for later runs of the same program.
//
// A line holds the digest of what a time was found for, the time in picoseconds, and a digest of both. Lines are only
// appended, each with one write, so that programs may share the file; a line that was cut or damaged is ignored. The
// file is of one version of the program: FOLDER/overheads-0.1.0-3f2a9c1db07e. Files of other versions are removed when
// nothing was added to them for a month.
#pragma once

#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "core/base/units.h"

namespace ringwright::configs {

// Thread-safe. Nothing is ever refused: where the file cannot be read or written, times are found anew.
class OverheadStore {
 public:
  // Empty: nothing is stored. The folder is made, and the file read, when they are first needed.
  explicit OverheadStore(std::string folder) : folder_(std::move(folder)) {}

  // `of`: all that the time depends on, apart from the program.
  [[nodiscard]] std::optional<Duration> find(std::string_view of);
  void put(std::string_view of, Duration time);
  [[nodiscard]] std::size_t size();

 private:
  void read_once();

  std::string folder_;
  std::mutex mutex_;
  bool was_read_ = false;
  std::size_t bytes_ = 0;  // of the file
  std::unordered_map<std::string, Duration> known_;
};

}  // namespace ringwright::configs
