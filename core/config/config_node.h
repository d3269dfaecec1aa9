// The parsed form of a configuration: a tree of scalars, lists and maps in which every node stores where it was
// written.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/evidence.h"

namespace ringwright {

enum class SourceKind { kFile, kPreset, kOverride };

// One source text: a file of the user, a shipped preset, or the argument of one --set.
struct ConfigSource {
  std::string name;  // "llama.yaml", "preset:dgx-h100.yaml", "--set:1"
  SourceKind kind = SourceKind::kFile;
  std::string path;                       // path on disk; empty for --set and for text in memory
  std::vector<std::string> lines;         // for excerpts
  std::optional<Evidence> evidence = {};  // of every value in it that has none of its own
  std::string provenance;                 // the same for `source:`
};

enum class ConfigKind { kNull, kScalar, kList, kMap };

struct ConfigEntry;

struct ConfigNode {
  ConfigKind kind = ConfigKind::kNull;
  std::string text;                  // of a scalar, unescaped
  bool quoted = false;               // a quoted scalar is text, never a number
  std::vector<ConfigNode> items;     // of a list
  std::vector<ConfigEntry> entries;  // of a map, in the order written

  const ConfigSource* source = nullptr;
  int line = 0;  // of the value; counted from 1, columns in characters
  int column = 0;
  int length = 1;    // characters of the first line that belong to the value
  int key_line = 0;  // of the key that names the value; 0 at the root and in lists
  int key_column = 0;
  int key_length = 1;

  std::vector<std::string> asked = {};  // of a map: the keys that readers asked for, known or not
  bool opened = false;                  // of a map: some reader opened it
  bool settled = false;                 // an error about this value is recorded, or it is ignored: no follow-up errors
};

struct ConfigEntry {
  std::string key;
  ConfigNode value;
  bool read = false;  // some reader asked for it
};

[[nodiscard]] ConfigEntry* find_entry(ConfigNode& map, std::string_view key);
[[nodiscard]] const ConfigEntry* find_entry(const ConfigNode& map, std::string_view key);

// A value in its long form: {value: 450GB/s, evidence: vendor-spec, source: "data sheet"}.
[[nodiscard]] bool has_provenance(const ConfigNode& node);
// The value itself, without the long form around it.
[[nodiscard]] const ConfigNode& bare_value(const ConfigNode& node);
[[nodiscard]] Evidence evidence_of(const ConfigNode& node);
[[nodiscard]] std::string provenance_of(const ConfigNode& node);

// "llama.yaml:9", "preset:dgx-h100.yaml:3", "--set:1".
[[nodiscard]] std::string origin_of(const ConfigNode& node);
[[nodiscard]] Place place_of_value(const ConfigNode& node);
// Of the key in front of the value; the file as a whole for a root.
[[nodiscard]] Place place_of_key(const ConfigNode& node);

// The scalar's text, or a list or map in flow form and shortened: for messages and for the log.
[[nodiscard]] std::string summary(const ConfigNode& node);

// The path of a file that the value names: relative to the file that holds the value; in an override, to the working
// directory.
[[nodiscard]] std::string path_relative_to(const ConfigNode& value, std::string_view name);

// The line of the input, for a caret below `column`; empty where there is none or the caret would not be visible.
[[nodiscard]] std::string excerpt_of(const ConfigSource* source, int line, int column);

// A diagnostic that points at a value, or at the key in front of it, with excerpt and caret.
[[nodiscard]] Diagnostic at_value(const ConfigNode& node, std::string code, std::string message, std::string hint = {});
[[nodiscard]] Diagnostic at_key(const ConfigNode& node, std::string code, std::string message, std::string hint = {});

}  // namespace ringwright
