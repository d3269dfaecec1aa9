#include "configs/scenario/imports/hydra/interpolation.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "configs/scenario/imports/hydra/resolvers.h"

namespace ringwright::configs {
namespace {

using Path = std::vector<std::string>;

constexpr std::size_t kMostEvaluations = 200'000;
constexpr std::size_t kDeepestNesting = 48;
constexpr std::size_t kLongestText = 65'536;
constexpr std::string_view kOpen = "${";

std::string_view trimmed_of_blanks(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\n") - begin + 1);
}

// Behind the brace that closes the one in front of `at`; npos if it is never closed.
std::size_t behind_brace(std::string_view text, std::size_t at) {
  int depth = 1;
  for (; at < text.size() && depth > 0; ++at) depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
  return depth == 0 ? at : std::string_view::npos;
}

// "8,${oc.env:B,[1,2]},'a,b'" has three.
std::vector<std::string_view> arguments_of(std::string_view text) {
  std::vector<std::string_view> arguments;
  int depth = 0;
  char quote = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (quote != 0) {
      if (c == quote) quote = 0;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      arguments.push_back(trimmed_of_blanks(text.substr(begin, at - begin)));
      begin = at + 1;
    }
  }
  arguments.push_back(trimmed_of_blanks(text.substr(begin)));
  return arguments;
}

// Of "oc.env:NAME,8" the six characters in front of the colon; 0: a path.
std::size_t resolver_length(std::string_view text) {
  const auto end =
      std::ranges::find_if_not(text, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; });
  return end != text.end() && *end == ':' ? static_cast<std::size_t>(end - text.begin()) : 0;
}

const ConfigNode* child(const ConfigNode& node, std::string_view key) {
  if (node.kind == ConfigKind::kMap) {
    const ConfigEntry* const entry = find_entry(node, key);
    return entry == nullptr ? nullptr : &entry->value;
  }
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
  const bool fits = error == std::errc() && end == key.data() + key.size() && index < node.items.size();
  return node.kind == ConfigKind::kList && fits ? &node.items[index] : nullptr;
}

class Interpolation {
 public:
  explicit Interpolation(const ConfigNode& root) : root_(root) {}

  void resolve(ConfigNode& node, Path& path) {
    for (ConfigEntry& entry : node.entries) below(entry.value, entry.key, path);
    for (std::size_t i = 0; i < node.items.size(); ++i) below(node.items[i], std::to_string(i), path);
    if (node.kind != ConfigKind::kScalar || node.text.find(kOpen) == std::string::npos) return;
    const auto value = text_value(node.text, path);
    if (!value) return;
    node.kind = value->is_null ? ConfigKind::kNull : ConfigKind::kScalar;
    node.text = value->is_null ? std::string() : value->text;
  }

 private:
  void below(ConfigNode& node, const std::string& key, Path& path) {
    path.push_back(key);
    resolve(node, path);
    path.pop_back();
  }

  // Empty where the file does not have the value.
  std::optional<Resolved> text_value(std::string_view text, const Path& path) {
    if (depth_ == kDeepestNesting || evaluations_ == kMostEvaluations) return std::nullopt;
    ++depth_;
    ++evaluations_;
    auto value = text_value_within(text, path);
    --depth_;
    if (value && value->text.size() > kLongestText) return std::nullopt;
    return value;
  }

  std::optional<Resolved> text_value_within(std::string_view text, const Path& path) {
    std::string joined;
    while (true) {
      const std::size_t open = text.find(kOpen);
      joined += text.substr(0, open);
      if (open == std::string_view::npos) return Resolved{.text = std::move(joined)};
      const std::size_t behind = behind_brace(text, open + kOpen.size());
      if (behind == std::string_view::npos) return std::nullopt;
      auto value = inner_value(text.substr(open + kOpen.size(), behind - open - kOpen.size() - 1), path);
      if (!value) return std::nullopt;
      if (open == 0 && behind == text.size() && joined.empty()) return value;
      joined += value->is_null ? "None" : value->text;
      text.remove_prefix(behind);
    }
  }

  std::optional<Resolved> inner_value(std::string_view inner, const Path& path) {
    inner = trimmed_of_blanks(inner);
    const std::size_t length = resolver_length(inner);
    if (length == 0) return node_value(inner, path);
    const std::string_view name = inner.substr(0, length);
    const std::vector<std::string_view> arguments = arguments_of(inner.substr(length + 1));
    if (name == "oc.env" || name == "oc.select") {
      if (name == "oc.select") {
        if (auto value = node_value(arguments.front(), {})) return value;
      }
      return arguments.size() == 2 ? argument_value(arguments[1], path) : std::nullopt;
    }
    std::vector<Resolved> values;
    for (const std::string_view argument : arguments) {
      auto value = argument_value(argument, path);
      if (!value) return std::nullopt;
      values.push_back(std::move(*value));
    }
    return resolved(name, values);
  }

  std::optional<Resolved> argument_value(std::string_view argument, const Path& path) {
    const bool quoted = argument.size() >= 2 && (argument.front() == '\'' || argument.front() == '"') &&
                        argument.back() == argument.front();
    if (quoted) return text_value(argument.substr(1, argument.size() - 2), path);
    auto value = text_value(argument, path);
    if (value && (value->text == "null" || value->text == "None")) return Resolved{.is_null = true};
    return value;
  }

  // "model.hidden_size", ".hidden_size" of the same map, "..x" of the one around it; parts may be interpolations.
  std::optional<Resolved> node_value(std::string_view reference, const Path& from) {
    const auto written = text_value(reference, from);
    if (!written) return std::nullopt;
    std::string_view rest = written->text;
    Path target;
    if (rest.starts_with('.')) {
      const std::size_t dots = std::min(rest.find_first_not_of('.'), rest.size());
      if (dots > from.size()) return std::nullopt;
      target.assign(from.begin(), from.end() - static_cast<std::ptrdiff_t>(dots));
      rest.remove_prefix(dots);
    }
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find_first_of(".[]"), rest.size());
      if (end > 0) target.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    // NeMo's launcher has the whole configuration below `training`.
    if (!target.empty() && target.front() == "training" && child(root_, "training") == nullptr) {
      target.erase(target.begin());
    }
    const ConfigNode* node = &root_;
    for (const std::string& key : target) {
      node = child(*node, key);
      if (node == nullptr) return std::nullopt;
    }
    if (node->kind == ConfigKind::kNull) return Resolved{.is_null = true};
    if (node->kind != ConfigKind::kScalar || node->text == "???") return std::nullopt;
    return text_value(node->text, target);
  }

  const ConfigNode& root_;
  std::size_t depth_ = 0;
  std::size_t evaluations_ = 0;
};

}  // namespace

ConfigNode with_interpolations(const ConfigNode& root) {
  ConfigNode result = root;
  Path path;
  Interpolation(root).resolve(result, path);
  return result;
}

}  // namespace ringwright::configs
