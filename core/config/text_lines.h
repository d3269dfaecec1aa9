// An input text as lines: split for excerpts, checked to be UTF-8, columns counted in characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringwright {

// A byte order mark at the start and carriage returns at line ends are dropped.
[[nodiscard]] std::vector<std::string> split_lines(std::string_view text);

[[nodiscard]] std::string_view without_byte_order_mark(std::string_view text);

// Whether it begins with the byte order mark of UTF-16 and an ASCII character, as what PowerShell redirects to a file.
[[nodiscard]] bool is_utf16(std::string_view text);
inline constexpr std::string_view kUtf16Refused = "it is UTF-16; save it as UTF-8";

// The offset of the first byte that is not UTF-8, or is a control character other than tab and line end.
[[nodiscard]] std::optional<std::size_t> first_bad_byte(std::string_view text);

// Characters (code points) in the first `bytes` bytes of the line.
[[nodiscard]] std::size_t characters_before(std::string_view line, std::size_t bytes);

// The byte at which the character with this number (from 0) begins; the size of the line when it has fewer.
[[nodiscard]] std::size_t byte_of_character(std::string_view line, std::size_t character);

// JSON writes a character beyond U+FFFF as two escapes ("\ud83d\ude00"), which yaml-cpp does not combine: this joins
// them ("\U0001F600").
[[nodiscard]] std::string join_surrogates(std::string_view text);

}  // namespace ringwright
