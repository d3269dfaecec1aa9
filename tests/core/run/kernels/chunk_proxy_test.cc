// Network libraries and messages between hosts; times derived by hand, from the constants of chunk_case.h: a message of
// 1000 bytes is in its buffer at 7 us, on the NIC at 10, arrived after 4 us of latency and 1 us of bytes at 15, flushed
// 6 us later, stored 2 us later.
#include <gtest/gtest.h>

#include "tests/support/channel_doubles.h"
#include "tests/support/chunk_case.h"

namespace ringwright::chunk_proxy_test {
namespace {

using namespace ringwright::literals;
using test::round_costs;

constexpr Duration kReading = 6_us + 2_us;

TimePoint end_of_pipe(const ChannelCosts& costs, int messages, Bandwidth wire = 1_GBps) {
  const test::PlainPipe pipe(messages, Bytes(1000));
  return test::end_of(test::play({.algorithm = pipe, .per_host = 1, .costs = costs, .wire = wire}), 1);
}

ChannelCosts matched_costs() {
  ChannelCosts costs = round_costs();
  costs.network_matched = true;
  costs.network_eager = Bytes(1000);
  costs.network_own_copy = Bytes(1000);
  costs.network_copy_rate = 1_GBps;
  costs.network_copy_call = 5_us;
  costs.network_rendezvous = 10_us;
  return costs;
}

TEST(ChunkProxy, WhatSoftwareMatchesIsCopiedByTheReceiversProxy) {
  ChannelCosts costs = matched_costs();
  EXPECT_EQ(end_of_pipe(costs, 1), TimePoint(15_us + 1_us + kReading));  // 1000 bytes at 1 GB/s
  costs.network_own_copy = Bytes(999);
  EXPECT_EQ(end_of_pipe(costs, 1), TimePoint(15_us + 5_us + kReading));
  // The second arrives at 17 us, and is copied after the first.
  EXPECT_EQ(end_of_pipe(costs, 2), TimePoint(15_us + 2 * 5_us + kReading));
}

TEST(ChunkProxy, OfALargeMessageTheHeaderGoesAhead) {
  ChannelCosts costs = matched_costs();
  costs.network_eager = Bytes(999);
  // The header arrives at 10 + 4, is matched at 24, the request is on the NIC at 27 and at the sender at 31; its data
  // take 5 us.
  EXPECT_EQ(end_of_pipe(costs, 1), TimePoint(31_us + 5_us + kReading));
  // The second header arrives at 16, and is matched after the first one.
  EXPECT_EQ(end_of_pipe(costs, 2), TimePoint(41_us + 5_us + kReading));
}

TEST(ChunkProxy, FetchedDataAreWhereTheyBelong) {
  ChannelCosts costs = matched_costs();
  costs.network_eager = Bytes(999);
  const TimePoint end = end_of_pipe(costs, 1);
  costs.network_own_copy = Bytes(0);  // would be copied by a call
  EXPECT_EQ(end_of_pipe(costs, 1), end);
}

// 1000 bytes take 4 us of this wire. The first is on it at 10 us, the second is with the NIC at 12 and on it at 14.
TEST(ChunkProxy, MessagesOfAConnectionLeaveOneAfterTheOther) {
  EXPECT_EQ(end_of_pipe(round_costs(), 2, Bandwidth(0.25e9)), TimePoint(14_us + 4_us + 4_us + kReading));
}

// The same wire, and a NIC that sends a limited number of messages at a time, whatever their connection.
TEST(ChunkProxy, ANicThatSendsInOrderDelaysTheNextMessage) {
  const Bandwidth slow = Bandwidth(0.25e9);
  ChannelCosts costs = round_costs();
  costs.network_at_once = 2;
  EXPECT_EQ(end_of_pipe(costs, 2, slow), TimePoint(12_us + 4_us + 4_us + kReading));
  costs.network_at_once = 1;
  // Its slot is free with the last byte, at 14, not with that byte's arrival.
  EXPECT_EQ(end_of_pipe(costs, 2, slow), TimePoint(14_us + 4_us + 4_us + kReading));
}

// Two pipes of one rank, by one NIC or by a NIC each.
class TwoPipes final : public test::PlainPipe {
 public:
  explicit TwoPipes(bool apart) : PlainPipe(1, Bytes(1000)), apart_(apart) {}
  [[nodiscard]] int blocks(const CollectiveCall&, const CollectivePlan&) const override { return 2; }
  void block(const CollectiveCall& call, const CollectivePlan& plan, int member, int number,
             ThreadBlock& out) const override {
    PlainPipe::block(call, plan, member, number, out);
    for (auto& port : out.sends) port.nics.out = static_cast<std::int16_t>(apart_ ? number : 0);
    for (auto& port : out.receives) port.block = number;
  }

 private:
  bool apart_;
};

// Both messages are with the NICs at 10 us, and take 4 us of a wire.
TEST(ChunkProxy, EachNicHasAnOrderOfItsOwn) {
  ChannelCosts costs = round_costs();
  costs.network_at_once = 1;
  costs.network_flush = 0_us;
  const auto end = [&](bool apart) {
    const TwoPipes pipes(apart);
    return test::end_of(test::play({.algorithm = pipes, .per_host = 1, .costs = costs, .wire = Bandwidth(0.25e9)}), 1);
  };
  EXPECT_EQ(end(false) - end(true), 4_us);
}

// A request finds the NIC of the sender busy: of two fetched messages the second has to wait.
TEST(ChunkProxy, FetchedMessagesAreSentInOrder) {
  ChannelCosts costs = matched_costs();
  costs.network_eager = Bytes(999);
  costs.network_rendezvous = 0_us;
  costs.network_at_once = 1;
  const Bandwidth slow = Bandwidth(0.25e9);
  // Headers arrive at 14 and 16, requests reach the sender at 21 and 23: 4 us of bytes until 25, and until 29.
  EXPECT_EQ(end_of_pipe(costs, 2, slow), TimePoint(29_us + 4_us + kReading));
}

}  // namespace
}  // namespace ringwright::chunk_proxy_test
