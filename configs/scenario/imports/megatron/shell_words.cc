#include "configs/scenario/imports/megatron/shell_words.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>

namespace ringwright::configs {
namespace {

bool is_name(std::string_view text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text.front())) == 0 &&
         std::ranges::all_of(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

// "NAME=..." or "export NAME=...": the length of "NAME", else 0.
std::size_t assigned_name(std::string_view word) {
  const auto equals = word.find('=');
  if (equals == std::string_view::npos) return 0;
  const std::size_t end = equals > 0 && word[equals - 1] == '+' ? equals - 1 : equals;
  return is_name(word.substr(0, end)) ? end : 0;
}

class ShellReader {
 public:
  explicit ShellReader(const std::vector<std::string>& lines) : lines_(lines) {}

  ShellText read() {
    for (; line_ < lines_.size(); ++line_) {
      for (column_ = 0; column_ < text().size();) step();
      end_word();
      if (!continued_) end_command();
      continued_ = false;
    }
    drop_bundles();
    const auto variables = result_.variables;
    for (ShellItem& item : result_.items) expand(item.word, variables);
    for (auto& [name, value] : result_.variables) expand(value, variables);
    std::erase_if(result_.items,
                  [](const ShellItem& item) { return item.kind == ShellItem::Kind::kWord && item.word.text.empty(); });
    return std::move(result_);
  }

 private:
  [[nodiscard]] const std::string& text() const { return lines_[line_]; }

  void step() {
    const char c = text()[column_];
    if (quote_ != 0) return in_quotes(c);
    if (c == '\\') return after_backslash();
    if (c == '#' && word_.text.empty()) {
      column_ = text().size();
    } else if (c == '"' || c == '\'') {
      quote_ = c;
      begin_word();
      ++column_;
    } else if (c == '$' && text().compare(column_, 2, "$(") == 0) {
      substitution();
    } else if (c == ' ' || c == '\t') {
      end_word();
      ++column_;
    } else if (c == '(' && !word_.text.empty() && word_.text.back() == '=') {
      word_.text.clear();  // ARRAY=( : its words follow
      ++column_;
    } else if (c == ')' || c == ';' || c == '|' || c == '&' || c == '>' || c == '<') {
      end_word();
      end_command();
      ++column_;
    } else {
      push(c);
    }
  }

  // Quotes keep blanks together, unless they hold flags: then their words count.
  void in_quotes(char c) {
    if (c == quote_) {
      quote_ = 0;
      ++column_;
    } else if (c == '\\') {
      after_backslash();
    } else if ((c == ' ' || c == '\t') && holds_flags()) {
      end_word();
      ++column_;
    } else {
      push(c);
    }
  }
  // Inside quotes: whether they begin, or continue, with a flag.
  [[nodiscard]] bool holds_flags() const {
    if (word_.text.size() > kLongestWord) return flags_in_quotes_;
    const auto assigned = assigned_name(word_.text);
    const std::string_view value = std::string_view(word_.text).substr(assigned == 0 ? 0 : word_.text.find('=') + 1);
    return value.empty() || value.starts_with("--") || flags_in_quotes_;
  }

  void after_backslash() {
    if (column_ + 1 >= text().size()) {
      continued_ = true;
      end_word();
      ++column_;
      return;
    }
    ++column_;
    push(text()[column_]);
  }

  // $( ... ) and $(( ... )): one piece of a word, whose value is unknown.
  void substitution() {
    int depth = 0;
    begin_word();
    do {
      const char c = text()[column_];
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      push(c);
    } while (column_ < text().size() && (depth > 0 || text()[column_ - 1] == '$'));
    word_.resolved = false;
  }

  void begin_word() {
    if (!word_.text.empty() || in_word_) return;
    in_word_ = true;
    word_.line = static_cast<int>(line_) + 1;
    word_.column = static_cast<int>(column_) + 1;
  }
  void push(char c) {
    begin_word();
    word_.text += c;
    ++column_;
  }
  void end_word() {
    if (!in_word_) return;
    word_.length = std::max(1, static_cast<int>(column_) + 1 - word_.column);
    const std::size_t name = word_.text.starts_with("--") ? 0 : assigned_name(word_.text);
    const std::string_view value = std::string_view(word_.text).substr(name == 0 ? 0 : word_.text.find('=') + 1);
    if (quote_ != 0 && value.starts_with("--")) flags_in_quotes_ = true;
    if (name > 0) {
      assign(word_.text.substr(0, name), word_.text.substr(word_.text.find('=') + 1));
    } else if (!word_.text.empty() && word_.text != "export") {
      result_.items.push_back({.kind = ShellItem::Kind::kWord, .word = word_});
    }
    word_ = {};
    in_word_ = false;
  }
  // A value that is a flag, or text that continues in the next line, is a bundle of flags: its words count here.
  void assign(const std::string& name, const std::string& value) {
    MegatronWord word = word_;
    word.text = value;
    const auto shift = static_cast<int>(word_.text.size() - value.size()) + (quote_ != 0 ? 1 : 0);
    word.column += shift;
    word.length = std::max(1, word.length - shift);
    const bool flag = value.starts_with("--");
    if (flag) result_.items.push_back({.kind = ShellItem::Kind::kWord, .word = word});
    if (flag || (value.empty() && quote_ != 0)) {
      bundles_.insert(name);
    } else {
      result_.variables[name] = word;
    }
  }
  void end_command() {
    if (quote_ != 0) return;
    flags_in_quotes_ = false;
    result_.items.push_back({.kind = ShellItem::Kind::kEnd});
  }

  using Variables = std::map<std::string, MegatronWord>;
  static constexpr std::size_t kDeepest = 8;
  static constexpr std::size_t kMostLookUps = 100'000;
  static constexpr std::size_t kLongestWord = 131'072;  // MAX_ARG_STRLEN of Linux

  // $NAME, ${NAME}, ${NAME:-default}; a variable that the file does not set stays and makes the word unresolved. So do
  // words that grow beyond the length of a command line: variables that name each other twice double with each level.
  void expand(MegatronWord& word, const Variables& variables) {
    for (std::size_t at = word.text.find('$'); at != std::string::npos; at = word.text.find('$', at)) {
      const bool braces = word.text.compare(at, 2, "${") == 0;
      const std::size_t begin = at + (braces ? 2 : 1);
      const std::size_t end = name_end(word.text, begin);
      const std::size_t close = braces ? word.text.find('}', end) : end;
      std::optional<std::string> value;
      if (close != std::string::npos) value = value_of(word.text.substr(begin, end - begin), variables);
      if (!value && close != std::string::npos && word.text.compare(end, 2, ":-") == 0) {
        value = word.text.substr(end + 2, close - end - 2);
      }
      if (!value || word.text.size() + value->size() > kLongestWord) {
        word.resolved = false;
        return;
      }
      word.text.replace(at, close + (braces ? 1 : 0) - at, *value);
      at += value->size();
    }
  }
  static std::size_t name_end(const std::string& text, std::size_t begin) {
    while (begin < text.size() && (std::isalnum(static_cast<unsigned char>(text[begin])) != 0 || text[begin] == '_')) {
      ++begin;
    }
    return begin;
  }
  // A variable that names itself (TP=${TP:-8}) has the default; others may name each other, but not in a cycle.
  std::optional<std::string> value_of(const std::string& name, const Variables& variables) {
    const auto known = variables.find(name);
    const bool within = std::ranges::find(expanding_, name) != expanding_.end();
    if (known == variables.end() || within || expanding_.size() == kDeepest || looked_up_ == kMostLookUps) {
      return std::nullopt;
    }
    ++looked_up_;
    MegatronWord value = known->second;
    expanding_.push_back(name);
    expand(value, variables);
    expanding_.pop_back();
    return value.resolved ? std::optional(value.text) : std::nullopt;
  }
  // "$ARGS" and "${ARGS[@]}" stand for words that have been counted, "$@" for those of the command line.
  void drop_bundles() {
    std::erase_if(result_.items, [this](const ShellItem& item) {
      const std::string& text = item.word.text;
      if (item.kind == ShellItem::Kind::kEnd || !text.starts_with('$')) return false;
      if (text == "$@" || text == "$*" || text.ends_with("[@]}") || text.ends_with("[*]}")) return true;
      const bool braces = text.starts_with("${");
      return bundles_.contains(text.substr(braces ? 2 : 1, text.size() - (braces ? 3 : 1)));
    });
  }

  const std::vector<std::string>& lines_;
  std::size_t line_ = 0;
  std::size_t column_ = 0;
  char quote_ = 0;
  bool continued_ = false;
  bool in_word_ = false;
  bool flags_in_quotes_ = false;
  MegatronWord word_;
  std::set<std::string> bundles_;  // variables whose value is flags
  std::vector<std::string> expanding_;  // variables whose value is being expanded, outermost first
  std::size_t looked_up_ = 0;
  ShellText result_;
};

}  // namespace

ShellText read_shell_words(const std::vector<std::string>& lines) {
  return ShellReader(lines).read();
}

}  // namespace ringwright::configs
