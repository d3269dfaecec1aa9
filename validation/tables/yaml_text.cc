#include "validation/tables/yaml_text.h"

#include <algorithm>

namespace ringwright::validation {

void YamlText::set(std::string_view path, std::string value) {
  Node* node = &root_;
  while (true) {
    const std::size_t dot = path.find('.');
    const std::string_view key = path.substr(0, dot);
    auto child = std::ranges::find(node->children, key, &Node::key);
    if (child == node->children.end()) {
      node->children.push_back({.key = std::string(key), .value = {}, .children = {}});
      child = node->children.end() - 1;
    }
    node = &*child;
    if (dot == std::string_view::npos) break;
    path.remove_prefix(dot + 1);
  }
  node->value = std::move(value);
}

std::string YamlText::flow(const Node& node) {
  if (node.children.empty()) return node.value;
  std::string result = "{";
  for (const Node& child : node.children) {
    if (result.size() > 1) result += ", ";
    result += child.key + ": " + flow(child);
  }
  return result + "}";
}

std::string YamlText::text() const {
  std::string result;
  for (const Node& child : root_.children) result += child.key + ": " + flow(child) + "\n";
  return result;
}

std::string yaml_quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

}  // namespace ringwright::validation
