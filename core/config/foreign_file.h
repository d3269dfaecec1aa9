// Reading a configuration file of another program: JSON or YAML, with a warning for each key that the program ignores.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/config/config_document.h"

namespace ringwright {

struct ForeignProgram {
  std::string_view name;
  std::string_view wrong_value;  // codes of what is wrong with its files
  std::string_view unread_key;
};
inline constexpr ForeignProgram kAstraSim{.name = "ASTRA-sim", .wrong_value = "E270", .unread_key = "W271"};

// The names of the keys that are read; what else the file has is warned about.
void warn_of_unread_keys(ConfigMap& map, std::span<const std::string_view> known, const ForeignProgram& program);

// A list of numbers above `above`; empty (after an error) where one is none.
struct PlainNumbers {
  std::string_view name;
  std::string_view doc;
  double above = 0.0;
};
[[nodiscard]] std::vector<double> read_plain_numbers(ConfigMap& map, const PlainNumbers& wanted,
                                                     const ForeignProgram& program);
// 0 or 1, false or true; empty: not given.
struct PlainSwitch {
  std::string_view name;
  std::string_view doc;
};
[[nodiscard]] std::optional<bool> read_plain_switch(ConfigMap& map, const PlainSwitch& wanted,
                                                    const ForeignProgram& program);

// The value that `read` takes from the file, and its warnings; or all that is wrong with it.
template <class Value>
struct ForeignReading {
  Value value;
  Diagnostics warnings;
};

template <class Value, class Read>
[[nodiscard]] Result<ForeignReading<Value>> read_foreign_document(Result<ConfigDocument> document, const Read& read) {
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  Value value = read(root);
  const Diagnostics& found = document->log().diagnostics();
  if (found.has_errors()) return tl::unexpected(found);
  return ForeignReading<Value>{.value = std::move(value), .warnings = found};
}
template <class Value, class Read>
[[nodiscard]] Result<ForeignReading<Value>> read_foreign_file(const std::string& path, const Read& read) {
  return read_foreign_document<Value>(ConfigDocument::load(path), read);
}

}  // namespace ringwright
