// Every reader of a user's file as a function of the file's text: what the fuzz targets and the corpus test call.
#pragma once

#include <span>
#include <string_view>

namespace ringwright::fuzz {

// Reading any text must end with a value or with printable errors. A crash, an exception, a failed CHECK or a failure
// without an error is a bug of ours.
struct Reader {
  std::string_view name;  // of its seeds in tests/fuzz/corpus, and of the target NAME_fuzz
  void (*read)(std::string_view text) = nullptr;
};

[[nodiscard]] std::span<const Reader> readers();
// Null where there is none of that name.
[[nodiscard]] const Reader* find_reader(std::string_view name);

}  // namespace ringwright::fuzz
