#include "planning/sharing/sharing.h"

#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/configs/played.h"

namespace ringwright::planning::sharing_test {
namespace {

using testing::HasSubstr;

const std::string kJobs = std::string(configs::kTinyModel) +
                          "name: pair\ntraining: {global_batch: 32}\nparallel: {tp: 2, dp: auto}\n"
                          "cluster: {nodes: 4, node: {preset: dgx-h100}, fabric: {type: rail_optimized, "
                          "scalable_unit: 2, leaf: {ports: 4, oversubscription: 2}, spine: {ports: 16}}}\n"
                          "jobs:\n  - {name: a, gpus: 16}\n";
const std::string kTwin = "  - {name: b, gpus: 16}\n";

SharingResult shared_by(const std::string& text, Placements placements = Placements::kAsGiven, int threads = 0) {
  const auto shared = configs::load_shared_text("pair.yaml", text);
  if (!shared) throw std::runtime_error(render(shared.error()));
  return share_machine(*shared, {.placements = placements, .workers = {.threads = threads}});
}

TEST(Sharing, PlacementsAreCompared) {
  const SharingResult result = shared_by(kJobs + kTwin, Placements::kAll);
  ASSERT_EQ(result.arrangements.size(), 5U);
  const Arrangement& packed = result.arrangements[1];
  const Arrangement& spread = result.arrangements[2];
  EXPECT_EQ(packed.contended_links, 0U);
  for (const SharedJob& job : packed.jobs) {
    EXPECT_EQ(job.alone.step.mean, job.together.step.mean);
    EXPECT_EQ(job.units, 1U);
  }
  // Both have a host under each leaf, whose uplink they share.
  EXPECT_GT(spread.contended_links, 0U);
  for (const SharedJob& job : spread.jobs) {
    EXPECT_GT(job.slowdown(), 1.0);
    EXPECT_EQ(job.units, 2U);
  }
  for (const ContendedLink& link : spread.links) {
    EXPECT_GT(link.alone[0], 0.0);
    EXPECT_GT(link.alone[1], 0.0);
  }
}

// Random placements are drawn with it; all others need no seed.
TEST(Sharing, TheSeedHasAnEffectOnRandomPlacements) {
  const auto warnings = [](const std::string& placement) {
    const std::string other = "  - {name: c, gpus: 16, placement: " + placement + "}\n";
    const auto shared = configs::load_shared_text("pair.yaml", kJobs + other + "simulate: {seed: 3}\n");
    return shared ? render(warnings_of(*shared)) : render(shared.error());
  };
  EXPECT_THAT(warnings("random"), testing::Not(HasSubstr("simulate.seed")));
  EXPECT_THAT(warnings("packed"), HasSubstr("simulate.seed has no effect"));
}

// A slowdown of 1 is then the model's, not the machine's.
TEST(Sharing, WarnsWhereNoJobCanMeetAnother) {
  const auto warnings = [](const std::string& more) {
    return render(warnings_of(*configs::load_shared_text("pair.yaml", kJobs + more)));
  };
  const std::string formulas = "collectives: {model: closed_form}\n";
  EXPECT_THAT(warnings(kTwin + formulas), HasSubstr("jobs has no effect in part: collectives of 'collectives.model"));
  EXPECT_THAT(warnings(kTwin + "simulate: {network: alpha_beta}\n"), HasSubstr("transfers do not share links"));
  EXPECT_THAT(warnings(kTwin), testing::Not(HasSubstr("jobs has no effect")));
  EXPECT_THAT(warnings(formulas), testing::Not(HasSubstr("jobs has no effect")));  // one job
}

TEST(Sharing, RefusesAsynchronousParameterServers) {
  const auto shared = configs::load_shared_text(
      "servers.yaml",
      "layer_table: {preset: resnet50, global_batch: 64, parameter_server: {servers: 1, updates: async}}\n"
      "cluster: {nodes: 4, node: {preset: dgx1-v100}, fabric: {type: fat_tree}}\n"
      "jobs: [{name: a, gpus: 16}, {name: b, gpus: 16}]\n");
  ASSERT_FALSE(shared);
  EXPECT_THAT(render(shared.error()), HasSubstr("have no common training step"));
}

TEST(Sharing, KeysWithoutEffectAreNamedWithTheJobsThatTheyConcern) {
  const auto shared = configs::load_shared_text(
      "shared.yaml",
      std::string(configs::kTinyModel) +
          "training: {global_batch: 64}\nparallel: {dp: auto, cp_comm_type: a2a}\n"
          "data_pipeline: {cpu_per_sample: 1ms, local_workers: 2}\n"
          "cluster: {nodes: 2, node: {preset: dgx-h100}, fabric: {type: rail_optimized}}\n"
          "jobs: [{name: a, gpus: 8, set: {training.local_sgd.workers: 2, training.local_sgd.sync_every: 6, "
          "training.local_sgd.fragments: 2}},\n"
          "       {name: b, gpus: 8, set: {parallel.sequence_parallel: true}}]\n");
  ASSERT_TRUE(shared) << render(shared.error());
  const std::string text = render(warnings_of(*shared));
  EXPECT_THAT(text, HasSubstr("W131]: parallel.cp_comm_type has no effect"));
  EXPECT_THAT(text, HasSubstr("W131]: data_pipeline.cpu_per_sample has no effect"));
  EXPECT_THAT(text, HasSubstr("W131]: job b: parallel.sequence_parallel has no effect"));
  EXPECT_THAT(text, HasSubstr("job a: training.local_sgd has no effect in part: steps with an exchange of parameters, "
                              "one in 3, are not simulated"));
}

TEST(Sharing, DoesNotDependOnThreads) {
  EXPECT_EQ(render_sharing_json(shared_by(kJobs + kTwin, Placements::kAll, 1)),
            render_sharing_json(shared_by(kJobs + kTwin, Placements::kAll, 2)));
}

TEST(Sharing, PrintsJobsAndLinks) {
  const std::string text = render_sharing_text(shared_by(kJobs + kTwin, Placements::kAll));
  for (const char* part : {"pair: 2 jobs on 4 hosts with 32 GPUs", "placement: spread", "slowdown by placement",
                           "no link carries the traffic of two jobs", "leaf0.0->spine"}) {
    EXPECT_THAT(text, HasSubstr(part));
  }
}

TEST(Sharing, AJobThatDoesNotFitIntoMemoryIsNamed) {
  const SharingResult result =
      shared_by(kJobs +
                "  - {name: b, gpus: 16, set: {model.hidden_size: 16384, model.num_layers: 64}}\n"
                "collectives: {overhead: none}\n");  // kernels of its gradients have many chunks
  ASSERT_EQ(result.too_large.size(), 1U);
  EXPECT_THAT(result.too_large.front(), HasSubstr("b: stage 0 needs"));
}

// 80 and 40 GB: a job of about 50 GiB fits on hosts of the first group alone.
TEST(Sharing, MemoryIsThatOfTheHostsOfAJob) {
  const auto too_large = [](const std::string& hosts) {
    return shared_by(
               "name: mixed\nmodel: {num_layers: 28, hidden_size: 2560, num_attention_heads: 32, "
               "ffn_hidden_size: 10240, vocab_size: 32000, seq_length: 1024}\n"
               "training: {global_batch: 8}\nparallel: {dp: auto}\n"
               "cluster: {groups: [{nodes: 1, node: {preset: dgx-a100}}, {nodes: 1, node: {preset: dgx-a100, "
               "gpu: {preset: a100-sxm4-40gb}}}], fabric: {type: fat_tree}}\n"
               "jobs: [{name: a, gpus: 8, hosts: [" +
               hosts + "]}]\n")
        .too_large;
  };
  EXPECT_THAT(too_large("0"), testing::IsEmpty());
  EXPECT_THAT(too_large("1"), testing::ElementsAre(HasSubstr(" of 40 GiB")));
}

TEST(Sharing, WhatNoJobNoticesIsNamed) {
  const auto notes = [](const std::string& more) { return shared_by(kJobs + more).notes; };
  EXPECT_THAT(notes("faults: [{node: 0, compute_scale: 0.5}, {nic: host0/nic0}]\n"), testing::IsEmpty());
  const std::string late =
      "faults: [{node: 3, compute_scale: 0.5}, {nic: host0/nic0, at: 1h}]\n"
      "background: [{from: [0], to: [8], size: 1MB}, {from: [0], to: [8], size: 1MB, at: 1h}]\n";
  EXPECT_THAT(notes(late), testing::ElementsAre(HasSubstr("'host0/nic0 down from 3600 s on' has no effect: the run"),
                                                HasSubstr("from 3600 s on, priority low has no effect: the run ends"),
                                                HasSubstr("host3, which is slow, has no effect: no job is on it")));
  const SharingResult result = shared_by(kJobs + late);
  EXPECT_THAT(render_sharing_text(result), HasSubstr("no job is on it"));
  EXPECT_THAT(render_sharing_json(result), HasSubstr("no job is on it"));
}

TEST(Sharing, StepsAreNotPriced) {
  const auto shared = configs::load_shared_text("pair.yaml", kJobs + "cost: {usd_per_gpu_hour: 2}\n");
  ASSERT_TRUE(shared);
  EXPECT_THAT(render(warnings_of(*shared)), HasSubstr("cost has no effect: steps of several jobs"));
}

TEST(Sharing, AnArrangementThatFailsSaysWhy) {
  const SharingResult result = shared_by(kJobs + kTwin + "  - {name: c, gpus: 8}\n");
  EXPECT_EQ(result.arrangements.front().code, "E481");
  EXPECT_THAT(render_sharing_text(result), HasSubstr("job 'c'"));
}

}  // namespace
}  // namespace ringwright::planning::sharing_test
