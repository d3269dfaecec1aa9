// Tables that were read before: hundreds of values, which every scenario of a validation or a search needs.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "collectives/nccl/tables/tables.h"
#include "core/config/input_file.h"

namespace ringwright::collectives {

// By the file and its text, without those of which a reader had to report anything; thread-safe.
class KnownTables {
 public:
  struct Entry {
    NcclTables tables;
    std::string sha256;  // of all that it was read from
  };
  [[nodiscard]] std::optional<Entry> find(const InputFile& file) {
    const std::scoped_lock lock(mutex_);
    const auto known = by_file_.find({file.path, file.text});
    return known == by_file_.end() ? std::nullopt : std::optional(known->second);
  }
  void add(const InputFile& file, const Entry& entry) {
    const std::scoped_lock lock(mutex_);
    by_file_.emplace(std::pair(file.path, file.text), entry);
  }

 private:
  std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, Entry> by_file_;
};

}  // namespace ringwright::collectives
