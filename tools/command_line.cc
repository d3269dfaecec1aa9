#include "tools/command_line.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "core/base/text.h"
#include "tools/manual.h"
#include "tools/scenario_file.h"

namespace ringwright::tools {
namespace {

bool is_option(std::string_view argument) {
  return argument.size() > 1 && argument.front() == '-';
}

ParsedCommand usage_error(std::string message, std::string_view help) {
  ParsedCommand parsed;
  parsed.text = fmt::format("error: {}\nRun `{} --help` for usage.\n", message, help);
  parsed.exit_code = ExitCode::kUsage;
  return parsed;
}

ParsedCommand answer(std::string text) {
  ParsedCommand parsed;
  parsed.text = std::move(text);
  return parsed;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> names) {
  const std::string nearest = nearest_name(word, names);
  return nearest.empty() ? "" : "; did you mean '" + nearest + "'?";
}

// Adds the option to the parser according to the type of its target.
struct AddOption {
  CLI::App& app;
  const OptionSpec& spec;

  void operator()(bool* flag) const { app.add_flag(std::string(spec.names), *flag, std::string(spec.doc)); }
  void operator()(std::string* text) const {
    describe(app.add_option(std::string(spec.names), *text, std::string(spec.doc)));
  }
  void operator()(std::optional<std::uint64_t>* number) const {
    // Not the library's own parsing, which takes -1 for the largest number.
    describe(app.add_option_function<std::string>(
        std::string(spec.names),
        [this_spec = spec, number](const std::string& text) { *number = read(this_spec, text); },
        std::string(spec.doc)));
  }
  void operator()(std::vector<std::string>* texts) const {
    CLI::Option* option = app.add_option(std::string(spec.names), *texts, std::string(spec.doc));
    // `--set a=1 file.yaml`: the option takes one value each time, never what follows.
    if (is_option(spec.names)) option->allow_extra_args(false);
    describe(option);
  }

 private:
  static std::uint64_t read(const OptionSpec& spec, const std::string& text) {
    std::uint64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    const bool is_number = error != std::errc::invalid_argument && rest == end;
    if (is_number && error == std::errc() && value >= spec.least && value <= spec.most) return value;
    const std::size_t comma = spec.names.rfind(',');
    throw CLI::ValidationError(fmt::format("{} is '{}' and must be a whole number from {} to {}",
                                           spec.names.substr(comma == std::string_view::npos ? 0 : comma + 1), text,
                                           spec.least, spec.most));
  }
  void describe(CLI::Option* option) const {
    // The library would print the type: "TEXT". A blank prints as nothing, an empty text is not accepted.
    option->option_text(is_option(spec.names) ? std::string(spec.value) : " ");
    if (spec.required) option->required();
  }
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// The first argument that the parser did not recognise.
std::string explain_extra(const CLI::App& app, const std::vector<std::string>& extras) {
  const std::string& extra = extras.front();
  if (!is_option(extra)) return fmt::format("'{}' is one argument too many", extra);
  const std::string name = extra.substr(0, extra.find('='));
  return fmt::format("unknown option '{}'{}", name, did_you_mean(name, option_names(app)));
}

std::string overview(std::span<const std::unique_ptr<Command>> commands, std::string_view missing) {
  std::string text =
      "ringwright predicts what one training step costs on a GPU cluster.\n\n"
      "usage: ringwright COMMAND [options]\n\n";
  for (const auto& command : commands) text += fmt::format("  {:<10} {}\n", command->name(), command->summary());
  text += "  completion  completions for bash, zsh or fish: eval \"$(ringwright completion bash)\"\n";
  text += "  man         the manual page: ringwright man | man -l -\n";
  return text +
         "\nEvery command takes --json, -q, -v, --no-color, and --help, which lists its own options.\n"
         "Exit codes: 0 success, 1 internal error, 2 wrong usage or configuration, 3 bad input data, 4 the job cannot "
         "run,\n"
         "5 predictions outside the threshold, 6 out of memory, 130 interrupted.\n" +
         (missing.empty() ? "" : fmt::format("\n{}", missing));
}

// Why a file must not be written: it is read as well, or its folder is missing. Said before the
// work, which may take hours, and not after it.
std::string why_not_written(const OptionSpec& output, std::span<const OptionSpec> specs) {
  namespace fs = std::filesystem;
  const std::string* const path = output.writes ? *std::get_if<std::string*>(&output.target) : nullptr;
  if (path == nullptr || path->empty() || *path == "-") return "";
  std::error_code ignored;
  const fs::path folder = fs::path(*path).parent_path();
  if (!folder.empty() && !fs::exists(folder, ignored)) {
    return fmt::format("cannot write '{}': there is no folder '{}'", *path, folder.string());
  }
  const auto is_same = [&](const std::string& input) { return fs::equivalent(input, *path, ignored); };
  for (const OptionSpec& spec : specs) {
    if (is_option(spec.names)) continue;
    const auto* const one = std::get_if<std::string*>(&spec.target);
    const auto* const several = std::get_if<std::vector<std::string>*>(&spec.target);
    if ((one != nullptr && is_same(**one)) || (several != nullptr && std::ranges::any_of(**several, is_same))) {
      const std::string_view name = output.names.substr(output.names.rfind(',') + 1);
      return fmt::format("{} is '{}', which is read and would be overwritten", name, *path);
    }
  }
  return "";
}

// The library of Debian 12 throws on every outcome, help included; no exception leaves this function.
ParsedCommand parse_options(Command& command, std::vector<std::string> arguments) {
  const std::string full_name = fmt::format("ringwright {}", command.name());
  ParsedCommand parsed;
  CLI::App app(std::string(command.summary()), full_name);
  app.footer(command.notes());
  const std::vector<OptionSpec> specs = command.options();
  for (const OptionSpec& spec : specs) std::visit(AddOption{.app = app, .spec = spec}, spec.target);
  app.add_flag("--json", parsed.common.json, "print JSON instead of text");
  app.add_flag("-q,--quiet", parsed.common.quiet, "print less");
  app.add_flag("-v,--verbose", parsed.common.verbose, "print more");
  app.add_flag("--no-color", parsed.common.no_color, "no colours (as with NO_COLOR in the environment)");
  app.allow_extras();
  std::ranges::reverse(arguments);  // the library takes them from the back
  try {
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return answer(app.help());
  } catch (const CLI::RequiredError& error) {
    return usage_error(fmt::format("{}: {}", full_name, error.what()), full_name);
  } catch (const CLI::ParseError& error) {
    return usage_error(error.what(), full_name);
  }
  const std::vector<std::string> extras = app.remaining();
  if (!extras.empty()) return usage_error(explain_extra(app, extras), full_name);
  for (const OptionSpec& spec : specs) {
    if (const std::string why = why_not_written(spec, specs); !why.empty()) return usage_error(why, full_name);
  }
  parsed.command = &command;
  return parsed;
}

ParsedCommand completion(std::span<const std::unique_ptr<Command>> commands,
                         const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && std::ranges::find(kShells, arguments[1]) != kShells.end()) {
    return answer(completion_script(arguments[1], commands));
  }
  return usage_error("name the shell: `ringwright completion bash`, `zsh` or `fish`", "ringwright");
}

}  // namespace

ParsedCommand parse(std::span<const std::unique_ptr<Command>> commands, const std::vector<std::string>& arguments,
                    std::string_view missing) {
  if (arguments.empty()) {
    ParsedCommand parsed = answer(overview(commands, missing));
    parsed.exit_code = ExitCode::kUsage;
    return parsed;
  }
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") return answer(overview(commands, missing));
  if (first == "completion") return completion(commands, arguments);
  if (first == "man" && arguments.size() == 1) return answer(manual_page(commands));
  const std::string_view name = first == "--version" ? "version" : std::string_view(first);
  const auto command = std::ranges::find(commands, name, [](const auto& c) { return c->name(); });
  if (command != commands.end()) return parse_options(**command, {arguments.begin() + 1, arguments.end()});
  if (is_option(first))
    return usage_error(fmt::format("the first argument must be a command, not '{}'", first), "ringwright");
  std::vector<std::string> names;
  for (const auto& candidate : commands) names.emplace_back(candidate->name());
  for (const char* const word : {"completion", "man"}) names.emplace_back(word);
  std::string hint = did_you_mean(first, names);
  if (first.ends_with(".yaml") || first.ends_with(".json")) hint = "; did you mean 'run " + first + "'?";
  if (const std::string scenario = hint.empty() ? nearest_scenario(first) : std::string(); !scenario.empty()) {
    hint = "; did you mean 'run " + scenario + "'?";
  }
  ParsedCommand refused = usage_error(fmt::format("unknown command '{}'{}", first, hint), "ringwright");
  refused.text += missing;
  return refused;
}

}  // namespace ringwright::tools
