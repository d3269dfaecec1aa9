// The constants of kernels and the fixed plan, as users write them.
#include "collectives/comm_settings.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/config_document.h"

namespace ringwright::collectives::comm_settings_test {
namespace {

using namespace ringwright::literals;
using testing::HasSubstr;

struct Read {
  ChannelCosts costs;
  std::optional<CollectivePlan> plan;
  std::string mistakes;
};

Read read(std::string_view text, Generation generation = Generation::kHopper) {
  auto document = ConfigDocument::load_text("comm.yaml", text);
  if (!document) return {.mistakes = render(document.error())};
  ConfigMap comm = document->root();
  Read result{.costs = read_channel_costs(comm.map("costs", "constants"), planning_costs(generation)),
              .plan = read_fixed_plan(comm)};
  document->check_all_read();
  if (document->log().diagnostics().has_errors()) result.mistakes = render(document->log().diagnostics());
  return result;
}

TEST(CommSettings, HaveADefaultForEveryConstant) {
  const Read plain = read("{}");
  EXPECT_EQ(plain.mistakes, "");
  EXPECT_FALSE(plain.plan.has_value());
  EXPECT_TRUE(plain.costs.gpudirect);
  // A flag that travels with the data is visible sooner than a counter behind a fence.
  EXPECT_LT(plain.costs.of(Protocol::kLl).hop, plain.costs.of(Protocol::kLl128).hop);
  EXPECT_LT(plain.costs.of(Protocol::kLl128).hop, plain.costs.of(Protocol::kSimple).hop);
}

TEST(CommSettings, RatesOfChannelsAreThoseOfTheGeneration) {
  const auto rate = [](Generation generation, Protocol protocol) {
    return read("{}", generation).costs.of(protocol).rate;
  };
  for (const Protocol protocol : {Protocol::kLl, Protocol::kLl128, Protocol::kSimple}) {
    EXPECT_GT(rate(Generation::kHopper, protocol), rate(Generation::kAmpere, protocol));
    EXPECT_GE(rate(Generation::kBlackwell, protocol), rate(Generation::kHopper, protocol));
  }
  EXPECT_EQ(read("costs: {ll: {rate: 9GB/s}}\n", Generation::kVolta).costs.of(Protocol::kLl).rate, 9_GBps);
}

TEST(CommSettings, WhatACallCostsGrowsWithChannelsAndGpus) {
  const ChannelCosts costs =
      read("costs: {launch: 4us, launch_channel: 1us, host: {call: 5us, channel: 200ns, peer: 1us}}\n").costs;
  EXPECT_EQ(costs.launch_of(1), 4_us);
  EXPECT_EQ(costs.launch_of(24), 27_us);
  EXPECT_EQ(costs.issue_of(8, 1), 40_us);
  EXPECT_EQ(costs.issue_of(8, 11), 56_us);  // 8 (5 + 10 x 0.2)
  EXPECT_EQ(costs.issue_of(8, 1, 3), 64_us);  // 8 (5 + 3 x 1)
}

TEST(CommSettings, ReadConstantsByProtocol) {
  const Read given =
      read("costs: {launch: 7us, simple: {hop: 2us, rate: 20GB/s}, network: {flush: 4us}, reduce_rate: 50%}\n");
  EXPECT_EQ(given.mistakes, "");
  EXPECT_EQ(given.costs.launch, 7_us);
  EXPECT_EQ(given.costs.of(Protocol::kSimple).hop, 2_us);
  EXPECT_EQ(given.costs.of(Protocol::kSimple).rate, 20_GBps);
  EXPECT_EQ(given.costs.of(Protocol::kLl).hop, read("{}").costs.of(Protocol::kLl).hop);
  EXPECT_EQ(given.costs.network_flush, 4_us);
  EXPECT_DOUBLE_EQ(given.costs.reduce_rate, 0.5);
}

TEST(CommSettings, SoftwareMatchesMessagesWhereSet) {
  EXPECT_FALSE(read("{}").costs.network_matched);
  EXPECT_EQ(read("{}").costs.network_at_once, 0);
  const Read given = read("costs: {network: {at_once: 2, matched: {copy_call: 5us}}}\n");
  EXPECT_EQ(given.mistakes, "");
  EXPECT_TRUE(given.costs.network_matched);
  EXPECT_EQ(given.costs.network_at_once, 2);
  EXPECT_EQ(given.costs.network_copy_call, 5_us);
  EXPECT_EQ(given.costs.network_own_copy, 4_KiB);
  EXPECT_THAT(read("costs: {network: {copy_call: 5us}}\n").mistakes, HasSubstr("copy_call"));
  EXPECT_THAT(read("costs: {network: {at_once: -1}}\n").mistakes, HasSubstr("at_once"));
}

TEST(CommSettings, RatesFollowLoadsAndStores) {
  const ChannelCosts costs =
      read("costs: {simple: {rate: 40GB/s}, ll: {rate: 8GB/s}, load_share: 25%, reduce_rate: 50%}\n").costs;
  EXPECT_EQ(costs.rate_of(Protocol::kSimple, 1, 1), 40_GBps);
  EXPECT_EQ(costs.rate_of(Protocol::kSimple, 2, 1), 32_GBps);                  // 2/4 + 3/4 of a copied byte's time
  EXPECT_NEAR(costs.rate_of(Protocol::kSimple, 1, 2).count(), 40e9 / 1.75, 1);  // 1/4 + 6/4
  EXPECT_EQ(costs.rate_of(Protocol::kSimple, 2, 2), 20_GBps);
  EXPECT_EQ(costs.rate_of(Protocol::kLl, 1, 2), 8_GBps);
  EXPECT_EQ(costs.rate_of(Protocol::kLl, 2, 1), 4_GBps);
  const ChannelCosts flags = read("costs: {ll128: {rate: 18GB/s}, reduce_rate: 50%}\n").costs;
  EXPECT_EQ(flags.rate_of(Protocol::kLl128, 1, 2), 18_GBps);  // a second store waits for nothing
  EXPECT_EQ(flags.rate_of(Protocol::kLl128, 2, 1), 9_GBps);
}

TEST(CommSettings, ReadAPlanForAllCalls) {
  const Read given = read("plan: {algorithm: tree, protocol: ll128, channels: 24, threads: 320, chunk: 64KiB}\n");
  EXPECT_EQ(given.mistakes, "");
  ASSERT_TRUE(given.plan.has_value());
  EXPECT_EQ(*given.plan,
            (CollectivePlan{
                .algorithm = "tree", .protocol = Protocol::kLl128, .channels = 24, .threads = 320, .chunk = 64_KiB}));
}

TEST(CommSettings, RefuseWhatThereIsNot) {
  EXPECT_THAT(read("plan: {algorithm: rings, channels: 2}\n").mistakes, HasSubstr("ring"));
  EXPECT_THAT(read("plan: {algorithm: ring}\n").mistakes, HasSubstr("channels"));
  EXPECT_THAT(read("plan: {algorithm: ring, channels: 65}\n").mistakes, HasSubstr("65"));
  EXPECT_THAT(read("costs: {simple: {hop: 2}}\n").mistakes, HasSubstr("unit"));
  EXPECT_THAT(read("costs: {lll: {hop: 2us}}\n").mistakes, HasSubstr("lll"));
}

TEST(CommSettings, WireBytesCountFlags) {
  EXPECT_DOUBLE_EQ(wire_bytes_per_byte(Protocol::kLl), 2.0);                  // 4 of 8
  EXPECT_DOUBLE_EQ(1.0 / wire_bytes_per_byte(Protocol::kLl128), 0.9375);      // 120 of 128
  EXPECT_DOUBLE_EQ(wire_bytes_per_byte(Protocol::kSimple), 1.0);
}

}  // namespace
}  // namespace ringwright::collectives::comm_settings_test
