// Reads faults and finds the links that they name.
#include "configs/scenario/faults.h"

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/fabric_names.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kFaultCode = "E124";

constexpr std::array kStates = {Option{"down", "the link carries nothing; flows take another equal way, or wait"},
                                Option{"degraded", "the link carries `factor` of its bandwidth"}};
constexpr std::array kDirections = {Option{"both", "the named link and the one back"},
                                    Option{"one", "only the named direction"}};

struct Period {
  TimePoint at;
  TimePoint until = network_models::kForGood;
};

std::string describe(const Period& period) {
  const std::string from = fmt::format("from {}", to_string(period.at.since_start()));
  if (period.until == network_models::kForGood) return from + " on";
  return fmt::format("{} to {}", from, to_string(period.until.since_start()));
}

std::string reversed(const std::string& link) {
  const std::size_t arrow = link.find("->");
  return arrow == std::string::npos ? link : link.substr(arrow + 2) + "->" + link.substr(0, arrow);
}

class FaultReader {
 public:
  explicit FaultReader(const FaultContext& context) : context_(context) {}

  void read(ConfigMap& map) {
    if (map.documenting()) {
      read_links(map);
      read_host(map);
      return;
    }
    const int subjects = (map.has("link") ? 1 : 0) + (map.has("nic") ? 1 : 0) + (map.has("node") ? 1 : 0);
    if (subjects != 1) {
      map.error("", std::string(kFaultCode),
                fmt::format("a fault is of one 'link', 'nic' or 'node', but {} are given", subjects));
      map.ignore_rest("the fault is not understood");
      return;
    }
    if (map.has("node")) return read_host(map);
    if (!context_.model.plays_faults) {
      map.ignore_rest(fmt::format("the network model '{}' plays no faults of links", context_.model.name));
      return;
    }
    read_links(map);
  }
  [[nodiscard]] Faults take() { return std::move(faults_); }

 private:
  [[nodiscard]] static Period read_period(ConfigMap& map) {
    Period period;
    period.at = TimePoint(map.duration({.name = "at",
                                        .doc = "when it begins, from the start of the run (warm-up included)",
                                        .fallback = Duration(0),
                                        .min = Duration(0)}));
    const Key<Duration> length{.name = "for", .doc = "how long it lasts; to the end of the run when not given",
                               .fallback = Duration(0), .min = Duration(0)};
    if (map.documenting() || map.has("for")) period.until = period.at + map.duration(length);
    return period;
  }

  // The capacity that is left.
  [[nodiscard]] static double read_factor(ConfigMap& map) {
    const std::string state =
        map.choice({.name = "state", .doc = "what is wrong", .fallback = std::string("down")}, kStates);
    const Key<double> key{.name = "factor",
                          .doc = "part of the bandwidth that is left; with state: degraded",
                          .fallback = 0.5,
                          .min = 0.0,
                          .max = 1.0};
    const bool degraded = state == "degraded";
    if (map.documenting() || degraded) {
      const double factor = map.number(key);
      if (!map.documenting() && (!map.has("factor") || factor <= 0.0)) {
        map.error("factor", std::string(kFaultCode),
                  fmt::format("'{}' must say which part of the bandwidth is left", map.path_of("factor")),
                  "factor: 0.5");
      }
      return degraded ? factor : 0.0;
    }
    if (map.has("factor")) {
      map.error("factor", std::string(kFaultCode), "a link that is down has no factor", "state: degraded");
      static_cast<void>(map.number(key));
    }
    return 0.0;
  }

  void read_links(ConfigMap& map) {
    const std::string link = map.text({.name = "link",
                                       .doc = "a link by its name, FROM->TO as `topo --names` prints it",
                                       .fallback = std::string()});
    const std::string nic = map.text({.name = "nic",
                                      .doc = "a NIC: the cable between it and the network, both directions",
                                      .fallback = std::string()});
    const Period period = read_period(map);
    const double factor = read_factor(map);
    std::vector<LinkId> links;
    if (map.documenting() || !map.has("nic")) links = read_named_links(map, link);
    if (map.documenting()) return;
    if (map.has("nic")) add_found(map, "nic", names().cables_of_nic(nic), links);
    for (const LinkId each : links) {
      faults_.links.push_back({.link = each, .at = period.at, .until = period.until, .factor = factor});
    }
    const std::string what = factor > 0.0 ? fmt::format("at {:.4g} of its bandwidth", factor) : "down";
    faults_.ordered.push_back({.text = fmt::format("{} {} {}", nic.empty() ? link : nic, what, describe(period)),
                               .at = period.at,
                               .until = period.until,
                               .is_down = factor <= 0.0,
                               .of_link = true,
                               .place = map.place(nic.empty() ? "link" : "nic")});
  }

  std::vector<LinkId> read_named_links(ConfigMap& map, const std::string& name) {
    const bool both = map.choice({.name = "direction", .doc = "which directions of the link",
                                  .fallback = std::string("both")}, kDirections) == "both";
    const auto lane = map.integer_or({.name = "lane",
                                      .doc = "which of parallel links with one name, from 0; else all of them",
                                      .min = 0}, "all");
    if (map.documenting()) return {};
    std::vector<LinkId> links;
    for (const std::string& direction : {name, reversed(name)}) {
      FoundLinks found = names().links(direction);
      if (lane && !found.links.empty() && *lane >= static_cast<std::int64_t>(found.links.size())) {
        map.error("lane", std::string(kFaultCode), fmt::format("there are {} links '{}'", found.links.size(), name));
        return {};
      }
      if (lane && !found.links.empty()) found.links = {found.links[static_cast<std::size_t>(*lane)]};
      add_found(map, "link", found, links);
      if (!both || links.empty()) break;
    }
    return links;
  }

  static void add_found(ConfigMap& map, std::string_view key, const FoundLinks& found, std::vector<LinkId>& links) {
    links.insert(links.end(), found.links.begin(), found.links.end());
    if (found.problem.empty()) return;
    map.error(key, std::string(kFaultCode), found.problem,
              found.nearest.empty() ? "`ringwright topo FILE --names` prints the names of all nodes and links"
                                    : fmt::format("did you mean '{}'?", found.nearest));
  }

  void read_host(ConfigMap& map) {
    // The schema knows no cluster.
    const auto last = map.documenting() ? std::nullopt : std::optional(context_.hosts - 1);
    const std::int64_t host = map.integer(
        {.name = "node", .doc = "number of a host, from 0", .fallback = 0, .min = 0, .max = last});
    const double speed = map.number({.name = "compute_scale", .doc = "speed of its GPUs, 1 = nominal", .fallback = 1.0,
                                     .min = 0.001, .max = 1000.0});
    const Period period = read_period(map);
    if (map.documenting()) return;
    if (period.at > TimePoint() || period.until != network_models::kForGood) {
      map.error(map.has("for") ? "for" : "at", std::string(kFaultCode),
                "a host is slow for the whole run: other times than 'at: 0s' are not played");
      return;
    }
    if (host < 0 || host >= context_.hosts || speed <= 0.0) return;  // told already
    faults_.slowdown_of_host.resize(static_cast<std::size_t>(context_.hosts), 1.0);
    faults_.slowdown_of_host[static_cast<std::size_t>(host)] /= speed;
    faults_.ordered.push_back({.text = fmt::format("host{} computes at {:.4g} of its speed", host, speed),
                               .at = period.at,
                               .until = period.until,
                               .is_down = false,
                               .of_link = false,
                               .place = map.place("node")});
  }

  // Built once, and only when a link is named.
  [[nodiscard]] const FabricNames& names() {
    if (!names_) {
      network_ = context_.topology.build();
      names_.emplace(network_.fabric);
    }
    return *names_;
  }

  const FaultContext& context_;
  network_models::Network network_;
  std::optional<FabricNames> names_;
  Faults faults_;
};

}  // namespace

Faults read_faults(ConfigMap& root, const FaultContext& context) {
  FaultReader reader(context);
  for (ConfigMap& map : root.maps("faults", "what breaks during the run, and when")) reader.read(map);
  return reader.take();
}

}  // namespace ringwright::configs
