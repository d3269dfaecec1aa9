#include "traces/input/json_values.h"

namespace ringwright::traces {
namespace {

std::string_view bare_token(std::string_view token) {
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  if (token.size() >= 2 && token.front() == '"' && token.back() == '"') token = token.substr(1, token.size() - 2);
  return token;
}

}  // namespace

bool JsonDocument::open(const JsonPiece& piece) {
  static_assert(kJsonPadding >= simdjson::SIMDJSON_PADDING);
  const simdjson::padded_string_view text(piece.text.data(), piece.text.size(), piece.text.size() + kJsonPadding);
  return parser.iterate(text).get(document) == simdjson::SUCCESS;
}

std::string_view token_of(on_demand::value& value) {
  return bare_token(value.raw_json_token());
}

std::string_view token_of(simdjson::simdjson_result<on_demand::value>& value) {
  std::string_view token;
  return value.raw_json_token().get(token) == simdjson::SUCCESS ? bare_token(token) : std::string_view();
}

std::optional<std::int64_t> maybe_number(on_demand::value& value) {
  return scaled_decimal(token_of(value), 0);
}

std::optional<std::int64_t> maybe_number(simdjson::simdjson_result<on_demand::value>& value) {
  return scaled_decimal(token_of(value), 0);
}

std::string text_of(on_demand::value& value) {
  on_demand::json_type type{};
  if (value.type().get(type) != simdjson::SUCCESS) return "";
  if (type == on_demand::json_type::string) {
    std::string_view text;
    return value.get_string().get(text) == simdjson::SUCCESS ? std::string(text) : "";
  }
  if (type == on_demand::json_type::number) return std::string(token_of(value));
  if (type != on_demand::json_type::array) return "";
  std::string text = "[";
  on_demand::array list;
  if (value.get_array().get(list) != simdjson::SUCCESS) return "";
  for (auto entry : list) text += (text.size() > 1 ? ", " : "") + std::string(token_of(entry));
  return text + "]";
}

std::string text_of(simdjson::simdjson_result<on_demand::value>& value) {
  on_demand::value known;
  return value.get(known) == simdjson::SUCCESS ? text_of(known) : "";
}

}  // namespace ringwright::traces
