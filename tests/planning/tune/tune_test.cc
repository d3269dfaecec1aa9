#include "planning/tune/tune.h"

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "configs/scenario/named_machine.h"
#include "planning/tune/tuner_line.h"
#include "tests/support/own_folder.h"

namespace ringwright::planning::tune_test {
namespace {

using namespace ringwright::literals;
using configs::CollectiveOperation;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Two DGX H100.
Result<configs::Scenario> machine(const std::vector<std::string>& settings) {
  std::vector<std::string> all = {"cluster.nodes=2"};
  all.insert(all.end(), settings.begin(), settings.end());
  return configs::load_named_machine("dgx-h100", {.overrides = all, .share_folders = {}});
}

Duration time_of(const std::vector<std::string>& settings, CollectiveOperation operation, Bytes size) {
  const auto scenario = machine(settings);
  EXPECT_TRUE(scenario.has_value()) << (scenario ? "" : render(scenario.error()));
  configs::CollectiveBench bench(*scenario);
  return bench.run({.operation = operation, .bytes = size})->time;
}

TuneOptions some_options() {
  return {.operations = {CollectiveOperation::kAllReduce, CollectiveOperation::kAllGather},
          .sizes = {16_KiB, 1_MiB, 64_MiB, 512_MiB}};
}

const TuneResult& result() {
  static const TuneResult tuned = *tune(machine, some_options());
  return tuned;
}

TEST(Tune, IsNeverSlowerThanNcclsOwnChoice) {
  ASSERT_EQ(result().calls.size(), 8U);
  for (const TunedCall& call : result().calls) {
    EXPECT_LE(call.best_time, call.own_time);
    EXPECT_EQ(call.own_time, time_of({}, call.operation, call.size));
  }
}

// No algorithm with a protocol and NCCL's own channels beats what was found, beyond the gain that counts.
TEST(Tune, NoOtherAlgorithmOrProtocolIsFaster) {
  const TunedCall& call = result().calls[1];  // all-reduce of 1 MiB
  for (const char* const algorithm : {"ring", "tree", "nvlstree"}) {
    for (const char* const protocol : {"ll", "ll128", "simple"}) {
      const Duration other =
          time_of({std::string("comm.env.NCCL_ALGO=") + algorithm, std::string("comm.env.NCCL_PROTO=") + protocol},
                  call.operation, call.size);
      EXPECT_LE(to_seconds(call.best_time), to_seconds(other) / (1.0 - some_options().least_gain))
          << algorithm << ' ' << protocol;
    }
  }
}

// What was found is what a scenario with the written file simulates, for every size.
TEST(Tune, TheFileMakesNcclTakeWhatWasFound) {
  const std::string path = test::own_folder() + "tune_test_tuner.csv";
  std::ofstream(path) << render_tuner_csv(result());
  bool some_faster = false;
  for (const TunedCall& call : result().calls) {
    EXPECT_EQ(time_of({"comm.tuner_config=" + path}, call.operation, call.size), call.best_time)
        << to_string(call.operation) << ' ' << to_string(call.size);
    some_faster = some_faster || call.is_faster();
  }
  EXPECT_TRUE(some_faster);
}

// NCCL's plug-in cannot bring back what variables of the process exclude, so nothing of the kind is proposed. With
// NCCL_ALGO=ring, 64 MiB on two DGX H100 are slower than NVLS trees would be.
TEST(Tune, LeavesOutWhatVariablesExclude) {
  const auto rings = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all = settings;
    all.insert(all.begin(), {"comm.env.NCCL_ALGO=ring", "comm.env.NCCL_MAX_NCHANNELS=8"});
    return machine(all);
  };
  const TuneOptions options{.operations = {CollectiveOperation::kAllReduce}, .sizes = {1_MiB, 256_MiB}};
  const TuneResult tuned = *tune(rings, options);
  for (const TunedCall& call : tuned.calls) {
    EXPECT_FALSE(call.candidates.empty());
    for (const TriedSetting& tried : call.candidates) {
      EXPECT_EQ(tried.setting.algorithm, "ring");
      EXPECT_LE(tried.setting.channels, 8);
    }
  }
}

// A tuner file of the scenario is what the new file replaces: it is not NCCL's own choice.
TEST(Tune, ComparesWithNcclWithoutTheScenariosOwnFile) {
  const std::string path = test::own_folder() + "tune_test_own.csv";
  std::ofstream(path) << "allreduce,0,4294967295,ring,simple,1,-1,-1\n";
  const auto with_file = [&](const std::vector<std::string>& settings) {
    std::vector<std::string> all = settings;
    all.push_back("comm.tuner_config=" + path);
    return machine(all);
  };
  EXPECT_EQ(render_tune_json("m", *tune(with_file, some_options())), render_tune_json("m", result()));
}

// Whatever the scenario's own file asks for, also where the machine cannot do it, the first call is one of NCCL's
// kernels, and the result is that without a file.
TEST(Tune, AnyFileOfTheScenarioGivesTheSameResult) {
  const TuneOptions options{.operations = {CollectiveOperation::kAllReduce}, .sizes = {1_MiB}, .most_channels = 8};
  const std::string without = render_tune_json("m", *tune(machine, options));
  const std::string path = test::own_folder() + "tune_test_any.csv";
  for (const char* const choice : {"tree,ll,4", "nvls_tree,simple,-1", "collnet_chain,simple,-1", "pat,ll,1"}) {
    std::ofstream(path) << "allreduce,0,4294967295," << choice << ",-1,-1\n";
    const auto with_file = [&](const std::vector<std::string>& settings) {
      std::vector<std::string> all = settings;
      all.push_back("comm.tuner_config=" + path);
      return machine(all);
    };
    const auto tuned = tune(with_file, options);
    ASSERT_TRUE(tuned) << choice << ": " << render(tuned.error());
    EXPECT_EQ(render_tune_json("m", *tuned), without) << choice;
  }
}

// 16 ranks and 4 bytes for each at least.
TEST(Tune, LeavesOutSizesWithoutAnElementForEachRank) {
  TuneOptions options{.operations = {CollectiveOperation::kReduceScatter}, .sizes = {1_B, 16_B}};
  EXPECT_TRUE(tune(machine, options)->calls.empty());
  options.sizes.push_back(64_B);
  EXPECT_EQ(tune(machine, options)->calls.size(), 1U);
}

TEST(Tune, NeedsTwoRanks) {
  const auto one = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), {"cluster.nodes=1", "cluster.node.gpus=1"});
    return machine(all);
  };
  const auto refused = tune(one, some_options());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("two ranks"));
}

TEST(Tune, DoesNotDependOnThreads) {
  TuneOptions options = some_options();
  options.workers.threads = 1;
  EXPECT_EQ(render_tune_json("m", *tune(machine, options)), render_tune_json("m", result()));
}

TEST(Tune, RefusesWhatNcclsKernelsDoNotCarryOut) {
  const auto formulas = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all = settings;
    all.insert(all.end(), {"collectives.model=closed_form", "collectives.overhead=none"});
    return machine(all);
  };
  const auto refused = tune(formulas, some_options());
  ASSERT_FALSE(refused.has_value());
  EXPECT_THAT(render(refused.error()), HasSubstr("E520"));
}

TunedCall call_of(Bytes size, const std::string& best, Duration own, Duration best_time) {
  const CallSetting setting{.algorithm = best, .protocol = "simple", .channels = 8};
  return {.operation = CollectiveOperation::kAllReduce,
          .size = size,
          .own = {.algorithm = "ring", .protocol = "simple", .channels = 8},
          .own_time = own,
          .best = setting,
          .best_time = best_time};
}

// The boundary of 1 KiB and 4 KiB is 2 KiB; the last line has no limit; sizes without a gain have no line.
TEST(TunerFile, JoinsNeighboursAndLeavesOutWhatIsBest) {
  TuneResult some{.ranks = 16, .hosts = 2};
  some.calls = {call_of(1_KiB, "nvlstree", 4_us, 3_us), call_of(4_KiB, "ring", 5_us, 5_us),
                call_of(16_KiB, "tree", 9_us, 8_us), call_of(64_KiB, "tree", 20_us, 16_us)};
  EXPECT_EQ(render_tuner_csv(some),
            "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n"
            "allreduce,0,2048,nvls_tree,simple,8,2,16\n"
            "allreduce,8193,4294967295,tree,simple,8,2,16\n");
  // (4/3 x 1 x 9/8 x 20/16)^(1/4) = 1.17
  EXPECT_THAT(render_tune_text(some), HasSubstr("3 of 4 calls can be faster, 1.17x in the geometric mean"));
  EXPECT_THAT(render_tune_json("m", some), StartsWith("{\n  \"schema\": \"ringwright.tune/1\""));
}

TEST(IsTunable, HoldsForWhatNcclChoosesAnAlgorithmFor) {
  EXPECT_TRUE(is_tunable(CollectiveOperation::kReduce));
  EXPECT_FALSE(is_tunable(CollectiveOperation::kAllToAll));
  EXPECT_FALSE(is_tunable(CollectiveOperation::kSendReceive));
}

// AutoCCL's other coordinates: each one more can only help, and what was found is what the machine takes with it. Two
// DGX-1, where threads and buffers make small and large calls faster.
TEST(Tune, ThreadsAndBuffersAreCoordinatesToo) {
  const auto two_dgx1 = [](const std::vector<std::string>& settings) {
    std::vector<std::string> all = {"cluster.nodes=2"};
    all.insert(all.end(), settings.begin(), settings.end());
    return configs::load_named_machine("dgx1-v100", {.overrides = all, .share_folders = {}});
  };
  TuneOptions options{.operations = {CollectiveOperation::kAllReduce}, .sizes = {256_KiB, 128_MiB}};
  const TuneResult channels = *tune(two_dgx1, options);
  options.kernels = true;
  const TuneResult kernels = *tune(two_dgx1, options);
  bool differs = false;
  for (std::size_t i = 0; i < kernels.calls.size(); ++i) {
    const TunedCall& call = kernels.calls[i];
    EXPECT_LE(call.best_time, channels.calls[i].best_time);
    EXPECT_GT(call.tried, channels.calls[i].tried);
    if (!call.is_faster()) continue;
    const std::string path = test::own_folder() + "tune_test_kernels.csv";
    std::ofstream(path) << tuner_line(call.operation, {}, call.best);
    std::vector<std::string> settings = {"comm.tuner_config=" + path};
    for (const std::string& variable : kernel_variables(call.best)) settings.push_back("comm.env." + variable);
    const auto scenario = two_dgx1(settings);
    ASSERT_TRUE(scenario.has_value()) << render(scenario.error());
    configs::CollectiveBench bench(*scenario);
    EXPECT_EQ(bench.run({.operation = call.operation, .bytes = call.size})->time, call.best_time);
    differs = differs || !kernel_variables(call.best).empty();
  }
  EXPECT_TRUE(differs) << "no call is faster with other threads or buffers";
}

TEST(Tune, NamesTheVariablesOfAProtocol) {
  EXPECT_THAT(kernel_variables({.algorithm = "ring", .protocol = "ll128", .threads = 320, .buffer = Bytes(1 << 20)}),
              testing::ElementsAre("NCCL_LL128_NTHREADS=320", "NCCL_LL128_BUFFSIZE=1048576"));
  EXPECT_THAT(kernel_variables({.algorithm = "ring", .protocol = "ll", .threads = 256, .buffer = Bytes(1 << 20)}),
              testing::ElementsAre("NCCL_NTHREADS=256", "NCCL_LL_BUFFSIZE=1048576"));
  EXPECT_THAT(kernel_variables({.algorithm = "ring", .protocol = "simple"}), testing::IsEmpty());
}

}  // namespace
}  // namespace ringwright::planning::tune_test
