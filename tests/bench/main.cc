// The benchmarks' entry: registers the cases that come from tables, then runs what the command line asks for.
#include <benchmark/benchmark.h>

#include "tests/bench/table_cases.h"

int main(int argc, char** argv) {
  ringwright::bench::register_peer_cases();
  ringwright::bench::register_scenarios();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}
