// An XML file as a plain tree in which every element stores its line: elements and attributes, no text between them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::vector<XmlElement> children;
  int line = 0;

  // Empty when it is not given.
  [[nodiscard]] std::optional<std::string_view> attribute(std::string_view wanted) const;
  // The attribute's text, or an empty text.
  [[nodiscard]] std::string_view text(std::string_view wanted) const { return attribute(wanted).value_or(""); }
  // Its number; empty when it is missing or not a number.
  [[nodiscard]] std::optional<long long> integer(std::string_view wanted) const;
};

struct XmlDocument {
  std::string name;  // of the file, for messages
  XmlElement root;
  std::vector<std::string> lines;

  // A mistake at an element, with its line.
  [[nodiscard]] Diagnostic problem(const XmlElement& at, std::string code, std::string message,
                                   std::string hint = {}) const;
};

[[nodiscard]] Result<XmlDocument> parse_xml(std::string_view text, const std::string& name);

}  // namespace ringwright
