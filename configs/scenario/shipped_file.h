// The file that a word of the command line names: a path, or something shipped.
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace ringwright::configs {

// Files of one kind that are shipped, by name.
struct ShippedKind {
  std::string_view folder;  // "operation", as `list` names it
  std::string_view what;    // "goodput file"
};

// An existing file, or a word that looks like a path (a folder, a suffix of YAML or JSON), is returned unchanged: its
// reader reports what is wrong with it. Any other word is a shipped name, or fails with the nearest one (E100).
[[nodiscard]] Result<std::string> find_shipped(const ShippedKind& kind, const std::string& path_or_name);

// For files of which none are shipped: fails where there is no file, and a shipped scenario has this name, which `what`
// ("sweep file") should name instead.
[[nodiscard]] Result<std::string> find_study(std::string_view what, const std::string& path);

}  // namespace ringwright::configs
