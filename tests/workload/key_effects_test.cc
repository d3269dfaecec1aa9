#include "workload/key_effects.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::workload::key_effects_test {
namespace {

using testing::Contains;
using testing::Not;

// Keys listed as without effect where a user gives these values.
std::vector<std::string> idle(const std::vector<std::pair<std::string, std::string>>& values) {
  ConfigLog log;
  for (const auto& [path, text] : values) {
    log.add(ValueRead{.path = path, .text = text, .canonical = text, .origin = "file.yaml:1"});
  }
  list_without_effect(workload_key_effects(), SettingValues(log), log);
  std::vector<std::string> paths;
  for (const IgnoredKey& key : log.ignored()) paths.push_back(key.path);
  return paths;
}

TEST(WorkloadKeyEffects, KernelsOfExpertsNeedExperts) {
  for (const std::string key : {"training.moe_permute_fusion", "training.moe_router_fusion",
                                "training.moe_grouped_gemm", "compute.host_read"}) {
    EXPECT_THAT(idle({{key, "1"}, {"model.num_experts", "0"}}), Contains(key));
    EXPECT_THAT(idle({{key, "1"}, {"model.num_experts", "8"}}), Not(Contains(key)));
  }
  EXPECT_THAT(idle({{"compute.host_read", "1"}, {"recommendation.global_batch", "64"}}),
              Not(Contains("compute.host_read")));
  EXPECT_THAT(idle({{"compute.host_read", "1"}, {"model.num_experts", "8"}, {"compute.cuda_graphs", "true"}}),
              Contains("compute.host_read"));
  const auto padded = [](const char* capacity) {
    return idle({{"compute.host_read", "1"},
                 {"model.num_experts", "8"},
                 {"parallel.moe_pad_expert_input_to_capacity", "true"},
                 {"parallel.moe_expert_capacity_factor", capacity}});
  };
  EXPECT_THAT(padded("1"), Contains("compute.host_read"));
  EXPECT_THAT(padded("0"), Not(Contains("compute.host_read")));
}

TEST(WorkloadKeyEffects, LatentAttentionHasNormsOfItsOwn) {
  const auto norm = [](const char* latent) {
    return idle({{"model.qk_layernorm", "true"}, {"model.multi_latent_attention", latent}});
  };
  EXPECT_THAT(norm("true"), Contains("model.qk_layernorm"));
  EXPECT_THAT(norm("false"), Not(Contains("model.qk_layernorm")));
}

TEST(WorkloadKeyEffects, TokensTravelBetweenRanks) {
  for (const std::string key : {"parallel.moe_token_dispatcher_type", "parallel.moe_fp8_dispatch"}) {
    EXPECT_THAT(idle({{key, "flex"}, {"parallel.ep", "1"}, {"parallel.etp", "1"}}), Contains(key));
    EXPECT_THAT(idle({{key, "flex"}, {"parallel.ep", "1"}, {"parallel.etp", "2"}}), Not(Contains(key)));
    EXPECT_THAT(idle({{key, "flex"}, {"parallel.ep", "2"}, {"parallel.etp", "1"}}), Not(Contains(key)));
  }
  EXPECT_THAT(idle({{"parallel.moe_router_load.deviation", "1"}, {"parallel.ep", "1"}}),
              Contains("parallel.moe_router_load"));
}

// DeepEP sorts tokens in kernels of its own.
TEST(WorkloadKeyEffects, ThePermutationOfDeepEpIsNotAnOption) {
  const auto with = [](const std::string& dispatcher, const std::string& backend, const std::string& ep) {
    return idle({{"training.moe_permute_fusion", "false"},
                 {"model.num_experts", "8"},
                 {"parallel.ep", ep},
                 {"parallel.moe_token_dispatcher_type", dispatcher},
                 {"parallel.moe_flex_dispatcher_backend", backend}});
  };
  EXPECT_THAT(with("flex", "deepep", "8"), Contains("training.moe_permute_fusion"));
  EXPECT_THAT(with("flex", "hybridep", "8"), Not(Contains("training.moe_permute_fusion")));
  EXPECT_THAT(with("alltoall", "deepep", "8"), Not(Contains("training.moe_permute_fusion")));
  EXPECT_THAT(with("flex", "deepep", "1"), Not(Contains("training.moe_permute_fusion")));
}

TEST(WorkloadKeyEffects, SharedExpertsOverlapWhereThereAreSome) {
  const std::string key = "parallel.moe_shared_expert_overlap";
  EXPECT_THAT(idle({{key, "true"}, {"model.moe_shared_expert_intermediate_size", "0"}}), Contains(key));
  EXPECT_THAT(idle({{key, "true"}, {"model.moe_shared_expert_intermediate_size", "512"}}), Not(Contains(key)));
}

}  // namespace
}  // namespace ringwright::workload::key_effects_test
