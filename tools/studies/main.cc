// The program `ringwright`: the table of all commands.
#include <array>

#include "tools/command.h"
#include "tools/program.h"

namespace ringwright::tools {

// One factory per command, in the file with its name.
CommandFactory make_run, make_search, make_capacity, make_sweep, make_compare, make_what_if, make_sensitivity,
    make_goodput, make_jobs, make_servers, make_adapt, make_embeddings, make_cluster, make_collective, make_tune,
    make_report, make_validate, make_calibrate, make_list, make_explain, make_probe, make_astra, make_inspect,
    make_schema, make_topo, make_version;

namespace {

constexpr std::array<CommandFactory*, 26> kCommands = {
    make_run,     make_search, make_capacity, make_sweep,    make_compare,    make_what_if, make_sensitivity,
    make_goodput, make_jobs,   make_servers,  make_adapt,    make_embeddings, make_cluster, make_collective,
    make_tune,    make_report, make_astra,    make_validate, make_calibrate,  make_list,    make_explain,
    make_inspect, make_schema, make_topo,     make_probe,    make_version};

}  // namespace
}  // namespace ringwright::tools

int main(int argument_count, char** arguments) {
  return ringwright::tools::run_program(ringwright::tools::kCommands, argument_count, arguments);
}
