// Hosts from NCCL's topology XML and from `nvidia-smi topo -m`: facts, guesses and errors.
#include "network_models/imports/node_import.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "network_models/host/host.h"
#include "tests/paths.h"
#include "tests/support/own_folder.h"

namespace ringwright::network_models::node_import_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two sockets, each with a switch of two GPUs and a NIC, as in an operator's file.
constexpr const char* kPlainSystem = R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="ffff:ff:01.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0001:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0002:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0101:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
    </pci>
  </cpu>
  <cpu numaid="1" arch="x86_64" vendor="AuthenticAMD" familyid="143" modelid="49">
    <pci busid="ffff:ff:02.0" class="0x060400" link_speed="16 GT/s" link_width="16">
      <pci busid="0003:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0004:00:00.0" class="0x030200" link_speed="16 GT/s" link_width="16"/>
      <pci busid="0102:00:00.0" class="0x020700" link_speed="16 GT/s" link_width="16"/>
    </pci>
  </cpu>
</system>
)";

// A dump: two GPUs on an NVSwitch, ports of 400 Gb/s and one slow one.
std::string dumped_system(const std::string& link) {
  return R"(<system version="1">
  <cpu numaid="0" arch="x86_64" vendor="GenuineIntel" familyid="6" modelid="143">
    <pci busid="0000:1b:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="1" sm="90" rank="1" gdr="1">)" + link + R"(</gpu>
    </pci>
    <pci busid="0000:2b:00.0" class="0x030200" link_speed="32.0 GT/s PCIe" link_width="16">
      <gpu dev="0" sm="90" rank="0" gdr="1">)" + link + R"(</gpu>
    </pci>
    <nic>
      <net name="mlx5_0" dev="0" speed="400000" port="1"/>
      <net name="eth0" dev="1" speed="25000" port="1"/>
    </nic>
  </cpu>
</system>
)";
}

ImportedNode nccl(const std::string& text) {
  auto node = parse_nccl_topology(text, "topo.xml");
  EXPECT_TRUE(node.has_value()) << (node ? "" : render(node.error()));
  return node ? *node : ImportedNode{};
}

std::string nccl_mistake(const std::string& text) {
  auto node = parse_nccl_topology(text, "topo.xml");
  EXPECT_FALSE(node.has_value());
  return node ? "" : render(node.error());
}

std::vector<int> points(const std::vector<ImportedNode::Gpu>& gpus) {
  std::vector<int> result;
  for (const ImportedNode::Gpu& gpu : gpus) result.push_back(gpu.point);
  return result;
}

TEST(NcclTopology, ReadsOperatorsFilesByTheClassOfDevices) {
  const ImportedNode node = nccl(kPlainSystem);
  EXPECT_THAT(points(node.gpus), ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(node.nics.size(), 2u);
  EXPECT_EQ(node.nics[1].point, 1);
  EXPECT_EQ(node.switches, 2);
  EXPECT_EQ(node.sockets, 2);
  EXPECT_EQ(node.processor, "amd");
  EXPECT_NEAR(node.pcie_gb, 16.0 * 16 / 8 * 128 / 130, 1e-9);  // 16 GT/s on 16 lanes
  EXPECT_EQ(node.switch_lanes, 0);
}

TEST(NcclTopology, ReadsDumps) {
  const ImportedNode node = nccl(dumped_system(R"(<nvlink target="ffff:ff:ff.f" count="18" tclass="0x068000"/>)"));
  EXPECT_EQ(node.gpus.size(), 2u);
  EXPECT_EQ(node.gpus[0].sm, 90);
  EXPECT_EQ(node.switch_lanes, 18);
  EXPECT_EQ(node.switches, 0);  // all devices are on the socket
  ASSERT_EQ(node.nics.size(), 1u);
  EXPECT_DOUBLE_EQ(node.nics[0].gbps, 400.0);
  EXPECT_THAT(node.notes, ElementsAre(HasSubstr("'eth0'")));
  EXPECT_EQ(node.processor, "intel");
  EXPECT_DOUBLE_EQ(node.socket_gb, 22.0);
}

TEST(NcclTopology, LinksBetweenGpusAreAMesh) {
  std::string text = dumped_system("");
  text.replace(text.find("gdr=\"1\"></gpu>"), 14,
               R"(gdr="1"><nvlink target="0000:2b:00.0" count="12" tclass="0x030200"/></gpu>)");
  const ImportedNode node = nccl(text);
  ASSERT_EQ(node.mesh.size(), 1u);
  EXPECT_EQ(node.mesh[0].lanes, 12);
  EXPECT_EQ(node.mesh[0].a, 0);
}

TEST(NcclTopology, ReadsXgmiOfRccl) {
  const ImportedNode node = nccl(R"(<system version="2"><cpu arch="x86_64" vendor="AuthenticAMD">
    <pci busid="a" class="0x120000"><gpu dev="0" gcn="gfx942" sm="304"><xgmi target="b" count="1" tclass="0x120000"/></gpu></pci>
    <pci busid="b" class="0x120000"><gpu dev="1" gcn="gfx942" sm="304"><xgmi target="a" count="1" tclass="0x120000"/></gpu></pci>
  </cpu></system>)");
  EXPECT_TRUE(node.amd);
  EXPECT_DOUBLE_EQ(node.lane_gb, 64.0);
  EXPECT_EQ(node.mesh.size(), 1u);
  EXPECT_EQ(node.gpus[0].sm, 0);
}

// NCCL adds links up, and each end names its own.
[[nodiscard]] std::string pair_of_gpus(const std::string& links_of_0, const std::string& links_of_1,
                                       const std::string& sm_of_1 = "70") {
  const auto gpu = [](const std::string& busid, int dev, const std::string& sm, const std::string& links) {
    return "<pci busid=\"" + busid + "\" class=\"0x030200\"><gpu dev=\"" + std::to_string(dev) + "\" sm=\"" + sm +
           "\">" + links + "</gpu></pci>\n";
  };
  return "<system version=\"1\"><cpu>\n" + gpu("a", 0, "70", links_of_0) + gpu("b", 1, sm_of_1, links_of_1) +
         "</cpu></system>";
}
[[nodiscard]] std::string lanes_to(const std::string& busid, int count) {
  return "<nvlink target=\"" + busid + "\" count=\"" + std::to_string(count) + "\" tclass=\"0x030200\"/>";
}

TEST(NcclTopology, LinksOfOnePairAddUp) {
  const ImportedNode twice = nccl(pair_of_gpus(lanes_to("b", 1) + lanes_to("b", 1), lanes_to("a", 2)));
  ASSERT_EQ(twice.mesh.size(), 1u);
  EXPECT_EQ(twice.mesh[0].lanes, 2);
  EXPECT_EQ(nccl(pair_of_gpus("", lanes_to("a", 3))).mesh.at(0).lanes, 3);
}

TEST(NcclTopology, EndsOfALinkThatDisagreeAreRefused) {
  EXPECT_THAT(nccl_mistake(pair_of_gpus(lanes_to("b", 2), lanes_to("a", 1))),
              HasSubstr("topo.xml:2:33: error[E127]: GPU 0 has 2 lanes to GPU 1, which has 1 back"));
}

TEST(NcclTopology, GpusThatOneHostCannotHaveAreRefused) {
  EXPECT_THAT(nccl_mistake(pair_of_gpus("", "", "80")), HasSubstr("GPUs of one host have sm 70 and 80"));
  EXPECT_THAT(nccl_mistake(pair_of_gpus("", "", "volta")), HasSubstr("sm is 'volta'"));
  std::string same = pair_of_gpus("", "");
  same.replace(same.find("dev=\"1\""), 7, "dev=\"0\"");
  EXPECT_THAT(nccl_mistake(same), HasSubstr("two GPUs have the number 0"));
}

TEST(NcclTopology, LanesToNvSwitchesAreThoseOfThePoorestGpu) {
  const auto lanes = [](int count) {
    return "<nvlink target=\"x\" count=\"" + std::to_string(count) + "\" tclass=\"0x068000\"/>";
  };
  EXPECT_EQ(nccl(pair_of_gpus(lanes(6), lanes(6))).notes.size(), 0u);
  const ImportedNode poorer = nccl(pair_of_gpus(lanes(6), lanes(5)));
  EXPECT_EQ(poorer.switch_lanes, 5);
  EXPECT_THAT(poorer.notes, testing::Contains(HasSubstr("5 to 6 lanes to NVSwitches")));
  EXPECT_THAT(nccl_mistake(pair_of_gpus(lanes(6), "")), HasSubstr("GPU 1 has no lane to an NVSwitch"));
}

TEST(NcclTopology, RefusesBrokenFilesWithTheirLine) {
  EXPECT_THAT(nccl_mistake("<system>\n<cpu>\n</system>"), HasSubstr("topo.xml:3:"));
  EXPECT_THAT(nccl_mistake("<graphs version=\"1\"/>"), HasSubstr("begins with <graphs>"));
  EXPECT_THAT(nccl_mistake("<system><cpu/></system>"), HasSubstr("no GPU"));
  EXPECT_THAT(nccl_mistake(dumped_system(R"(<nvlink target="0000:ff:00.0" count="4" tclass="0x030200"/>)")),
              HasSubstr("'0000:ff:00.0', which is not a GPU"));
  EXPECT_THAT(nccl_mistake(dumped_system(R"(<nvlink target="x" count="many" tclass="0x068000"/>)")),
              HasSubstr("count is 'many'"));
  EXPECT_THAT(
      nccl_mistake(R"(<system><cpu><pci busid="a" class="0x0302"/><pci busid="a" class="0x0302"/></cpu></system>)"),
      HasSubstr("two GPUs have the busid"));
  EXPECT_THAT(nccl_mistake(std::string(100, '<')), HasSubstr("error"));
}

// As printed, with the escapes of the header.
constexpr const char* kMatrix =
    "\t\x1b[4mGPU0\tGPU1\tGPU2\tGPU3\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\n"
    "GPU0\t X \tNV12\tNV12\tNV12\tPXB\tSYS\t0-31\t0\t\tN/A\n"
    "GPU1\tNV12\t X \tNV12\tNV12\tPXB\tSYS\t0-31\t0\t\tN/A\n"
    "GPU2\tNV12\tNV12\t X \tNV12\tSYS\tPIX\t32-63\t1\t\tN/A\n"
    "GPU3\tNV12\tNV12\tNV12\t X \tSYS\tNODE\t32-63\t1\t\tN/A\n"
    "NIC0\tPXB\tPXB\tSYS\tSYS\t X \tSYS\n"
    "NIC1\tSYS\tSYS\tPIX\tNODE\tSYS\t X \n"
    "\nLegend:\n\n  X    = Self\n  SYS  = over sockets\n\nNIC Legend:\n\n  NIC0: mlx5_0\n  NIC1: mlx5_1\n";

std::string smi_mistake(std::string text) {
  auto node = parse_smi_topology(text, "smi.txt");
  EXPECT_FALSE(node.has_value());
  return node ? "" : render(node.error());
}

TEST(NcclTopology, SlotsAndPortsHaveARange) {
  const auto mistake = [](const std::string& from, const std::string& to) {
    std::string text = dumped_system("");
    text.replace(text.find(from), from.size(), to);
    auto node = parse_nccl_topology(text, "topo.xml");
    return node ? std::string() : render(node.error());
  };
  EXPECT_THAT(mistake("link_width=\"16\"", "link_width=\"-16\""),
              HasSubstr("topo.xml:3:5: error[E127]: link_width is '-16'"));
  EXPECT_THAT(mistake("32.0 GT/s", "32e9 GT/s"), HasSubstr("link_speed is '32e9 GT/s PCIe'"));
  EXPECT_THAT(mistake("speed=\"400000\"", "speed=\"-1\""), HasSubstr("speed is '-1'"));
  EXPECT_THAT(mistake("gpu dev=\"1\"", "gpu dev=\"-1\""), HasSubstr("dev is '-1'"));
}

TEST(SmiTopology, ReadsTheMatrix) {
  auto node = parse_smi_topology(kMatrix, "smi.txt");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->sockets, 2);
  EXPECT_EQ(node->switches, 4);  // GPU 3 is apart from GPU 2 and NIC 1; the first socket has an unused switch number
  EXPECT_THAT(points(node->gpus), ElementsAre(0, 0, 2, 3));
  EXPECT_EQ(node->nics[0].point, 0);
  EXPECT_EQ(node->nics[1].point, 2);
  // 36 lanes to three peers are more than a GPU has: there is a switch.
  EXPECT_EQ(node->switch_lanes, 12);
  EXPECT_TRUE(node->mesh.empty());
}

TEST(SmiTopology, FewLanesAreAMesh) {
  auto node = parse_smi_topology("GPU0 GPU1 GPU2\nGPU0 X NV6 NV6\nGPU1 NV6 X NV6\nGPU2 NV6 NV6 X\n", "smi.txt");
  ASSERT_TRUE(node.has_value());
  EXPECT_EQ(node->switch_lanes, 0);
  EXPECT_EQ(node->mesh.size(), 3u);
}

TEST(SmiTopology, RefusesBrokenMatricesWithTheirLine) {
  EXPECT_THAT(smi_mistake("nothing of the kind\n"), HasSubstr("GPU0"));
  EXPECT_THAT(smi_mistake("GPU0 GPU1\nGPU0 X NV12\n"), HasSubstr("no row of this name"));
  EXPECT_THAT(smi_mistake("GPU0 GPU1\nGPU0 X NV12\nGPU1 NVX X\n"), HasSubstr("smi.txt:3"));
  EXPECT_THAT(smi_mistake("GPU0 GPU1\nGPU0 X NV12\nGPU1 NV6 X\n"), HasSubstr("disagree"));
  EXPECT_THAT(smi_mistake("GPU0 GPU1\nGPU0 X\nGPU1 NV6 X\n"), HasSubstr("1 entries"));
  EXPECT_THAT(smi_mistake("GPU0 GPU1\nGPU0 X NV1\nGPU0 X NV1\nGPU1 NV1 X\n"), HasSubstr("two rows"));
}

// nvidia-smi and NCCL's dumps name every link; operators' files leave NVLink out, which is guessed for eight GPUs.
TEST(NodeImport, GpusWithoutLinksHaveNoNvlinkWhereTheFileNamesLinks) {
  std::string header, rows, dump, plain;
  for (int gpu = 0; gpu < 8; ++gpu) {
    header += fmt::format("GPU{} ", gpu);
    rows += fmt::format("GPU{}", gpu);
    for (int peer = 0; peer < 8; ++peer) rows += peer == gpu ? " X" : " SYS";
    rows += "\n";
    const std::string pci = fmt::format("<pci busid=\"{}\" class=\"0x030200\"", gpu);
    dump += fmt::format("{}><gpu dev=\"{}\" sm=\"80\"/></pci>", pci, gpu);
    plain += pci + "/>";
  }
  const auto smi = parse_smi_topology(header + "\n" + rows, "smi.txt");
  ASSERT_TRUE(smi.has_value());
  EXPECT_THAT(node_text(*smi, "smi.txt").facts, HasSubstr("nvlink:\n  kind: none\n"));
  EXPECT_THAT(node_text(nccl("<system><cpu>" + dump + "</cpu></system>"), "t.xml").facts, HasSubstr("kind: none"));
  const ImportedText guessed = node_text(nccl("<system><cpu>" + plain + "</cpu></system>"), "t.xml");
  EXPECT_THAT(guessed.facts, testing::Not(HasSubstr("nvlink")));
  EXPECT_THAT(guessed.guesses, HasSubstr("nvswitch"));
}

// --- as keys of cluster.node ---

struct Read {
  Host host;
  ConfigDocument document;
};

Read read_node(const std::string& node) {
  const LoadOptions load{.presets = {{.path = "cluster.node", .folder = "nodes"}},
                         .share_folders = {share_dir()},
                         .imports = node_imports()};
  auto document =
      ConfigDocument::load_text(test::own_folder() + "/scenario.yaml", "cluster: {node: " + node + "}", load);
  EXPECT_TRUE(document.has_value());
  ConfigMap map = document->root().map("cluster", "").map("node", "");
  Host host = read_host(map);
  static_cast<void>(map.map("gpu", "").keys());
  return {.host = std::move(host), .document = std::move(*document)};
}

std::string saved(const std::string& name, const std::string& text) {
  std::ofstream(test::own_folder() + "/" + name) << text;
  return name;
}

TEST(NodeImport, AFileGivesAWholeHost) {
  const Read read = read_node("{nccl_topo: " + saved("plain.xml", kPlainSystem) + "}");
  EXPECT_FALSE(read.document.log().diagnostics().has_errors()) << render(read.document.log().diagnostics());
  EXPECT_EQ(read.host.gpus, 4);
  EXPECT_EQ(read.host.nic.count, 2);
  EXPECT_EQ(read.host.pcie.switches, 2);
  EXPECT_THAT(read.host.pcie.nic_at, ElementsAre(0, 1));
  EXPECT_EQ(read.host.pcie.processor, Host::Processor::kAmd);
  EXPECT_DOUBLE_EQ(read.host.nic.bandwidth.count(), 25e9);  // guessed: 200 Gb/s with PCIe 4.0
}

TEST(NodeImport, GuessesAreMarked) {
  const Read read = read_node("{nccl_topo: " + saved("plain.xml", kPlainSystem) + "}");
  Evidence of_nic = Evidence::kMeasured;
  Evidence of_gpus = Evidence::kMeasured;
  for (const ValueRead& value : read.document.log().values()) {
    if (value.path == "cluster.node.nic.bandwidth") of_nic = value.evidence;
    if (value.path == "cluster.node.gpus") of_gpus = value.evidence;
  }
  EXPECT_EQ(of_nic, Evidence::kAssumed);
  EXPECT_EQ(of_gpus, Evidence::kVendorSpec);
}

TEST(NodeImport, WrittenKeysCountOverTheFileAndTheFileOverThePreset) {
  const Read read = read_node("{preset: dgx-a100, nccl_topo: " + saved("plain.xml", kPlainSystem) +
                              ", nic: {bandwidth: 100Gbps}}");
  EXPECT_FALSE(read.document.log().diagnostics().has_errors()) << render(read.document.log().diagnostics());
  EXPECT_EQ(read.host.gpus, 4);                              // the file
  EXPECT_DOUBLE_EQ(read.host.nic.bandwidth.count(), 12.5e9);  // written out
  EXPECT_DOUBLE_EQ(read.host.nvlink.bandwidth.count(), 300e9);  // the preset: the file does not mention NVLink
}

TEST(NodeImport, ReadsWhatNvidiaSmiPrints) {
  const Read read = read_node("{nvidia_smi_topo: " + saved("smi.txt", kMatrix) + "}");
  EXPECT_FALSE(read.document.log().diagnostics().has_errors()) << render(read.document.log().diagnostics());
  EXPECT_EQ(read.host.nvlink.kind, ScaleUp::kNvSwitch);
  EXPECT_DOUBLE_EQ(read.host.nvlink.bandwidth.count(), 12 * 25e9);
}

TEST(NodeImport, ABadFileIsAMistakeOfTheDocument) {
  EXPECT_TRUE(read_node("{nccl_topo: " + saved("bad.xml", "<system>") + "}").document.log().diagnostics().has_errors());
  EXPECT_TRUE(read_node("{nccl_topo: none.xml}").document.log().diagnostics().has_errors());
  EXPECT_TRUE(read_node("{nccl_topo: [a, b]}").document.log().diagnostics().has_errors());
}

}  // namespace
}  // namespace ringwright::network_models::node_import_test
