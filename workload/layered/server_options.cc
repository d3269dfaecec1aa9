#include "workload/layered/server_options.h"

#include <algorithm>
#include <string>

#include <fmt/format.h>

namespace ringwright::workload {
namespace {

constexpr std::int64_t kMostServers = 100'000;

void refuse(ConfigMap& map, std::string_view key, const std::string& why, const std::string& hint) {
  map.error(key, "E548", why, hint);
}

}  // namespace

std::optional<LayeredLayout> read_layered_layout(ConfigMap& map, const LayeredLayout& all) {
  LayeredLayout layout = all;
  if (!map.has("parameter_server") && !map.documenting()) return layout;
  ConfigMap own = map.map("parameter_server",
                          "hosts that add gradients and update parameters (ps-lite, MXNet KVStore, BytePS), instead of "
                          "an all-reduce; synchronous");
  const std::int64_t servers =
      own.integer({.name = "servers", .doc = "hosts that are servers, the last ones", .min = 1, .max = kMostServers});
  const bool dedicated = own.boolean({.name = "dedicated",
                                      .doc = "their GPUs compute nothing; otherwise every server host trains as well",
                                      .fallback = true});
  if (map.documenting()) return layout;
  if (all.ranks % all.host_ranks != 0) {
    refuse(map, "parameter_server",
           fmt::format("the {} GPUs of the job do not fill hosts of {}, and servers are whole hosts", all.ranks,
                       all.host_ranks),
           fmt::format("give the job a multiple of {} GPUs", all.host_ranks));
    return std::nullopt;
  }
  const std::int64_t hosts = all.ranks / all.host_ranks;
  const std::int64_t most = dedicated ? hosts - 1 : hosts;
  if (servers > most) {
    refuse(own, "servers",
           fmt::format("{} is {}, and {} hosts allow {} {} server{}", own.path_of("servers"), servers, hosts, most,
                       dedicated ? "dedicated" : "colocated", most == 1 ? "" : "s"),
           most > 0 ? fmt::format("set {}: {}", own.path_of("servers"), most)
                    : "set cluster.nodes to at least 2, or dedicated: false");
    return std::nullopt;
  }
  layout.servers = {.count = static_cast<int>(servers), .dedicated = dedicated};
  return layout;
}

}  // namespace ringwright::workload
