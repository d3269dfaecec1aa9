// The keys that an import produces, with the flags that they come from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "configs/scenario/imports/megatron/megatron_text.h"

namespace ringwright::configs {

// Flags by name; of a repeated flag the last one counts, as in Python's argparse.
class MegatronArguments {
 public:
  MegatronArguments(MegatronText text, const ConfigSource& source, Diagnostics& problems);

  // Given, and not as `False` or `None`.
  [[nodiscard]] bool has(std::string_view name) const;
  // Its value; empty when it has none. An error when the value is unknown.
  [[nodiscard]] std::optional<MegatronWord> value(std::string_view name) const;
  [[nodiscard]] std::optional<std::int64_t> number(std::string_view name) const;
  [[nodiscard]] const MegatronFlag& flag(std::string_view name) const { return flags_.find(name)->second; }
  [[nodiscard]] const std::map<std::string, MegatronFlag, std::less<>>& all() const { return flags_; }
  // A variable of the shell or the environment that is a number.
  [[nodiscard]] std::optional<MegatronWord> variable(const std::string& name) const;
  [[nodiscard]] MegatronSpelling spelling() const { return text_.spelling; }

  void warn(const MegatronWord& word, std::string code, std::string message, std::string hint = {}) const;
  void error(const MegatronWord& word, std::string message, std::string hint = {}) const;

 private:
  // Flags in a message as the file writes them.
  [[nodiscard]] std::string as_written(std::string_view message) const;

  MegatronText text_;
  const ConfigSource& source_;
  Diagnostics& problems_;
  std::map<std::string, MegatronFlag, std::less<>> flags_;
};

class MegatronTree {
 public:
  MegatronTree(const ConfigSource& source, MegatronSpelling spelling);

  // `path` is "parallel.zero.stage".
  void set(std::string_view path, const MegatronWord& at, std::string text);
  void set(std::string_view path, const MegatronWord& word) { set(path, word, word.text); }
  void set_list(std::string_view path, const std::vector<MegatronWord>& words);
  // What Megatron does by default.
  void assume(std::string_view path, std::string text);
  // Of a file that overrides some of a recipe, whose other values are unknown.
  void leave_out_assumptions();
  [[nodiscard]] ConfigNode take() { return std::move(root_); }

 private:
  ConfigNode& at(std::string_view path);

  const ConfigSource& source_;
  const ConfigSource& defaults_;
  ConfigNode root_;
};

[[nodiscard]] std::optional<std::int64_t> parse_whole(std::string_view text);

}  // namespace ringwright::configs
