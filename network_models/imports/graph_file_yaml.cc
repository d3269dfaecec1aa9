// Reads an explicit network from a configuration document and collects what is wrong with it.
#include "network_models/imports/graph_file_yaml.h"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/units.h"
#include "network_models/imports/graph_file_gpus.h"

namespace ringwright::network_models {
namespace {

class GraphDocumentReader {
 public:
  explicit GraphDocumentReader(ConfigDocument& document) : document_(document) {}

  [[nodiscard]] Fabric read() {
    ConfigMap root = document_.root();
    std::vector<ConfigMap> nodes = root.maps("nodes", "GPUs, NICs, switches");
    for (ConfigMap& node : nodes) read_node(node);
    for (ConfigMap& link : root.maps("links", "wires between nodes")) read_link(link);
    place_gpus(root);
    return std::move(fabric_);
  }

 private:
  struct Known {
    NodeId node;  // not valid when the rest of the entry is wrong, so that links to it do not cause errors too
    int line = 0;
  };

  [[nodiscard]] std::size_t errors() const { return document_.log().diagnostics().error_count(); }

  void read_node(ConfigMap& map) {
    const std::size_t errors_before = errors();
    const std::string name = map.text({.name = "name", .doc = "name used by links"});
    const std::string kind_text = map.text({.name = "kind", .doc = "gpu, nic, switch, ..."});
    std::optional<std::size_t> index;
    if (map.has("index")) {
      index = static_cast<std::size_t>(
          map.integer({.name = "index", .doc = "rank of a gpu", .min = 0}));
    }
    const bool sound = errors() == errors_before;
    if (name.empty()) {
      if (sound) map.error("name", "E123", "a node needs a name");
      return;
    }
    const auto [known, fresh] = nodes_.try_emplace(name, Known{.node = {}, .line = map.place("name").line});
    if (!fresh) {
      map.error("name", "E123", fmt::format("node '{}' is already defined in line {}", name, known->second.line));
      return;
    }
    if (!sound) return;
    const auto kind = parse_node_kind(kind_text);
    if (!kind) {
      map.error("kind", "E123", fmt::format("'{}' is not a kind of node", kind_text), near_kind(kind_text));
      return;
    }
    if (index && *kind != NodeKind::kGpu) {
      map.error("index", "E123", fmt::format("only a gpu has an index, not a {}", kind_text));
      return;
    }
    known->second.node = fabric_.add_named_node(*kind, name);
    if (*kind != NodeKind::kGpu) return;
    gpus_.push_back({.node = known->second.node, .index = index});
    gpu_maps_.push_back(map);
  }

  // Empty after an error, which is recorded here or by the reader of the key.
  [[nodiscard]] std::optional<NodeId> read_end(ConfigMap& link, std::string_view key, std::string_view doc) {
    const std::size_t errors_before = errors();
    const std::string name = link.text({.name = key, .doc = doc});
    if (errors() > errors_before) return std::nullopt;
    if (const auto found = nodes_.find(name); found != nodes_.end()) return found->second.node;
    std::vector<std::string> names;
    for (const auto& [known, where] : nodes_) names.push_back(known);
    link.error(key, "E123", fmt::format("node '{}' is not in the list of nodes", name), near_node(name, names));
    return std::nullopt;
  }

  void read_link(ConfigMap& map) {
    const auto from = read_end(map, "from", "name of a node");
    const auto to = read_end(map, "to", "name of a node");
    const Bandwidth bandwidth = map.bandwidth({.name = "bandwidth", .doc = "of one direction, 400Gbps"});
    const Duration latency = map.duration({.name = "latency", .doc = "from end to end, 1.2us"});
    const bool duplex =
        map.boolean({.name = "duplex", .doc = "false: bytes go from `from` to `to` only", .fallback = true});
    if (!from || !to || !from->valid() || !to->valid()) return;
    if (*from == *to) {
      map.error("to", "E123", fmt::format("a link joins two nodes, not '{}' with itself", fabric_.name(*to)));
      return;
    }
    if (errors() > 0) return;  // the numbers may be placeholders
    const LinkSpec spec{.from = *from, .to = *to, .bandwidth = bandwidth, .latency = latency};
    if (duplex) {
      fabric_.add_duplex(spec);
    } else {
      fabric_.add_link(spec);
    }
  }

  void place_gpus(ConfigMap& root) {
    if (gpus_.empty()) {
      if (errors() == 0) root.error("nodes", "E123", "the file defines no gpu");
      return;
    }
    if (const auto mistake = order_gpus(gpus_, fabric_)) {
      gpu_maps_[mistake->gpu].error("index", "E123", mistake->message);
    }
  }

  ConfigDocument& document_;
  Fabric fabric_;
  std::map<std::string, Known> nodes_;  // by name
  std::vector<GraphGpu> gpus_;
  std::vector<ConfigMap> gpu_maps_;  // entry of each
};

}  // namespace

Result<Fabric> read_graph_document(ConfigDocument document) {
  Fabric fabric = GraphDocumentReader(document).read();
  document.check_all_read();
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  return fabric;
}

}  // namespace ringwright::network_models
