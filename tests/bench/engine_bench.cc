// The event queue: every event that runs schedules another one (the hold model), in groups that share their time.
#include <cstdint>

#include <benchmark/benchmark.h>

#include "core/base/random.h"
#include "core/engine/engine.h"

namespace ringwright::bench {
namespace {

constexpr std::uint64_t kLongest = 1'000'000'000;  // ps between an event and the one it schedules

struct Holder {
  Engine& engine;
  RandomStream random;

  // The `group` events of one moment move on together: by a step that depends on the moment alone.
  void hold() {
    const auto moment = static_cast<std::uint64_t>(engine.now().since_start().count());
    const Duration step(1 + static_cast<std::int64_t>(splitmix64(moment) % kLongest));
    engine.after(step, [this] { hold(); });
  }
};

void event_queue_hold(benchmark::State& state) {
  const auto pending = static_cast<std::uint64_t>(state.range(0));
  const auto group = static_cast<std::uint64_t>(state.range(1));
  Engine engine;
  Holder holder{.engine = engine, .random = RandomStream(1, "holder")};
  Duration moment;
  for (std::uint64_t i = 0; i < pending; ++i) {
    if (i % group == 0) moment = Duration(static_cast<std::int64_t>(holder.random.next_below(kLongest)));
    engine.after(moment, [&holder] { holder.hold(); });
  }
  constexpr std::uint64_t kBatch = 100'000;
  for (auto _ : state) engine.run({.max_events = kBatch});
  state.SetItemsProcessed(static_cast<std::int64_t>(engine.events_run()));
}
BENCHMARK(event_queue_hold)
    ->ArgNames({"pending", "group"})
    ->Args({1024, 1})
    ->Args({16384, 1})
    ->Args({131072, 1})
    ->Args({16384, 64})
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringwright::bench
