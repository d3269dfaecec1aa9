// The flags of a Megatron-LM run in their usual forms: a shell script, the arguments that a log prints, or the YAML of
// a functional test.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/config_node.h"

namespace ringwright::configs {

struct MegatronWord {
  std::string text;
  int line = 1;  // from 1, as the column; 0: the program's default
  int column = 1;
  int length = 1;
  bool resolved = true;  // false: it holds a variable that the file does not set
};

struct MegatronFlag {
  std::string name;  // "tensor-model-parallel-size"
  MegatronWord at;   // the flag itself
  std::vector<MegatronWord> values;
};

enum class MegatronSpelling { kShell, kArguments, kTestCase, kBridge, kNemo };

struct MegatronText {
  MegatronSpelling spelling = MegatronSpelling::kShell;
  std::vector<MegatronFlag> flags;                     // in the order given
  std::map<std::string, MegatronWord> variables = {};  // of the shell or the environment
  // How the file writes a flag, where it is not with dashes: "model.num_moe_experts" of "num-experts".
  std::map<std::string, std::string, std::less<>> names = {};
};

// A YAML, in which what Megatron-LM's parser would refuse or print need not hold.
[[nodiscard]] constexpr bool is_of_keys(MegatronSpelling spelling) {
  return spelling == MegatronSpelling::kBridge || spelling == MegatronSpelling::kNemo;
}

// Fills source.lines. Records an error for a text without any flag.
[[nodiscard]] MegatronText read_megatron_text(std::string_view text, ConfigSource& source, Diagnostics& problems);

// Points at a word of the source, with its line and a caret.
[[nodiscard]] Diagnostic at_word(const ConfigSource& source, const MegatronWord& word, std::string code,
                                 std::string message, std::string hint = {});

}  // namespace ringwright::configs
