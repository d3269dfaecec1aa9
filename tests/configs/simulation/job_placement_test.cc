#include "configs/simulation/job_placement.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"

namespace ringwright::configs::job_placement_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

// Eight hosts of two GPUs in four units.
constexpr std::string_view kMachine =
    "cluster: {nodes: 8, node: {preset: dgx-h100, gpus: 2, pcie: {switches: 2}, nic: {count: 2}}, "
    "fabric: {type: rail_optimized, scalable_unit: 2, leaf: {ports: 4}, spine: {ports: 16}}}\n";

Result<std::vector<JobHosts>> placed(const std::string& jobs) {
  auto machine = load_shared_machine_text("jobs.yaml", std::string(kMachine) + "jobs: [" + jobs + "]\n");
  if (!machine) return tl::unexpected(machine.error());
  return place_jobs(*machine, machine->jobs, machine->cluster.topology->build().fabric);
}

std::vector<std::size_t> gpus_of(const JobHosts& job) {
  std::vector<std::size_t> gpus;
  for (const RankId gpu : job.gpus) gpus.push_back(gpu.index());
  return gpus;
}

TEST(JobPlacement, PackedTakesTheFirstHosts) {
  const auto jobs = placed("{name: a, gpus: 4}, {name: b, gpus: 2}");
  ASSERT_TRUE(jobs);
  EXPECT_THAT(gpus_of((*jobs)[0]), ElementsAre(0U, 1U, 2U, 3U));
  EXPECT_THAT(gpus_of((*jobs)[1]), ElementsAre(4U, 5U));
  EXPECT_EQ((*jobs)[0].units, 1U);
}

TEST(JobPlacement, SmallJobsFillHostsInUse) {
  const auto jobs = placed("{name: a, gpus: 1}, {name: b, gpus: 2}, {name: c, gpus: 1}");
  ASSERT_TRUE(jobs);
  EXPECT_THAT(gpus_of((*jobs)[1]), ElementsAre(2U, 3U));
  EXPECT_THAT(gpus_of((*jobs)[2]), ElementsAre(1U));
}

TEST(JobPlacement, SpreadTakesEveryUnitInTurn) {
  const auto jobs = placed("{name: a, gpus: 8, placement: spread}");
  ASSERT_TRUE(jobs);
  EXPECT_THAT(gpus_of((*jobs)[0]), ElementsAre(0U, 1U, 4U, 5U, 8U, 9U, 12U, 13U));
  EXPECT_EQ((*jobs)[0].units, 4U);
}

TEST(JobPlacement, RailAlignedStaysInOneUnitWhereItFits) {
  const auto jobs = placed("{name: a, gpus: 2}, {name: b, gpus: 4, placement: rail_aligned}, "
                           "{name: c, gpus: 2, placement: rail_aligned}");
  ASSERT_TRUE(jobs);
  EXPECT_THAT(gpus_of((*jobs)[1]), ElementsAre(4U, 5U, 6U, 7U));
  EXPECT_THAT(gpus_of((*jobs)[2]), ElementsAre(2U, 3U));  // what is left of the unit of a
  EXPECT_EQ((*jobs)[1].units, 1U);
}

TEST(JobPlacement, RandomDependsOnTheSeedAlone) {
  const std::string job = "{name: a, gpus: 6, placement: random}";
  ASSERT_TRUE(placed(job));
  EXPECT_EQ(gpus_of(placed(job)->front()), gpus_of(placed(job)->front()));
}

TEST(JobPlacement, HostsAreInTheOrderOfTheList) {
  const auto jobs = placed("{name: a, gpus: 2, gpus_per_host: 1, hosts: [5, 1]}");
  ASSERT_TRUE(jobs);
  EXPECT_THAT(gpus_of((*jobs)[0]), ElementsAre(10U, 2U));
}

TEST(JobPlacement, AJobWithoutAPlaceIsAnError) {
  const auto too_many = placed("{name: a, gpus: 14}, {name: b, gpus: 4}");
  ASSERT_FALSE(too_many);
  EXPECT_THAT(render(too_many.error()), HasSubstr("job 'b': it takes 2 hosts with 2 free GPUs"));
  const auto taken = placed("{name: a, gpus: 2}, {name: b, gpus: 2, hosts: [0]}");
  ASSERT_FALSE(taken);
  EXPECT_THAT(render(taken.error()), HasSubstr("host 0 has 0 free GPUs"));
  const auto twice = placed("{name: a, gpus: 4, hosts: [1, 1]}");
  ASSERT_FALSE(twice);
  EXPECT_THAT(render(twice.error()), HasSubstr("host 1 is listed twice"));
}

TEST(JobEntries, SayWhatIsWrong) {
  const auto message = [](const std::string& jobs) {
    const auto result = placed(jobs);
    return result ? std::string("accepted") : render(result.error());
  };
  EXPECT_THAT(message("{name: a, gpus: 3}"), HasSubstr("no multiple of the 2 GPUs"));
  EXPECT_THAT(message("{name: a, gpus: 2}, {name: a, gpus: 2}"), HasSubstr("two jobs have the name 'a'"));
  EXPECT_THAT(message("{name: a, gpus: 2, set: {cluster.nodes: 2}}"), HasSubstr("key of the machine"));
  EXPECT_THAT(message("{name: a, gpus: 4, hosts: [1]}"), HasSubstr("lists 1 hosts"));
  EXPECT_THAT(message("{name: a, gpus: 2, hosts: [1], placement: packed}"), HasSubstr("chooses others"));
  EXPECT_THAT(message(""), HasSubstr("the file lists no jobs"));
}

TEST(JobEntries, OfOtherCommandsAreRefused) {
  const auto scenario = load_scenario_text(
      "jobs.yaml", std::string(kMachine) + "model: {preset: llama3-8b}\nparallel: {tp: 2, dp: auto}\n"
                                           "training: {global_batch: 16}\njobs: [{name: a, gpus: 2}]\n");
  ASSERT_FALSE(scenario);
  EXPECT_THAT(render(scenario.error()), HasSubstr("ringwright jobs FILE"));
}

}  // namespace
}  // namespace ringwright::configs::job_placement_test
