// What was read from files before: where many scenarios are loaded, each needs the same presets and tables, and reading
// them takes longer than simulating a small step.
#pragma once

#include "collectives/nccl/tables/known_tables.h"
#include "core/config/parsed_files.h"

namespace ringwright::configs {

// Thread-safe.
struct KnownFiles {
  ParsedFiles parsed;
  collectives::KnownTables tables;
};

}  // namespace ringwright::configs
