#include "planning/report/json_value.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace ringwright::planning {
namespace {

const JsonValue kNothing;

// Builds the tree while the parser reads, without recursion.
class JsonTreeBuilder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit JsonTreeBuilder(JsonValue& root) : root_(root) {}

  [[nodiscard]] bool too_large() const { return too_large_; }
  [[nodiscard]] std::size_t error_byte() const { return error_byte_; }
  [[nodiscard]] const std::string& error_text() const { return error_text_; }

  bool null() override { return add({}) != nullptr; }
  bool boolean(bool flag) override {
    return add({.kind = JsonValue::Kind::kFlag, .value = flag ? 1.0 : 0.0}) != nullptr;
  }
  bool number_integer(number_integer_t number) override { return add_number(static_cast<double>(number)); }
  bool number_unsigned(number_unsigned_t number) override { return add_number(static_cast<double>(number)); }
  bool number_float(number_float_t number, const string_t& /*text*/) override { return add_number(number); }
  bool string(string_t& text) override {
    return add({.kind = JsonValue::Kind::kText, .words = std::move(text)}) != nullptr;
  }
  bool binary(binary_t& /*bytes*/) override { return false; }
  bool start_object(std::size_t /*count*/) override { return open(JsonValue::Kind::kMap); }
  bool key(string_t& name) override {
    open_.back()->keys.push_back(std::move(name));
    return true;
  }
  bool end_object() override { return close(); }
  bool start_array(std::size_t /*count*/) override { return open(JsonValue::Kind::kList); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t byte, const std::string& /*token*/, const nlohmann::detail::exception& error) override {
    error_byte_ = byte;
    error_text_ = error.what();
    return false;
  }

 private:
  JsonValue* add(JsonValue value) {
    if (++count_ > kMostJsonValues) {
      too_large_ = true;
      return nullptr;
    }
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    open_.back()->items.push_back(std::move(value));
    return &open_.back()->items.back();
  }
  bool add_number(double number) { return add({.kind = JsonValue::Kind::kNumber, .value = number}) != nullptr; }
  // Pointers to open values stay valid: only the innermost one grows.
  bool open(JsonValue::Kind kind) {
    if (open_.size() >= kMostJsonDepth) {
      too_large_ = true;
      return false;
    }
    JsonValue* const value = add({.kind = kind});
    if (value != nullptr) open_.push_back(value);
    return value != nullptr;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  JsonValue& root_;
  std::vector<JsonValue*> open_;
  std::size_t count_ = 0;
  bool too_large_ = false;
  std::size_t error_byte_ = 0;
  std::string error_text_;
};

// Of a byte counted from 1.
Place place_of_byte(const std::string& name, std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte == 0 ? 0 : byte - 1, text.size()));
  const auto lines = static_cast<int>(std::ranges::count(before, '\n'));
  const std::size_t newline = before.find_last_of('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() : before.size() - newline - 1;
  return {.file = name, .line = lines + 1, .column = static_cast<int>(column) + 1};
}

// "unexpected end of input", of the parser's message that begins with its name and the place.
std::string reason_of(const std::string& message) {
  constexpr std::string_view kMark = "syntax error while parsing ";
  const std::size_t at = message.find(kMark);
  return at == std::string::npos ? "it is damaged" : "error while reading " + message.substr(at + kMark.size());
}

}  // namespace

const JsonValue& JsonValue::operator[](std::string_view key) const {
  const auto found = std::ranges::find(keys, key);
  return found == keys.end() ? kNothing : items[static_cast<std::size_t>(found - keys.begin())];
}

std::optional<double> JsonValue::number() const {
  return kind == Kind::kNumber && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

double JsonValue::number_or_unknown() const {
  return number().value_or(std::numeric_limits<double>::quiet_NaN());
}

const std::string& JsonValue::text() const {
  return words;
}

std::string JsonValue::joined(std::string_view between) const {
  std::vector<std::string> all;
  for (const JsonValue& item : list()) all.push_back(item.text());
  return join(all, between);
}

const std::vector<JsonValue>& JsonValue::list() const {
  return kind == Kind::kList ? items : kNothing.items;
}

Result<JsonValue> parse_json(const std::string& name, std::string_view text) {
  JsonValue root;
  JsonTreeBuilder builder(root);
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return root;
  if (builder.too_large()) {
    return tl::unexpected(failure(
        "E341",
        fmt::format("the file holds more than {} values, or lists more than {} deep", kMostJsonValues, kMostJsonDepth),
        {.file = name}, "results of `search` are smaller with --top"));
  }
  return tl::unexpected(failure("E340", "the file is no JSON: " + reason_of(builder.error_text()),
                                place_of_byte(name, text, builder.error_byte()),
                                "write it again, for example: ringwright run SCENARIO --out FOLDER"));
}

std::string processed_of(const JsonValue& owner) {
  const std::string& named = owner["tokens_are"].text();
  return named.empty() ? "tokens" : named;
}

}  // namespace ringwright::planning
