// Compressed gradients in whole scenarios: bytes and times against closed forms, and the order of published results.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::compression_test {
namespace {

using namespace literals;

// Hosts of one GPU, joined by NICs of that many Gbit/s.
Scenario replicas(int ranks, const std::string& compression, const std::string& speed = "200Gbps") {
  return load(std::string(kTinyModel) +
              fmt::format("training: {{global_batch: {}, compression: {{{}}}}}\nparallel: {{dp: auto}}\n"
                          "collectives: {{dp: {{algorithm: ring}}}}\nsimulate: {{network: alpha_beta}}\n"
                          "cluster: {{nodes: {}, node: {{preset: dgx-h100, gpus: 1, nvlink: {{kind: none}}, "
                          "pcie: {{switches: 1}}, nic: {{count: 1, bandwidth: {}, efficiency: 100%}}}}, "
                          "fabric: {{type: fat_tree}}}}\n",
                          ranks, compression, ranks, speed));
}

double sent(int ranks, const std::string& compression) {
  return static_cast<double>(play(replicas(ranks, compression)).sent(0, "dp").count());
}

double seconds(int ranks, const std::string& compression, const std::string& speed) {
  return to_seconds(play(replicas(ranks, compression, speed)).time());
}

// A ring all-reduce sends 2 (n - 1) / n of e values of 4 bytes, a gather of top-k (n - 1) k e pairs of 4 + 4 bytes:
// equal at k = 1 / n (with fp32 values and 32-bit indices).
TEST(Compression, TopKSendsLessThanARingOnlyBelowOneInNRanks) {
  for (const int n : {2, 4, 8}) {
    const double dense = sent(n, "codec: none");
    const auto top = [&](double of_limit) {
      return sent(n, fmt::format("codec: topk, ratio: {:.4f}%", of_limit * 100.0 / n));
    };
    EXPECT_NEAR(top(1.0) / dense, 1.0, 1e-3) << n;  // but for padding and rounding
    EXPECT_NEAR(top(0.9) / dense, 0.9, 1e-3) << n;
    EXPECT_NEAR(top(1.1) / dense, 1.1, 1e-3) << n;
  }
}

// Two ranks: e values of 4 bytes each way; fp16 half of it; what is gathered crosses once.
TEST(Compression, SendsTheEncodedBytes) {
  const double dense = sent(2, "codec: none");
  EXPECT_NEAR(sent(2, "codec: fp16") / dense, 0.5, 1e-3);
  EXPECT_NEAR(sent(2, "codec: int8") / dense, 0.25 + 1.0 / 2048, 1e-3);
  EXPECT_NEAR(sent(2, "codec: int4") / dense, 0.125 + 1.0 / 2048, 1e-3);
  EXPECT_NEAR(sent(2, "codec: 1bit") / dense, 1.0 / 32, 1e-3);
  EXPECT_LT(sent(2, "codec: powersgd") / dense, 1.0 / 500);  // 2 / sqrt(e) with e > 4e6
}

// At 1 Gbit/s the wire takes all of the time: int8's step against the uncompressed one is the ratio of bytes.
TEST(Compression, OnASlowNetworkTimeFollowsTheBytes) {
  const double dense = seconds(2, "codec: none", "1Gbps");
  EXPECT_NEAR(seconds(2, "codec: fp16", "1Gbps") / dense, 0.5, 0.03);
  EXPECT_NEAR(seconds(2, "codec: int8", "1Gbps") / dense, 0.25, 0.03);
  EXPECT_NEAR(seconds(2, "codec: 1bit", "1Gbps") / dense, 1.0 / 32, 0.05);
}

// Agarwal et al., "On the Utility of Gradient Compression in Distributed Training Systems" (MLSys 2022, arXiv
// 2103.00543): codecs that gather (top-k, signs) scale worse with the number of workers than all-reduced ones
// (PowerSGD), and the gain shrinks as the network gets faster.
TEST(Compression, OrderOfPublishedResults) {
  const auto speedup = [](int ranks, const char* codec, const char* speed) {
    return seconds(ranks, "codec: none", speed) / seconds(ranks, codec, speed);
  };
  const double few = speedup(2, "codec: 1bit", "1Gbps");
  const double many = speedup(32, "codec: 1bit", "1Gbps");
  EXPECT_GT(few, 1.0);
  EXPECT_LT(many, few);
  EXPECT_GT(speedup(32, "codec: powersgd", "1Gbps"), many);
  EXPECT_LT(speedup(32, "codec: topk, ratio: 10%", "1Gbps"), 1.0);  // 10 % is more than 1 / 32
  EXPECT_LT(speedup(32, "codec: int8", "1Gbps"), 1.0);              // (n - 1) e against 8 e (n - 1) / n: n > 8
  for (const char* codec : {"codec: powersgd, rank: 4", "codec: topk", "codec: 1bit", "codec: fp16"}) {
    EXPECT_LT(speedup(2, codec, "200Gbps"), speedup(2, codec, "10Gbps")) << codec;
    EXPECT_LT(speedup(2, codec, "10Gbps"), speedup(2, codec, "1Gbps")) << codec;
  }
  RecordProperty("one_bit_2_ranks", fmt::format("{:.2f}", few));
  RecordProperty("one_bit_32_ranks", fmt::format("{:.2f}", many));
}

TEST(Compression, NoneIsAsWithoutTheBlock) {
  const Scenario plain = load(std::string(kTinyModel) + "training: {global_batch: 4}\nparallel: {dp: auto}\n"
                              "cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 4, nic: {count: 0}}, "
                              "fabric: {type: single_node}}\n");
  const Scenario none = load(std::string(kTinyModel) +
                             "training: {global_batch: 4, compression: {codec: none}}\nparallel: {dp: auto}\n"
                             "cluster: {nodes: 1, node: {preset: dgx-h100, gpus: 4, nic: {count: 0}}, "
                             "fabric: {type: single_node}}\n");
  EXPECT_EQ(play(plain).fingerprint, play(none).fingerprint);
}

}  // namespace
}  // namespace ringwright::configs::compression_test
