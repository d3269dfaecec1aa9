#include "core/config/yaml_reader.h"

#include <algorithm>
#include <exception>
#include <map>
#include <sstream>
#include <string>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "core/config/plain_word.h"
#include "core/config/text_lines.h"
#include "core/config/yaml_messages.h"

namespace ringwright {
namespace {

constexpr std::size_t kMaxKeysPerMap = 10'000;

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

// Carries a refusal out of yaml-cpp's callbacks; never leaves this file.
struct Refusal {
  int line;
  int column;
  std::string message;
  std::string hint;
};

std::size_t count_nodes(const ConfigNode& node) {
  std::size_t count = 1;
  for (const ConfigNode& item : node.items) count += count_nodes(item);
  for (const ConfigEntry& entry : node.entries) count += count_nodes(entry.value);
  return count;
}

// Builds the tree from yaml-cpp's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const ConfigSource& source, std::size_t offset, Diagnostics& problems)
      : source_(source), offset_(offset), problems_(problems), json_(ends_with(source.name, ".json")) {}

  std::optional<ConfigNode> take_root() { return std::move(root_); }
  // The innermost '[' or '{' that is open, when only blanks follow this position: it is never closed.
  [[nodiscard]] const ConfigNode* never_closed(int line, int column) const {
    const auto at = static_cast<std::size_t>(line) - 1;
    const bool is_end = at >= source_.lines.size() ||
                        (at + 1 == source_.lines.size() && static_cast<std::size_t>(column) > source_.lines[at].size());
    if (!is_end) return nullptr;
    for (auto frame = open_.rbegin(); frame != open_.rend(); ++frame) {
      const char c = first_character(frame->node);
      if (c == '[' || c == '{') return &frame->node;
    }
    return nullptr;
  }

  [[nodiscard]] char first_character(const ConfigNode& node) const {
    const auto line = static_cast<std::size_t>(node.line) - 1;
    if (line >= source_.lines.size()) return ' ';
    const std::string& text = source_.lines[line];
    const std::size_t byte = byte_of_character(text, static_cast<std::size_t>(node.column) - 1);
    return byte < text.size() ? text[byte] : ' ';
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (root_) refuse(at(mark), "a second document begins here", "a file holds one document; make it two files");
  }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    attach(start(ConfigKind::kNull, mark), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) refuse(at(mark), "an alias cannot appear inside the value that it names", "");
    count(at(mark), count_nodes(found->second));
    attach(ConfigNode(found->second), 0);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    refuse_tag(mark, tag);
    ConfigNode node = start(ConfigKind::kScalar, mark);
    node.text = value;
    node.quoted = tag == "!";
    node.length = written_length(node, mark);
    if (first_bad_byte(value)) refuse(node, "text holds a control character", "");
    attach(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(start(ConfigKind::kList, mark), anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value /*style*/) override {
    refuse_tag(mark, tag);
    open(start(ConfigKind::kMap, mark), anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Frame {
    ConfigNode node;
    YAML::anchor_t anchor = 0;
    std::optional<ConfigNode> key = {};                  // read, its value not yet
    std::map<std::string, int, std::less<>> lines = {};  // of the keys so far
  };

  // The byte of source_.lines[mark.line] at which the mark stands.
  [[nodiscard]] std::size_t byte_at(const YAML::Mark& mark) const {
    return static_cast<std::size_t>(std::max(mark.column, 0)) + (mark.line == 0 ? offset_ : 0);
  }

  // yaml-cpp counts from 0 and in bytes. Marks of one line come in order, so each continues from the one before: JSON
  // may be one line of a megabyte.
  [[nodiscard]] ConfigNode at(const YAML::Mark& mark) {
    ConfigNode node;
    node.source = &source_;
    node.line = mark.line + 1;
    const std::size_t byte = byte_at(mark);
    const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
    if (line >= source_.lines.size()) {
      node.column = static_cast<int>(byte) + 1;
      return node;
    }
    if (node.line != counted_.line || byte < counted_.byte) counted_ = {.line = node.line};
    const std::string_view text = source_.lines[line];
    const std::size_t from = std::min(counted_.byte, text.size());
    counted_.characters += characters_before(text.substr(from), byte - from);
    counted_.byte = byte;
    node.column = static_cast<int>(counted_.characters) + 1;
    return node;
  }

  ConfigNode start(ConfigKind kind, const YAML::Mark& mark) {
    ConfigNode node = at(mark);
    node.kind = kind;
    count(node, 1);
    return node;
  }

  void count(const ConfigNode& where, std::size_t more) {
    nodes_ += more;
    if (nodes_ > kMaxConfigNodes) {
      refuse(where, fmt::format("more than {} values, counting every use of an alias", kMaxConfigNodes),
             "describe large fabrics by a generator");
    }
  }

  [[noreturn]] static void refuse(const ConfigNode& where, std::string message, std::string hint) {
    throw Refusal{where.line, where.column, std::move(message), std::move(hint)};
  }

  void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    refuse(at(mark), "a YAML tag is not supported", "write the bare value");
  }

  // Characters of the scalar on its first line; a quote that never closes is refused (yaml-cpp lets it pass).
  [[nodiscard]] int written_length(const ConfigNode& node, const YAML::Mark& mark) const {
    const auto line = static_cast<std::size_t>(node.line) - 1;
    const std::size_t byte = byte_at(mark);
    if (line >= source_.lines.size() || byte >= source_.lines[line].size()) return 1;
    const std::string_view rest = std::string_view(source_.lines[line]).substr(byte);
    std::size_t bytes = std::min(node.text.size(), rest.size());
    if (node.quoted && (rest[0] == '"' || rest[0] == '\'')) {
      const auto end = closing_quote(line, byte);
      if (!end) refuse(node, "the quote is never closed", "");
      bytes = end->line == line ? end->byte + 1 - byte : rest.size();
    }
    return static_cast<int>(std::max<std::size_t>(characters_before(rest, bytes), 1));
  }

  struct TextPosition {
    std::size_t line;
    std::size_t byte;
  };

  // The position of the quote that closes the one here.
  [[nodiscard]] std::optional<TextPosition> closing_quote(std::size_t line, std::size_t byte) const {
    const char quote = source_.lines[line][byte];
    for (++byte; line < source_.lines.size(); ++line, byte = 0) {
      const std::string& text = source_.lines[line];
      for (; byte < text.size(); ++byte) {
        const bool escaped = quote == '"' ? text[byte] == '\\' : text.compare(byte, 2, "''") == 0;
        if (escaped) ++byte;
        if (!escaped && text[byte] == quote) return TextPosition{line, byte};
      }
    }
    return std::nullopt;
  }

  void open(ConfigNode node, YAML::anchor_t anchor) {
    if (open_.size() >= kMaxConfigDepth) refuse(node, fmt::format("nested deeper than {}", kMaxConfigDepth), "");
    open_.push_back({.node = std::move(node), .anchor = anchor});
  }

  void close() {
    Frame frame = std::move(open_.back());
    open_.pop_back();
    attach(std::move(frame.node), frame.anchor);
  }

  void attach(ConfigNode node, YAML::anchor_t anchor) {
    if (anchor != 0) anchors_.insert_or_assign(anchor, node);
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Frame& frame = open_.back();
    if (frame.node.kind == ConfigKind::kList) {
      frame.node.items.push_back(std::move(node));
      return;
    }
    if (!frame.key) {
      // yaml-cpp takes a bracket that is never closed for a key, so this is checked at its end, not at its beginning.
      if (node.kind != ConfigKind::kScalar || node.text.empty()) refuse(node, "a key must be a word", "");
      frame.key = std::move(node);
      return;
    }
    ConfigNode key = *std::exchange(frame.key, std::nullopt);
    node.key_line = key.line;
    node.key_column = key.column;
    node.key_length = key.length;
    // yaml-cpp locates a missing value at the token behind it.
    if (node.kind == ConfigKind::kNull) std::tie(node.line, node.column) = std::pair(key.line, key.column);
    if (node.kind == ConfigKind::kNull) node.length = key.length;
    add_entry(frame, key, std::move(node));
  }

  void add_entry(Frame& frame, const ConfigNode& key, ConfigNode value) {
    if (key.text == "<<" && !key.quoted) {
      problems_.add(at_value(key, "E108", "the merge key '<<' is not supported",
                             "name the file to build on with 'extends: other.yaml', or write the keys out"));
      return;
    }
    const auto [first, is_new] = frame.lines.emplace(key.text, key.line);
    if (!is_new) {
      problems_.add(
          at_value(key, "E103",
                   fmt::format("duplicate key '{}'; already set in line {}", path_of(key.text), first->second)));
      return;
    }
    if (frame.lines.size() > kMaxKeysPerMap) refuse(key, fmt::format("more than {} keys", kMaxKeysPerMap), "");
    if (json_ && value.kind == ConfigKind::kNull) return;
    frame.node.entries.push_back({.key = key.text, .value = std::move(value)});
  }

  [[nodiscard]] std::string path_of(std::string_view key) const {
    std::string path;
    for (const Frame& frame : open_) {
      if (frame.key) path += frame.key->text + ".";
      if (frame.node.kind == ConfigKind::kList && !path.empty()) {
        path.pop_back();
        path += fmt::format("[{}].", frame.node.items.size());
      }
    }
    return path + std::string(key);
  }

  struct Counted {
    int line = 0;
    std::size_t byte = 0;
    std::size_t characters = 0;
  };

  const ConfigSource& source_;
  std::size_t offset_;
  Counted counted_;
  Diagnostics& problems_;
  bool json_;
  std::vector<Frame> open_;
  std::unordered_map<YAML::anchor_t, ConfigNode> anchors_;
  std::optional<ConfigNode> root_;
  std::size_t nodes_ = 0;
};

Diagnostic syntax_error(const ConfigSource& source, int line, int column, std::string message, std::string hint) {
  ConfigNode where;
  where.source = &source;
  where.line = line;
  where.column = column;
  return at_value(where, "E101", std::move(message), std::move(hint));
}

Diagnostic translate(const YAML::Exception& error, const ConfigSource& source, std::size_t offset,
                     const TreeBuilder& builder) {
  const int line = error.mark.line + 1;
  const int shift = error.mark.line == 0 ? static_cast<int>(offset) : 0;
  const int column = std::max(error.mark.column, 0) + shift + 1;
  if (const auto tab = tab_in_indentation(source.lines, line)) {
    return syntax_error(source, line, *tab, "a tab in the indentation", "indent with blanks");
  }
  if (const ConfigNode* bracket = builder.never_closed(line, column)) {
    return syntax_error(source, bracket->line, bracket->column,
                        fmt::format("'{}' is never closed", builder.first_character(*bracket)), "");
  }
  SyntaxMessage message = reword(error.msg);
  return syntax_error(source, line, column, std::move(message.says), std::move(message.hint));
}

std::optional<ConfigNode> parse(std::string_view text, std::size_t offset, const ConfigSource& source,
                                Diagnostics& problems) {
  const bool json = ends_with(source.name, ".json");
  // Without a final line end yaml-cpp loses the location of what is missing at the end.
  std::istringstream stream((json ? join_surrogates(text) : std::string(text)) + "\n");
  TreeBuilder builder(source, offset, problems);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Refusal& refusal) {
    problems.add(syntax_error(source, refusal.line, refusal.column, refusal.message, refusal.hint));
    return std::nullopt;
  } catch (const YAML::Exception& error) {
    problems.add(translate(error, source, offset, builder));
    return std::nullopt;
  } catch (const std::exception& error) {
    problems.add(syntax_error(source, 0, 0, fmt::format("cannot be read: {}", error.what()), ""));
    return std::nullopt;
  }
  return builder.take_root();
}

bool is_readable(std::string_view text, const ConfigSource& source, Diagnostics& problems) {
  if (text.size() > kMaxConfigBytes) {
    problems.add(syntax_error(source, 0, 0, fmt::format("larger than {} MiB", kMaxConfigBytes >> 20U),
                              "describe large fabrics by a generator"));
    return false;
  }
  const auto bad = first_bad_byte(text);
  if (!bad) return true;
  const std::string_view head = text.substr(0, *bad);
  const auto line_start = head.rfind('\n') == std::string_view::npos ? 0 : head.rfind('\n') + 1;
  const auto line = static_cast<int>(std::count(head.begin(), head.end(), '\n')) + 1;
  const auto column = static_cast<int>(characters_before(head.substr(line_start), head.size())) + 1;
  Diagnostic problem = syntax_error(source, line, column, "not UTF-8 text", "save the file as UTF-8");
  problem.excerpt.clear();  // it would carry the bad byte to the terminal
  problems.add(std::move(problem));
  return false;
}

}  // namespace

std::optional<ConfigNode> read_yaml(std::string_view text, ConfigSource& source, Diagnostics& problems) {
  text = without_byte_order_mark(text);
  if (!is_readable(text, source, problems)) return std::nullopt;
  source.lines = split_lines(text);
  const std::size_t errors = problems.error_count();
  auto root = parse(text, 0, source, problems);
  if (!root && problems.error_count() > errors) return std::nullopt;
  if (!root || root->kind == ConfigKind::kNull) {
    problems.add(syntax_error(source, 0, 0, "empty file", "a configuration has at least one 'key: value'"));
    return std::nullopt;
  }
  if (root->kind != ConfigKind::kMap) {
    problems.add(at_value(*root, "E105", "a configuration must be a map of keys", "write 'key: value'"));
    return std::nullopt;
  }
  return root;
}

std::optional<ConfigNode> read_override_value(std::string_view text, std::size_t offset, ConfigSource& source,
                                              Diagnostics& problems) {
  if (is_plain_word(text) && !source.lines.empty()) return plain_word(text, offset, source);
  if (!is_readable(text, source, problems)) return std::nullopt;
  const std::size_t errors = problems.error_count();
  auto value = parse(text, offset, source, problems);
  if (value || problems.error_count() > errors) return value;
  ConfigNode nothing;
  nothing.source = &source;
  return nothing;
}

}  // namespace ringwright
