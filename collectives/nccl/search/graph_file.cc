#include "collectives/nccl/search/graph_file.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/config/xml_document.h"

namespace ringwright::collectives {
namespace {

constexpr int kRingPattern = 4;
constexpr int kPlainTreePattern = 3;
constexpr int kNvlsPattern = 5;
constexpr int kCollnetPattern = 6;
constexpr int kHighestGpu = 1023;

// NCCL's names; a single GPU is as near to itself as NVLink.
constexpr std::array<std::pair<std::string_view, NcclPath>, 11> kPaths = {{
    {"LOC", NcclPath::kNvlink}, {"NVL", NcclPath::kNvlink}, {"NVB", NcclPath::kNvlinkByGpu}, {"C2C", NcclPath::kC2c},
    {"PIX", NcclPath::kPix}, {"PXB", NcclPath::kPxb}, {"P2C", NcclPath::kP2c}, {"PXN", NcclPath::kPxn},
    {"PHB", NcclPath::kPhb}, {"SYS", NcclPath::kSys}, {"NET", NcclPath::kSys}}};

class GraphsReader {
 public:
  explicit GraphsReader(const XmlDocument& document) : document_(document) {}

  Result<NcclGraphFile> read() {
    const XmlElement& root = document_.root;
    if (root.name != "graphs") fail(root, fmt::format("the file begins with <{}>, not with <graphs>", root.name));
    for (const XmlElement& graph : root.children) {
      if (graph.name == "graph") read_graph(graph);
    }
    if (!problems_.has_errors() && !file_.ring) fail(root, "the file has no rings: no graph of pattern 4");
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(file_);
  }

 private:
  void fail(const XmlElement& at, std::string message, std::string hint = {}) {
    problems_.add(document_.problem(at, "E185", std::move(message), std::move(hint)));
  }

  int whole(const XmlElement& at, std::string_view name, int least, int most) {
    const auto value = at.integer(name);
    if (value && *value >= least && *value <= most) return static_cast<int>(*value);
    fail(at, fmt::format("{} is '{}' and must be a whole number from {} to {}", name, at.text(name), least, most));
    return least;
  }

  double speed(const XmlElement& at, std::string_view name) {
    const std::string_view text = at.text(name);
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (!text.empty() && error == std::errc() && end == text.data() + text.size() && value >= 0.0 && value < 1e6)
      return value;
    fail(at, fmt::format("{} is '{}' and must be a number of GB/s", name, text));
    return 0.0;
  }

  NcclPath path(const XmlElement& at, std::string_view name) {
    for (const auto& [known, value] : kPaths) {
      if (known == at.text(name)) return value;
    }
    fail(at, fmt::format("{} is '{}'", name, at.text(name)),
         "one of LOC, NVL, NVB, C2C, PIX, PXB, P2C, PXN, PHB, SYS, NET");
    return NcclPath::kSys;
  }

  void read_graph(const XmlElement& element) {
    NcclGraph graph{.channels = whole(element, "nchannels", 0, kNcclMaxChannels),
                    .inside_gb = speed(element, "speedintra"),
                    .between_gb = speed(element, "speedinter"),
                    .inside = path(element, "typeintra"),
                    .between = path(element, "typeinter"),
                    .same_channels = whole(element, "samechannels", 0, 1) == 1};
    if (element.attribute("latencyinter")) graph.nic_latency_us = speed(element, "latencyinter");
    const int pattern = whole(element, "pattern", 1, kCollnetPattern);
    graph.plain_tree = pattern == kPlainTreePattern;
    graph.swaps_nics = pattern == kRingPattern && element.integer("crossnic") == 2;
    const int channels = read_channels(element, pattern <= kRingPattern ? &graph : nullptr);
    if (channels != graph.channels) {
      fail(element, fmt::format("nchannels is {} and the graph has {} channels", graph.channels, channels));
    }
    switch (pattern) {
      case kRingPattern:
        if (graph.channels == 0) fail(element, "the rings have no channel");
        file_.ring = graph;
        return;
      case kNvlsPattern: file_.nvls = graph; return;
      case kCollnetPattern: file_.collnet = graph; return;
      default: file_.tree = graph; return;
    }
  }

  // `graph`: receives the channels' GPUs and NICs, if their order is meaningful.
  int read_channels(const XmlElement& element, NcclGraph* graph) {
    int channels = 0;
    for (const XmlElement& channel : element.children) {
      if (channel.name != "channel") continue;
      ++channels;
      if (graph == nullptr) continue;
      graph->orders.push_back(read_order(channel));
      if (const auto ports = read_ports(channel)) graph->ports.push_back(*ports);
    }
    if (graph != nullptr && graph->ports.size() != graph->orders.size()) graph->ports.clear();
    return channels;
  }

  // The first and the last <net>; empty where the channel has none.
  std::optional<std::array<int, 2>> read_ports(const XmlElement& channel) {
    std::optional<std::array<int, 2>> ports;
    for (const XmlElement& net : channel.children) {
      if (net.name != "net") continue;
      const int dev = whole(net, "dev", 0, kHighestGpu);
      ports = {ports ? (*ports)[0] : dev, dev};
    }
    return ports;
  }

  std::vector<int> read_order(const XmlElement& channel) {
    std::vector<int> order;
    for (const XmlElement& gpu : channel.children) {
      if (gpu.name == "gpu") order.push_back(whole(gpu, "dev", 0, kHighestGpu));
    }
    if (order.empty()) fail(channel, "the channel has no GPU");
    if (std::set<int>(order.begin(), order.end()).size() != order.size())
      fail(channel, "a GPU is listed twice in a channel");
    if (file_.gpus > 0 && static_cast<int>(order.size()) != file_.gpus) {
      fail(channel, fmt::format("the channel has {} GPUs and the previous one {}", order.size(), file_.gpus));
    }
    file_.gpus = static_cast<int>(order.size());
    return order;
  }

  const XmlDocument& document_;
  NcclGraphFile file_;
  Diagnostics problems_;
};

}  // namespace

Result<NcclGraphFile> parse_nccl_graphs(std::string_view text, const std::string& name) {
  auto document = parse_xml(text, name);
  if (!document) return tl::unexpected(document.error());
  return GraphsReader(*document).read();
}

NcclGraphs with_file(NcclGraphs found, const NcclGraphFile& file, const GroupLayout& layout) {
  if (!layout.even() || layout.largest_host != file.gpus) return found;
  if (file.ring) {
    found.ring = *file.ring;
    found.compute_channels = std::clamp(2 * file.ring->channels, 1, kNcclMaxChannels);
  }
  if (file.tree) found.tree = *file.tree;
  if (file.nvls) found.nvls = *file.nvls;
  found.collnet = file.collnet.value_or(found.ring);
  return found;
}

}  // namespace ringwright::collectives
