// The log of one load: values read, diagnostics, and the documentation of each key.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/evidence.h"
#include "core/config/config_node.h"
#include "core/config/key_doc.h"

namespace ringwright {

// One value that a reader took, given or default.
struct ValueRead {
  std::string path;
  std::string text;       // as written; for a default, as it would be written
  std::string canonical;  // in base units, so that 400Gbps and 50GB/s are the same value
  std::string origin;     // "llama.yaml:9", "preset:dgx-h100.yaml:3", "--set:1", "default"
  Evidence evidence = Evidence::kAssumed;
  std::string source;  // where the number comes from, in words; may be empty
};

// A value that matters and that nobody gave.
struct Assumption {
  std::string path;
  std::string value;
  std::string why;
};

// A key that was given and has no effect in this run.
struct IgnoredKey {
  std::string path;
  std::string origin;
  std::string why;
};

enum class LogMode { kReading, kDocumenting };

class ConfigLog {
 public:
  explicit ConfigLog(LogMode mode = LogMode::kReading) : mode_(mode) {}

  // Two readers of one key find the same mistake: it is recorded once. The same holds for everything below.
  void add(Diagnostic diagnostic);
  void add(ValueRead value);
  void add(Assumption assumption);
  void add(IgnoredKey ignored);
  void add(KeyDoc doc);
  void mark_open(std::string_view path);
  // A reader asked for this key, present or not; `name` is the path's last word.
  void note_asked(std::string_view name, const std::string& path);
  // A required key was missing: `diagnostic` reports it, and nothing is reported about the value used instead.
  void add_missing(const std::string& path, Diagnostic diagnostic);
  [[nodiscard]] bool is_missing(const std::string& path) const { return missing_.contains(path); }
  // The key, or the map that should hold it, is present under a misspelled name: true if a missing-key error was
  // recorded there, which is now dropped.
  bool explain_missing(const std::string& path);

  // Of what is read from here on only mistakes are recorded, neither values nor the keys that readers ask for, which
  // take most of the time. A message about an unknown key then suggests no other.
  void record_only_mistakes() { keeps_reads_ = false; }
  [[nodiscard]] bool keeps_reads() const { return keeps_reads_; }

  [[nodiscard]] bool documenting() const { return mode_ == LogMode::kDocumenting; }
  [[nodiscard]] const Diagnostics& diagnostics() const { return diagnostics_; }
  [[nodiscard]] const std::vector<ValueRead>& values() const { return values_; }
  [[nodiscard]] const std::vector<Assumption>& assumptions() const { return assumptions_; }
  [[nodiscard]] const std::vector<IgnoredKey>& ignored() const { return ignored_; }
  [[nodiscard]] const std::vector<KeyDoc>& docs() const { return docs_; }

  // The path at which readers asked for a key of this name; empty when none did.
  [[nodiscard]] std::string asked_path(std::string_view name) const;

  // Stands in for a map that was not given: nothing in it, and errors about it point at `parent`.
  [[nodiscard]] ConfigNode* absent_map(const ConfigNode& parent);

 private:
  LogMode mode_;
  bool keeps_reads_ = true;
  Diagnostics diagnostics_;
  std::vector<ValueRead> values_;
  std::vector<Assumption> assumptions_;
  std::vector<IgnoredKey> ignored_;
  std::vector<KeyDoc> docs_;
  std::map<std::string, std::string, std::less<>> asked_;  // name -> the first path
  std::map<std::string, std::string> missing_;             // path -> what was reported about it
  std::unordered_set<std::string> seen_problems_;
  std::unordered_set<std::string> seen_values_;
  std::deque<ConfigNode> absent_;  // a deque, since ConfigMaps point into it
};

// One line per value, sorted by path: "parallel.tp = 8   # llama.yaml:14", with evidence unless it is assumed.
[[nodiscard]] std::string resolved_text(const ConfigLog& log);
// The same without origins, for hashing: "parallel.tp=8\n" in base units; equal exactly when the configurations are.
[[nodiscard]] std::string canonical_text(const ConfigLog& log);

}  // namespace ringwright
