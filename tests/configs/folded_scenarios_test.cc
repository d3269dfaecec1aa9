// Folding is exact: whole scenarios simulated with one rank per class give the same results as with every rank.
#include <ostream>
#include <string>

#include <gtest/gtest.h>

#include "configs/simulation/simulate.h"
#include "configs/simulation/step_plan.h"
#include "tests/configs/played.h"

namespace ringwright::configs::folded_scenarios_test {
namespace {

struct Case {
  const char* name;
  const char* training;  // besides the batch
  const char* parallel;
  const char* cluster;
  const char* simulate;
  int batch = 16;
};

// Four hosts of eight GPUs; leaves of four ports hold two hosts each at 1:1, so that spines carry traffic.
constexpr const char* kRails =
    "{nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 4}, "
    "spine: {ports: 16}, routing: {policy: %}}}";

std::string with_policy(const char* cluster, const std::string& policy) {
  std::string text = cluster;
  text.replace(text.find('%'), 1, policy);
  return text;
}

std::string text_of(const Case& c, const std::string& cluster) {
  return std::string(kTinyModel) + "training: {global_batch: " + std::to_string(c.batch) + c.training +
         "}\nparallel: {" + c.parallel + "}\ncluster: " + cluster + "\nsimulate: {" + c.simulate + "}\n";
}

void expect_exact(const std::string& text) {
  const Scenario scenario = load(text);
  const Played folded = play(scenario, FoldMode::kFold);
  const Played whole = play(scenario, FoldMode::kNoFold);
  ASSERT_EQ(folded.finished_at.size(), whole.finished_at.size());
  for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
    EXPECT_EQ(folded.finished_at[rank], whole.finished_at[rank]) << "rank " << rank << "\n" << text;
  }
  EXPECT_EQ(folded.record.iteration_end, whole.record.iteration_end);
  for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
    const std::size_t rank_class = folded.folding.ranks.class_of[rank].index();
    EXPECT_EQ(folded.record.time_in[rank_class], whole.record.time_in[rank]) << "rank " << rank;
    EXPECT_EQ(folded.record.sent[rank_class], whole.record.sent[rank]) << "rank " << rank;
  }
  ASSERT_EQ(folded.usage.size(), whole.usage.size());
  for (std::size_t link = 0; link < whole.usage.size(); ++link) {
    EXPECT_NEAR(folded.usage[link].bytes, whole.usage[link].bytes, 1e-9 * whole.usage[link].bytes) << "link " << link;
    EXPECT_EQ(folded.usage[link].busy, whole.usage[link].busy) << "link " << link;
  }
}

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class FoldedScenario : public testing::TestWithParam<Case> {};

TEST_P(FoldedScenario, IsPlayedAsTheWholeOne) {
  const Case& c = GetParam();
  const std::string cluster = c.cluster;
  if (cluster.find('%') == std::string::npos) {
    expect_exact(text_of(c, cluster));
    return;
  }
  for (const char* policy : {"static", "d_mod_k", "spray"}) expect_exact(text_of(c, with_policy(c.cluster, policy)));
}

INSTANTIATE_TEST_SUITE_P(
    All, FoldedScenario,
    testing::Values(
        Case{"TensorAndData", "", "tp: 8, dp: auto", kRails, "network: flow"},
        Case{"TensorPipelineAndData", "", "tp: 4, pp: 4, dp: auto", kRails, "network: flow"},
        Case{"ZeroOneOverlapped", "",
             "tp: 2, dp: auto, sequence_parallel: true, zero: {stage: 1, overlap_grad_reduce: true, "
             "overlap_param_gather: true, bucket: 2MiB}",
             kRails, "network: flow, steps: 2"},
        Case{"ZeroOneAtTheEnd", ", recompute: full", "tp: 4, pp: 2, dp: auto, zero: {stage: 1}", kRails,
             "network: flow"},
        Case{"GroupsOfLayersComputedAgain",
             ", recompute: full, recompute_num_layers: 2, distribute_saved_activations: true", "tp: 4, pp: 2, dp: auto",
             kRails, "network: flow"},
        Case{"Interleaved", ", recompute: selective",
             "tp: 8, pp: 2, dp: auto, schedule: interleaved-1f1b, virtual_stages: 2, sequence_parallel: true", kRails,
             "network: flow"},
        Case{"UnevenStages", "", "tp: 4, pp: 4, dp: auto, layers_per_part: [1, 3, 3, 1]", kRails, "network: flow"},
        Case{"DataAcrossAllHosts", "", "dp: auto", kRails, "network: flow", 32},
        Case{"ClosedForms", "", "tp: 4, pp: 2, dp: auto, zero: {stage: 1, overlap_grad_reduce: true}", kRails,
             "network: flow, steps: 2}\ncollectives: {model: closed_form"},
        Case{"AlphaBeta", "", "tp: 4, pp: 2, dp: auto, zero: {stage: 1}", kRails, "network: alpha_beta"},
        Case{"Dcqcn", "", "tp: 4, pp: 4, dp: auto", kRails, "network: dcqcn"},
        Case{"DcqcnWithQueues", "", "tp: 8, dp: auto",
             "{nodes: 4, node: {preset: dgx-h100}, fabric: {type: fat_tree, scalable_unit: 1, leaf: {ports: 64, "
             "oversubscription: \"2:1\"}, spine: {ports: 32}}}",
             "network: dcqcn"},
        Case{"DcqcnOverPathsOfUnequalLengths", "", "tp: 2, dp: auto",
             "{nodes: 8, node: {preset: dgx-h100, gpus: 2}, fabric: {type: dragonfly, switches: 2, "
             "nodes_per_switch: 1, global: {links: 2}, routing: {paths: minimal, policy: spray}}}",
             "network: dcqcn"},
        Case{"ThreeTiers", "", "tp: 4, dp: auto",
             "{nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 1, tiers: 3, pod: 2, "
             "leaf: {ports: 2}, spine: {ports: 32}, core: {ports: 32}, routing: {policy: %}}}",
             "network: flow"},
        Case{"GPipe", "", "tp: 2, pp: 4, dp: auto, schedule: gpipe",
             "{nodes: 4, node: {preset: dgx-a100}, fabric: {type: fat_tree, leaf: {ports: 24, oversubscription: "
             "\"2:1\"}, routing: {policy: %}}}",
             "network: flow"},
        Case{"RailOnly", "", "tp: 8, dp: auto",
             "{nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_only, scalable_unit: 2, leaf: {ports: 4}, "
             "spine: {ports: 16}}}",
             "network: flow"},
        Case{"Torus", "", "tp: 8, pp: 2, dp: auto",
             "{nodes: 8, node: {preset: dgx-a100}, fabric: {type: torus, dims: [4, 2]}}", "network: flow"},
        Case{"TorusWithoutWrap", "", "tp: 4, dp: auto",
             "{nodes: 4, node: {preset: dgx-a100}, fabric: {type: torus, dims: [4], wrap: false}}", "network: flow"},
        Case{"OneNode", "", "tp: 2, pp: 2, dp: auto",
             "{nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}", "network: flow"},
        Case{"TilesOfLinearOperators", ", recompute: full",
             "dp: auto, zero: {stage: 3, stage3_param_persistence_threshold: 0, stage3_max_reuse_distance: 0, "
             "tiled_linear: {in_splits: 2, out_splits: 2}}",
             "{nodes: 1, node: {preset: dgx-h100}, fabric: {type: single_node}}", "network: flow"},
        Case{"OneCubeMesh", ", precision: fp16", "tp: 4, dp: auto",
             "{nodes: 1, node: {preset: dgx1-v100}, fabric: {type: single_node}}", "network: flow"}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(FoldedScenarios, OfTiedEmbeddingsArePlayedAsTheWholeOne) {
  const std::string tied =
      "model: {num_layers: 8, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128, "
      "untie_embeddings_and_output_weights: false}\n"
      "training: {global_batch: 16}\nparallel: {tp: 2, pp: 4, dp: auto}\ncluster: " +
      with_policy(kRails, "static") + "\n";
  expect_exact(tied);
}

constexpr const char* kTinyExperts =
    "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, vocab_size: 1000, seq_length: 128, num_experts: "
    "16, "
    "moe_router_topk: 4, moe_ffn_hidden_size: 128, moe_shared_expert_intermediate_size: 64}\n";

TEST(FoldedScenarios, OfExpertsArePlayedAsTheWholeOne) {
  for (const char* layout :
       {"ep: 8, etp: 1", "ep: 16, etp: 1, pp: 2", "tp: 2, sequence_parallel: true, ep: 4, etp: 2, pp: 2",
        "ep: 16, etp: 1, moe_token_dispatcher_type: flex, moe_shared_expert_overlap: true",
        "tp: 4, sequence_parallel: true, ep: 8, etp: 1, moe_token_dispatcher_type: allgather, zero: {stage: 1}",
        "ep: 4, etp: 1, moe_router_load: {deviation: 0.7}"}) {
    expect_exact(std::string(kTinyExperts) + "training: {global_batch: 32}\nparallel: {" + layout +
                 "}\ncluster: " + with_policy(kRails, "static") + "\n");
  }
}

// Groups of expert data parallelism differ in their GPUs, so that NCCL relays their messages over others (PXN): the
// classes of one call are represented by ranks of groups with different plans.
TEST(FoldedScenarios, OfGroupsWithOtherRelaysArePlayedAsTheWholeOne) {
  expect_exact(std::string(kTinyExperts) +
               "training: {global_batch: 4, precision: fp16}\n"
               "parallel: {tp: 8, sequence_parallel: true, ep: 2, etp: 1}\n"
               "cluster: {nodes: 2, node: {preset: dgx1-v100}, fabric: {type: rail_optimized}}\n"
               "collectives: {model: chunks}\n");
}

TEST(FoldedScenarios, OfContextParallelismArePlayedAsTheWholeOne) {
  for (const char* layout :
       {"cp: 4", "tp: 2, cp: 8, pp: 2", "cp: 4, cp_comm_type: all_gather, zero: {stage: 1}", "cp: 4, cp_comm_type: a2a",
        "cp: 8, cp_comm_type: a2a+p2p, hierarchical_context_parallel_sizes: [4, 2]", "cp: 4, cp_balanced: false"}) {
    expect_exact(std::string(kTinyModel) + "training: {global_batch: 32}\nparallel: {" + layout +
                 "}\ncluster: " + with_policy(kRails, "static") + "\n");
  }
}

// Trees over the heads of NVSwitches send both directions over one connection, and several messages end at a time.
TEST(FoldedScenarios, OfTreesUnderCongestionArePlayedAsTheWholeOne) {
  expect_exact(
      "model: {num_layers: 4, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 2048, vocab_size: 1024,"
      " seq_length: 64}\n"
      "training: {global_batch: 32}\nparallel: {zero: {overlap_grad_reduce: true, bucket: 256KiB}}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100, nic: {bandwidth: 100Gbps}},"
      " fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 64}, spine: {ports: 64}}}\n"
      "collectives: {model: steps, tuner: nccl, overhead: none}\nsimulate: {network: dcqcn}\n");
}

// Experts exchange with all hosts at once over uplinks of a quarter of the speed, so that queues build up. Sums over
// ranks and over classes round differently, which senders' rates carry on.
TEST(FoldedScenarios, UnderCongestionDifferByRoundingOnly) {
  const std::string text =
      std::string(kTinyExperts) +
      "training: {global_batch: 32}\nparallel: {ep: 16, etp: 1, zero: {stage: 1}}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, scalable_unit: 2, "
      "leaf: {ports: 4, speed: 50Gbps}, spine: {ports: 16}}}\ncollectives: {model: steps, overhead: none}\n"
      "simulate: {network: dcqcn, congestion_control: {ecn: {kmin: 5kB, kmax: 50kB}, pfc: {xoff: 100kB}}}\n";
  const Scenario scenario = load(text);
  const Played folded = play(scenario, FoldMode::kFold);
  const Played whole = play(scenario, FoldMode::kNoFold);
  ASSERT_EQ(folded.finished_at.size(), whole.finished_at.size());
  EXPECT_LT(folded.folding.ranks.count(), whole.folding.ranks.count());
  const Played calm = play(load(text, {"simulate.network=flow"}), FoldMode::kFold);
  EXPECT_GT(folded.finished_at.front(), calm.finished_at.front()) << "nothing queues";
  for (std::size_t rank = 0; rank < whole.finished_at.size(); ++rank) {
    const double expected = to_seconds(whole.finished_at[rank].since_start());
    EXPECT_NEAR(to_seconds(folded.finished_at[rank].since_start()), expected, 1e-6 * expected) << "rank " << rank;
  }
  for (std::size_t link = 0; link < whole.usage.size(); ++link) {
    EXPECT_NEAR(folded.usage[link].bytes, whole.usage[link].bytes, 1e-9 * whole.usage[link].bytes) << "link " << link;
  }
}

// With equal loads ranks do the same; a drawn load distinguishes the expert-parallel positions.
TEST(FoldedScenarios, AnEvenRouterKeepsClassesAndAnUnevenOneRefinesThem) {
  const auto classes = [](const std::string& layout) {
    const Scenario scenario =
        load(std::string(kTinyExperts) + "training: {global_batch: 64}\nparallel: {" + layout +
             "}\ncluster: {nodes: 8, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n" +
             "collectives: {dp: {algorithm: ring}, edp: {algorithm: ring}}\n");
    return assemble(scenario)->folding().ranks.count();
  };
  EXPECT_EQ(classes("tp: 8, sequence_parallel: true, ep: 8, etp: 1, pp: 2"), 2U);
  EXPECT_EQ(classes("tp: 8, sequence_parallel: true, ep: 8, etp: 1, pp: 2, moe_router_load: {deviation: 0.5}"), 16U);
}

// Data-parallel replicas on a ring behave identically, so a machine of twice the replicas has the same classes.
TEST(FoldedScenarios, LeaveAsManyClassesWhenReplicasAreAdded) {
  const auto classes = [](const char* nodes, const char* batch) {
    const Scenario scenario =
        load(std::string(kTinyModel) + "training: {global_batch: " + batch + "}\nparallel: {tp: 8, pp: 2, dp: auto}\n" +
             "cluster: {nodes: " + nodes + ", node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n" +
             "collectives: {dp: {algorithm: ring}}\n");
    return assemble(scenario)->folding().ranks.count();
  };
  EXPECT_EQ(classes("8", "32"), classes("16", "64"));
  EXPECT_EQ(classes("16", "64"), 2U);  // one for each stage
}

// Flows that end exactly between two picoseconds: rates that differ in the last bit rounded them to different ones.
TEST(FoldedScenarios, EndsBetweenTwoPicosecondsAreTheSame) {
  expect_exact(
      "model: {num_layers: 8, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 2048, vocab_size: 1024, "
      "seq_length: 128, num_experts: 16, moe_router_topk: 4, moe_ffn_hidden_size: 128}\n"
      "training: {global_batch: 128, recompute: none, grad_reduce_dtype: bf16}\n"
      "parallel: {pp: 4, dp: auto, zero: {stage: 1, overlap_grad_reduce: true, bucket: 1MiB, "
      "overlap_param_gather: true}, schedule: 1f1b}\n"
      "cluster: {nodes: 8, node: {preset: dgx-h100, gpus: 4, pcie: {switches: 4}, nic: {count: 4}}, "
      "fabric: {type: torus, dims: [4, 2], wrap: false}}\n"
      "collectives: {model: steps, overhead: kernels}\n"
      "simulate: {network: flow, steps: 2, warmup: 0, fast_forward: false}\n");
}

// A proxy that is asked for several messages at one instant serves them in an order that is the same for ranks with
// equal work: rank 0 ended 1.6 us before ranks 1 to 7 of its host.
TEST(FoldedScenarios, MessagesOfOneInstantAreServedInTheSameOrderByAllRanks) {
  expect_exact(
      "model: {num_layers: 4, hidden_size: 256, num_attention_heads: 8, ffn_hidden_size: 512, vocab_size: 1024, "
      "seq_length: 256}\n"
      "training: {global_batch: 16, recompute: selective}\n"
      "parallel: {cp: 2, dp: auto, cp_comm_type: all_gather}\n"
      "cluster: {groups: [{nodes: 1, node: {preset: dgx-h100}}, "
      "{nodes: 1, node: {preset: dgx-a100, nic: {bandwidth: 100Gbps}}}], fabric: {type: rail_optimized}}\n"
      "collectives: {model: chunks}\n"
      "simulate: {network: alpha_beta, steps: 1, warmup: 0}\n");
}

// The groups' calls are simulated ahead in a copy of the graph, where they lost the torus' rings: a step took a third
// longer.
TEST(FoldedScenarios, CallsSimulatedAheadTakeTheRingsOfTheTorus) {
  const Scenario scenario = load(
      "model: {num_layers: 2, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 2048, vocab_size: 1024, "
      "seq_length: 256}\n"
      "training: {global_batch: 3, recompute: none}\n"
      "parallel: {tp: 4, cp: 4, dp: auto, cp_comm_type: all_gather}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100, gpus: 4, pcie: {switches: 4}, nic: {count: 4}}, "
      "fabric: {type: torus, dims: [4]}}\n"
      "collectives: {model: steps}\n"
      "simulate: {network: flow, steps: 1, warmup: 1}\n");
  const auto breakdown = [&scenario](FoldMode fold) {
    return json_part(render_json(*simulate(scenario, fold)->report), "breakdown");
  };
  EXPECT_EQ(breakdown(FoldMode::kFold), breakdown(FoldMode::kNoFold));
}

// With formulas the wires of a group count: its overhead was that of the first group with such a layout.
TEST(FoldedScenarios, OverheadsOfFormulasAreThoseOfTheirGroup) {
  expect_exact(
      "model: {num_layers: 2, hidden_size: 128, num_attention_heads: 8, ffn_hidden_size: 256, vocab_size: 1024, "
      "seq_length: 256, num_experts: 16, moe_router_topk: 4, moe_ffn_hidden_size: 128}\n"
      "training: {global_batch: 8, recompute: none}\n"
      "parallel: {cp: 4, dp: auto, cp_comm_type: p2p, zero: {stage: 1}, ep: 1, etp: 1, "
      "moe_token_dispatcher_type: allgather}\n"
      "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: dragonfly_plus, switches: 2, nodes_per_switch: 1, "
      "global: {links: 4}, routing: {paths: minimal, policy: ecmp}}}\n"
      "collectives: {model: closed_form, overhead: kernels}\n"
      "interference: {model: share}\n"
      "simulate: {network: alpha_beta, steps: 1, warmup: 0}\n");
}

// Uneven routing gives experts fractions of FLOPs, whose sum must not depend on whether equal microbatches are written
// as a loop (folded) or one by one.
TEST(FoldedScenarios, FlopsAreTheSameHoweverMicrobatchesAreWritten) {
  const Scenario scenario = load(
      "model: {num_layers: 6, hidden_size: 1024, num_attention_heads: 8, ffn_hidden_size: 2048, vocab_size: 1024,"
      " seq_length: 128, num_experts: 16, moe_router_topk: 4, moe_ffn_hidden_size: 128}\n"
      "training: {global_batch: 12}\n"
      "parallel: {tp: 8, pp: 3, sequence_parallel: true, ep: 8, etp: 1, moe_router_load: {deviation: 0.5}}\n"
      "cluster: {nodes: 3, node: {preset: dgx-h100}}\n");
  const workload::StepPlan loops = plan_step(scenario, workload::Passes::kFewCycles);
  const workload::StepPlan written = plan_step(scenario, workload::Passes::kWrittenOut);
  EXPECT_EQ(loops.hardware_flops, written.hardware_flops);
  EXPECT_EQ(loops.stage_flops, written.stage_flops);
}

}  // namespace
}  // namespace ringwright::configs::folded_scenarios_test
