// The program `ringwright-steps`: the commands that need no study of many simulations and no measurements. ./run builds
// it first, in two thirds of the time of everything.
#include <array>

#include "tools/command.h"
#include "tools/program.h"

namespace ringwright::tools {

// One factory per command, in the file with its name.
CommandFactory make_run, make_collective, make_list, make_inspect, make_schema, make_topo, make_probe, make_astra,
    make_version;

namespace {

constexpr std::array<CommandFactory*, 9> kCommands = {
    make_run, make_collective, make_astra, make_list, make_inspect, make_schema, make_topo, make_probe, make_version};

}  // namespace
}  // namespace ringwright::tools

int main(int argument_count, char** arguments) {
  return ringwright::tools::run_program(ringwright::tools::kCommands, argument_count, arguments,
                                        "This program only simulates single steps and collectives; the program "
                                        "`ringwright`, which `./run COMMAND` builds, has all commands.\n");
}
