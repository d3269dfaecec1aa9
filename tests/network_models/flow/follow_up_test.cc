// Messages that follow others over their paths at once, as those of kernels do: they enter in the same solve.
#include <array>
#include <cstdint>

#include <gtest/gtest.h>

#include "tests/network_models/arrival_log.h"
#include "tests/network_models/table_router.h"

namespace ringwright::network_models::follow_up_test {
namespace {

using namespace ringwright::literals;

// Two connections, each of which sends its next message of 1 MB when the last one has arrived.
class Connections final : public TransferListener {
 public:
  Connections(const Engine& engine, NetworkModel& network) : engine_(engine), network_(network) {}

  void send(std::uint32_t connection, Bytes size) {
    network_.start(
        {.from = RankId(connection), .to = RankId(), .size = size, .pays_latency = false, .token = connection}, *this);
  }
  void on_arrived(std::uint64_t token) override {
    last[token] = engine_.now();
    if (--left[token] > 0) send(static_cast<std::uint32_t>(token), Bytes(1'000'000));
  }
  [[nodiscard]] std::uint64_t identity(std::uint64_t token) const override { return token; }

  std::array<int, 2> left = {10, 10};
  std::array<TimePoint, 2> last;

 private:
  const Engine& engine_;
  NetworkModel& network_;
};

// Both cross link 0 of 1 GB/s. The second one begins with half a message, so that it ends one at 1, 3, ..., 19 ms, in
// the middle of the other's, which end at 2, 4, ..., 18 ms; of the tenth 0.5 MB are left at 19 ms and take 0.5 ms.
// Rates change twice: when both begin, and when the second one is over.
TEST(FollowUp, ChangesNoRate) {
  const TableRouter router({1_GBps, 5_GBps}, {over({0}, 3_us), over({0, 1}, 3_us)});
  ModelBench bench("flow", router);
  Connections connections(bench.engine, *bench.network);
  connections.send(0, Bytes(1'000'000));
  connections.send(1, Bytes(500'000));
  bench.engine.run();
  EXPECT_EQ(connections.last[1], TimePoint(19_ms));
  EXPECT_EQ(connections.last[0], TimePoint(19'500_us));
  EXPECT_EQ(bench.counter("solves"), 2U);
}

}  // namespace
}  // namespace ringwright::network_models::follow_up_test
