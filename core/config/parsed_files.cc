#include "core/config/parsed_files.h"

#include "core/config/yaml_reader.h"

namespace ringwright {
namespace {

void set_source(ConfigNode& node, const ConfigSource& source) {
  node.source = &source;
  for (ConfigNode& item : node.items) set_source(item, source);
  for (ConfigEntry& entry : node.entries) set_source(entry.value, source);
}

}  // namespace

std::optional<ConfigNode> ParsedFiles::read(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  ByText& known = source.name.ends_with(".json") ? json_ : yaml_;
  {
    const std::scoped_lock lock(mutex_);
    const auto found = known.find(text);
    if (found != known.end()) {
      source.lines = found->second.lines;
      ConfigNode root = found->second.root;
      set_source(root, source);
      return root;
    }
  }
  const std::size_t findings = problems.all().size();
  std::optional<ConfigNode> root = read_yaml(text, source, problems);
  if (!root || problems.all().size() > findings) return root;
  const std::scoped_lock lock(mutex_);
  if (bytes_ + text.size() > most_bytes_) {
    json_.clear();
    yaml_.clear();
    bytes_ = 0;
  }
  if (known.emplace(text, Parsed{.lines = source.lines, .root = *root}).second) bytes_ += text.size();
  return root;
}

}  // namespace ringwright
