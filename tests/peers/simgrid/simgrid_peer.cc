// Runs one case of the peers' tables on SimGrid and prints its time: simgrid_peer ring/256.
#include <sys/resource.h>

#include <cstdlib>
#include <ctime>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "tests/paths.h"
#include "tests/peers/flow/cases.h"
#include "tests/peers/simgrid/simgrid_network.h"

namespace ringwright::peers {
namespace {

struct SimgridStage {
  SimgridClock& engine;
  NetworkModel& network;
  std::uint32_t ranks = 0;
};

double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <class Pattern>
void play_on(simgrid::s4u::Engine& engine, Pattern pattern, const NetworkModel& network) {
  pattern.start();
  engine.run();
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  std::cout << fmt::format("{{\"simulated_s\": {:.15g}, \"cpu_s\": {:.6g}, \"peak_MiB\": {:.1f}, \"flows\": {}}}\n",
                           simgrid::s4u::Engine::get_clock(), cpu_seconds(),
                           static_cast<double>(usage.ru_maxrss) / 1024.0, network.counters().front().value);
}

void play_traffic(simgrid::s4u::Engine& engine, const TrafficCase& traffic) {
  const ReferenceFabric fabric(traffic.fabric);
  SimgridNetwork network(fabric, traffic.fabric.gpus);
  Engine unused;  // these patterns use the network only
  const Stage stage{.engine = unused, .network = network, .ranks = traffic.fabric.gpus};
  if (traffic.workload == "ring") return play_on(engine, Ring(stage, traffic.bytes, traffic.count), network);
  if (traffic.workload == "a2a") return play_on(engine, AllToAll(stage, traffic.bytes), network);
  if (traffic.workload == "a2abar") {
    return play_on(engine, AllToAllWithBarrier(stage, traffic.bytes, traffic.count), network);
  }
  if (traffic.workload == "a2ashift") {
    return play_on(engine, AllToAllByShifts(stage, traffic.bytes, traffic.count), network);
  }
  play_on(engine, Permutations(stage, traffic.count), network);
}

void play_step(simgrid::s4u::Engine& engine, const StepCase& step) {
  const ReferenceFabric fabric(step.fabric);
  SimgridNetwork network(fabric, step.fabric.gpus);
  SimgridClock clock;
  const SimgridStage stage{.engine = clock, .network = network, .ranks = step.fabric.gpus};
  play_on(engine, TrainingStep(stage, step.step), network);
}

// Whether there is such a case.
bool play_case(simgrid::s4u::Engine& engine, const std::string& name) {
  const std::string folder = ringwright::test_data() + "/peers/flow/";
  const CsvTable traffic(folder + "simgrid-scenarios.csv");
  for (std::size_t row = 0; row < traffic.size(); ++row) {
    const TrafficCase found = traffic_case(traffic, row);
    if (name_of(found) != name) continue;
    play_traffic(engine, found);
    return true;
  }
  const CsvTable steps(folder + "training-step-cases.csv");
  for (std::size_t row = 0; row < steps.size(); ++row) {
    const StepCase found = step_case(steps, row);
    // A zone does not get the label that the hash includes.
    if (name_of(found) != name || found.fabric.rule == RouteRule::kHash) continue;
    play_step(engine, found);
    return true;
  }
  return false;
}

}  // namespace
}  // namespace ringwright::peers

int main(int argc, char** argv) {
  simgrid::s4u::Engine engine(&argc, argv);
  ringwright::peers::choose_raw_sharing(engine);
  if (argc == 2 && ringwright::peers::play_case(engine, argv[1])) return EXIT_SUCCESS;
  std::cerr << "simgrid_peer: no such case for SimGrid\n";
  return EXIT_FAILURE;
}
