#include "tools/manual.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::tools {
namespace {

constexpr std::array<std::string_view, 6> kCommonOptions = {"--json",     "--quiet", "--verbose",
                                                            "--no-color", "--help",  "-q"};

bool is_positional(const OptionSpec& option) {
  return !option.names.starts_with('-');
}

std::vector<std::string_view> names_of(const OptionSpec& option) {
  std::vector<std::string_view> names;
  for (std::string_view rest = option.names; !rest.empty();) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    names.push_back(rest.substr(0, comma));
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  return names;
}

// Text of a man page: a backslash starts a command, as do a dot and an apostrophe at the start of a line; a minus may
// be set as a hyphen.
std::string roff(std::string_view text) {
  std::string result;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) result += "\\&";
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
    starts_line = c == '\n';
  }
  return result;
}

std::string option_entry(const OptionSpec& option) {
  std::string names;
  for (const std::string_view name : names_of(option)) names += (names.empty() ? "" : ", ") + roff(name);
  const std::string value = option.value.empty() ? "" : fmt::format(" \\fI{}\\fR", roff(option.value));
  return fmt::format(".TP\n\\fB{}\\fR{}\n{}\n", names, value, roff(option.doc));
}

std::string command_section(Command& command) {
  std::string synopsis, entries;
  for (const OptionSpec& option : command.options()) {
    if (is_positional(option)) {
      synopsis += option.required ? fmt::format(" \\fI{}\\fR", roff(option.names))
                                  : fmt::format(" [\\fI{}\\fR]", roff(option.names));
    }
    entries += option_entry(option);
  }
  std::string text =
      fmt::format(".SS \"ringwright {}\"\n{}.\n.PP\n\\fBringwright {}\\fR{} [options]\n{}", roff(command.name()),
                  roff(command.summary()), roff(command.name()), synopsis, entries);
  if (const std::string notes = command.notes(); !notes.empty()) text += ".PP\n.nf\n" + roff(notes) + ".fi\n";
  return text;
}

// The options of a command with those of all commands, as words.
std::string option_words(Command& command) {
  std::vector<std::string> words;
  for (const OptionSpec& option : command.options()) {
    if (is_positional(option)) continue;
    for (const std::string_view name : names_of(option)) words.emplace_back(name);
  }
  for (const std::string_view name : kCommonOptions) words.emplace_back(name);
  return join(words, " ");
}

std::string command_words(std::span<const std::unique_ptr<Command>> commands) {
  std::vector<std::string> names;
  for (const auto& command : commands) names.emplace_back(command->name());
  for (const char* const word : {"completion", "man", "help"}) names.emplace_back(word);
  return join(names, " ");
}

// A single quote cannot be escaped within single quotes of a shell.
std::string shell_quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// zsh reads the script of bash after bashcompinit.
std::string bash_script(std::span<const std::unique_ptr<Command>> commands) {
  std::string cases;
  for (const auto& command : commands) {
    cases += fmt::format("    {}) options={} ;;\n", command->name(), shell_quoted(option_words(*command)));
  }
  return fmt::format(R"sh(# Completions of ringwright: eval "$(ringwright completion bash)"
_ringwright() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} command=${{COMP_WORDS[1]}} options=
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W {commands} -- "$word"))
    return
  fi
  case $command in
{cases}    completion) COMPREPLY=($(compgen -W {shells} -- "$word")); return ;;
  esac
  if [[ $word == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$word"))
    return
  fi
  COMPREPLY=($(compgen -f -- "$word"))
  case $command in
    run | search | compare | what-if | sensitivity)
      COMPREPLY+=($(compgen -W "$(ringwright list scenarios -q 2>/dev/null)" -- "$word")) ;;
  esac
}}
complete -o filenames -F _ringwright ringwright
)sh",
                     fmt::arg("commands", shell_quoted(command_words(commands))), fmt::arg("cases", cases),
                     fmt::arg("shells", shell_quoted("bash zsh fish")));
}

std::string fish_script(std::span<const std::unique_ptr<Command>> commands) {
  std::string text = "# Completions of ringwright: ringwright completion fish | source\n";
  for (const auto& command : commands) {
    text += fmt::format("complete -c ringwright -n __fish_use_subcommand -f -a {} -d {}\n", command->name(),
                        shell_quoted(command->summary()));
    for (const OptionSpec& option : command->options()) {
      if (is_positional(option)) continue;
      text += fmt::format("complete -c ringwright -n '__fish_seen_subcommand_from {}'", command->name());
      for (const std::string_view name : names_of(option)) {
        text += name.starts_with("--") ? fmt::format(" -l {}", name.substr(2)) : fmt::format(" -s {}", name.substr(1));
      }
      text += fmt::format("{} -d {}\n", option.value.empty() ? "" : " -r", shell_quoted(option.doc));
    }
  }
  return text +
         "complete -c ringwright -n '__fish_seen_subcommand_from run search compare what-if sensitivity' "
         "-a '(ringwright list scenarios -q)'\n";
}

}  // namespace

std::string manual_page(std::span<const std::unique_ptr<Command>> commands) {
  std::string text = fmt::format(
      ".TH RINGWRIGHT 1 \"\" \"ringwright {}\" \"User Commands\"\n.SH NAME\nringwright \\- predicts what a training "
      "step costs on a GPU cluster\n.SH SYNOPSIS\n.B ringwright\n\\fICOMMAND\\fR [options]\n.SH DESCRIPTION\n{}\n"
      ".SH COMMANDS\n",
      RINGWRIGHT_VERSION,
      roff(
          "A training step is described in YAML: the model, its parallel layout, the cluster. It is simulated event by "
          "event over a model of the network, with collectives as NCCL decomposes them. `ringwright list` shows what "
          "is shipped, `ringwright explain KEY` has the page of every key and error."));
  for (const auto& command : commands) text += command_section(*command);
  text += fmt::format(
      ".SH OPTIONS OF ALL COMMANDS\n.TP\n\\fB\\-\\-json\\fR\nprint JSON instead of text\n.TP\n\\fB\\-q, "
      "\\-\\-quiet\\fR\nprint less\n.TP\n\\fB\\-v, \\-\\-verbose\\fR\nprint more\n.TP\n\\fB\\-\\-no\\-color\\fR\nno "
      "colours\n.TP\n\\fB\\-\\-help\\fR\nwhat a command can do\n.SH EXIT STATUS\n{}\n.SH ENVIRONMENT\n.TP\n"
      "\\fBRINGWRIGHT_SHARE\\fR\nthe folder with the shipped presets (configs) and measurements (validation)\n.TP\n"
      "\\fBRINGWRIGHT_CACHE\\fR\nthe folder where times of collectives are retained for later runs; off: "
      "nowhere\n.TP\n"
      "\\fBNO_COLOR\\fR\nno colours\n",
      roff("0 success, 1 internal error, 2 wrong usage or configuration, 3 bad input data, 4 the job cannot run, 5 "
           "predictions outside the threshold, 6 out of memory, 130 interrupted."));
  return text;
}

std::string completion_script(std::string_view shell, std::span<const std::unique_ptr<Command>> commands) {
  if (shell == "fish") return fish_script(commands);
  const std::string script = bash_script(commands);
  return shell == "zsh" ? "autoload -U +X bashcompinit && bashcompinit\n" + script : script;
}

}  // namespace ringwright::tools
