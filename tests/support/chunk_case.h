// One collective call simulated in chunks over an unshared wire, with constants whose sums are easy to check by hand.
#pragma once

#include <cstddef>
#include <vector>

#include "core/run/kernels/chunk_player.h"
#include "core/run/step/executor.h"
#include "tests/support/channel_doubles.h"
#include "tests/support/doubles.h"
#include "tests/support/job_builder.h"

namespace ringwright::test {

// A message of 1000 bytes: 1 us at the rate of a channel and 1 us on the wire; with the cost of its primitive, 2 us.
inline ChannelCosts round_costs() {
  using namespace ringwright::literals;
  ChannelCosts costs;
  costs.launch = 5_us;
  costs.protocol.fill({.hop = 2_us, .primitive = 1_us, .rate = 1_GBps});
  costs.reduce_rate = 0.5;
  costs.load_share = 1.0;  // a sum takes twice as long, as with LL
  costs.network_post = 3_us;
  costs.network_flush = 6_us;
  costs.network_poll = 1_us;
  costs.host_copy = Bandwidth(0.25e9);
  return costs;
}

// A call on one rank of each of a few hosts, or on one host.
struct ChunkCase {
  const ChannelAlgorithm& algorithm;
  CollectivePlan plan = {.protocol = Protocol::kSimple};
  CollectiveKind kind = CollectiveKind::kBroadcast;
  Bytes bytes = Bytes(1000);
  int ranks = 2;
  int per_host = 2;
  ChannelCosts costs = round_costs();
  Bandwidth wire = Bandwidth(1e9);
};

inline RunResult play(const ChunkCase& c) {
  using namespace ringwright::literals;
  TaskGraph graph;
  std::vector<int> all;
  for (int rank = 0; rank < c.ranks; ++rank) all.push_back(rank);
  const DimensionId dp = add_dimension(graph, "dp", {all});
  ProgramBuilder program(graph, "all");
  program.collective(dp, c.kind, c.bytes, 1);
  program.run_on(all);
  place_ranks(graph, c.per_host);
  const RankClasses classes = identity_classes(graph.rank_count());
  Engine engine;
  WireNetwork network(engine, 4_us, c.wire);
  const PlainRing steps;
  const AlwaysChoose unused(steps);
  const AlwaysOnChannels chooser(c.algorithm, c.plan);
  const PlainCompute compute;
  const ChannelInputs channels{.chooser = chooser, .costs = c.costs};
  return execute({.engine = engine, .graph = graph, .classes = classes, .network = network, .chooser = unused,
                  .compute = compute, .channels = &channels});
}

inline TimePoint end_of(const RunResult& result, std::size_t rank) { return result.record.finished_at[rank]; }

}  // namespace ringwright::test
