// Builds a document: reads the file, merges it over what it extends, applies overrides above it and presets below it.
// Internal to core/config.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/config/config_document.h"
#include "core/config/config_node.h"

namespace ringwright {

class ConfigLoader {
 public:
  explicit ConfigLoader(const LoadOptions& options) : options_(options), document_(LogMode::kReading) {}

  [[nodiscard]] Result<ConfigDocument> load(const std::string& path);
  [[nodiscard]] Result<ConfigDocument> load_text(const std::string& name, std::string_view text);
  // A tree that was loaded before, without these keys, and with the overrides of these options.
  [[nodiscard]] ConfigDocument change(ConfigNode base, const std::vector<std::string>& removed);

 private:
  // The files being read, to detect cycles of `extends` and `preset`.
  using Chain = std::vector<std::string>;

  [[nodiscard]] Result<ConfigDocument> finish(std::optional<ConfigNode> root);
  [[nodiscard]] ConfigSource& add_source(std::string name, SourceKind kind, std::string path);
  // `path`: of the map that the source holds; empty for a whole document.
  [[nodiscard]] std::optional<ConfigNode> read_source(ConfigSource& source, std::string_view text, const Chain& chain,
                                                      const std::string& path);
  [[nodiscard]] ConfigNode with_base(ConfigNode node, const ConfigSource& source, const Chain& chain,
                                     const std::string& path);
  [[nodiscard]] std::optional<ConfigNode> read_base(const ConfigNode& wanted, const ConfigSource& source,
                                                    const Chain& chain, const std::string& map_path);
  [[nodiscard]] ConfigNode with_imports(ConfigNode root);
  [[nodiscard]] ConfigNode with_overrides(ConfigNode root);
  void expand_presets(ConfigNode& node, const std::string& path);
  // Merges the content of a foreign file over and under the node.
  void apply_imports(ConfigNode& node, const std::string& path);
  void apply_import(ConfigNode& node, const ImportRule& rule);
  void note_import(const std::string& key, const ConfigNode& wanted, const InputFile& file);
  // Whether the preset that the node names, if any, could be merged under it.
  bool apply_preset(ConfigNode& node, const PresetRule& rule, Chain chain);
  // By the name of a shipped one, or the path of a file (`*.yaml`) relative to the file that names it; in an override,
  // to the working directory.
  [[nodiscard]] std::optional<ConfigNode> read_preset(const ConfigNode& wanted, const PresetRule& rule);
  void take_file_defaults(ConfigNode& root, ConfigSource& source);

  const LoadOptions& options_;
  ConfigDocument document_;
  Diagnostics problems_;
  std::map<std::string, ConfigNode> presets_read_;  // by path on disk
};

}  // namespace ringwright
