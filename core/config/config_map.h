// Typed, positioned reading of one YAML map: a single call per key reads it, checks it, supplies the default and
// documents it. Mistakes are recorded, never thrown: a reader is a straight list of fields, and the user sees all
// errors of a file in one run.
//
//     const auto tp = parallel.integer({.name = "tp", .doc = "tensor-model-parallel size", .fallback = 1, .min = 1});
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/evidence.h"
#include "core/base/units.h"

namespace ringwright {

struct InputFile;   // a file's path and text
struct ConfigNode;  // one node of a parsed tree: scalar, list or map, with its location and origin
class ConfigLog;    // the log of one load: values read, diagnostics, documentation of each key

template <class T>
struct Key {
  std::string_view name;
  std::string_view doc;            // one sentence for `explain` and the schema
  std::optional<T> fallback = {};  // empty: the key is required
  std::optional<T> min = {};       // inclusive
  std::optional<T> max = {};       // inclusive
  bool optional = false;           // may be left out without a fallback; the caller reads it only where it is given
  std::string_view usual = {};     // for people, where the fallback follows from other values: "as the NICs"
  std::string_view elsewhere = {};  // of a choice: where values belong that people write here: "fp8: fp8_recipe"
};

struct Option {
  std::string_view name;
  std::string_view doc;
};

// A view of one map of the document. Cheap to copy. The document must outlive it. A scalar may be written plainly
// (`bandwidth: 400Gbps`) or with its provenance (`bandwidth: {value: 400Gbps, evidence: measured, source: "..."}`).
class ConfigMap {
 public:
  ConfigMap(ConfigNode* node, std::string path, ConfigLog* log) : node_(node), path_(std::move(path)), log_(log) {}

  // Each returns the value, or the fallback, or (after recording an error) a safe value: the minimum, or 1.
  [[nodiscard]] std::int64_t integer(const Key<std::int64_t>& key);
  [[nodiscard]] double number(const Key<double>& key);  // a plain, dimensionless number
  [[nodiscard]] bool boolean(const Key<bool>& key);     // true or false, nothing else
  [[nodiscard]] std::string text(const Key<std::string>& key);
  [[nodiscard]] std::string choice(const Key<std::string>& key, std::span<const Option> options);
  [[nodiscard]] Duration duration(const Key<Duration>& key);
  [[nodiscard]] Bytes bytes(const Key<Bytes>& key);
  [[nodiscard]] Bandwidth bandwidth(const Key<Bandwidth>& key);
  [[nodiscard]] FlopRate flop_rate(const Key<FlopRate>& key);
  [[nodiscard]] double ratio(const Key<double>& key);    // "2:1" or a plain number: 2.0
  [[nodiscard]] double percent(const Key<double>& key);  // "10%" or a plain number: 0.1
  // A number, or the word `automatic` (usually "auto"), which gives an empty result and is the fallback.
  [[nodiscard]] std::optional<std::int64_t> integer_or(const Key<std::int64_t>& key, std::string_view automatic);
  [[nodiscard]] std::vector<std::int64_t> integers(const Key<std::int64_t>& key);  // a list; fallback: empty list;
                                                                                   // min and max hold per entry
  [[nodiscard]] std::vector<std::string> texts(const Key<std::string>& key);       // a list; fallback: empty list

  // The file that a key names, relative to the file that holds the key; in an override, to the working directory. The
  // log stores its name, and a hash of its content instead of its path. Empty without the key, and (after recording an
  // error) where the file cannot be read.
  [[nodiscard]] std::optional<InputFile> file(const Key<std::string>& key);
  [[nodiscard]] std::vector<InputFile> files(const Key<std::string>& key);  // a list; fallback: empty list
  // The value of any kind as YAML in flow form, which is how --set takes it: "{tp: 8}". It belongs to another
  // configuration than this one: neither the log nor the fingerprint lists it. Empty without the key.
  [[nodiscard]] std::string setting(std::string_view name);
  [[nodiscard]] std::vector<std::string> settings(std::string_view name);  // the entries of a list
  // A text about the configuration and not part of it, which the log does not list either. Empty without the key.
  [[nodiscard]] std::string remark(std::string_view name);

  // Notes content that decides a result and that no key of this map names: the shared table of a version.
  void note_content(std::string_view name, std::string_view text, std::string_view sha256);
  // Notes the values that were read from a file that `name` names, and its keys without effect, so that they are listed
  // with the others.
  void note_values(std::string_view name, const ConfigLog& log);

  // The map below a key; an absent one reads as an empty map, so that its defaults and required keys apply.
  [[nodiscard]] ConfigMap map(std::string_view name, std::string_view doc);
  [[nodiscard]] std::vector<ConfigMap> maps(std::string_view name, std::string_view doc);  // a list of maps

  // Whether the key is given (in the file, a preset or an override). Does not count as reading it.
  [[nodiscard]] bool has(std::string_view name) const;
  // Whether the key is given as a map with keys of its own, not as a value with evidence and source.
  [[nodiscard]] bool has_map(std::string_view name) const;
  // The names of all given keys, in order; for maps whose keys are data (environment variables).
  [[nodiscard]] std::vector<std::string> keys() const;
  // Marks a key as known and without effect, if it is given; lists it in the log as ignored.
  void ignore(std::string_view name, std::string_view why);
  // Marks every key not read so far as known and without effect; lists them in the log as ignored.
  void ignore_rest(std::string_view why);
  // Warns about every key not read so far whose name is nearly that of a key which was asked for and is not given.
  void warn_of_typos(std::string_view code);
  // Marks every key that a shipped preset supplies, and that was not read so far, as known: what the user chose instead
  // has no such key.
  void pass_over_presets();

  // Records an error (or warning) about a key's value, with its location and excerpt.
  void error(std::string_view name, std::string code, std::string message, std::string hint = {});
  // Whether a mistake anywhere in the document is recorded, so that what follows from its values may be wrong.
  [[nodiscard]] bool any_errors() const;
  void warn(std::string_view name, std::string code, std::string message, std::string hint = {});
  // Records that a value of consequence was not given and had to be assumed: it is listed in the report.
  void assume(std::string_view name, std::string_view value, std::string_view why);
  // "llama.yaml:9", "preset:dgx-h100.yaml:3", "default": where the key's value comes from.
  [[nodiscard]] std::string origin(std::string_view name) const;
  [[nodiscard]] Place place(std::string_view name) const;
  // The evidence level of a key's value: as given with it, or of the file that holds it.
  [[nodiscard]] Evidence evidence(std::string_view name) const;

  // True while no file is read and the keys are only being collected for `explain` and the schema: a reader that
  // branches on a choice then visits all branches.
  [[nodiscard]] bool documenting() const;
  // Not where only mistakes are of interest: what is read, and assumed, is then recorded nowhere.
  [[nodiscard]] bool records_reads() const;
  [[nodiscard]] const std::string& path() const { return path_; }  // "cluster.fabric"
  // The path of a key for messages: "cluster.fabric.leaf".
  [[nodiscard]] std::string path_of(std::string_view name) const;

 private:
  ConfigNode* node_;
  std::string path_;
  ConfigLog* log_;
};

}  // namespace ringwright
