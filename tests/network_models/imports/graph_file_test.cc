#include "network_models/imports/graph_file.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringwright::network_models::graph_file_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::HasSubstr;

// "line:column: message", and the hint after " | " when there is one.
std::vector<std::string> mistakes(std::string_view text) {
  const auto graph = parse_graph(text, "net.csv");
  std::vector<std::string> result;
  if (graph) return result;
  for (const Diagnostic& d : graph.error().all()) {
    EXPECT_EQ(d.code, "E123");
    EXPECT_EQ(d.place.file, "net.csv");
    result.push_back(std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.message +
                     (d.hint.empty() ? "" : " | " + d.hint));
  }
  return result;
}

TEST(GraphFile, ReadsNodesAndLinks) {
  const auto graph = parse_graph(
      "# two GPUs on a switch\n"
      "node, a, gpu\n"
      "node, b, gpu\n"
      "\n"
      "  node,tor-1,switch  \r\n"
      "link,a,tor-1,400Gbps,1.2us\n"
      "link,tor-1,b,50GB/s,500ns,oneway",
      "net.csv");
  ASSERT_TRUE(graph.has_value()) << render(graph.error());
  EXPECT_EQ(graph->node_count(), 3U);
  ASSERT_EQ(graph->link_count(), 3U);
  EXPECT_EQ(graph->name(LinkId(0)), "a->tor-1");
  EXPECT_EQ(graph->name(LinkId(1)), "tor-1->a");
  EXPECT_EQ(graph->name(LinkId(2)), "tor-1->b");
  EXPECT_EQ(graph->link(LinkId(0)).bandwidth, 50_GBps);
  EXPECT_EQ(graph->link(LinkId(2)).latency, 500_ns);
  EXPECT_THAT(graph->gpus(), ElementsAre(NodeId(0), NodeId(1)));
}

TEST(GraphFile, PlacesGpusByIndex) {
  const auto graph = parse_graph("node,a,gpu,2\nnode,b,gpu,0\nnode,c,gpu,1\n", "net.csv");
  ASSERT_TRUE(graph.has_value());
  EXPECT_THAT(graph->gpus(), ElementsAre(NodeId(1), NodeId(2), NodeId(0)));
}

TEST(GraphFile, ReportsAllMistakesOfAFileAtOnce) {
  EXPECT_THAT(
      mistakes("nod,a,gpu\n"
               "node,a\n"
               "node,g0,gpu\n"
               "node,g0,gpu\n"
               "node,s0,swich\n"
               "node,s1,switch,3\n"
               "link,g0,s2,50GB/s,1us\n"
               "link,g0,s1,50,1us\n"
               "link,g0,s1,50GB/s,-1us\n"
               "link,g0,s1,50GB/s,1us,one\n"
               "link,g0,g0,50GB/s,1us\n"
               "link,g0,s1\n"),
      ElementsAre(
          "1:1: a line starts with 'node' or 'link', not 'nod'",
          "2:1: a node has 3 or 4 fields, not 2 | node,NAME,KIND", "4:6: node 'g0' is already defined in line 3",
          "5:9: 'swich' is not a kind of node | did you mean 'switch'?", "6:16: '3' is not a gpu index",
          "7:9: node 's2' is not defined above | did you mean 's0'?",
          "8:12: '50' is not a bandwidth | write 400Gbps or 50GB/s",
          "9:19: '-1us' is not a latency | write 1.2us or 500ns",
          "10:23: 'one' is not 'oneway'", "11:9: a link joins two nodes, not 'g0' with itself",
          "12:1: a link has 5 or 6 fields, not 3 | link,FROM,TO,BANDWIDTH,LATENCY"));
}

TEST(GraphFile, ListsTheKindsWhenNoneIsNear) {
  EXPECT_THAT(mistakes("node,g,gpu\nnode,x,frobnicator\n"), ElementsAre(HasSubstr("kinds: gpu, nvswitch, pcie, cpu")));
}

TEST(GraphFile, WantsGpuIndicesForAllOrNone) {
  EXPECT_THAT(mistakes("node,a,gpu,0\nnode,b,gpu\n"), ElementsAre("2:1: either every gpu has an index or none has"));
  EXPECT_THAT(mistakes("node,a,gpu,0\nnode,b,gpu,2\n"),
              ElementsAre("2:1: gpu index 2 is not below the number of gpus, 2"));
  EXPECT_THAT(mistakes("node,a,gpu,1\nnode,b,gpu,1\n"), ElementsAre("2:1: gpu index 1 is given twice"));
  EXPECT_THAT(mistakes("node,a,switch\n"), ElementsAre("0:1: the file defines no gpu"));
}

TEST(GraphFile, ShowsTheLineAndPointsAtTheField) {
  const auto graph = parse_graph("node,g0,gpu\nlink,g0,nowhere,50GB/s,1us\n", "net.csv");
  ASSERT_FALSE(graph.has_value());
  EXPECT_THAT(render(graph.error().all().front()),
              HasSubstr("net.csv:2:9: error[E123]: node 'nowhere' is not defined above"));
  EXPECT_THAT(render(graph.error().all().front()), HasSubstr("link,g0,nowhere,50GB/s,1us"));
  EXPECT_EQ(graph.error().all().front().caret_length, 7);
}

}  // namespace
}  // namespace ringwright::network_models::graph_file_test
