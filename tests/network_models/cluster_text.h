// Loads a cluster from YAML text in a test, with the shipped presets: `node:` and `fabric:` as under `cluster`.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/config/config_document.h"
#include "network_models/builtin.h"
#include "network_models/host/host.h"
#include "tests/paths.h"

namespace ringwright::network_models {

struct LoadedCluster {
  Host host;
  std::unique_ptr<Topology> topology;
  std::vector<std::string> problems;     // "line:column code message", errors and warnings; unread keys too
  std::vector<std::string> assumptions;  // paths
};

inline LoadedCluster load_cluster(std::string_view text, const std::string& name = "cluster.yaml") {
  LoadedCluster cluster;
  auto document = ConfigDocument::load_text(
      name, text,
      {.presets = {{.path = "node", .folder = "nodes"}, {.path = "node.gpu", .folder = "gpus"}},
       .share_folders = {ringwright::share_dir()}});
  if (!document) {
    ADD_FAILURE() << render(document.error());
    return cluster;
  }
  ConfigMap root = document->root();
  const int hosts = static_cast<int>(root.integer({.name = "nodes", .doc = "", .fallback = 1}));
  ConfigMap node = root.map("node", "");
  cluster.host = read_host(node);
  node.map("gpu", "").ignore_rest("not the network's");
  if (root.has("fabric")) {
    ConfigMap fabric = root.map("fabric", "");
    const std::string type = fabric.text({.name = "type", .doc = ""});
    for (const TopologyEntry& entry : topologies()) {
      if (entry.name == type) cluster.topology = entry.read(fabric, {.host = cluster.host, .hosts = hosts});
    }
  }
  document->check_all_read();
  for (const Diagnostic& d : document->log().diagnostics().all()) {
    cluster.problems.push_back(std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + " " + d.code +
                               " " + d.message);
  }
  for (const Assumption& assumption : document->log().assumptions()) cluster.assumptions.push_back(assumption.path);
  return cluster;
}

}  // namespace ringwright::network_models
