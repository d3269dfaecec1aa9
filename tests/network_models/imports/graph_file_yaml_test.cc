#include "network_models/imports/graph_file_yaml.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/imports/graph_file.h"
#include "tests/paths.h"

namespace ringwright::network_models::graph_file_yaml_test {
namespace {

using namespace ringwright::literals;
using testing::ElementsAre;
using testing::HasSubstr;

Result<Fabric> read(std::string_view text) {
  auto document = ConfigDocument::load_text("net.yaml", text);
  if (!document) return tl::unexpected(document.error());
  return read_graph_document(std::move(*document));
}

// "line:column: code message", and the hint after " | " when there is one.
std::vector<std::string> mistakes(std::string_view text) {
  const auto graph = read(text);
  std::vector<std::string> result;
  if (graph) return result;
  for (const Diagnostic& d : graph.error().all()) {
    EXPECT_EQ(d.place.file, "net.yaml");
    result.push_back(std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.code + " " +
                     d.message + (d.hint.empty() ? "" : " | " + d.hint));
  }
  return result;
}

constexpr std::string_view kPair =
    "nodes:\n"
    "  - {name: a, kind: gpu}\n"
    "  - {name: b, kind: gpu}\n"
    "  - {name: tor-1, kind: switch}\n";

TEST(GraphFileYaml, ReadsNodesAndLinks) {
  const auto graph = read(std::string(kPair) +
                          "links:\n"
                          "  - {from: a, to: tor-1, bandwidth: 400Gbps, latency: 1.2us}\n"
                          "  - {from: tor-1, to: b, bandwidth: 50GB/s, latency: 500ns, duplex: false}\n");
  ASSERT_TRUE(graph.has_value()) << render(graph.error());
  EXPECT_EQ(graph->node_count(), 3U);
  ASSERT_EQ(graph->link_count(), 3U);
  EXPECT_EQ(graph->name(LinkId(0)), "a->tor-1");
  EXPECT_EQ(graph->name(LinkId(1)), "tor-1->a");
  EXPECT_EQ(graph->name(LinkId(2)), "tor-1->b");
  EXPECT_EQ(graph->link(LinkId(0)).bandwidth, 50_GBps);
  EXPECT_EQ(graph->link(LinkId(1)).latency, 1200_ns);
  EXPECT_EQ(graph->link(LinkId(2)).latency, 500_ns);
  EXPECT_THAT(graph->gpus(), ElementsAre(NodeId(0), NodeId(1)));
}

TEST(GraphFileYaml, PlacesGpusByIndex) {
  const auto graph =
      read("nodes: [{name: a, kind: gpu, index: 2}, {name: b, kind: gpu, index: 0}, {name: c, kind: gpu, index: 1}]\n");
  ASSERT_TRUE(graph.has_value());
  EXPECT_THAT(graph->gpus(), ElementsAre(NodeId(1), NodeId(2), NodeId(0)));
}

TEST(GraphFileYaml, ReportsMistakesInNodes) {
  EXPECT_THAT(
      mistakes("nodes:\n"
               "  - {name: g0, kind: gpu}\n"
               "  - {name: g0, kind: gpu}\n"
               "  - {name: s0, kind: swich}\n"
               "  - {name: s1, kind: switch, index: 3}\n"
               "  - {name: \"\", kind: gpu}\n"
               "  - {name: s2}\n"
               "links: [{from: g0, to: s2, bandwidth: 1GB/s, latency: 1us}]\n"),
      ElementsAre("3:12: E123 node 'g0' is already defined in line 2",
                  "4:22: E123 'swich' is not a kind of node | did you mean 'switch'?",
                  "5:37: E123 only a gpu has an index, not a switch", "6:12: E123 a node needs a name",
                  "7:5: E104 missing key 'nodes[5].kind' | kind: gpu, nic, switch, ... (a text)"));
}

TEST(GraphFileYaml, ReportsMistakesInLinks) {
  EXPECT_THAT(mistakes(std::string(kPair) + "links:\n"
                                            "  - {from: a, to: tor-2, bandwidth: 50GB/s, latency: 1us}\n"
                                            "  - {from: a, to: a, bandwidth: 50GB/s, latency: 1us}\n"
                                            "  - {from: a, to: tor-1, bandwidth: 0GB/s, latency: -1us}\n"
                                            "  - {from: a, to: tor-1, bandwidth: 50, latency: 1us, duplx: false}\n"
                                            "  - {to: tor-1, bandwidth: 50GB/s, latency: 1us}\n"),
              ElementsAre("6:19: E123 node 'tor-2' is not in the list of nodes | did you mean 'tor-1'?",
                          "7:19: E123 a link joins two nodes, not 'a' with itself",
                          HasSubstr("8:37: E106 'links[2].bandwidth' is 0GB/s but must be"),
                          HasSubstr("8:53: E106 'links[2].latency' is -1us but must be"),
                          HasSubstr("9:37: E110 'links[3].bandwidth' = 50 needs a unit"),
                          HasSubstr("10:5: E104 missing key 'links[4].from'"),
                          HasSubstr("9:55: E102 unknown key 'links[3].duplx'; did you mean 'duplex'?")));
}

TEST(GraphFileYaml, WantsGpuIndicesForAllOrNone) {
  EXPECT_THAT(mistakes("nodes: [{name: a, kind: gpu, index: 0}, {name: b, kind: gpu}]\n"),
              ElementsAre("1:41: E123 either every gpu has an index or none has"));
  EXPECT_THAT(mistakes("nodes: [{name: a, kind: gpu, index: 0}, {name: b, kind: gpu, index: 2}]\n"),
              ElementsAre("1:69: E123 gpu index 2 is not below the number of gpus, 2"));
  EXPECT_THAT(mistakes("nodes: [{name: a, kind: gpu, index: 1}, {name: b, kind: gpu, index: 1}]\n"),
              ElementsAre("1:69: E123 gpu index 1 is given twice"));
  EXPECT_THAT(mistakes("nodes: [{name: a, kind: switch}]\n"), ElementsAre("1:8: E123 the file defines no gpu"));
}

TEST(GraphFileYaml, TakesNumbersWithTheirSource) {
  const auto graph = read(
      "nodes: [{name: a, kind: gpu}, {name: b, kind: gpu}]\n"
      "links: [{from: a, to: b, bandwidth: {value: 25GB/s, evidence: measured, source: iperf}, latency: 1us}]\n");
  ASSERT_TRUE(graph.has_value());
  EXPECT_EQ(graph->link(LinkId(0)).bandwidth, 25_GBps);
}

TEST(GraphFileYaml, IsChosenByTheNameOfTheFile) {
  const std::string folder = ringwright::test_data() + "/network_models/graphs/";
  const auto from_lines = read_graph_file(read_input_file(folder + "pair.csv"));
  ASSERT_TRUE(from_lines.has_value());
  for (const char* name : {"pair.yaml", "pair.json"}) {
    const auto graph = read_graph_file(read_input_file(folder + name));
    ASSERT_TRUE(graph.has_value()) << render(graph.error());
    ASSERT_EQ(graph->link_count(), from_lines->link_count()) << name;
    for (std::size_t i = 0; i < graph->link_count(); ++i) {
      EXPECT_EQ(graph->name(LinkId(i)), from_lines->name(LinkId(i))) << name;
      EXPECT_EQ(graph->link(LinkId(i)).bandwidth, from_lines->link(LinkId(i)).bandwidth) << name;
      EXPECT_EQ(graph->link(LinkId(i)).latency, from_lines->link(LinkId(i)).latency) << name;
    }
  }
}

TEST(GraphFileYaml, ReportsATextThatIsNotAGraph) {
  EXPECT_FALSE(read_graph_file({.path = "a.yaml", .text = "", .problem = {}}).has_value());
  EXPECT_THAT(mistakes("nodes: [{name: a\n"), testing::SizeIs(1));  // broken syntax
}

}  // namespace
}  // namespace ringwright::network_models::graph_file_yaml_test
