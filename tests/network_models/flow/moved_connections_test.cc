#include "network_models/flow/moved_connections.h"

#include <array>

#include <gtest/gtest.h>

namespace ringwright::network_models::moved_connections_test {
namespace {

// Chunks of 100 bytes; link 1 is the cable of a NIC with failover.
ModelOptions options() {
  return {.cables_with_failover = {false, true, false}, .unacknowledged = Bytes(100)};
}

constexpr std::array kOverCable = {LinkShare{.link = 0, .share = 1.0}, LinkShare{.link = 1, .share = 1.0}};
constexpr std::array kElsewhere = {LinkShare{.link = 0, .share = 1.0}, LinkShare{.link = 2, .share = 1.0}};

TEST(MovedConnections, KeepWholeChunksThatLeftACableThatIsDown) {
  MovedConnections moves(options());
  moves.set_capacity(LinkId(1), Bandwidth(0.0));
  EXPECT_DOUBLE_EQ(moves.kept(kOverCable, 250.0), 200.0);
  EXPECT_DOUBLE_EQ(moves.kept(kOverCable, 300.0), 300.0);
  EXPECT_DOUBLE_EQ(moves.kept(kOverCable, 99.0), 0.0);
}

TEST(MovedConnections, KeepAllOfOtherPaths) {
  MovedConnections moves(options());
  EXPECT_DOUBLE_EQ(moves.kept(kOverCable, 250.0), 250.0) << "the cable is up";
  moves.set_capacity(LinkId(1), Bandwidth(0.0));
  moves.set_capacity(LinkId(2), Bandwidth(0.0));
  EXPECT_DOUBLE_EQ(moves.kept(kElsewhere, 250.0), 250.0) << "a link without failover: routing takes another path";
  moves.set_capacity(LinkId(1), Bandwidth(1e9));
  EXPECT_DOUBLE_EQ(moves.kept(kOverCable, 250.0), 250.0) << "it is up again";
  MovedConnections none(ModelOptions{});
  none.set_capacity(LinkId(1), Bandwidth(0.0));
  EXPECT_DOUBLE_EQ(none.kept(kOverCable, 250.0), 250.0);
}

TEST(MovedConnections, AskForNewPathsOnce) {
  MovedConnections moves(options());
  EXPECT_FALSE(moves.take());
  moves.note();
  EXPECT_TRUE(moves.take());
  EXPECT_FALSE(moves.take());
}

}  // namespace
}  // namespace ringwright::network_models::moved_connections_test
