// One key of one map while it is read: shared code that takes, refuses and logs a value. Internal to core/config.
#pragma once

#include <string>
#include <string_view>

#include "core/config/config_log.h"
#include "core/config/config_node.h"
#include "core/config/input_file.h"
#include "core/config/key_doc.h"
#include "core/config/scalar.h"

namespace ringwright {

// "cluster.fabric.leaf" of "cluster.fabric" and "leaf".
[[nodiscard]] std::string path_below(std::string_view map_path, std::string_view name);

struct Reading {
  ConfigNode& map;
  ConfigLog& log;
  std::string_view map_path;  // empty: `name` is a path
  std::string_view name;      // of the key

  [[nodiscard]] std::string path() const { return path_below(map_path, name); }
};

// The entry, noted as asked for and read; null when it is not given.
[[nodiscard]] ConfigNode* take(Reading& reading);

// Records a mistake in `value`; the caret stands at `where`, inside it.
void report(Reading& reading, ConfigNode& value, const ConfigNode& where, const ScalarError& problem);
void report_missing(Reading& reading, std::string_view doc, KeyType type);
// "must be an integer, not the list [8]".
[[nodiscard]] std::string wrong_kind(std::string_view wanted, const ConfigNode& node);

// The scalar's text, or null after recording what was found instead.
[[nodiscard]] const std::string* scalar_text(Reading& reading, ConfigNode& value, KeyType type);
// {value: 5us, evidence: mesured}: the level must be a known one.
void check_provenance(Reading& reading, const ConfigNode& value);

void log_value(Reading& reading, const ConfigNode& value, std::string canonical_text);
// Represents a file in the fingerprint of a configuration: by its content, independent of its path.
[[nodiscard]] std::string content_mark(std::string_view text);
void log_file(Reading& reading, const ConfigNode& value, const InputFile& file);
void log_default(Reading& reading, std::string text, std::string canonical_text);

}  // namespace ringwright
