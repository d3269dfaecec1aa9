#include "core/report/text_table.h"

#include <algorithm>

namespace ringwright {
namespace {

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - std::min(width, visible_width(cell)), ' ');
  return align == Align::kLeft ? cell + blanks : blanks + cell;
}

void trim_end(std::string& line) { line.erase(line.find_last_not_of(' ') + 1); }

}  // namespace

std::size_t visible_width(std::string_view text) {
  std::size_t width = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\x1b') {
      i = std::min(text.find('m', i), text.size() - 1);
      continue;
    }
    const bool continues_sequence = (static_cast<unsigned char>(text[i]) & 0xC0U) == 0x80U;
    if (!continues_sequence) ++width;
  }
  return width;
}

std::vector<std::string> TextTable::lines() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], visible_width(row[i]));
  }
  std::vector<std::string> lines;
  for (const std::vector<std::string>& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      line += padded(row[i], widths[i], columns_[i]);
    }
    trim_end(line);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::size_t widest(const std::vector<std::string>& lines) {
  std::size_t width = 0;
  for (const std::string& line : lines) width = std::max(width, visible_width(line));
  return width;
}

std::vector<std::string> side_by_side(const std::vector<std::string>& left, const std::vector<std::string>& right,
                                std::size_t gap) {
  const std::size_t column = widest(left) + gap;
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < std::max(left.size(), right.size()); ++i) {
    std::string line = i < left.size() ? left[i] : "";
    if (i < right.size()) line = padded(line, column, Align::kLeft) + right[i];
    trim_end(line);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::string shorten(std::string_view name, std::size_t width) {
  if (name.size() <= width || width < 5) return std::string(name);
  const std::size_t front = (width - 2) / 2;
  const std::size_t back = width - 2 - front;
  return std::string(name.substr(0, front)) + ".." + std::string(name.substr(name.size() - back));
}

std::string shorten_end(std::string_view text, std::size_t width) {
  if (text.size() <= width || width < 2) return std::string(text);
  std::size_t end = width - 2;
  // Never in the middle of a UTF-8 sequence.
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return std::string(text.substr(0, end)) + "..";
}

std::string wrap(std::string_view text, std::size_t width, std::size_t indent) {
  std::string wrapped;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const bool breaks = column > indent && column + 1 + visible_width(word) > width;
    if (breaks) {
      wrapped += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += visible_width(word);
  }
  return wrapped;
}

}  // namespace ringwright
