// The command line: finds the subcommand and runs it. stdout carries results only; stderr diagnostics and progress.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "tools/command.h"
#include "tools/command_line.h"

namespace ringwright::tools {

// One factory per command, in the file with its name.
CommandFactory make_run, make_search, make_capacity, make_sweep, make_compare, make_what_if, make_sensitivity,
    make_goodput, make_jobs, make_servers, make_embeddings, make_cluster, make_collective, make_tune, make_report,
    make_validate, make_calibrate, make_list, make_explain, make_probe, make_astra, make_inspect, make_schema,
    make_topo, make_version;

namespace {

std::vector<std::unique_ptr<Command>> make_commands() {
  std::vector<std::unique_ptr<Command>> commands;
  for (CommandFactory* make :
       {make_run,     make_search, make_capacity, make_sweep,   make_compare,    make_what_if,
        make_sensitivity, make_goodput, make_jobs, make_servers, make_embeddings, make_cluster,
        make_collective, make_tune,
        make_report,  make_astra,  make_validate, make_calibrate, make_list,     make_explain,
        make_inspect, make_schema, make_topo,     make_probe,      make_version}) {
    commands.push_back(make());
  }
  return commands;
}

ExitCode run_command(const std::vector<std::string>& arguments) {
  const auto commands = make_commands();
  const ParsedCommand parsed = parse(commands, arguments);
  if (parsed.command != nullptr) return parsed.command->run(parsed.common);
  std::fputs(parsed.text.c_str(), parsed.exit_code == ExitCode::kOk ? stdout : stderr);
  return parsed.exit_code;
}

// Output that cannot be written (a full disk behind stdout) is a failure.
ExitCode after_output(ExitCode code) {
  const bool failed_before = std::ferror(stdout) != 0;
  if (std::fflush(stdout) == 0 && !failed_before) return code;
  std::fprintf(stderr, "error: cannot write to standard output: %s\n",
               failed_before ? "an earlier write failed" : std::strerror(errno));
  return code == ExitCode::kOk ? ExitCode::kUsage : code;
}

}  // namespace
}  // namespace ringwright::tools

namespace {

// Instead of std::bad_alloc, which other threads could not catch: nothing is lost, since results are written last.
[[noreturn]] void stop_without_memory() {
  std::fputs(
      "error: out of memory: this machine has too little for this run; fewer ranks, microbatches or threads (-j) "
      "need less\n",
      stderr);
  std::_Exit(static_cast<int>(ringwright::tools::ExitCode::kOutOfMemory));
}

}  // namespace

int main(int argument_count, char** arguments) {
  using ringwright::tools::ExitCode;
  std::set_new_handler(stop_without_memory);
  try {
    const ExitCode code = ringwright::tools::run_command({arguments + 1, arguments + argument_count});
    return static_cast<int>(ringwright::tools::after_output(code));
  } catch (const std::exception& error) {
    // Nothing should get here; if it does, a line is better than a terminate.
    std::fprintf(stderr, "internal error: %s\n", error.what());
    return static_cast<int>(ExitCode::kInternal);
  }
}
