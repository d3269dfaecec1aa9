#include "core/config/config_log.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ringwright {
namespace {

std::vector<const ValueRead*> sorted_by_path(const ConfigLog& log) {
  std::vector<const ValueRead*> sorted;
  for (const ValueRead& value : log.values()) sorted.push_back(&value);
  std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->path < b->path; });
  return sorted;
}

}  // namespace

void ConfigLog::add(Diagnostic diagnostic) {
  const std::string key = fmt::format("{}:{}:{}:{}", diagnostic.place.file, diagnostic.place.line,
                                      diagnostic.place.column, diagnostic.message);
  if (!seen_problems_.insert(key).second) return;
  diagnostics_.add(std::move(diagnostic));
}

void ConfigLog::add_missing(const std::string& path, Diagnostic diagnostic) {
  missing_.emplace(path, diagnostic.message);
  add(std::move(diagnostic));
}

bool ConfigLog::explain_missing(const std::string& path) {
  bool found = false;
  for (const auto& [missing, message] : missing_) {
    if (missing != path && !missing.starts_with(path + ".")) continue;
    diagnostics_.take_back("E104", message);
    found = true;
  }
  return found;
}

void ConfigLog::add(ValueRead value) {
  if (seen_values_.insert(value.path).second) values_.push_back(std::move(value));
}

void ConfigLog::add(Assumption assumption) {
  const bool known = std::any_of(assumptions_.begin(), assumptions_.end(), [&](const Assumption& other) {
    return other.path == assumption.path && other.value == assumption.value;
  });
  if (!known) assumptions_.push_back(std::move(assumption));
}

void ConfigLog::add(IgnoredKey ignored) {
  const bool known = std::any_of(ignored_.begin(), ignored_.end(),
                                 [&](const IgnoredKey& other) { return other.path == ignored.path; });
  if (!known) ignored_.push_back(std::move(ignored));
}

void ConfigLog::add(KeyDoc doc) {
  if (std::find(docs_.begin(), docs_.end(), doc) == docs_.end()) docs_.push_back(std::move(doc));
}

void ConfigLog::mark_open(std::string_view path) {
  if (path.ends_with("[]")) path.remove_suffix(2);  // maps of a list: the list's key is documented
  for (KeyDoc& doc : docs_) {
    if (doc.path == path) doc.open = true;
  }
}

void ConfigLog::note_asked(std::string_view name, const std::string& path) {
  asked_.emplace(name, path);
}

std::string ConfigLog::asked_path(std::string_view name) const {
  const auto found = asked_.find(name);
  return found == asked_.end() ? std::string() : found->second;
}

ConfigNode* ConfigLog::absent_map(const ConfigNode& parent) {
  ConfigNode node;
  node.kind = ConfigKind::kMap;
  node.source = parent.source;
  node.line = parent.line;
  node.column = parent.column;
  node.key_line = parent.key_line;
  node.key_column = parent.key_column;
  node.key_length = parent.key_length;
  node.settled = parent.settled;
  absent_.push_back(std::move(node));
  return &absent_.back();
}

std::string resolved_text(const ConfigLog& log) {
  const auto sorted = sorted_by_path(log);
  std::size_t width = 0;
  for (const ValueRead* value : sorted) width = std::max(width, value->path.size() + value->text.size());
  width = std::min<std::size_t>(width, 60);
  std::string text;
  for (const ValueRead* value : sorted) {
    const std::size_t used = value->path.size() + value->text.size();
    text += fmt::format("{} = {}{}  # {}", value->path, value->text, std::string(width - std::min(width, used), ' '),
                        value->origin);
    if (value->evidence != Evidence::kAssumed) text += fmt::format(", {}", to_string(value->evidence));
    if (!value->source.empty()) text += fmt::format(": {}", value->source);
    text += "\n";
  }
  return text;
}

std::string canonical_text(const ConfigLog& log) {
  std::string text;
  for (const ValueRead* value : sorted_by_path(log)) text += fmt::format("{}={}\n", value->path, value->canonical);
  return text;
}

}  // namespace ringwright
