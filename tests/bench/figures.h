// The counters that every case of the benchmarks reports, by the names that tools/bench_report.py reads.
//
// A case is played once per iteration in a process of its own (bench_report.py sees to that), so the peak of the
// resident set is the case's.
#pragma once

#include <sys/resource.h>

#include <cstdint>
#include <ctime>

#include <benchmark/benchmark.h>

namespace ringwright::bench {

struct Figures {
  std::uint64_t ranks = 0;
  std::uint64_t classes = 0;  // 0: not folded
  std::uint64_t flows = 0;
  std::uint64_t events = 0;  // of the engine
  double simulated_seconds = 0.0;
};

[[nodiscard]] inline double peak_mebibytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024.0;
}

// CPU time of all threads of this process.
[[nodiscard]] inline double cpu_seconds() {
  timespec now = {};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inline void report(benchmark::State& state, const Figures& figures) {
  const auto runs = static_cast<double>(state.iterations());
  const auto set = [&state](const char* name, std::uint64_t value) {
    if (value > 0) state.counters[name] = static_cast<double>(value);
  };
  set("ranks", figures.ranks);
  set("classes", figures.classes);
  set("flows", figures.flows);
  set("events", figures.events);
  const auto rate = [&](std::uint64_t count) {
    return benchmark::Counter(runs * static_cast<double>(count), benchmark::Counter::kIsRate);
  };
  if (figures.flows > 0) state.counters["flows/s"] = rate(figures.flows);
  if (figures.events > 0) state.counters["events/s"] = rate(figures.events);
  if (figures.simulated_seconds > 0.0) state.counters["simulated_s"] = figures.simulated_seconds;
  state.counters["peak_MiB"] = peak_mebibytes();
}

}  // namespace ringwright::bench
