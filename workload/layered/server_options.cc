#include "workload/layered/server_options.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/config/choice_of.h"

namespace ringwright::workload {
namespace {

constexpr std::int64_t kMostServers = 100'000;

void refuse(ConfigMap& map, std::string_view key, const std::string& why, const std::string& hint) {
  map.error(key, "E548", why, hint);
}

}  // namespace

namespace {

constexpr std::array kUpdates = {
    Option{"sync", "once the pushes of all workers have arrived"},
    Option{"async", "each push on arrival; workers never wait for each other (`ringwright servers`)"},
    Option{"ssp", "as async, but no worker is more than `staleness` steps ahead of the slowest"}};
constexpr std::string_view kOnlyServers =
    "only `ringwright servers`, which simulates all kinds of updates, uses it";
constexpr std::array kUpdateValues = {ServerUpdates::kSync, ServerUpdates::kAsync, ServerUpdates::kStaleSync};

void read_rpc(ConfigMap& own, ServerService& service) {
  if (!own.has("rpc") && !own.documenting()) return;
  ConfigMap rpc = own.map("rpc", "the library for remote procedure calls, such as eRPC (NSDI 2019)");
  service.rpc_latency = rpc.duration({.name = "latency",
                                      .doc = "of a push and its reply, in addition to the network and the "
                                             "thread",
                                      .fallback = Duration(0),
                                      .min = Duration(0)});
  if (rpc.has("thread_bandwidth") || rpc.documenting()) {
    service.rpc_thread_rate = rpc.bandwidth({.name = "thread_bandwidth",
                                             .doc = "of the bytes that a server's thread takes and sends; default: no "
                                                    "bound (eRPC: 75 Gbps of one core)",
                                             .min = Bandwidth(1.0)});
  }
}

// A training step of `run` has synchronous servers, which host memory bounds.
void note_idle(ConfigMap& own, ServerUpdates updates) {
  if (updates != ServerUpdates::kStaleSync && own.has("staleness")) own.ignore("staleness", kOnlyServers);
  if (updates != ServerUpdates::kSync) return;
  for (const std::string_view key : {"request_time", "threads", "rpc"}) {
    if (own.has(key)) own.ignore(key, kOnlyServers);
  }
}

ServerService read_service(ConfigMap& own) {
  ServerService service;
  service.updates = choice_of(
      own, {.name = "updates", .doc = "when servers apply gradients", .fallback = std::string("sync")}, kUpdates,
      kUpdateValues);
  const bool sync = service.updates == ServerUpdates::kSync;
  // Without a word about them they are not part of a synchronous scenario.
  const auto counts = [&](std::string_view key) { return !sync || own.documenting() || own.has(key); };
  if (counts("staleness") && (service.updates != ServerUpdates::kAsync || own.has("staleness"))) {
    service.staleness = own.integer({.name = "staleness",
                                     .doc = "ssp: steps by which workers may differ",
                                     .fallback = service.staleness,
                                     .min = 0,
                                     .max = 1'000'000});
  }
  if (counts("request_time")) {
    service.request = own.duration({.name = "request_time",
                                    .doc = "CPU time of a server's thread for each push, besides the update",
                                    .fallback = Duration(0),
                                    .min = Duration(0)});
  }
  if (counts("threads")) {
    service.threads = own.integer({.name = "threads",
                                   .doc = "threads of a server, that apply pushes at the same time",
                                   .fallback = service.threads,
                                   .min = 1,
                                   .max = 1024});
    if (!own.documenting() && !own.has("threads")) own.assume("threads", "4", "threads of a server are not known");
  }
  read_rpc(own, service);
  if (!own.documenting()) note_idle(own, service.updates);
  return service;
}

}  // namespace

std::optional<LayeredLayout> read_layered_layout(ConfigMap& map, const LayeredLayout& all) {
  LayeredLayout layout = all;
  if (!map.has("parameter_server") && !map.documenting()) return layout;
  ConfigMap own = map.map("parameter_server",
                          "hosts that add gradients and update parameters (ps-lite, MXNet KVStore, BytePS), instead of "
                          "an all-reduce");
  const std::int64_t servers =
      own.integer({.name = "servers", .doc = "hosts that are servers, the last ones", .min = 1, .max = kMostServers});
  const bool dedicated = own.boolean({.name = "dedicated",
                                      .doc = "their GPUs compute nothing; otherwise every server host trains as well",
                                      .fallback = true});
  layout.service = read_service(own);
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
