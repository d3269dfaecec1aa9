// Reading one of ASTRA-sim's configuration files: JSON or YAML, with a warning for each key that ASTRA-sim ignores.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_document.h"

namespace ringwright::traces {

// The names of the keys that are read; what else the file has is warned about.
void warn_of_unread_keys(ConfigMap& map, std::span<const std::string_view> known);

// A list of numbers above `above`; empty (after an error) where one is none.
[[nodiscard]] std::vector<double> numbers_above(ConfigMap& map, std::string_view name, std::string_view doc,
                                                double above);
// 0 or 1, false or true; empty: not given.
[[nodiscard]] std::optional<bool> read_switch(ConfigMap& map, std::string_view name, std::string_view doc);

// The value that `read` takes from the file, and its warnings; or all that is wrong with it.
template <class Value>
struct AstraReading {
  Value value;
  Diagnostics warnings;
};

template <class Value, class Read>
[[nodiscard]] Result<AstraReading<Value>> read_astra_file(const std::string& path, const Read& read) {
  auto document = ConfigDocument::load(path);
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  Value value = read(root);
  const Diagnostics& found = document->log().diagnostics();
  if (found.has_errors()) return tl::unexpected(found);
  return AstraReading<Value>{.value = std::move(value), .warnings = found};
}

}  // namespace ringwright::traces
