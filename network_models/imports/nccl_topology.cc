// NCCL's topology XML (NCCL_TOPO_FILE, NCCL_TOPO_DUMP_FILE; RCCL's too): <system> of <cpu> of nested <pci>, with <gpu>
// and <nic> at their ends. Operators' files leave out <gpu> and <nic>: then the class of the PCI device decides.
#include <algorithm>
#include <cmath>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/config/xml_document.h"
#include "network_models/imports/node_import.h"

namespace ringwright::network_models {
namespace {

constexpr std::string_view kBridge = "0x0604";
constexpr std::string_view kNvSwitch = "0x0680";

bool is_accelerator(std::string_view pci_class) {
  return pci_class.starts_with("0x0302") || pci_class.starts_with("0x0380") || pci_class.starts_with("0x1200");
}
bool is_network(std::string_view pci_class) { return pci_class.starts_with("0x02"); }

constexpr double kFastestLane = 128.0;         // GT/s, PCIe 7.0
constexpr long long kWidestSlot = 32;          // lanes (PCI Express Base Specification)
constexpr long long kNewestSm = 999;           // compute capability times ten; 121 in 2025
constexpr long long kMostGpus = 1024;          // of a host, as in graph files
constexpr long long kFastestNic = 10'000'000;  // Mb/s; the fastest ports of 2025 have 800,000

// A lane's transfers in GT/s: "32.0 GT/s PCIe". Empty when that is not a speed.
std::optional<double> lane_speed(std::string_view text) {
  double gigatransfers = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gigatransfers);
  if (error != std::errc() || !(gigatransfers >= 0.0 && gigatransfers <= kFastestLane)) return std::nullopt;
  return gigatransfers;
}

// Raw bytes of a slot: 128 of 130 bits carry data, up to 5 GT/s 8 of 10.
double slot_gb(double gigatransfers, long long lanes) {
  const double coding = gigatransfers > 5.0 ? 128.0 / 130.0 : 0.8;
  return gigatransfers * coding / 8.0 * static_cast<double>(lanes);
}

// NCCL's planning bandwidth between sockets (topo.h), by Intel's model number or by vendor.
void name_processor(const XmlElement& cpu, ImportedNode& node) {
  const std::string_view arch = cpu.text("arch");
  const std::string_view vendor = cpu.text("vendor");
  const long long model = cpu.integer("modelid").value_or(0);
  const auto set = [&](std::string_view name, double gb, std::string_view what) {
    node.processor = name;
    node.socket_gb = gb;
    node.socket_source = fmt::format("planning value of NCCL (topo.h) for {}", what);
  };
  if (arch == "arm64") return set("arm", 6.0, "ARM processors");
  if (arch == "ppc64") return set("power", 32.0, "POWER9");
  if (vendor == "AuthenticAMD") return set("amd", 16.0, "AMD processors");
  if (vendor != "GenuineIntel") return;
  if (model >= 0xCF) return set("intel", 40.0, "Emerald Rapids");
  if (model >= 0x8F) return set("intel", 22.0, "Sapphire Rapids");
  if (model >= 0x55) return set("intel", 10.0, "Skylake");
  set("intel", 6.0, "Broadwell");
}

class TopologyReader {
 public:
  explicit TopologyReader(const XmlDocument& document) : document_(document) {}

  Result<ImportedNode> read() {
    const XmlElement& system = document_.root;
    if (system.name != "system") {
      return tl::unexpected(
          failure_at(system, fmt::format("the file begins with <{}>, not with <system>", system.name)));
    }
    std::vector<const XmlElement*> cpus;
    for (const XmlElement& child : system.children) {
      if (child.name == "cpu") cpus.push_back(&child);
    }
    node_.sockets = std::max<int>(1, static_cast<int>(cpus.size()));
    for (std::size_t socket = 0; socket < cpus.size(); ++socket) read_cpu(*cpus[socket], static_cast<int>(socket));
    if (gpus_.empty() && !problems_.has_errors()) add_problem(system, "the file has no GPU");
    number_points();
    sort_gpus();
    read_links();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    keep_fastest_nics();
    return std::move(node_);
  }

 private:
  struct Place {
    int socket = 0;
    int root = -1;  // number of the topmost bridge under the socket; -1: on the socket
  };
  struct FoundGpu {
    const XmlElement* pci = nullptr;
    const XmlElement* gpu = nullptr;  // null: only the PCI device is given
    Place place;
    long long dev = 0;
  };
  struct FoundNic {
    Place place;
    double gbps = 0.0;
    std::string name;
  };

  [[nodiscard]] Diagnostics failure_at(const XmlElement& at, std::string message) const {
    Diagnostics problems;
    problems.add(document_.problem(at, "E127", std::move(message)));
    return problems;
  }
  void add_problem(const XmlElement& at, std::string message, std::string hint = {}) {
    problems_.add(document_.problem(at, "E127", std::move(message), std::move(hint)));
  }

  void read_cpu(const XmlElement& cpu, int socket) {
    if (socket == 0) name_processor(cpu, node_);
    int roots = 0;
    for (const XmlElement& child : cpu.children) {
      const Place here{.socket = socket};
      if (child.name == "nic") read_nets(child, here);
      if (child.name != "pci") continue;
      const bool bridge = child.text("class").starts_with(kBridge);
      read_pci(child, bridge ? Place{.socket = socket, .root = roots++} : here);
    }
    most_roots_ = std::max(most_roots_, roots);
  }

  void read_pci(const XmlElement& pci, Place place) {
    const XmlElement* gpu = nullptr;
    bool nets = false;
    for (const XmlElement& child : pci.children) {
      if (child.name == "pci") read_pci(child, place);
      if (child.name == "gpu") gpu = &child;
      if (child.name == "nic") {
        nets = true;
        read_nets(child, place);
      }
    }
    const std::string_view pci_class = pci.text("class");
    if (gpu != nullptr || is_accelerator(pci_class)) {
      add_gpu(pci, gpu, place);
    } else if (!nets && is_network(pci_class)) {
      nics_.push_back({.place = place, .gbps = 0.0, .name = std::string(pci.text("busid"))});
    }
  }

  void add_gpu(const XmlElement& pci, const XmlElement* gpu, Place place) {
    const std::string_view busid = pci.text("busid");
    if (busid.empty()) return add_problem(pci, "a GPU has no busid");
    const auto same = [&](const FoundGpu& other) { return other.pci->text("busid") == busid; };
    if (std::any_of(gpus_.begin(), gpus_.end(), same)) {
      return add_problem(pci, fmt::format("two GPUs have the busid '{}'", busid));
    }
    if (gpu != nullptr) check_gpu(*gpu);
    const long long dev = gpu == nullptr ? static_cast<long long>(gpus_.size())
                                         : gpu->integer("dev").value_or(static_cast<long long>(gpus_.size()));
    gpus_.push_back({.pci = &pci, .gpu = gpu, .place = place, .dev = dev});
    read_slot(pci);
    if (gpu != nullptr && gpu->attribute("gcn")) node_.amd = true;
  }

  // One GPU's numbers, and against those before it.
  void check_gpu(const XmlElement& gpu) {
    if (gpu.attribute("dev")) check_range(gpu, "dev", 0, kMostGpus - 1);
    if (gpu.attribute("sm")) check_range(gpu, "sm", 0, kNewestSm);
    for (const FoundGpu& other : gpus_) {
      if (other.gpu == nullptr) continue;
      if (gpu.attribute("dev") && gpu.integer("dev") == other.gpu->integer("dev")) {
        return add_problem(gpu, fmt::format("two GPUs have the number {}", gpu.text("dev")));
      }
      if (gpu.text("sm") != other.gpu->text("sm")) {
        return add_problem(gpu,
                           fmt::format("GPUs of one host have sm {} and {}", other.gpu->text("sm"), gpu.text("sm")),
                           "hosts have GPUs of one kind; groups of hosts may differ (cluster.groups)");
      }
    }
  }

  void check_range(const XmlElement& at, std::string_view name, long long least, long long most) {
    const auto value = at.integer(name);
    if (value && *value >= least && *value <= most) return;
    add_problem(at,
                fmt::format("{} is '{}' and must be a whole number from {} to {}", name, at.text(name), least, most));
  }

  // Operators' files leave speed and width out; NCCL writes them empty or 0 where the system does not report them.
  void read_slot(const XmlElement& pci) {
    const std::string_view speed = pci.text("link_speed");
    const std::string_view width = pci.text("link_width");
    if (!width.empty()) check_range(pci, "link_width", 0, kWidestSlot);
    const auto gigatransfers = lane_speed(speed);
    const bool unknown = speed.empty() || speed.starts_with("Unknown");
    if (!unknown && !gigatransfers) {
      add_problem(pci, fmt::format("link_speed is '{}' and must be at most {} GT/s", speed, kFastestLane),
                  "write link_speed=\"32.0 GT/s PCIe\"");
    }
    const double gb = slot_gb(gigatransfers.value_or(0.0), pci.integer("link_width").value_or(0));
    node_.pcie_gb = std::max(node_.pcie_gb, gb);
  }

  void read_nets(const XmlElement& nic, Place place) {
    for (const XmlElement& net : nic.children) {
      if (net.name != "net") continue;
      const auto speed = net.integer("speed");
      if (net.attribute("speed") && !speed) {
        add_problem(net, fmt::format("speed is '{}' and must be a whole number of Mb/s", net.text("speed")));
      }
      if (speed) check_range(net, "speed", 0, kFastestNic);
      nics_.push_back({.place = place,
                       .gbps = static_cast<double>(std::max(0LL, speed.value_or(0))) / 1000.0,
                       .name = std::string(net.text("name"))});
    }
  }

  // Where some devices are on bridges, those on sockets count as having their own bridge.
  void number_points() {
    const auto on_socket = [](const auto& device) { return device.place.root < 0; };
    const bool loose =
        std::any_of(gpus_.begin(), gpus_.end(), on_socket) || std::any_of(nics_.begin(), nics_.end(), on_socket);
    const int of_socket = most_roots_ == 0 ? 0 : most_roots_ + (loose ? 1 : 0);
    node_.switches = of_socket * node_.sockets;
    const auto point = [&](Place place) {
      if (of_socket == 0) return place.socket;
      return place.socket * of_socket + (place.root < 0 ? most_roots_ : place.root);
    };
    std::stable_sort(gpus_.begin(), gpus_.end(), [](const FoundGpu& a, const FoundGpu& b) { return a.dev < b.dev; });
    for (const FoundGpu& gpu : gpus_) {
      const long long sm = gpu.gpu == nullptr || node_.amd ? 0 : gpu.gpu->integer("sm").value_or(0);
      node_.gpus.push_back({.point = point(gpu.place), .sm = static_cast<int>(sm)});
    }
    for (const FoundNic& nic : nics_) {
      node_.nics.push_back({.point = point(nic.place), .gbps = nic.gbps, .name = nic.name});
    }
  }

  void sort_gpus() {
    for (std::size_t i = 0; i < gpus_.size(); ++i)
      number_of_[std::string(gpus_[i].pci->text("busid"))] = static_cast<int>(i);
  }

  void read_links() {
    std::map<std::pair<int, int>, int> lanes;  // from, to
    std::vector<int> to_switch(gpus_.size(), 0);
    for (std::size_t i = 0; i < gpus_.size(); ++i) {
      if (gpus_[i].gpu == nullptr) continue;
      for (const XmlElement& link : gpus_[i].gpu->children) {
        if (link.name == "c2c") node_.c2c = true;
        if (link.name != "nvlink" && link.name != "xgmi") continue;
        read_link(link, static_cast<int>(i), lanes, to_switch);
      }
    }
    take_mesh(lanes);
    take_switches(to_switch);
    // Operators' files leave <gpu> out, and with it its links.
    node_.states_links = std::ranges::all_of(gpus_, [](const FoundGpu& gpu) { return gpu.gpu != nullptr; });
    if (node_.amd && !node_.mesh.empty()) node_.lane_gb = amd_lane_gb();
  }

  // Files may give each link once, or once for each direction.
  void take_mesh(const std::map<std::pair<int, int>, int>& lanes) {
    for (const auto& [pair, count] : lanes) {
      const auto back = lanes.find({pair.second, pair.first});
      if (back != lanes.end() && pair.first > pair.second) continue;
      if (back != lanes.end() && back->second != count) {
        add_problem(*gpus_[static_cast<std::size_t>(pair.first)].gpu,
                    fmt::format("GPU {} has {} lanes to GPU {}, which has {} back", pair.first, count, pair.second,
                                back->second));
      }
      node_.mesh.push_back(
          {.a = std::min(pair.first, pair.second), .b = std::max(pair.first, pair.second), .lanes = count});
    }
    std::ranges::sort(node_.mesh, {}, [](const ImportedNode::Lanes& link) { return std::pair(link.a, link.b); });
  }

  // All GPUs get the lanes of the one with the fewest.
  void take_switches(const std::vector<int>& lanes) {
    if (lanes.empty()) return;
    const auto [least, most] = std::ranges::minmax(lanes);
    if (most == 0) return;
    const auto poorest = static_cast<std::size_t>(std::ranges::find(lanes, least) - lanes.begin());
    if (least == 0) {
      return add_problem(*gpus_[poorest].pci,
                         fmt::format("GPU {} has no lane to an NVSwitch, and others have up to {}", poorest, most));
    }
    if (least < most) {
      node_.notes.push_back(
          fmt::format("GPUs have {} to {} lanes to NVSwitches; {} of each are used", least, most, least));
    }
    node_.switch_lanes = least;
    node_.mesh.clear();
  }

  // Infinity Fabric, data sheets: MI300 128 GB/s in both directions, MI200 100, MI100 92.
  [[nodiscard]] double amd_lane_gb() const {
    const std::string_view gcn = gpus_.front().gpu == nullptr ? "" : gpus_.front().gpu->text("gcn");
    if (gcn.find("94") != std::string_view::npos || gcn.find("95") != std::string_view::npos) return 64.0;
    return gcn.find("90a") != std::string_view::npos ? 50.0 : 46.0;
  }

  void read_link(const XmlElement& link, int gpu, std::map<std::pair<int, int>, int>& lanes,
                 std::vector<int>& to_switch) {
    const auto count = link.integer("count");
    if (!count || *count < 1 || *count > 64) {
      return add_problem(link,
                         fmt::format("count is '{}' and must be a number of lanes from 1 to 64", link.text("count")));
    }
    if (link.text("tclass").starts_with(kNvSwitch)) {
      to_switch[static_cast<std::size_t>(gpu)] += static_cast<int>(*count);
      return;
    }
    const auto target = number_of_.find(std::string(link.text("target")));
    if (target == number_of_.end()) {
      return add_problem(link,
                         fmt::format("the link leads to '{}', which is not a GPU of the file", link.text("target")));
    }
    if (target->second == gpu) {
      node_.notes.push_back(fmt::format("line {}: a link from GPU {} to itself is ignored", link.line, gpu));
      return;
    }
    lanes[{gpu, target->second}] += static_cast<int>(*count);
  }

  // Slower ports are for storage and management.
  void keep_fastest_nics() {
    double fastest = 0.0;
    for (const ImportedNode::Nic& nic : node_.nics) fastest = std::max(fastest, nic.gbps);
    const auto slower = [&](const ImportedNode::Nic& nic) { return nic.gbps < fastest; };
    for (const ImportedNode::Nic& nic : node_.nics) {
      if (slower(nic)) node_.notes.push_back(fmt::format("NIC '{}' is slower than the others and ignored", nic.name));
    }
    node_.nics.erase(std::remove_if(node_.nics.begin(), node_.nics.end(), slower), node_.nics.end());
  }

  const XmlDocument& document_;
  ImportedNode node_;
  Diagnostics problems_;
  std::vector<FoundGpu> gpus_;
  std::vector<FoundNic> nics_;
  std::map<std::string, int> number_of_;  // GPU by busid
  int most_roots_ = 0;
};

}  // namespace

Result<ImportedNode> parse_nccl_topology(const std::string& text, const std::string& name) {
  auto document = parse_xml(text, name);
  if (!document) return tl::unexpected(document.error());
  return TopologyReader(*document).read();
}

Result<ImportedText> import_nccl_topology(const InputFile& file) {
  auto node = parse_nccl_topology(file.text, file.path);
  if (!node) return tl::unexpected(node.error());
  return node_text(*node, file.path);
}

}  // namespace ringwright::network_models
