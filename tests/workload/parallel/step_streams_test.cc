#include "workload/parallel/step_streams.h"

#include <gtest/gtest.h>

#include "core/base/random.h"

namespace ringwright::workload::step_streams_test {
namespace {

ModelShape shape_of(std::uint64_t choice) {
  ModelShape shape;
  if (choice % 2 == 0) shape.experts.emplace();
  shape.embeddings = choice % 3 == 0 ? Embeddings::kTied : Embeddings::kUntied;
  return shape;
}

// Sizes of 1 and 2 on every axis, and what makes further groups.
ParallelOptions options_of(std::uint64_t choice) {
  const auto size = [choice](int bit) { return 1 + static_cast<int>(choice >> static_cast<unsigned>(bit) & 1U); };
  const auto is_set = [size](int bit) { return size(bit) == 2; };
  ParallelOptions options;
  options.tp = size(0);
  options.cp = size(1);
  options.dp = 4 * size(2);
  options.pp = size(3);
  options.ulysses = is_set(4) ? 1 : options.cp;
  options.context_exchange = is_set(5) ? ContextExchange::kAllGather : ContextExchange::kGatheredBlocks;
  options.experts.ep = size(6);
  options.experts.etp = is_set(7) ? options.tp : 1;
  options.experts.dispatcher = is_set(8) ? Dispatcher::kFlex : Dispatcher::kAllToAll;
  options.sharding.parameters = is_set(9);
  options.sharding.shard = is_set(10) ? options.replicas() : 2;
  options.sharding.secondary = size(11);
  options.workers = size(12);
  if (is_set(13)) options.offload.optimizer = Tier::kCpu;
  if (is_set(14) && options.pp > 1) options.placement = Placement::kBidirectional;
  return options;
}

TEST(StepStreams, AreCountedWithoutTheirGroups) {
  RandomStream random(7, "streams");
  for (int trial = 0; trial < 2'000; ++trial) {
    const std::uint64_t choice = random.next();
    const ModelShape shape = shape_of(choice >> 32U);
    const ParallelOptions options = options_of(choice);
    const StepStreams streams = make_streams(shape, options);
    const std::size_t of_host = streams.host ? 1 : 0;
    EXPECT_EQ(count_dimensions(shape, options) + of_host, streams.dimensions.size()) << choice;
  }
}

TEST(StepStreams, OfStagesWithRanksOfTheirOwnAreCountedToo) {
  ParallelOptions options;
  options.pp = 2;
  options.tp = 2;
  options.dp = 2;
  options.meshes = {{.tp = 2, .dp = 1}, {.tp = 1, .dp = 2}};
  EXPECT_EQ(count_dimensions(ModelShape(), options), make_streams(ModelShape(), options).dimensions.size());
}

}  // namespace
}  // namespace ringwright::workload::step_streams_test
