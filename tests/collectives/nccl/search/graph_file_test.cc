// NCCL's own graphs from a file.
#include "collectives/nccl/search/graph_file.h"

#include <array>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collectives/nccl/search/host_paths.h"

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
  EXPECT_EQ(file->ring->orders[1], (std::vector<int>{1, 0}));
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

HostPaths paths(const NcclGraphFile& file, NcclAlgorithm algorithm, const GroupLayout& layout) {
  return host_paths({}, with_file({}, file, layout), algorithm, layout, 2);
}

TEST(NcclGraphFile, GivesRingsAndChainsTheirOrder) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value());
  const GroupLayout hosts = make_block_layout(4, 2);
  const std::vector<std::vector<HostPath>> rings = {{{.order = {0, 1}}, {.order = {1, 0}}}};
  EXPECT_EQ(paths(*file, NcclAlgorithm::kRing, hosts).paths, rings);
  const std::vector<std::vector<HostPath>> chains = {{{.order = {0, 1}}, {.order = {0, 1}}}};  // their rings differ
  EXPECT_EQ(paths(*file, NcclAlgorithm::kTree, hosts).paths, chains);
  EXPECT_TRUE(paths(*file, NcclAlgorithm::kNvls, hosts).paths.empty());
  EXPECT_TRUE(paths(*file, NcclAlgorithm::kRing, make_block_layout(4, 1)).paths.empty());  // half of each host
}

// If only some of a graph's channels name NICs, none are used.
TEST(NcclGraphFile, GivesRingsTheirNics) {
  const std::string one = replaced(kGraphs, "<gpu dev=\"0\"/><gpu dev=\"1\"/></channel>",
                                   "<net dev=\"3\"/><gpu dev=\"0\"/><gpu dev=\"1\"/><net dev=\"2\"/></channel>");
  const std::string both = replaced(one, "<gpu dev=\"1\"/><gpu dev=\"0\"/></channel>",
                                    "<net dev=\"2\"/><gpu dev=\"1\"/><gpu dev=\"0\"/><net dev=\"2\"/></channel>");
  EXPECT_TRUE(parse_nccl_graphs(one, "g.xml")->ring->ports.empty());
  const std::vector<std::array<int, 2>> ports = {{3, 2}, {2, 2}};
  EXPECT_EQ(parse_nccl_graphs(both, "g.xml")->ring->ports, ports);
}

// Devices are positions in the host; member positions follow their order in the group.
TEST(NcclGraphFile, FindsItsDevicesInGroupsOfAnotherOrder) {
  auto file = parse_nccl_graphs(kGraphs, "g.xml");
  ASSERT_TRUE(file.has_value());
  const GroupLayout backwards = make_group_layout({0, 0}, {1, 0});
  EXPECT_EQ(paths(*file, NcclAlgorithm::kRing, backwards).paths[0][0].order, (std::vector<int>{1, 0}));
  const GroupLayout others = make_group_layout({0, 0}, {4, 5});
  EXPECT_TRUE(paths(*file, NcclAlgorithm::kRing, others).paths.empty());
}

TEST(NcclGraphFile, RefusesWhatIsWrong) {
  EXPECT_THAT(mistake("<system/>"), HasSubstr("begins with <system>"));
  EXPECT_THAT(mistake("<graphs/>"), HasSubstr("no rings"));
  EXPECT_THAT(mistake(replaced(kGraphs, "nchannels=\"2\"", "nchannels=\"3\"")), HasSubstr("has 2 channels"));
  EXPECT_THAT(mistake(replaced(kGraphs, "\"SYS\"", "\"FAR\"")), HasSubstr("g.xml:2"));
  EXPECT_THAT(mistake(replaced(kGraphs, "speedintra=\"12\"", "speedintra=\"fast\"")), HasSubstr("'fast'"));
  EXPECT_THAT(mistake(replaced(kGraphs, "<gpu dev=\"1\"/></channel>", "<gpu dev=\"0\"/></channel>")),
              HasSubstr("is listed twice"));
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
