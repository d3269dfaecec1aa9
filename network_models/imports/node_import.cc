// Numbers that files leave out come from data sheets: lanes of NVLink by generation (25 GB/s a direction up to Hopper,
// 50 from Blackwell on).
#include "network_models/imports/node_import.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

namespace ringwright::network_models {
namespace {

struct Guess {
  int sm;
  std::string_view preset;
  std::string_view name;
  int lanes;        // of a GPU to NVSwitches
  double pcie_gb;   // raw, x16
  double nic_gbps;  // of servers of its generation
};

// Newest first. PCIe 5.0 x16: 63 GB/s.
constexpr std::array kGuesses = {
    Guess{100, "b200-sxm-192gb", "a B200", 18, 63.0, 400.0},
    Guess{90, "h100-sxm5-80gb", "an H100", 18, 63.0, 400.0},
    Guess{80, "a100-sxm4-80gb", "an A100", 12, 31.5, 200.0},
    Guess{70, "v100-sxm2-32gb", "a V100", 6, 15.75, 100.0},
};

double lane_gb(int sm) { return sm >= 100 ? 50.0 : 25.0; }

const Guess& guess_of(const ImportedNode& node) {
  const int sm = node.gpus.empty() ? 0 : node.gpus.front().sm;
  for (const Guess& guess : kGuesses) {
    if (sm > 0 && sm >= guess.sm) return guess;
  }
  for (const Guess& guess : kGuesses) {
    if (sm == 0 && guess.sm < 100 && node.switch_lanes >= guess.lanes && node.switch_lanes > 0) return guess;
  }
  for (const Guess& guess : kGuesses) {
    if (sm == 0 && guess.sm < 100 && node.pcie_gb > guess.pcie_gb - 1.0) return guess;
  }
  return sm > 0 ? kGuesses.back() : kGuesses[1];
}

std::string list(const std::vector<int>& numbers) {
  std::string text = "[";
  for (const int n : numbers) text += fmt::format("{}{}", text.size() > 1 ? ", " : "", n);
  return text + "]";
}

class Writer {
 public:
  Writer(const ImportedNode& node, const std::string& file)
      : node_(node), file_(std::filesystem::path(file).filename().string()), guess_(guess_of(node)) {}

  ImportedText write() {
    ImportedText text{.facts = {}, .guesses = {}, .notes = node_.notes};
    text.facts = fmt::format("evidence: vendor-spec\nsource: \"{}\"\ngpus: {}\n", file_, node_.gpus.size());
    text.guesses = "evidence: assumed\n";
    gpu(text);
    nvlink(text);
    pcie(text);
    nics(text);
    return text;
  }

 private:
  // A guess with its reason.
  [[nodiscard]] std::string assumed(std::string_view value, std::string_view why) const {
    return fmt::format("{{value: {}, evidence: assumed, source: \"{}\"}}", value, why);
  }

  void gpu(ImportedText& text) const {
    const std::string_view preset = node_.amd ? "mi300x" : guess_.preset;
    text.guesses += fmt::format("gpu: {{preset: {}}}\n", preset);
  }

  void nvlink(ImportedText& text) const {
    const int sm = node_.gpus.empty() || node_.gpus.front().sm == 0 ? guess_.sm : node_.gpus.front().sm;
    const double lane = node_.lane_gb > 0.0 ? node_.lane_gb : lane_gb(sm);
    const std::string latency = "  latency: " + assumed("500ns", "class value") + "\n";
    if (node_.switch_lanes > 0) {
      text.facts += fmt::format("nvlink:\n  kind: nvswitch\n  bandwidth: {}GB/s  # {} lanes of {} GB/s\n",
                                lane * node_.switch_lanes, node_.switch_lanes, lane);
      text.guesses +=
          fmt::format("nvlink:\n{}  reduces: {}\n", latency,
                      assumed(sm >= 90 ? "true" : "false", "NVSwitches reduce from the third generation on"));
      return;
    }
    if (!node_.mesh.empty()) {
      std::string mesh;
      for (const ImportedNode::Lanes& l : node_.mesh) {
        mesh += fmt::format("{}\"{}-{}:{}\"", mesh.empty() ? "" : ", ", l.a, l.b, l.lanes);
      }
      text.facts += fmt::format("nvlink:\n  kind: nvlink_mesh\n  mesh: [{}]\n  link_bandwidth: {}GB/s\n", mesh, lane);
      text.guesses += "nvlink:\n" + latency;
      return;
    }
    if (node_.states_links && node_.gpus.size() > 1) {
      text.facts += "nvlink:\n  kind: none\n";
      return;
    }
    const std::string why =
        fmt::format("the file names no NVLink; PCIe and number of GPUs are those of {}", guess_.name);
    if (node_.gpus.size() >= 8 && !node_.amd) {
      text.guesses += fmt::format("nvlink:\n  kind: {}\n  bandwidth: {}\n  reduces: {}\n{}", assumed("nvswitch", why),
                                  assumed(fmt::format("{}GB/s", lane_gb(guess_.sm) * guess_.lanes), why),
                                  assumed(guess_.sm >= 90 ? "true" : "false", why), latency);
      return;
    }
    text.guesses += fmt::format("nvlink:\n  kind: {}\n", assumed("none", "the file names no NVLink"));
  }

  void pcie(ImportedText& text) const {
    std::vector<int> gpu_at;
    std::vector<int> nic_at;
    for (const ImportedNode::Gpu& gpu : node_.gpus) gpu_at.push_back(gpu.point);
    for (const ImportedNode::Nic& nic : node_.nics) nic_at.push_back(nic.point);
    text.facts += fmt::format("pcie:\n  switches: {}\n  sockets: {}\n  sockets_per_board: {}\n  gpu_at: {}\n",
                              node_.switches, node_.sockets, node_.sockets, list(gpu_at));
    if (!nic_at.empty()) text.facts += fmt::format("  nic_at: {}\n", list(nic_at));
    if (node_.pcie_gb > 0.0) text.facts += fmt::format("  bandwidth: {:.4g}GB/s\n", node_.pcie_gb);
    if (!node_.processor.empty()) text.facts += fmt::format("  processor: {}\n", node_.processor);
    text.guesses += "pcie:\n  latency: " + assumed("150ns", "one PCIe hop, class value") + "\n";
    if (node_.pcie_gb <= 0.0) {
      text.guesses += fmt::format(
          "  bandwidth: {}\n", assumed(fmt::format("{}GB/s", guess_.pcie_gb), fmt::format("slots of {}", guess_.name)));
    }
    if (node_.c2c) {
      text.guesses += "  gpu_bandwidth: " + assumed("450GB/s", "NVLink-C2C of a Grace with one GPU") + "\n";
    }
    if (node_.sockets > 1 && node_.socket_gb > 0.0) {
      text.guesses += fmt::format("  socket_bandwidth: {}\n",
                                  assumed(fmt::format("{}GB/s", node_.socket_gb), node_.socket_source));
    }
  }

  void nics(ImportedText& text) const {
    text.facts += fmt::format("nic:\n  count: {}\n", node_.nics.size());
    if (node_.nics.empty()) return;
    if (node_.nics.front().gbps > 0.0) {
      text.facts += fmt::format("  bandwidth: {}Gbps\n", node_.nics.front().gbps);
      return;
    }
    text.guesses += fmt::format(
        "nic:\n  bandwidth: {}\n",
        assumed(fmt::format("{}Gbps", guess_.nic_gbps), fmt::format("NICs of servers with {}", guess_.name)));
  }

  const ImportedNode& node_;
  std::string file_;
  const Guess& guess_;
};

}  // namespace

ImportedText node_text(const ImportedNode& node, const std::string& file) { return Writer(node, file).write(); }

std::vector<ImportRule> node_imports() {
  return {{.path = "cluster.node", .key = "nccl_topo", .read = &import_nccl_topology},
          {.path = "cluster.node", .key = "nvidia_smi_topo", .read = &import_smi_topology},
          {.path = "cluster.groups[].node", .key = "nccl_topo", .read = &import_nccl_topology},
          {.path = "cluster.groups[].node", .key = "nvidia_smi_topo", .read = &import_smi_topology}};
}

}  // namespace ringwright::network_models
