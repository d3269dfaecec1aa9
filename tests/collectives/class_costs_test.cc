// The constants that collectives begin with: values of classes, variables of network libraries, ages of libraries.
#include "collectives/class_costs.h"

#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/comm_settings.h"
#include "core/config/config_document.h"
#include "tests/paths.h"
#include "tests/support/own_folder.h"

namespace ringwright::collectives::class_costs_test {
namespace {

using namespace ringwright::literals;
using ::testing::HasSubstr;

struct Found {
  ChannelCosts costs;
  std::string mistakes;
};

// Of a document that is the map `comm`.
Found find(const CostClass& of, const std::string& comm = "{}", const NcclKnobs& knobs = {},
           const std::string& share = share_dir()) {
  auto document = ConfigDocument::load_text("comm.yaml", comm);
  if (!document) return {.costs = {}, .mistakes = render(document.error())};
  ConfigMap map = document->root();
  Diagnostics foreign;
  Found found{.costs = class_costs(map, of, knobs, {.share_folders = {share}}, foreign), .mistakes = ""};
  if (document->log().diagnostics().has_errors()) found.mistakes = render(document->log().diagnostics());
  if (foreign.has_errors()) found.mistakes += render(foreign);
  return found;
}

// A folder with constants of two classes.
std::string folder_of_two() {
  const std::string folder = test::own_folder() + "/costs";
  std::filesystem::create_directories(folder);
  std::ofstream(folder + "/hopper.yaml") << "costs: {launch: 7us, network: {post: 1us}}\n";
  std::ofstream(folder + "/efa.yaml") << "costs: {network: {post: 33us}}\n";
  return folder;
}

TEST(ClassCosts, AreThoseOfTheGpusAndThenOfTheNetwork) {
  const std::string comm = "classes: " + folder_of_two() + "\n";
  const Found over_efa = find({.kernels = "hopper", .transport = "efa"}, comm);
  EXPECT_EQ(over_efa.mistakes, "");
  EXPECT_EQ(over_efa.costs.launch, 7_us);
  EXPECT_EQ(over_efa.costs.network_post, 33_us);
  EXPECT_EQ(find({.kernels = "hopper", .transport = "roce"}, comm).costs.network_post, 1_us);
}

TEST(ClassCosts, AConstantThatNoLogDeterminesKeepsItsPlanningValue) {
  const Found found = find({.kernels = "hopper", .transport = "efa"}, "classes: " + folder_of_two() + "\n");
  EXPECT_EQ(found.costs.network_flush, planning_costs(Generation::kHopper).network_flush);
  const Found planned = find({.kernels = "hopper", .transport = "roce"}, "classes: planning\n");
  EXPECT_EQ(planned.costs.launch, planning_costs(Generation::kHopper).launch);
}

TEST(ClassCosts, OfAFolderThatIsNotThereAreRefused) {
  EXPECT_THAT(find({.kernels = "hopper"}, "classes: hopper\n").mistakes, HasSubstr("E360"));
}

TEST(ClassCosts, ShipWithoutMistakesForEveryGenerationAndNetwork) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(share_dir() + "/costs")) {
    EXPECT_EQ(find({.kernels = entry.path().stem().string(), .transport = ""}).mistakes, "") << entry.path();
    ++files;
  }
  EXPECT_GE(files, 9);
  for (const char* kernels : {"volta", "ampere", "hopper", "blackwell", "cdna3"}) {
    EXPECT_TRUE(std::filesystem::exists(share_dir() + "/costs/" + kernels + ".yaml")) << kernels;
  }
}

// fi_cxi(7): messages up to FI_CXI_RDZV_THRESHOLD, and FI_CXI_RDZV_GET_MIN more, are eager: 16384 + 2049 bytes.
TEST(ClassCosts, VariablesOfSlingshotSetItsRules) {
  const CostClass software{.kernels = "hopper", .transport = "slingshot_software"};
  EXPECT_EQ(find(software).costs.network_eager, Bytes(16384 + 2049));
  EXPECT_TRUE(find(software).costs.network_matched);
  EXPECT_EQ(find(software).costs.network_own_copy, 4_KiB);
  NcclKnobs knobs;
  knobs.cxi_gdrcopy = false;  // every message is copied by a call of the driver
  EXPECT_EQ(find(software, "{}", knobs).costs.network_own_copy, Bytes(0));
  knobs.cxi_rendezvous = Bytes(65536);
  EXPECT_EQ(find(software, "{}", knobs).costs.network_eager, Bytes(65536 + 2049));
  // The NIC matches messages unless a variable says otherwise.
  EXPECT_FALSE(find({.kernels = "hopper", .transport = "slingshot"}).costs.network_matched);
}

// NCCL 2.8 took 1.5 and 1.8 us for each channel (ABCI), 2.20 next to nothing.
TEST(ClassCosts, OldLibrariesTakeLongerForEachChannel) {
  EXPECT_EQ(find({.kernels = "ampere", .version = "2.8.4"}).costs.launch_channel, 1600_ns);
  EXPECT_LT(find({.kernels = "ampere", .version = "2.20.5"}).costs.launch_channel, 300_ns);
  EXPECT_LT(find({.kernels = "ampere"}).costs.launch_channel, 300_ns);
}

TEST(ClassCosts, NetworksFarFromTheNicBeginWithWhatTheirMakersState) {
  const auto post = [](const char* transport) {
    return find({.kernels = "hopper", .transport = transport}, "classes: planning\n").costs.network_post;
  };
  EXPECT_GT(post("efa"), 10_us);
  EXPECT_GT(post("fastrak"), 10_us);
  EXPECT_LT(post("infiniband"), 2_us);
}

}  // namespace
}  // namespace ringwright::collectives::class_costs_test
