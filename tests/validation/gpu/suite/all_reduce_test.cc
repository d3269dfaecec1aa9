// The collectives among thread blocks, run on a CPU: every rank ends with the sum, whatever the order of threads and
// of stores; and a kernel whose neighbour never arrives gives up.
#include <gtest/gtest.h>

#include <all_reduce.cuh>
#include <string>
#include <vector>

namespace ringwright::gpu::all_reduce_test {
namespace {

struct Case {
  Graph graph = Graph::kRing;
  Protocol protocol = Protocol::kLl;
  int ranks = 4;
  int channels = 1;
  int threads = 64;
  int slots = 8;
  std::size_t slot_bytes = 256;
  std::size_t bytes = 4096;
};

std::string name_of(const Case& c) {
  const char* const protocols[] = {"LL", "LL128", "Simple"};
  return std::string(c.graph == Graph::kRing ? "ring " : "tree ") + protocols[static_cast<int>(c.protocol)] + " of " +
         std::to_string(c.ranks) + " ranks, " + std::to_string(c.channels) + " channels, " + std::to_string(c.threads) +
         " threads, " + std::to_string(c.slots) + " slots of " + std::to_string(c.slot_bytes) + ", " +
         std::to_string(c.bytes) + " bytes";
}

auto kernel_of(const Case& c) {
  const bool ring = c.graph == Graph::kRing;
  switch (c.protocol) {
    case Protocol::kLl: return ring ? ring_all_reduce<Protocol::kLl> : tree_all_reduce<Protocol::kLl>;
    case Protocol::kLl128: return ring ? ring_all_reduce<Protocol::kLl128> : tree_all_reduce<Protocol::kLl128>;
    case Protocol::kSimple: return ring ? ring_all_reduce<Protocol::kSimple> : tree_all_reduce<Protocol::kSimple>;
  }
  return ring_all_reduce<Protocol::kLl>;
}

// Blocks on a new device, with inputs of small whole numbers, whose sums are exact.
class Blocks {
 public:
  explicit Blocks(const Case& c) : case_(c), device_(emulation::fresh_device()), group_(shape_of(c), c.bytes) {
    for (int rank = 0; rank < c.ranks; ++rank) {
      for (std::size_t i = 0; i < pairs(); ++i) {
        const auto value = static_cast<std::uint32_t>(i) % 97 + static_cast<std::uint32_t>(1000 * rank);
        group_.input(rank).as<float2>()[i].x = static_cast<decltype(float2::x)>(value);
        group_.input(rank).as<float2>()[i].y = static_cast<decltype(float2::y)>(value + 7);
      }
    }
  }

  emulation::Outcome run(unsigned seed, const std::vector<unsigned>& only = {}) {
    const GroupView view = group_.view();
    const Work work = work_of(case_.protocol, case_.fifo(), case_.bytes);
    return emulation::play({.blocks = static_cast<unsigned>(case_.ranks * case_.channels),
                            .threads = static_cast<unsigned>(case_.threads),
                            .only = only,
                            .seed = seed},
                           [&, kernel = kernel_of(case_)] { kernel(view, work); });
  }

  // How many pairs of all ranks' outputs are not the sum.
  std::size_t wrong_pairs() const {
    std::size_t wrong = 0;
    for (int rank = 0; rank < case_.ranks; ++rank) {
      for (std::size_t i = 0; i < pairs(); ++i) {
        const int ranks = case_.ranks;
        const double x = static_cast<double>(i % 97) * ranks + 1000.0 * (ranks * (ranks - 1) / 2);
        const float2 found = group_.output(rank).as<float2>()[i];
        wrong += std::abs(found.x - x) > 0.5 || std::abs(found.y - (x + 7.0 * ranks)) > 0.5 ? 1U : 0U;
      }
    }
    return wrong;
  }

 private:
  struct ShapedCase : Case {
    explicit ShapedCase(const Case& c) : Case(c) {}
    [[nodiscard]] FifoShape fifo() const { return {.slot_count = slots, .slot_bytes = slot_bytes}; }
  };
  static GroupShape shape_of(const Case& c) {
    return {.graph = c.graph,
            .ranks = c.ranks,
            .channels = c.channels,
            .threads = c.threads,
            .fifo = {.slot_count = c.slots, .slot_bytes = c.slot_bytes}};
  }
  [[nodiscard]] std::size_t pairs() const { return case_.bytes / sizeof(float2); }

  ShapedCase case_;
  emulation::Device& device_;
  Group group_;
};

void expect_sums(const Case& c, unsigned seeds) {
  for (unsigned seed = 1; seed <= seeds; ++seed) {
    Blocks blocks(c);
    for (int launch = 0; launch < 2; ++launch) {  // the second continues from the steps of the first
      ASSERT_TRUE(blocks.run(seed + 100 * static_cast<unsigned>(launch)).ended()) << name_of(c) << ", seed " << seed;
      ASSERT_EQ(blocks.wrong_pairs(), 0U) << name_of(c) << ", seed " << seed << ", launch " << launch;
    }
  }
}

class AllReduce : public testing::TestWithParam<std::tuple<Graph, Protocol>> {
 protected:
  static Case base() {
    Case c;
    std::tie(c.graph, c.protocol) = GetParam();
    return c;
  }
};

TEST_P(AllReduce, GivesTheSumToAnyNumberOfRanks) {
  for (const int ranks : {2, 3, 4, 5, 8, 11}) {
    Case c = base();
    c.ranks = ranks;
    expect_sums(c, 2);
  }
}

TEST_P(AllReduce, GivesTheSumOnAnyNumberOfChannels) {
  for (const int channels : {1, 2, 3, 5}) {
    Case c = base();
    c.ranks = 3;
    c.channels = channels;
    expect_sums(c, 2);
  }
}

TEST_P(AllReduce, GivesTheSumWithAnyNumberOfThreads) {
  for (const int threads : {64, 96, 128}) {
    Case c = base();
    c.threads = threads;
    expect_sums(c, 2);
  }
}

TEST_P(AllReduce, GivesTheSumWithFewAndManySlots) {
  for (const int slots : {2, 3, 4, 8}) {
    Case c = base();
    c.slots = slots;
    c.bytes = 16384;
    expect_sums(c, 3);
  }
}

TEST_P(AllReduce, GivesTheSumWithSlotsOfAnySize) {
  for (const std::size_t slot_bytes : {128UL, 384UL, 1024UL, 7680UL, 65536UL}) {
    Case c = base();
    c.slot_bytes = slot_bytes;
    expect_sums(c, 2);
  }
}

// From less than a channel's share to several loops with a rest; Simple moves two pairs at a time.
TEST_P(AllReduce, GivesTheSumOfBuffersOfAnySize) {
  for (const std::size_t bytes : {16UL, 48UL, 240UL, 4080UL, 4112UL, 20000UL}) {
    Case c = base();
    c.channels = 2;
    c.bytes = bytes;
    expect_sums(c, 2);
  }
}

TEST_P(AllReduce, EndsWithTheSumInManyOrders) {
  Case c = base();
  c.slots = 2;
  c.bytes = 2048;
  expect_sums(c, 40);
}

INSTANTIATE_TEST_SUITE_P(Kinds, AllReduce,
                         testing::Combine(testing::Values(Graph::kRing, Graph::kTree),
                                          testing::Values(Protocol::kLl, Protocol::kLl128, Protocol::kSimple)));

// 32 chunks through trees of two and of four levels. If each waited for the one before it to come back from the root,
// they would take longer by the height of the tree; following each other they take a chunk's time each, and the height
// once.
TEST(TreeAllReduce, ChunksFollowEachOtherThroughTheTree) {
  for (const int slots : {2, 4, 8}) {
    std::vector<std::uint64_t> rounds;
    for (const int ranks : {3, 15}) {
      Blocks blocks(
          {.graph = Graph::kTree, .protocol = Protocol::kSimple, .ranks = ranks, .slots = slots, .bytes = 8192});
      const emulation::Outcome outcome = blocks.run(1);
      ASSERT_TRUE(outcome.ended());
      rounds.push_back(outcome.rounds);
    }
    EXPECT_LT(10 * rounds[1], 16 * rounds[0]) << slots << " slots: " << rounds[1] << " and " << rounds[0];
  }
}

TEST_P(AllReduce, GivesUpWhenANeighbourNeverComes) {
  Case c = base();
  c.ranks = 2;
  Blocks blocks(c);
  const emulation::Outcome outcome = blocks.run(1, {0});
  EXPECT_TRUE(outcome.trapped);
  EXPECT_GT(outcome.rounds * emulation::kNanosecondsARound, 2'900'000'000U);
}

}  // namespace
}  // namespace ringwright::gpu::all_reduce_test
