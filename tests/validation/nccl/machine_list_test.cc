#include "validation/nccl/machine_list.h"

#include <filesystem>
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/paths.h"
#include "validation/tables/shipped_files.h"

namespace ringwright::validation::machine_list_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr const char* kTwo =
    "machine,sources,gpu,gpus_per_process,timing,fitted\n"
    "north,example.org/north mirror.org/n,h100,8,,one_host two_hosts\n"
    "north-old,example.org/north,a100,,alone PyTorch,\n";

[[nodiscard]] traces::CollectiveLog log_from(const std::string& source, const std::string& file = "x.csv") {
  traces::CollectiveLog log;
  log.file = file;
  log.facts["source"] = source;
  return log;
}

TEST(MachineList, ALogBelongsToTheMachineOfItsSourceAndGpu) {
  const auto machines = parse_machines("machines.csv", kTwo);
  ASSERT_TRUE(machines.has_value()) << render(machines.error());
  EXPECT_EQ(find_machine(*machines, log_from("https://mirror.org/n/3"), "h100")->name, "north");
  EXPECT_EQ(find_machine(*machines, log_from("example.org/north"), "a100")->name, "north-old");
  EXPECT_EQ(find_machine(*machines, log_from("example.org/north"), "v100"), nullptr);
  EXPECT_EQ(find_machine(*machines, log_from("example.org/south"), "h100"), nullptr);
  EXPECT_EQ(find_machine(*machines, log_from(""), "h100"), nullptr);
}

TEST(MachineList, MayStateFurtherSettingsOfAMachine) {
  const auto read = [](const std::string& setting) {
    return parse_machines(
        "machines.csv", "machine,sources,gpu,gpus_per_process,timing,fitted,settings\nn,s,h100,,,x," + setting + "\n");
  };
  EXPECT_THAT(read("a.b=1 c=2")->front().settings, ElementsAre("a.b=1", "c=2"));
  EXPECT_THAT(read("")->front().settings, IsEmpty());
  EXPECT_THAT(parse_machines("machines.csv", kTwo)->front().settings, IsEmpty());
  const auto wrong = read("gpudirect");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(render(wrong.error()), HasSubstr("'gpudirect' is no setting"));
}

TEST(MachineList, StatesWhichLogsAProfileWasFittedOn) {
  const auto machines = parse_machines("machines.csv", kTwo);
  ASSERT_TRUE(machines.has_value());
  EXPECT_THAT(machines->front().fitted, ElementsAre("one_host", "two_hosts"));
  EXPECT_TRUE(is_fitted_on(machines->front(), log_from("", "/logs/two_hosts.csv")));
  EXPECT_FALSE(is_fitted_on(machines->front(), log_from("", "/logs/four_hosts.csv")));
  EXPECT_THAT((*machines)[1].fitted, IsEmpty());
}

TEST(MachineList, MayStateHowManyGpusAThreadDrives) {
  const auto machines = parse_machines("machines.csv", kTwo);
  ASSERT_TRUE(machines.has_value());
  EXPECT_EQ(machines->front().gpus_per_process, 8);
  EXPECT_EQ((*machines)[1].gpus_per_process, std::nullopt);
  for (const std::string wrong : {"0", "all", "8x"}) {
    const auto parsed = parse_machines("machines.csv",
                                     "machine,sources,gpu,gpus_per_process,timing,fitted\nn,s,h100," + wrong + ",,x\n");
    ASSERT_FALSE(parsed.has_value()) << wrong;
    EXPECT_THAT(render(parsed.error()), HasSubstr("'" + wrong + "' is no number of GPUs"));
  }
}

TEST(MachineList, MayStateHowCallsWereTimed) {
  const auto machines = parse_machines("machines.csv", kTwo);
  ASSERT_TRUE(machines.has_value());
  EXPECT_EQ(machines->front().timing, CallTiming::kInARow);  // not given: as nccl-tests does
  EXPECT_EQ((*machines)[1].timing, CallTiming::kAlonePyTorch);
  const auto wrong =
      parse_machines("machines.csv", "machine,sources,gpu,gpus_per_process,timing,fitted\nn,s,h100,,torch,x\n");
  ASSERT_FALSE(wrong.has_value());
  EXPECT_THAT(render(wrong.error()), HasSubstr("'torch' is no valid timing of calls"));
}

TEST(MachineList, MistakesAreReportedWithTheirPlace) {
  const auto no_column = parse_machines("machines.csv", "machine,gpu,fitted\nnorth,h100,x\n");
  ASSERT_FALSE(no_column.has_value());
  EXPECT_THAT(render(no_column.error()), HasSubstr("no column 'sources'"));
  const auto no_source =
      parse_machines("machines.csv", "machine,sources,gpu,gpus_per_process,timing,fitted\nnorth,,h100,,,x\n");
  ASSERT_FALSE(no_source.has_value());
  EXPECT_THAT(render(no_source.error()), HasSubstr("machines.csv:2"));
}

TEST(MachineList, TellsMachinesOfOneSourceApartByTheirNics) {
  const auto machines = parse_machines("machines.csv",
                                       "machine,sources,gpu,gpus_per_process,timing,fitted,settings,nic\n"
                                       "north,example.org,h100,,,north_n2,,fast\n"
                                       "south,example.org,h100,,,south_n1,,slow\n");
  ASSERT_TRUE(machines.has_value()) << render(machines.error());
  traces::CollectiveLog log;
  log.nodes = 2;
  log.facts = {{"source", "example.org/logs"}, {"nic", "8 x slow"}};
  EXPECT_EQ(find_machine(*machines, log, "h100")->name, "south");
  log.facts["nic"] = "8 x new";
  EXPECT_EQ(find_machine(*machines, log, "h100"), nullptr);
  // Within one host there are no NICs: the list names the log.
  log.nodes = 1;
  EXPECT_EQ(find_machine(*machines, log, "h100"), nullptr);
  log.file = "logs/south_n1.csv";
  EXPECT_EQ(find_machine(*machines, log, "h100")->name, "south");
}

TEST(MachineList, OfTheShippedOnesNamesLogsAndProfilesThatAreThere) {
  const auto machines = read_machines();
  ASSERT_TRUE(machines.has_value()) << render(machines.error());
  for (const ListedMachine& machine : *machines) {
    EXPECT_TRUE(std::filesystem::exists(share_dir() + "/profiles/" + machine.name + ".yaml")) << machine.name;
    EXPECT_THAT(machine.fitted, Not(IsEmpty())) << machine.name;
    for (const std::string& log : machine.fitted) {
      EXPECT_TRUE(std::filesystem::exists(shipped_folder("nccl") + "/" + log + ".csv")) << log;
    }
  }
}

}  // namespace
}  // namespace ringwright::validation::machine_list_test
