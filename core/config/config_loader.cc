#include "core/config/config_loader.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/config/config_merge.h"
#include "core/config/input_file.h"
#include "core/config/named_presets.h"
#include "core/config/parsed_files.h"
#include "core/config/replaced_parts.h"
#include "core/config/yaml_reader.h"

namespace ringwright {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxChain = 64;

// The names that a typo or a short name may mean: "B300" of b300-sxm-288gb. Empty: none.
std::string likely_names(std::string_view word, std::span<const std::string> names) {
  const std::string near = nearest_name(word, names);
  if (!near.empty()) return fmt::format("'{}'", near);
  const auto begins_so = [&word](const std::string& name) {
    if (name.size() > word.size() && name[word.size()] != '-') return false;
    return std::ranges::equal(word, std::string_view(name).substr(0, word.size()),
                              [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  };
  std::vector<std::string> fitting;
  for (const std::string& name : names) {
    if (!word.empty() && begins_so(name)) fitting.push_back(fmt::format("'{}'", name));
  }
  return join(fitting, " or ");
}

// Suppresses checks of this subtree: some of it could not be read, and that is already reported.
void settle(ConfigNode& node) {
  node.settled = true;
  for (ConfigNode& item : node.items) settle(item);
  for (ConfigEntry& entry : node.entries) settle(entry.value);
}

std::string canonical_path(const std::string& path) {
  std::error_code error;
  const fs::path canonical = fs::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

std::string cycle_text(const std::vector<std::string>& chain, std::string_view last) {
  std::string text;
  for (const std::string& link : chain) text += fs::path(link).filename().string() + " -> ";
  return text + std::string(last);
}

// The key of the rule for messages: "cluster.node.preset"; "preset" at the root.
std::string preset_key(const PresetRule& rule) {
  return rule.path.empty() ? "preset" : rule.path + ".preset";
}

bool is_preset_name(std::string_view name) {
  return !name.empty() && name.front() != '.' && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' ||
           c == '_' || c == '+';
  });
}

// Shipped files that `extends` may name without a path.
constexpr std::string_view kScenarios = "scenarios";

// The path of the shipped scenario of this name; empty: there is none.
std::string shipped_scenario(const LoadOptions& options, const std::string& name) {
  if (!is_preset_name(name)) return {};
  for (const std::string& share : options.share_folders) {
    std::string path = (fs::path(share) / kScenarios / (name + ".yaml")).string();
    std::error_code ignored;
    if (fs::is_regular_file(path, ignored)) return path;
  }
  return {};
}

}  // namespace

Result<ConfigDocument> ConfigLoader::load(const std::string& path) {
  const InputFile file = read_input_file(path, kMaxConfigBytes);
  if (!file.problem.empty()) {
    return tl::unexpected(
        failure("E100", fmt::format("cannot read '{}': {}", path, file.problem), {}, did_you_mean_file(path)));
  }
  ConfigSource& source = add_source(path, SourceKind::kFile, path);
  return finish(read_source(source, file.text, {canonical_path(path)}, ""));
}

Result<ConfigDocument> ConfigLoader::load_text(const std::string& name, std::string_view text) {
  ConfigSource& source = add_source(name, SourceKind::kFile, "");
  return finish(read_source(source, text, {canonical_path(name)}, ""));
}

Result<ConfigDocument> ConfigLoader::finish(std::optional<ConfigNode> root) {
  if (!root) return tl::unexpected(problems_);
  *root = with_imports(std::move(*root));
  remove_replaced_parts(*root, options_.presets, options_.overrides, problems_);
  *root = with_overrides(std::move(*root));
  expand_presets(*root, "");
  // The file as a whole: a missing top-level key has no better location.
  root->line = root->column = 0;
  root->opened = true;
  *document_.root_ = std::move(*root);
  for (const Diagnostic& problem : problems_.all()) document_.log_->add(problem);
  return std::move(document_);
}

ConfigDocument ConfigLoader::change(ConfigNode base, const std::vector<std::string>& removed) {
  for (const std::string& path : removed) remove_key(base, path);
  *document_.root_ = with_overrides(std::move(base));
  for (const Diagnostic& problem : problems_.all()) document_.log_->add(problem);
  return std::move(document_);
}

ConfigSource& ConfigLoader::add_source(std::string name, SourceKind kind, std::string path) {
  document_.sources_.push_back(std::make_unique<ConfigSource>());
  ConfigSource& source = *document_.sources_.back();
  source.name = std::move(name);
  source.kind = kind;
  source.path = std::move(path);
  return source;
}

std::optional<ConfigNode> ConfigLoader::read_source(ConfigSource& source, std::string_view text, const Chain& chain,
                                                    const std::string& path) {
  auto root = options_.parsed == nullptr || source.path.empty() ? read_yaml(text, source, problems_)
                                                                : options_.parsed->read(text, source, problems_);
  if (!root) return std::nullopt;
  take_file_defaults(*root, source);
  name_presets(*root, options_.presets, path);
  return with_base(std::move(*root), source, chain, path);
}

void ConfigLoader::take_file_defaults(ConfigNode& root, ConfigSource& source) {
  const auto take = [&](std::string_view key) -> std::optional<ConfigNode> {
    ConfigEntry* entry = find_entry(root, key);
    if (entry == nullptr || entry->value.kind != ConfigKind::kScalar) return std::nullopt;
    ConfigNode value = std::move(entry->value);
    root.entries.erase(root.entries.begin() + (entry - root.entries.data()));
    return value;
  };
  if (const auto note = take("source")) source.provenance = note->text;
  const auto level = take("evidence");
  if (!level) return;
  source.evidence = parse_evidence(level->text);
  if (source.evidence) return;
  problems_.add(at_value(*level, "E107", fmt::format("'evidence' is '{}'", level->text),
                         "one of: measured, calibrated, vendor-spec, assumed"));
}

ConfigNode ConfigLoader::with_base(ConfigNode node, const ConfigSource& source, const Chain& chain,
                                   const std::string& path) {
  ConfigEntry* entry = find_entry(node, "extends");
  if (entry == nullptr) return node;
  const ConfigNode wanted = std::move(entry->value);
  node.entries.erase(node.entries.begin() + (entry - node.entries.data()));
  auto base = read_base(wanted, source, chain, path);
  if (base) return merged(std::move(*base), std::move(node));
  settle(node);
  return node;
}

std::optional<ConfigNode> ConfigLoader::read_base(const ConfigNode& wanted, const ConfigSource& source,
                                                  const Chain& chain, const std::string& map_path) {
  const auto refuse = [&](std::string message, std::string hint = {}) -> std::optional<ConfigNode> {
    problems_.add(at_value(wanted, "E109", std::move(message), std::move(hint)));
    return std::nullopt;
  };
  if (wanted.kind != ConfigKind::kScalar) {
    return refuse("'extends' must be the path of one file, or the name of a shipped scenario");
  }
  const auto below = [&](const std::string& file) {
    return (fs::path(file).parent_path() / wanted.text).lexically_normal().string();
  };
  const std::string local = below(source.path.empty() ? source.name : source.path);
  std::error_code ignored;
  const std::string shipped = fs::exists(local, ignored) ? std::string() : shipped_scenario(options_, wanted.text);
  const std::string& path = shipped.empty() ? local : shipped;
  const std::string canonical = canonical_path(path);
  if (chain.size() >= kMaxChain) return refuse(fmt::format("'extends' goes through more than {} files", kMaxChain));
  if (std::find(chain.begin(), chain.end(), canonical) != chain.end()) {
    return refuse("'extends' forms a cycle: " + cycle_text(chain, fs::path(path).filename().string()));
  }
  const InputFile file = read_input_file(path, kMaxConfigBytes);
  if (!file.problem.empty()) {
    std::string hint = did_you_mean_file(path);
    const std::string near = hint.empty() ? nearest_name(wanted.text, preset_names(options_, kScenarios)) : "";
    if (!near.empty()) hint = fmt::format("did you mean '{}'?", near);
    return refuse(fmt::format("'extends' cannot read '{}': {}", wanted.text, file.problem), std::move(hint));
  }
  std::string name = source.kind == SourceKind::kPreset ? "preset:" + wanted.text : below(source.name);
  if (!shipped.empty()) name = wanted.text + ".yaml";
  ConfigSource& base = add_source(name, source.kind, path);
  Chain longer = chain;
  longer.push_back(canonical);
  return read_source(base, file.text, longer, map_path);
}

void ConfigLoader::expand_presets(ConfigNode& node, const std::string& path) {
  for (ConfigNode& item : node.items) expand_presets(item, path + "[]");
  if (node.kind != ConfigKind::kMap) return;
  apply_imports(node, path);
  for (const PresetRule& rule : options_.presets) {
    if (rule.path == path) static_cast<void>(apply_preset(node, rule, {}));
  }
  for (ConfigEntry& entry : node.entries) {
    expand_presets(entry.value, path.empty() ? entry.key : path + "." + entry.key);
  }
}

bool ConfigLoader::apply_preset(ConfigNode& node, const PresetRule& rule, Chain chain) {
  ConfigEntry* entry = find_entry(node, "preset");
  if (entry == nullptr) return true;
  entry->read = true;
  const ConfigNode wanted = entry->value;
  const bool circular = std::find(chain.begin(), chain.end(), wanted.text) != chain.end();
  if (circular) {
    problems_.add(at_value(wanted, "E109",
                           fmt::format("'{}' forms a cycle: {}", preset_key(rule), cycle_text(chain, wanted.text))));
  }
  auto base = circular ? std::nullopt : read_preset(wanted, rule);
  chain.push_back(wanted.text);
  if (!base || !apply_preset(*base, rule, chain)) {
    settle(node);
    return false;
  }
  node = merged(std::move(*base), std::move(node));
  return true;
}

std::optional<ConfigNode> ConfigLoader::read_preset(const ConfigNode& wanted, const PresetRule& rule) {
  const auto refuse = [&](std::string message, std::string hint) -> std::optional<ConfigNode> {
    problems_.add(at_value(wanted, "E109", fmt::format("'{}' {}", preset_key(rule), message), std::move(hint)));
    return std::nullopt;
  };
  if (wanted.kind == ConfigKind::kScalar && wanted.text.ends_with(".yaml")) {
    const std::string path = path_relative_to(wanted, wanted.text);
    const InputFile file = read_input_file(path, kMaxConfigBytes);
    if (!file.problem.empty()) {
      return refuse(fmt::format("cannot read '{}': {}", wanted.text, file.problem), did_you_mean_file(path));
    }
    return read_source(add_source(path, SourceKind::kFile, path), file.text, {canonical_path(path)}, rule.path);
  }
  if (wanted.kind != ConfigKind::kScalar || !is_preset_name(wanted.text)) {
    return refuse(fmt::format("must be the name of a preset, not '{}'", summary(wanted)),
                  "the path of your own file works too: its name ends with .yaml");
  }
  for (const std::string& share : options_.share_folders) {
    const std::string path = (fs::path(share) / rule.folder / (wanted.text + ".yaml")).string();
    const auto known = presets_read_.find(path);
    if (known != presets_read_.end()) return known->second;
    std::error_code error;
    if (!fs::is_regular_file(path, error)) continue;
    const InputFile file = read_input_file(path, kMaxConfigBytes);
    if (!file.problem.empty()) return refuse(fmt::format("'{}' cannot be read: {}", wanted.text, file.problem), "");
    ConfigSource& source = add_source("preset:" + wanted.text + ".yaml", SourceKind::kPreset, path);
    auto root = read_source(source, file.text, {canonical_path(path)}, rule.path);
    if (root) presets_read_.emplace(path, *root);
    return root;
  }
  const std::vector<std::string> names = preset_names(options_, rule.folder);
  const std::string near = likely_names(wanted.text, names);
  for (const PresetRule& other : options_.presets) {
    if (other.path.empty() || other.path.find('[') != std::string::npos) continue;
    if (std::ranges::binary_search(preset_names(options_, other.folder), wanted.text)) {
      return refuse(fmt::format("is '{}', a preset of {}, not of {}", wanted.text, other.folder, rule.folder),
                    fmt::format("name it as '{}' instead: --set {}={}", other.path, other.path, wanted.text));
    }
  }
  return refuse(fmt::format("is '{}'{}", wanted.text,
                            near.empty() ? ", which is not a preset" : fmt::format("; did you mean {}?", near)),
                fmt::format("one of: {}; see 'ringwright list {}'", join(names, ", "), rule.folder));
}

std::vector<std::string> preset_names(const LoadOptions& options, std::string_view folder) {
  std::vector<std::string> names;
  for (const std::string& share : options.share_folders) {
    std::error_code error;
    for (fs::directory_iterator it(fs::path(share) / folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() == ".yaml") names.push_back(it->path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace ringwright
