// What is built in and shipped, by kind: models, GPUs, hosts, fabrics, collectives, scenarios; the menu of `list`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_document.h"

namespace ringwright::configs {

struct CatalogueEntry {
  std::string name;
  std::string summary;
};

struct CatalogueSection {
  std::string kind;   // "models"
  std::string where;  // how a scenario refers to such an entry: "model.preset"
  std::vector<CatalogueEntry> entries;
};

// Built-in entries in the order of their tables, shipped files by name.
[[nodiscard]] std::vector<CatalogueSection> catalogue(const LoadOptions& options);

// The path of a shipped file of a folder ("operation"); empty when there is none of that name.
[[nodiscard]] std::string shipped_path(const LoadOptions& options, std::string_view folder, std::string_view name);
// The path of a shipped scenario; empty when there is none of that name.
[[nodiscard]] std::string scenario_path(const LoadOptions& options, std::string_view name);

}  // namespace ringwright::configs
