// A subcommand: its name, its options, and its action. One .cc each, without a header; main.cc holds the table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/diagnostic.h"

namespace ringwright::tools {

// The same for all commands, and part of the interface: scripts rely on them.
enum class ExitCode : int {
  kOk = 0,
  kInternal = 1,          // a bug of ours
  kUsage = 2,             // the command line or a configuration is wrong
  kBadInput = 3,          // another input file is wrong
  kInfeasible = 4,        // the job cannot run: it does not fit, or it never ends
  kOutsideThreshold = 5,  // predictions differ more from measurements than allowed
  kOutOfMemory = 6,       // this machine has too little memory
  kInterrupted = 130,
};

// Where the value of an option goes: a flag, a text, a whole number, or one text for each time the option is given.
using OptionTarget = std::variant<bool*, std::string*, std::optional<std::uint64_t>*, std::vector<std::string>*>;

struct OptionSpec {
  std::string_view names;  // "--json", "-o,--out"; a word without dashes is positional
  std::string_view value;  // name of the value in help: "FILE"; empty for flags and positionals
  std::string_view doc;
  OptionTarget target;
  bool required = false;    // positionals
  std::uint64_t least = 0;  // of a number; values outside the range are refused
  std::uint64_t most = 1'000'000'000;
  bool writes = false;  // a file that is written, "-" for stdout: never one that is read
};

// "-j".
[[nodiscard]] OptionSpec threads_option(std::optional<std::uint64_t>* threads);

// Options of every command.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
};

class Command {
 public:
  virtual ~Command() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::string_view summary() const = 0;  // one line
  // Text of --help below the options.
  [[nodiscard]] virtual std::string notes() const { return {}; }
  // The options besides the common ones; their targets live in the command.
  [[nodiscard]] virtual std::vector<OptionSpec> options() = 0;
  [[nodiscard]] virtual ExitCode run(const CommonOptions& common) = 0;

 protected:
  // Prints what is wrong with the command line, or with a file that it names.
  [[nodiscard]] static ExitCode refuse(const std::string& message);
  [[nodiscard]] static ExitCode refuse(const Diagnostics& diagnostics);
  // Prints what is odd in input that was accepted, for results that do not list it themselves; nothing with --quiet.
  static void warn(const Diagnostics& warnings, const CommonOptions& common);
  // Writes a file completely or not at all (written_files.h), and prints why it could not be written.
  [[nodiscard]] static ExitCode write_to(const std::string& path, std::string_view text);
  // Writes the HTML page of a result, given as JSON, in the same manner; nothing where the path is empty.
  [[nodiscard]] static ExitCode write_page(const std::string& path, std::string_view json);
  // The option that names that page.
  [[nodiscard]] static OptionSpec page_option(std::string* path);
};

using CommandFactory = std::unique_ptr<Command>();

}  // namespace ringwright::tools
