// The only file that uses pugixml.
#include "core/config/xml_document.h"

#include <algorithm>
#include <charconv>
#include <cstddef>

#include <fmt/format.h>
#include <pugixml.hpp>

#include "core/config/text_lines.h"

namespace ringwright {
namespace {

constexpr int kDeepest = 64;  // nesting of elements; topology files have about ten

// Line and column, from 1, of a byte.
std::pair<int, int> position(std::string_view text, std::ptrdiff_t offset) {
  const std::string_view before = text.substr(0, static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)));
  const auto line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  const std::size_t start = before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  return {line, static_cast<int>(before.size() - start) + 1};
}

// Elements arrive in file order, so that lines are counted once.
class Copier {
 public:
  explicit Copier(std::string_view text) : text_(text) {}

  [[nodiscard]] bool copy(const pugi::xml_node& from, XmlElement& to, int depth) {
    if (depth > kDeepest) return false;
    to.name = from.name();
    to.line = line_of(from.offset_debug());
    for (const pugi::xml_attribute& attribute : from.attributes()) {
      to.attributes.emplace_back(attribute.name(), attribute.value());
    }
    for (const pugi::xml_node& child : from.children()) {
      if (child.type() != pugi::node_element) continue;
      to.children.emplace_back();
      if (!copy(child, to.children.back(), depth + 1)) return false;
    }
    return true;
  }

 private:
  int line_of(std::ptrdiff_t offset) {
    for (; counted_ < offset; ++counted_) line_ += text_[static_cast<std::size_t>(counted_)] == '\n' ? 1 : 0;
    return line_;
  }

  std::string_view text_;
  std::ptrdiff_t counted_ = 0;
  int line_ = 1;
};

pugi::xml_node next_element(pugi::xml_node node) {
  do {
    node = node.next_sibling();
  } while (node && node.type() != pugi::node_element);
  return node;
}

// XML allows each attribute once, which pugixml does not check. Null: there is none.
const XmlElement* with_repeated_attribute(const XmlElement& element) {
  for (auto at = element.attributes.begin(); at != element.attributes.end(); ++at) {
    if (std::find_if(element.attributes.begin(), at, [&](const auto& other) { return other.first == at->first; }) !=
        at) {
      return &element;
    }
  }
  for (const XmlElement& child : element.children) {
    if (const XmlElement* const found = with_repeated_attribute(child); found != nullptr) return found;
  }
  return nullptr;
}

}  // namespace

std::optional<std::string_view> XmlElement::attribute(std::string_view wanted) const {
  for (const auto& [key, value] : attributes) {
    if (key == wanted) return value;
  }
  return std::nullopt;
}

std::optional<long long> XmlElement::integer(std::string_view wanted) const {
  const std::string_view digits = text(wanted);
  long long value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return value;
}

Diagnostic XmlDocument::problem(const XmlElement& at, std::string code, std::string message, std::string hint) const {
  Diagnostic result{.code = std::move(code), .place = {.file = name, .line = at.line}, .message = std::move(message)};
  if (at.line >= 1 && at.line <= static_cast<int>(lines.size())) {
    result.excerpt = lines[static_cast<std::size_t>(at.line - 1)];
    const std::size_t column = result.excerpt.find('<' + at.name);
    result.place.column = column == std::string::npos ? 1 : static_cast<int>(column) + 1;
    result.caret_length = static_cast<int>(at.name.size()) + 1;
  }
  result.hint = std::move(hint);
  return result;
}

Result<XmlDocument> parse_xml(std::string_view text, const std::string& name) {
  pugi::xml_document parsed;
  const pugi::xml_parse_result result =
      parsed.load_buffer(text.data(), text.size(), pugi::parse_default, pugi::encoding_utf8);
  if (result.status != pugi::status_ok) {
    const auto [line, column] = position(text, result.offset);
    return tl::unexpected(failure("E117", fmt::format("the XML cannot be read: {}", result.description()),
                                  {.file = name, .line = line, .column = column}));
  }
  XmlDocument document{.name = name, .root = {}, .lines = split_lines(text)};
  // pugixml reads on where XML ends: after the first element of the document.
  const pugi::xml_node second = next_element(parsed.document_element());
  if (second) {
    const auto [line, column] = position(text, second.offset_debug());
    return tl::unexpected(failure("E117", fmt::format("<{}> follows the end of the document", second.name()),
                                  {.file = name, .line = line, .column = column}));
  }
  if (!Copier(text).copy(parsed.document_element(), document.root, 0)) {
    return tl::unexpected(
        failure("E117", fmt::format("elements are nested more than {} deep", kDeepest), {.file = name, .line = 1}));
  }
  if (const XmlElement* const twice = with_repeated_attribute(document.root); twice != nullptr) {
    Diagnostics problems;
    problems.add(document.problem(*twice, "E117", fmt::format("<{}> has an attribute twice", twice->name)));
    return tl::unexpected(std::move(problems));
  }
  return document;
}

}  // namespace ringwright
