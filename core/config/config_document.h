// A configuration file, with everything that it extends, the presets that it names and the overrides applied to it.
//
//     auto document = ConfigDocument::load("llama.yaml", {.overrides = {"parallel.tp=4"}});
//     if (!document) return tl::unexpected(document.error());
//     const Scenario scenario = read_scenario(document->root());
//     document->check_all_read();
//     if (document->log().diagnostics().has_errors()) ...
//
// Order of precedence, strongest first: --set (the last one wins), the file, what it extends, presets, defaults.
// Maps merge key by key, everything else (lists too) is replaced.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_log.h"
#include "core/config/config_map.h"
#include "core/config/config_node.h"
#include "core/config/input_file.h"

namespace ringwright {

// A map that may set `preset: NAME`: the file <share folder>/<folder>/NAME.yaml is then merged under its keys.
struct PresetRule {
  std::string path;    // of the map: "cluster.node", "cluster.node.gpu", "nodes[].gpu"
  std::string folder;  // "nodes", "gpus", "models"
  // Maps below `path` that describe the thing itself: a --set that names a preset replaces them in a file without one.
  std::vector<std::string> parts = {};
};

// A value that another file sets, which the document names: "training.micro_batch=2" from "ds_config.json:3". It holds
// where the document sets nothing; where the document sets something else, that is a mistake.
struct ImportedValue {
  std::string setting;
  std::string origin;
};

// The content of a file in a foreign format, as YAML: facts, which override presets, and guesses for maps without a
// preset.
struct ImportedText {
  std::string facts;
  std::string guesses;
  std::vector<std::string> notes;  // reported as warnings
};

// A map that may name a file in a foreign format, relative to the file that names it.
struct ImportRule {
  std::string path;  // of the map: "cluster.node"
  std::string key;   // "nccl_topo"
  Result<ImportedText> (*read)(const InputFile& file) = nullptr;
};

class ParsedFiles;

struct LoadOptions {
  std::vector<std::string> overrides = {};  // "parallel.tp=4", in the order given
  std::vector<PresetRule> presets = {};
  std::vector<std::string> share_folders = {};  // searched in order
  std::vector<ImportedValue> imported = {};
  std::vector<ImportRule> imports = {};
  ParsedFiles* parsed = nullptr;  // trees of files that were read before, if they are kept
};

// How a copy of a document differs from it.
struct ConfigChanges {
  std::vector<std::string> settings = {};  // "parallel.tp=4"
  std::vector<std::string> removed = {};   // "parallel.dp", removed first
};

class ConfigDocument {
 public:
  // Fails when there is no tree at all: unreadable file, broken syntax. Mistakes that leave a tree (duplicate keys, a
  // bad `extends`, `preset` or --set) are in the log, together with those that readers find.
  [[nodiscard]] static Result<ConfigDocument> load(const std::string& path, const LoadOptions& options = {});
  // The same for a text in memory; `name` appears in messages, and a relative `extends` is resolved against its folder.
  [[nodiscard]] static Result<ConfigDocument> load_text(const std::string& name, std::string_view text,
                                                        const LoadOptions& options = {});
  // No file: readers of root() only declare their keys.
  [[nodiscard]] static ConfigDocument for_documentation();

  // Whether a value is written at the path ("training.deepspeed"); does not count as reading it.
  [[nodiscard]] bool names(std::string_view path) const;
  // The keys whose values are stronger than the top-level value `key`: of a --set, or of a file that extends the one
  // with `key`. In the order of the document; empty without `key`.
  [[nodiscard]] std::vector<std::string> stronger_than(std::string_view key) const;
  [[nodiscard]] ConfigMap root() { return ConfigMap(root_.get(), "", log_.get()); }
  [[nodiscard]] const ConfigLog& log() const { return *log_; }
  [[nodiscard]] ConfigLog& log() { return *log_; }
  // Call after all reading: every key that no reader asked for is an error, with the nearest known key.
  void check_all_read();
  // The same files with other values, not read yet; no file is opened. This document must outlive the copy. Presets
  // stay those named when it was loaded.
  // `outlined`: maps at the top of which only the names of their keys are copied, and where they are: nobody reads them
  // in the copy.
  [[nodiscard]] ConfigDocument changed(const ConfigChanges& changes,
                                       std::span<const std::string_view> outlined = {}) const;
  // One file with the same meaning: values that presets supply are left out.
  [[nodiscard]] std::string yaml() const;
  // The file that the user named, also for a copy; null without one.
  [[nodiscard]] const ConfigSource* file() const { return root_->source; }
  // Every file that was read, the one named by the user first.
  [[nodiscard]] const std::vector<std::unique_ptr<ConfigSource>>& sources() const { return sources_; }
  // SHA-256 of the content of all of them, independent of their paths.
  [[nodiscard]] std::string content_sha256() const;

 private:
  friend class ConfigLoader;
  explicit ConfigDocument(LogMode mode);

  std::vector<std::unique_ptr<ConfigSource>> sources_;  // nodes point to them
  std::unique_ptr<ConfigNode> root_;
  std::unique_ptr<ConfigLog> log_;
  std::vector<ValueRead> imported_files_;  // of import rules, which no reader asks for
};

// The document that a key of `map` names, recorded with the content of every file that it extends. What is wrong with
// it goes to `foreign`. Empty where the key is not given or the file cannot be read.
[[nodiscard]] std::optional<ConfigDocument> named_document(ConfigMap& map, const Key<std::string>& key,
                                                           Diagnostics& foreign);

// The presets of a folder, sorted: {"dgx-a100", "dgx-h100"}.
[[nodiscard]] std::vector<std::string> preset_names(const LoadOptions& options, std::string_view folder);

}  // namespace ringwright
