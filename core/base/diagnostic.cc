#include "core/base/diagnostic.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace ringwright {

// Broken files have lines of any length and any number of mistakes; what is never shown is not stored.
void Diagnostics::add(Diagnostic diagnostic) {
  constexpr std::size_t kLongestExcerpt = 400;
  constexpr std::size_t kMostInFull = 1'000;
  if (diagnostic.severity == Severity::kError) ++errors_;
  const bool out_of_sight = diagnostic.place.column > static_cast<int>(kLongestExcerpt);
  if (all_.size() >= kMostInFull || out_of_sight) diagnostic.excerpt.clear();
  if (diagnostic.excerpt.size() > kLongestExcerpt) diagnostic.excerpt.resize(kLongestExcerpt);
  diagnostic.caret_length = std::min(diagnostic.caret_length, static_cast<int>(kLongestExcerpt));
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::take_back(std::string_view code, std::string_view message) {
  const auto meant = [&](const Diagnostic& d) { return d.code == code && d.message == message; };
  for (const Diagnostic& d : all_) errors_ -= meant(d) && d.severity == Severity::kError ? 1U : 0U;
  std::erase_if(all_, meant);
}

namespace {

bool is_control(unsigned char byte) { return (byte < 0x20 && byte != '\t' && byte != '\n') || byte == 0x7F; }

// Replaces control characters of binary files before they reach the terminal, one for one, so that a caret stays put. A
// text with such characters counts as binary: then bytes beyond ASCII are not UTF-8 either.
std::string printable(std::string text) {
  const bool binary = std::ranges::any_of(text, [](char c) { return is_control(static_cast<unsigned char>(c)); });
  if (!binary) return text;
  std::ranges::replace_if(
      text, [](char c) { return is_control(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) > 0x7F; },
      '?');
  return text;
}

std::string rendered(const Diagnostic& d) {
  std::string text;
  if (!d.place.file.empty()) {
    text += d.place.file;
    if (d.place.line > 0) text += fmt::format(":{}:{}", d.place.line, d.place.column);
    text += ": ";
  }
  text += d.severity == Severity::kError ? "error" : "warning";
  if (!d.code.empty()) text += "[" + d.code + "]";
  text += ": " + d.message + "\n";
  if (!d.excerpt.empty()) {
    const auto indent = static_cast<std::size_t>(std::max(d.place.column - 1, 0));
    // The argument of a --set has no line number.
    text += fmt::format("{:>5} | {}\n", d.place.line > 0 ? std::to_string(d.place.line) : "", d.excerpt);
    text += fmt::format("      | {}{}\n", std::string(indent, ' '),
                        std::string(static_cast<std::size_t>(std::max(d.caret_length, 1)), '^'));
  }
  if (!d.hint.empty()) text += "      " + d.hint + "\n";
  return text;
}

}  // namespace

std::string render(const Diagnostic& d) { return printable(rendered(d)); }

std::string render(const Diagnostics& diagnostics, std::size_t limit) {
  std::string text;
  const auto& all = diagnostics.all();
  for (std::size_t i = 0; i < std::min(limit, all.size()); ++i) text += render(all[i]);
  if (all.size() > limit) text += fmt::format("... and {} more\n", all.size() - limit);
  const std::size_t errors = diagnostics.error_count();
  const std::size_t warnings = all.size() - errors;
  text += fmt::format("{} error{}, {} warning{}\n", errors, errors == 1 ? "" : "s", warnings, warnings == 1 ? "" : "s");
  return text;
}

Diagnostics failure(std::string code, std::string message, Place place, std::string hint) {
  Diagnostics result;
  result.add({.code = std::move(code), .place = std::move(place), .message = std::move(message), .excerpt = {},
              .hint = std::move(hint)});
  return result;
}

}  // namespace ringwright
