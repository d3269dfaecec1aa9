// Whole scenarios against formulas: time of a ring, the pipeline's bubble, bytes of each dimension.
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::configs::closed_forms_test {
namespace {

using namespace literals;

// One host; every pair of GPUs is joined by 100 GB/s and 2 us through the switch.
std::string one_host(int gpus) {
  return fmt::format(
      "cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: {}, nvlink: {{bandwidth: 100GB/s, efficiency: 100%, "
      "latency: 2us}}, "
      "pcie: {{switches: 1}}, nic: {{count: 0}}}}, fabric: {{type: single_node}}}}\n",
      gpus);
}

// --- a ring on links of its own: 2 (n - 1) (latency + S / (n B)), Patarasuk and Yuan, JPDC 2009 ---

TEST(RingAllReduce, OfGradientsTakesItsClosedForm) {
  for (const int n : {2, 3, 4, 8}) {
    const Scenario scenario = load(std::string(kTinyModel) + fmt::format("training: {{global_batch: {}}}\n", n) +
                                   "parallel: {dp: auto}\ncollectives: {dp: {algorithm: ring}}\n"
                                   "simulate: {network: alpha_beta}\n" +
                                   one_host(n));
    const auto simulation = assemble(scenario);
    Bytes buffer;  // one all-reduce of all gradients in fp32, padded to a multiple of 64 n elements
    for (const CollectiveSpec& spec : simulation->plan().graph.collectives) {
      if (spec.kind == CollectiveKind::kAllReduce) buffer = std::max(buffer, spec.bytes);
    }
    const std::int64_t elements = simulation->plan().stage_parameters[0];
    EXPECT_GE(buffer, Bytes(4 * elements));
    EXPECT_LT(buffer, Bytes(4 * (elements + 64 * n)));
    ASSERT_EQ(buffer.count() % n, 0);
    const Duration step = 2_us + transfer_time(buffer / n, 100_GBps);
    EXPECT_EQ(play(scenario).in_flight(0, "dp"), step * (2 * (n - 1))) << n;
  }
}

TEST(RingAllReduce, OverTwoHostsIsPacedByTheNic) {
  // One GPU on each host: every step crosses 4 PCIe hops of 100 ns, two NICs of 1 us, one leaf of 300 ns and two
  // cables of 50 ns. All links but the NIC's port are faster than 25 GB/s.
  const Scenario scenario =
      load(std::string(kTinyModel) +
           "training: {global_batch: 2}\nparallel: {dp: auto}\ncollectives: {dp: {algorithm: ring}}\n"
           "simulate: {network: alpha_beta}\n"
           "cluster: {nodes: 2, node: {preset: dgx-h100, gpus: 1, pcie: {switches: 1, latency: 100ns}, nvlink: {kind: "
           "none}, "
           "nic: {count: 1, bandwidth: 200Gbps, efficiency: 100%, latency: 1us}}, "
           "fabric: {type: fat_tree, latency: {hop: 300ns, cable: 50ns}}}\n");
  Bytes buffer;
  const auto simulation = assemble(scenario);
  for (const CollectiveSpec& spec : simulation->plan().graph.collectives) buffer = std::max(buffer, spec.bytes);
  const Duration latency = 100_ns * 4 + 1_us * 2 + 300_ns + 50_ns * 2;
  EXPECT_EQ(play(scenario).in_flight(0, "dp"), (latency + transfer_time(buffer / 2, 25_GBps)) * 2);
}

// --- bubble of a pipeline whose network costs nothing ---

// Layers so wide that embedding and logits are negligible (256 / (6 * ffn * 32 layers) = 1.3e-7 of a stage), memory and
// launches free: every stage takes the same time for a microbatch, whatever its position.
Duration pipeline_time(const char* schedule, int chunks, int stages, int microbatches) {
  return play(load(fmt::format(
                  "model: {{num_layers: {}, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 10000000, "
                  "vocab_size: 128, seq_length: 1024}}\n"
                  "training: {{global_batch: {}}}\ncompute: {{model: roofline}}\ncollectives: {{overhead: none}}\n"
                  "parallel: {{pp: {}, schedule: {}, virtual_stages: {}}}\n"
                  "cluster: {{nodes: 1, node: {{preset: dgx-h100, gpus: {}, "
                  "gpu: {{sms: 1, kernel_launch: 0us, memory_bandwidth: 1000000000TB/s, peak: {{fp32: "
                  "1000000PFLOPS}}}}, "
                  "nvlink: {{bandwidth: 1000000TB/s, latency: 0us}}, pcie: {{switches: 1}}, nic: {{count: 0}}}}, "
                  "fabric: {{type: single_node}}}}\n",
                  32 * stages, microbatches, stages, schedule, chunks, stages)))
      .time();
}

// T(m) = (m + bubble) (F + B), so two numbers of microbatches give F + B and the bubble in units of it.
double bubble(const char* schedule, int chunks, int stages) {
  const int few = 2 * stages;
  const int many = 6 * stages;
  const double at_few = to_seconds(pipeline_time(schedule, chunks, stages, few));
  const double each = (to_seconds(pipeline_time(schedule, chunks, stages, many)) - at_few) / (many - few);
  return at_few / each - few;
}

TEST(PipelineBubble, OfGPipeIsPMinusOnePasses) {  // Huang et al., arXiv 1811.06965
  for (const int p : {2, 4, 8}) EXPECT_NEAR(bubble("gpipe", 1, p), p - 1, 1e-6 * p) << p;
}

TEST(PipelineBubble, Of1F1BIsPMinusOnePasses) {  // Narayanan et al., arXiv 2104.04473, section 2.2
  for (const int p : {2, 4, 8}) EXPECT_NEAR(bubble("1f1b", 1, p), p - 1, 1e-6 * p) << p;
}

TEST(PipelineBubble, IsDividedByTheChunksThatInterleave) {  // the same
  for (const int v : {2, 4}) {
    for (const int p : {2, 4}) {
      EXPECT_NEAR(bubble("interleaved-1f1b", v, p), static_cast<double>(p - 1) / v, 1e-6 * p) << v << " " << p;
    }
  }
}

// GEMMs alone: forward, input and weight gradient take the same time, which these formulas assume; the attention core,
// whose gradient takes two and a half times as long, adds a few 1e-5.
TEST(PipelineBubble, OfZeroBubbleSchedulesIsPartOf1F1Bs) {
  for (const int p : {2, 4, 8}) {
    EXPECT_NEAR(bubble("zb-h1", 1, p), (p - 1) / 3.0, 5e-5 * p) << p;   // (p-1)(F+B-W): arXiv 2401.10241
    EXPECT_NEAR(bubble("zb-h2", 1, p), (p - 1) / 3.0, 5e-5 * p) << p;   // (p-1)F until the last stage has started
    EXPECT_NEAR(bubble("zb-v", 2, p), (p - 1) / 6.0, 5e-5 * p) << p;    // the same, with half a stage's F
    EXPECT_NEAR(bubble("v-half", 2, p), (p - 1) / 2.0, 5e-5 * p) << p;  // arXiv 2405.15362
  }
}

TEST(PipelineBubble, OfDualPipeIsThatOfItsAuthors) {
  // (p/2-1)(F&B + B - 3W) = (p/2-1)(3 + 2 - 3)/3: arXiv 2412.19437. Cut in half, (p-1) of half a stage.
  for (const int p : {2, 4, 8}) {
    EXPECT_NEAR(bubble("dualpipe", 2, p), (p / 2 - 1) * 2.0 / 3.0, 5e-5 * p) << p;
    EXPECT_NEAR(bubble("dualpipev", 2, p), (p - 1) * 2.0 / 6.0, 5e-5 * p) << p;
  }
}

// --- bytes on the wire: a ring sends 2 S (g - 1) / g for an all-reduce, S (g - 1) / g for a gather or scatter ---

std::string wire_job(const std::string& training, const std::string& parallel) {
  return std::string(kTinyModel) + "training: {global_batch: 8" + training + "}\nparallel: {" + parallel + "}\n" +
         "collectives: {tp: {algorithm: ring}, dp: {algorithm: ring}}\n" +
         "cluster: {nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}\n";
}

constexpr std::int64_t kActivation = 128 * 256 * 2;     // tokens x channels x 2 bytes
constexpr std::int64_t kLogitReductions = 3 * 128 * 4;  // maximum, target and sum of a token in fp32
constexpr std::int64_t kLayers = 8;

TEST(WireBytes, OfTensorParallelismAreFourAllReducesALayer) {  // Shoeybi et al., arXiv 1909.08053
  const Played played = play(load(wire_job("", "tp: 4, dp: auto")));
  const std::int64_t microbatches = 4;  // batch 8 on two replicas
  // Besides the layers: the embedding's, the logits' backward one, and the loss.
  const std::int64_t buffers = (kLayers * 4 + 2) * kActivation + kLogitReductions;
  EXPECT_EQ(played.sent(0, "tp"), Bytes(microbatches * buffers * 2 * 3 / 4));
}

TEST(WireBytes, OfFullRecomputationAreSixAllReducesALayer) {
  const Played played = play(load(wire_job(", recompute: full", "tp: 4, dp: auto")));
  const std::int64_t buffers = (kLayers * 6 + 2) * kActivation + kLogitReductions;
  EXPECT_EQ(played.sent(0, "tp"), Bytes(4 * buffers * 2 * 3 / 4));
}

TEST(WireBytes, OfSequenceParallelismAreTenGathersAndScattersALayer) {  // Korthikanti et al., arXiv 2205.05198
  const Played played = play(load(wire_job("", "tp: 4, dp: auto, sequence_parallel: true")));
  // The embedding's scatter and the gather of its gradient; the logits' gather, the same again for the weights'
  // gradient, and the scatter; the loss. Once a step: fp32 gradients of 2 norms a layer and the last one.
  const std::int64_t per_microbatch = (kLayers * 10 + 5) * kActivation + 2 * kLogitReductions;
  const std::int64_t norms = 2 * (2 * kLayers + 1) * 256 * 4;
  EXPECT_EQ(played.sent(0, "tp"), Bytes((4 * per_microbatch + norms) * 3 / 4));
}

TEST(WireBytes, OfPipelineStagesAreOneActivationEachWay) {
  const Played played = play(load(wire_job("", "pp: 4, dp: auto")));
  // Ranks of the first stage send activations, of the middle ones activations and gradients, of the last gradients.
  const std::int64_t microbatches = 4;
  EXPECT_EQ(played.sent(0, "pp"), Bytes(microbatches * kActivation));
  EXPECT_EQ(played.sent(2, "pp"), Bytes(2 * microbatches * kActivation));
  EXPECT_EQ(played.sent(7, "pp"), Bytes(microbatches * kActivation));
}

TEST(WireBytes, OfDataParallelismAreTwiceTheGradients) {
  const Scenario scenario = load(wire_job("", "dp: auto"));
  const std::int64_t parameters = assemble(scenario)->plan().stage_parameters[0];
  const std::int64_t padded = (parameters + 64 * 8 - 1) / (64 * 8) * (64 * 8);
  EXPECT_EQ(play(scenario).sent(0, "dp"), Bytes(2 * 4 * padded * 7 / 8));
}

TEST(WireBytes, OfZeroOneAreGradientsOnceAndParametersOnce) {  // Rajbhandari et al., arXiv 1910.02054
  const Scenario scenario = load(wire_job("", "dp: auto, zero: {stage: 1}"));
  const std::int64_t parameters = assemble(scenario)->plan().stage_parameters[0];
  const std::int64_t padded = (parameters + 64 * 8 - 1) / (64 * 8) * (64 * 8);
  const Bytes sent = play(scenario).sent(0, "dp");
  // fp32 gradients, bf16 parameters, and the all-reduce of one number for the gradient norm, in uneven pieces.
  EXPECT_GE(sent, Bytes((4 + 2) * padded * 7 / 8));
  EXPECT_LE(sent, Bytes((4 + 2) * padded * 7 / 8 + 2 * 4));
}

TEST(WireBytes, OfTwoStepsAreTwiceThoseOfOne) {
  const Scenario once = load(wire_job("", "tp: 2, pp: 2, dp: auto"));
  const Scenario twice = load(wire_job("", "tp: 2, pp: 2, dp: auto"), {"simulate.steps=2"});
  for (const char* dimension : {"tp", "pp", "dp"}) {
    EXPECT_EQ(play(twice).sent(0, dimension), play(once).sent(0, dimension) * 2) << dimension;
  }
}

}  // namespace
}  // namespace ringwright::configs::closed_forms_test
