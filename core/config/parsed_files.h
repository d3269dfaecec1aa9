// Trees of files that were read before: a validation or a search reads the same presets and tables for every scenario,
// and YAML's grammar takes milliseconds.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright {

// By content, so that a file that changes is read again; thread-safe. Files with any finding are not kept: each reader
// reports it at its own place.
class ParsedFiles {
 public:
  static constexpr std::size_t kMostBytes = 16U << 20U;

  // Of texts; when more are read, all are forgotten.
  explicit ParsedFiles(std::size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  // Like read_yaml().
  [[nodiscard]] std::optional<ConfigNode> read(std::string_view text, ConfigSource& source, Diagnostics& problems);

 private:
  struct Parsed {
    std::vector<std::string> lines;
    ConfigNode root;
  };
  using ByText = std::map<std::string, Parsed, std::less<>>;

  std::size_t most_bytes_;
  std::mutex mutex_;
  ByText json_;  // null means something else in JSON (yaml_reader.h)
  ByText yaml_;
  std::size_t bytes_ = 0;
};

}  // namespace ringwright
