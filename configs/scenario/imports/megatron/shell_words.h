// Shell scripts, read for the flags of a program: words with quotes, continuations, comments, and variables that the
// script itself sets. Nothing is run.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "configs/scenario/imports/megatron/megatron_text.h"

namespace ringwright::configs {

struct ShellItem {
  enum class Kind { kWord, kEnd };  // the end of a command or line
  Kind kind = Kind::kWord;
  MegatronWord word = {};
};

struct ShellText {
  std::vector<ShellItem> items;
  std::map<std::string, MegatronWord> variables;  // NAME=value, the last one
};

// Words that a variable or an array holds count where they are assigned: ARGS="--tp 8" and ARGS=(--tp 8) are the words
// --tp and 8, and $ARGS later is none.
[[nodiscard]] ShellText read_shell_words(const std::vector<std::string>& lines);

}  // namespace ringwright::configs
