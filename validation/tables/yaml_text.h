// Writes YAML from paths and values: maps nested by the paths, in order of first appearance of the keys.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright::validation {

class YamlText {
 public:
  // "parallel.tp", "8". The value is YAML itself: a number, a word, "[1, 2]". A later value replaces an earlier one.
  void set(std::string_view path, std::string value);
  // In flow style, one line for each key of the top.
  [[nodiscard]] std::string text() const;

 private:
  struct Node {
    std::string key;
    std::string value;  // of a leaf
    std::vector<Node> children;
  };
  static std::string flow(const Node& node);

  Node root_;
};

// A word that YAML might take for something else, in double quotes.
[[nodiscard]] std::string yaml_quoted(std::string_view text);

}  // namespace ringwright::validation
