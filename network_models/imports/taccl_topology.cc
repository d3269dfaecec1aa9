#include "network_models/imports/taccl_topology.h"

#include <array>
#include <charconv>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/units.h"

namespace ringwright::network_models {
namespace {

constexpr std::int64_t kMostTacclGpus = 64;  // of a host

// Of NDv2 (eight V100): 1 where two NVLinks join the GPUs, 2 where one does.
constexpr std::size_t kMeshGpus = 8;
constexpr std::array<std::array<int, kMeshGpus>, kMeshGpus> kMesh = {{{0, 1, 2, 2, 1, 0, 0, 0},
                                                                      {1, 0, 2, 1, 0, 2, 0, 0},
                                                                      {2, 2, 0, 1, 0, 0, 1, 0},
                                                                      {2, 1, 1, 0, 0, 0, 0, 2},
                                                                      {1, 0, 0, 0, 0, 1, 2, 2},
                                                                      {0, 2, 0, 0, 1, 0, 2, 1},
                                                                      {0, 0, 1, 0, 2, 2, 0, 1},
                                                                      {0, 0, 0, 2, 2, 1, 1, 0}}};

Bandwidth megabyte_in(double microseconds) { return Bandwidth(1e12 / microseconds); }

class TacclReader {
 public:
  TacclReader(ConfigDocument& document, int hosts) : document_(document), hosts_(hosts) {}

  [[nodiscard]] Fabric read() {
    ConfigMap root = document_.root();
    static_cast<void>(root.text({.name = "name", .doc = "of the machine", .fallback = std::string()}));
    gpus_ = static_cast<std::size_t>(
        root.integer({.name = "gpus_per_node", .doc = "GPUs of a host", .min = 1, .max = kMostTacclGpus}));
    nics_ = static_cast<std::size_t>(root.integer(
        {.name = "nics_per_node", .doc = "NICs of a host", .fallback = 1, .min = 1, .max = kMostTacclGpus}));
    alpha_ = microseconds(root, "alpha", "latency inside a host, us");
    const bool remote = hosts_ > 1 || root.has("remote_beta");
    if (remote) {
      remote_alpha_ = microseconds(root, "remote_alpha", "latency between hosts, us");
      remote_beta_ = number(root, "remote_beta", "us for each MB between hosts");
    }
    for (const char* bound : {"node_invbws_list", "invbws", "remote_invbw"}) {
      root.ignore(bound, "a bound of its solver");
    }
    add_gpus();
    root.has("links") ? read_links(root) : read_betas(root);
    if (remote && errors() == 0) add_nics();
    return std::move(fabric_);
  }

 private:
  [[nodiscard]] std::size_t errors() const { return document_.log().diagnostics().error_count(); }
  static double number(ConfigMap& map, const char* name, const char* doc) {
    return map.number({.name = name, .doc = doc, .min = 1e-6, .max = 1e9});
  }
  static Duration microseconds(ConfigMap& map, const char* name, const char* doc) {
    return from_seconds(map.number({.name = name, .doc = doc, .min = 0.0, .max = 1e9}) * 1e-6);
  }

  void add_gpus() {
    for (int host = 0; host < hosts_; ++host) {
      for (std::size_t gpu = 0; gpu < gpus_; ++gpu) {
        const NodeId node = fabric_.add_node({.kind = NodeKind::kGpu,
                                              .first = static_cast<std::int32_t>(gpu),
                                              .second = static_cast<std::int32_t>(host)});
        fabric_.add_gpu(node);
      }
    }
  }
  [[nodiscard]] NodeId gpu(int host, std::size_t of_host) const {
    return fabric_.gpus()[static_cast<std::size_t>(host) * gpus_ + of_host];
  }

  void read_betas(ConfigMap& root) {
    const std::vector<double> betas = numbers(root, "node_betas_list");
    if (errors() > 0) return;
    if (betas.size() == 1) return add_switches(betas.front());
    if (betas.size() == 2 && gpus_ == kMeshGpus) return add_mesh(betas);
    root.error("node_betas_list", "E123",
               fmt::format("{} times for a MB and {} GPUs: one is a switch, two are the mesh of eight GPUs of NDv2",
                           betas.size(), gpus_),
               "links: [[0, 1], [1, 0]] and betas: [[0, 23], [23, 0]] describe any other host");
  }

  void add_switches(double beta) {
    for (int host = 0; host < hosts_; ++host) {
      const NodeId hub = fabric_.add_node({.kind = NodeKind::kNvSwitch, .first = host});
      for (std::size_t g = 0; g < gpus_; ++g) {
        fabric_.add_duplex(
            {.from = gpu(host, g), .to = hub, .bandwidth = megabyte_in(beta), .latency = alpha_ / 2});
      }
    }
  }

  void add_mesh(const std::vector<double>& betas) {
    for (int host = 0; host < hosts_; ++host) {
      for (std::size_t from = 0; from < kMeshGpus; ++from) {
        for (std::size_t to = 0; to < kMeshGpus; ++to) {
          const int kind = kMesh[from][to];
          if (kind > 0) add_link(host, from, to, betas[static_cast<std::size_t>(kind) - 1]);
        }
      }
    }
  }

  void add_link(int host, std::size_t from, std::size_t to, double beta) {
    fabric_.add_link(
        {.from = gpu(host, from), .to = gpu(host, to), .bandwidth = megabyte_in(beta), .latency = alpha_});
  }

  void read_links(ConfigMap& root) {
    const std::vector<std::string> links = root.settings("links");
    const std::vector<std::string> betas = root.settings("betas");
    if (links.size() != gpus_ || betas.size() != gpus_) {
      root.error("links", "E123", fmt::format("'links' and 'betas' have a row for each of the {} GPUs", gpus_));
      return;
    }
    for (std::size_t from = 0; from < gpus_; ++from) {
      const std::vector<double> joined = row(links[from]);
      const std::vector<double> times = row(betas[from]);
      if (joined.size() != gpus_ || times.size() != gpus_) {
        root.error("links", "E123", fmt::format("row {} of 'links' and 'betas' needs {} numbers", from, gpus_));
        return;
      }
      for (std::size_t to = 0; to < gpus_; ++to) {
        if (joined[to] <= 0.0) continue;
        if (from == to || times[to] <= 0.0) {
          root.error("betas", "E123", fmt::format("the link from GPU {} to {} needs a time above 0", from, to));
          return;
        }
        for (int host = 0; host < hosts_; ++host) add_link(host, from, to, times[to]);
      }
    }
  }

  // Numbers of a list in flow form; empty where one is none.
  static std::vector<double> row(std::string_view text) {
    std::vector<double> values;
    std::size_t at = 0;
    while (at < text.size()) {
      if (text[at] == '[' || text[at] == ']' || text[at] == ',' || text[at] == ' ') {
        ++at;
        continue;
      }
      double value = 0.0;
      const auto [end, problem] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (problem != std::errc()) return {};
      values.push_back(value);
      at = static_cast<std::size_t>(end - text.data());
    }
    return values;
  }

  static std::vector<double> numbers(ConfigMap& root, const char* name) {
    std::vector<double> values;
    for (const std::string& text : root.texts({.name = name, .doc = "us for each MB, by kind of link"})) {
      const std::vector<double> one = row(text);
      if (one.size() != 1 || one.front() <= 0.0) {
        root.error(name, "E123", fmt::format("'{}' is not a time above 0", text));
        return {};
      }
      values.push_back(one.front());
    }
    return values;
  }

  // GPU - out - switch - in - GPU: NICs have two nodes, so that no path inside a host leads over one.
  void add_nics() {
    const NodeId middle = fabric_.add_node({.kind = NodeKind::kSwitch, .first = 0});
    const Bandwidth speed = megabyte_in(remote_beta_);
    const Duration part = remote_alpha_ / 4;
    for (int host = 0; host < hosts_; ++host) {
      for (std::size_t nic = 0; nic < nics_; ++nic) {
        const NodeId out = fabric_.add_named_node(NodeKind::kNic, fmt::format("host{}/nic{}.out", host, nic));
        const NodeId in = fabric_.add_named_node(NodeKind::kNic, fmt::format("host{}/nic{}.in", host, nic));
        fabric_.add_link({.from = out, .to = middle, .bandwidth = speed, .latency = part});
        fabric_.add_link({.from = middle, .to = in, .bandwidth = speed, .latency = remote_alpha_ - part * 3});
        for (std::size_t g = 0; g < gpus_; ++g) {
          if (g * nics_ / gpus_ != nic) continue;
          fabric_.add_link({.from = gpu(host, g), .to = out, .bandwidth = speed, .latency = part});
          fabric_.add_link({.from = in, .to = gpu(host, g), .bandwidth = speed, .latency = part});
        }
      }
    }
  }

  ConfigDocument& document_;
  int hosts_;
  std::size_t gpus_ = 1;
  std::size_t nics_ = 1;
  Duration alpha_;
  Duration remote_alpha_;
  double remote_beta_ = 1.0;
  Fabric fabric_;
};

}  // namespace

bool is_taccl_topology(ConfigDocument& document) {
  ConfigMap root = document.root();
  return root.has("gpus_per_node") && root.has("alpha");
}

std::string_view why_no_machine(ConfigDocument& document) {
  ConfigMap root = document.root();
  if (root.has("intranode_sketch") || root.has("internode_sketch")) return "a communication sketch for TACCL's solver";
  if (root.has("TopologyParams")) return "settings of TE-CCL's solver";
  if (root.has("7-Flows")) return "a schedule that TE-CCL found, which 'comm.algorithms' takes";
  return {};
}

Result<Fabric> read_taccl_topology(ConfigDocument document, int hosts) {
  Fabric fabric = TacclReader(document, hosts).read();
  document.check_all_read();
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  return fabric;
}

}  // namespace ringwright::network_models
