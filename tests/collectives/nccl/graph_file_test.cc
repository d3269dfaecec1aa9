// NCCL's own graphs from a file.
#include "collectives/nccl/graph_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::collectives::graph_file_test {
namespace {

using ::testing::HasSubstr;

constexpr const char* kGraphs = R"(<graphs version="1">
  <graph id="0" pattern="4" crossnic="0" nchannels="2" speedintra="12" speedinter="10.5" latencyinter="0" typeintra="SYS" typeinter="PIX" samechannels="0">
    <channel><gpu dev="0"/><gpu dev="1"/></channel>
    <channel><gpu dev="1"/><gpu dev="0"/></channel>
  </graph>
  <graph id="1" pattern="3" crossnic="0" nchannels="1" speedintra="24" speedinter="12" typeintra="NVL" typeinter="PXN" samechannels="1">
    <channel><gpu dev="0"/><gpu dev="1"/></channel>
  </graph>
</graphs>
)";

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  return text.replace(text.find(what), what.size(), by);
}

std::string mistake(const std::string& text) {
  auto file = parse_nccl_graphs(text, "g.xml");
  EXPECT_FALSE(file.has_value());
  return file ? "" : render(file.error());
}

TEST(NcclGraphFile, ReadsRingsAndTrees) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value()) << render(file.error());
  EXPECT_EQ(file->ring->channels, 2);
  EXPECT_DOUBLE_EQ(file->ring->between_gb, 10.5);
  EXPECT_EQ(file->ring->inside, NcclPath::kSys);
  EXPECT_EQ(file->rings[1], (std::vector<int>{1, 0}));
  EXPECT_TRUE(file->tree->plain_tree);
  EXPECT_EQ(file->tree->between, NcclPath::kPxn);
  EXPECT_EQ(file->gpus, 2);
  EXPECT_FALSE(file->nvls.has_value());
}

TEST(NcclGraphFile, HoldsForGroupsOfWholeHosts) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value());
  NcclGraphs found;
  found.ring.channels = 7;
  EXPECT_EQ(with_file(found, *file, make_block_layout(4, 2)).ring.channels, 2);
  EXPECT_EQ(with_file(found, *file, make_block_layout(4, 2)).compute_channels, 4);
  EXPECT_EQ(with_file(found, *file, make_block_layout(4, 1)).ring.channels, 7);
}

TEST(NcclGraphFile, GivesRingsAndChainsTheirOrder) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value());
  const GroupLayout hosts = make_block_layout(4, 2);
  const std::vector<std::vector<int>> rings = {{0, 1}, {1, 0}};
  EXPECT_EQ(circles_of_file(*file, NcclAlgorithm::kRing, hosts), rings);
  EXPECT_EQ(circles_of_file(*file, NcclAlgorithm::kTree, hosts), (std::vector<std::vector<int>>{{0, 1}}));
  EXPECT_TRUE(circles_of_file(*file, NcclAlgorithm::kNvls, hosts).empty());
  EXPECT_TRUE(circles_of_file(*file, NcclAlgorithm::kRing, make_block_layout(4, 1)).empty());  // half of each host
}

// Devices are positions in the host, members' places follow their order in the group.
TEST(NcclGraphFile, FindsItsDevicesInGroupsOfAnotherOrder) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value());
  const GroupLayout backwards = make_group_layout({0, 0}, {1, 0});
  EXPECT_EQ(circles_of_file(*file, NcclAlgorithm::kRing, backwards)[0], (std::vector<int>{1, 0}));
  const GroupLayout others = make_group_layout({0, 0}, {4, 5});
  EXPECT_TRUE(circles_of_file(*file, NcclAlgorithm::kRing, others).empty());
}

TEST(NcclGraphFile, RefusesWhatIsWrong) {
  EXPECT_THAT(mistake("<system/>"), HasSubstr("begins with <system>"));
  EXPECT_THAT(mistake("<graphs/>"), HasSubstr("no rings"));
  EXPECT_THAT(mistake(replaced(kGraphs, "nchannels=\"2\"", "nchannels=\"3\"")), HasSubstr("has 2 channels"));
  EXPECT_THAT(mistake(replaced(kGraphs, "\"SYS\"", "\"FAR\"")), HasSubstr("g.xml:2"));
  EXPECT_THAT(mistake(replaced(kGraphs, "speedintra=\"12\"", "speedintra=\"fast\"")), HasSubstr("'fast'"));
  EXPECT_THAT(mistake(replaced(kGraphs, "<gpu dev=\"1\"/></channel>", "<gpu dev=\"0\"/></channel>")),
              HasSubstr("stands twice"));
  EXPECT_THAT(mistake("<graphs>"), HasSubstr("g.xml"));
}

TEST(NcclGraphFile, RingsVisitGpus) {
  const std::string graph =
      "<graphs version=\"1\"><graph id=\"0\" pattern=\"4\" crossnic=\"0\" nchannels=\"1\" speedintra=\"20\" "
      "speedinter=\"20\" typeintra=\"NVL\" typeinter=\"PXB\" samechannels=\"1\">";
  EXPECT_THAT(mistake(graph + "<channel><net dev=\"0\"/></channel></graph></graphs>"), HasSubstr("no GPU"));
  EXPECT_THAT(mistake(replaced(graph, "nchannels=\"1\"", "nchannels=\"0\"") + "</graph></graphs>"),
              HasSubstr("the rings have no channel"));
}

}  // namespace
}  // namespace ringwright::collectives::graph_file_test
