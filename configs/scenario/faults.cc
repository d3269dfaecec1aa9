// Reads faults and finds the links that they name.
#include "configs/scenario/faults.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/fabric_names.h"
#include "configs/scenario/fault_effect.h"
#include "configs/scenario/nics_down.h"
#include "core/config/scalar.h"

namespace ringwright::configs {
namespace {

constexpr std::string_view kFaultCode = "E124";

constexpr std::array kFailovers = {
    Option{"none", "its traffic waits, and NCCL ends the job when its NICs give up"},
    Option{"migrate", "its connections move to the next NIC of the host that is up"},
    Option{"balance", "its traffic is spread evenly over all NICs of the host that are up"},
    Option{"replan", "balance, and all-reduces of 16 MiB and more spare the host; down from 0 s on"}};
constexpr std::array kDirections = {Option{"both", "the named link and its reverse"},
                                    Option{"one", "only the named direction"}};

// What a fault is of.
constexpr std::array<std::string_view, 5> kSubjects = {"link", "nic", "nic_port", "switch", "node"};

struct Period {
  TimePoint at;
  TimePoint until = network_models::kForGood;
  std::optional<double> at_step;
};

std::string reversed(const std::string& link) {
  const std::size_t arrow = link.find("->");
  return arrow == std::string::npos ? link : link.substr(arrow + 2) + "->" + link.substr(0, arrow);
}

class FaultReader {
 public:
  explicit FaultReader(const FaultContext& context) : context_(context) {}

  void read(ConfigMap& map, std::size_t number) {
    number_ = number;
    if (map.documenting()) {
      read_links(map);
      read_host(map);
      return;
    }
    const auto subjects = std::ranges::count_if(kSubjects, [&](std::string_view key) { return map.has(key); });
    if (subjects != 1) {
      map.error("", std::string(kFaultCode),
                fmt::format("a fault is of one 'link', 'nic', 'nic_port', 'switch' or 'node', but {} are given",
                            subjects));
      map.ignore_rest("the fault is not valid");
      return;
    }
    if (map.has("node")) return read_host(map);
    if (context_.fabric_is_wrong) return map.ignore_rest("the fabric is not valid");
    if (!context_.model.plays_faults) {
      map.ignore_rest(fmt::format("the network model '{}' does not simulate link faults", context_.model.name));
      return;
    }
    read_links(map);
  }
  // After the last of them.
  [[nodiscard]] Faults take(std::vector<ConfigMap>& maps) {
    if (!faults_.links.empty() && context_.fabric != "graph") leave_out_lost_nics(maps);
    return std::move(faults_);
  }

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
    if (!map.documenting() && !map.has("at_step")) return period;
    period.at_step = map.percent({.name = "at_step",
                                  .doc = "instead of 'at', in steps of a run without this fault: 1.4 or 140% is 40 % "
                                         "of the second step, warm-up included",
                                  .fallback = 0.0,
                                  .min = 0.0,
                                  .max = 1e9});
    if (!map.documenting() && map.has("at")) {
      map.error("at_step", std::string(kFaultCode), fmt::format("'{}' and 'at' are two times of one fault",
                                                                map.path_of("at_step")));
    }
    return period;
  }

  // What happens when a link goes down.
  struct Reaction {
    Duration reroute_after;
    network_models::FailoverMode failover = network_models::FailoverMode::kNone;
    [[nodiscard]] bool replans() const { return failover == network_models::FailoverMode::kReplan; }
  };

  [[nodiscard]] Reaction read_reaction(ConfigMap& map, const Period& period, bool down) const {
    Reaction reaction;
    const std::string failover = map.choice(
        {.name = "failover", .doc = "what takes over the traffic of a NIC that is down (R2CCL, arXiv 2512.25059)",
         .fallback = std::string("none")}, kFailovers);
    using network_models::FailoverMode;
    reaction.failover = failover == "migrate"   ? FailoverMode::kMigrate
                        : failover == "balance" ? FailoverMode::kBalance
                        : failover == "replan"  ? FailoverMode::kReplan
                                                : FailoverMode::kNone;
    const Key<Duration> delay{.name = "reroute_after",
                              .doc = "time from the failure until traffic takes another path: convergence of routing, "
                                     "or detection and migration with 'failover'; until then it waits",
                              .fallback = Duration(0),
                              .min = Duration(0)};
    if (map.documenting() || map.has("reroute_after")) reaction.reroute_after = map.duration(delay);
    if (map.documenting()) return reaction;
    const auto refuse = [&](std::string_view key, std::string_view why) {
      if (map.has(key)) map.error(key, std::string(kFaultCode), fmt::format("'{}' {}", map.path_of(key), why));
    };
    if (!down) {
      refuse("failover", "is for a NIC that is down; this one is not");
      refuse("reroute_after", "is for a link that is down; this one is not");
    }
    const bool stays = map.has("nic") && reaction.failover == network_models::FailoverMode::kNone;
    if (down && stays) refuse("reroute_after", "has no effect on a NIC without 'failover': it has one cable");
    if (!map.has("nic")) refuse("failover", "is for a 'nic'; of other links, routing takes equal-cost paths");
    const bool whole_run = period.at == TimePoint() && !period.at_step && period.until == network_models::kForGood;
    if (reaction.replans() && !whole_run) {
      refuse("failover", "plans all-reduces for a whole run, and needs a NIC that is down from 0 s on and for good");
    }
    if (reaction.replans() && context_.fabric == "rail_only") {
      refuse("failover", "sends around the host by other rails, and this fabric connects none; balance does not");
    }
    if (context_.fabric == "graph") refuse("failover", "is not simulated on graphs, whose NICs have no numbers");
    if (period.at.since_start() > kClockEnd - reaction.reroute_after) {
      refuse("reroute_after", "ends after the clock's range");
      reaction.reroute_after = Duration();
    }
    return reaction;
  }

  void read_links(ConfigMap& map) {
    const std::string link = map.text({.name = "link",
                                       .doc = "a link by its name, FROM->TO as printed by `topo --names`",
                                       .fallback = std::string()});
    const std::string nic = map.text({.name = "nic",
                                      .doc = "a NIC: the cable between it and the network, both directions; if it is "
                                             "down from 0 s without an end, the library starts without it",
                                      .fallback = std::string()});
    const std::string port = map.text({.name = "nic_port",
                                       .doc = "a port of a NIC, NIC.NUMBER: its cable, both directions; with "
                                              "'dual_tor' a NIC has ports 0 and 1",
                                       .fallback = std::string()});
    const std::string device = map.text({.name = "switch",
                                         .doc = "a switch of the network: all of its links, both directions",
                                         .fallback = std::string()});
    const Period period = read_period(map);
    const FaultEffect effect = read_fault_effect(map);
    const Reaction reaction = read_reaction(map, period, effect.is_down());
    std::vector<LinkId> links;
    if (map.documenting() || map.has("link")) links = read_named_links(map, link);
    if (map.documenting()) return;
    if (map.has("nic")) add_found(map, "nic", names().cables_of_nic(nic), links);
    if (reaction.replans() && !links.empty()) plan_around(links.front());
    const bool whole_run = period.at == TimePoint() && !period.at_step && period.until == network_models::kForGood;
    if (map.has("nic") && whole_run && !effect.is_down() && !links.empty()) slow_nic(links.front(), effect.factor);
    if (map.has("nic_port")) {
      add_found(map, "nic_port", names().cable_of_port(port), links);
      refuse_only_port(map, port);
    }
    if (map.has("switch")) add_found(map, "switch", names().links_of_switch(device), links);
    const std::string_view key = *std::ranges::find_if(kSubjects, [&](std::string_view each) { return map.has(each); });
    const std::string& name = key == "link" ? link : key == "nic" ? nic : key == "nic_port" ? port : device;
    std::vector<network_models::LinkFault> later;
    for (const LinkId each : links) {
      (period.at_step ? later : faults_.links).push_back({.link = each,
                               .at = period.at,
                               .until = period.until,
                               .factor = effect.factor,
                               .reroute_after = reaction.reroute_after,
                               .failover = reaction.failover,
                               .loss = effect.loss});
    }
    if (period.at_step) {
      faults_.at_steps.push_back(
          {.at_step = *period.at_step, .ordered = faults_.ordered.size(), .links = std::move(later)});
    }
    const std::string time = period.at_step ? "" : " " + when_text(period.at, period.until);
    faults_.ordered.push_back({.text = fmt::format("{} {}{}{}", name, effect.text(), describe(reaction), time),
                               .at = period.at,
                               .until = period.until,
                               .is_down = effect.is_down(),
                               .of_link = true,
                               .path = map.path_of(key),
                               .place = map.place(key)});
    note(std::move(links));
  }

  [[nodiscard]] const NodeSpec& nic_at(LinkId cable) const {
    const LinkSpec& link = network_.fabric.link(cable);
    const bool outward = network_.fabric.node(link.from).kind == NodeKind::kNic;
    return network_.fabric.node(outward ? link.from : link.to);
  }

  void slow_nic(LinkId cable, double factor) {
    if (context_.nics < 1) return;
    faults_.nic_share_of_host.resize(static_cast<std::size_t>(context_.hosts), 1.0);
    faults_.nic_share_of_host[static_cast<std::size_t>(nic_at(cable).first)] -= (1.0 - factor) / context_.nics;
  }

  void plan_around(LinkId cable) {
    const NodeSpec& nic = nic_at(cable);
    constexpr int kMostNics = 16;
    if (nic.second >= kMostNics) return;  // balanced
    faults_.nics_to_plan_around.resize(static_cast<std::size_t>(context_.hosts), 0);
    faults_.nics_to_plan_around[static_cast<std::size_t>(nic.first)] |= 1 << nic.second;
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

  // Where there is no other port, no path is left to take.
  void refuse_only_port(ConfigMap& map, std::string_view port) {
    if (!map.has("reroute_after")) return;
    if (names().cables_of_nic(port.substr(0, port.rfind('.'))).links.size() != 2) return;
    map.error("reroute_after", std::string(kFaultCode),
              fmt::format("'{}' has no effect on the only port of a NIC", map.path_of("reroute_after")),
              "'cluster.fabric.dual_tor: true' gives NICs two ports");
  }

  static void add_found(ConfigMap& map, std::string_view key, const FoundLinks& found, std::vector<LinkId>& links) {
    links.insert(links.end(), found.links.begin(), found.links.end());
    if (found.problem.empty()) return;
    map.error(key, std::string(kFaultCode), found.problem,
              found.nearest.empty() ? "`ringwright topo FILE --names` prints the names of all nodes and links"
                                    : fmt::format("did you mean '{}'?", found.nearest));
  }

  // "3" or "host3"; -1 after an error.
  [[nodiscard]] std::int64_t read_host_number(ConfigMap& map) const {
    const std::string name =
        map.text({.name = "node", .doc = "a host: its number, from 0, or its name", .fallback = std::string("0")});
    const auto number = read_integer(name.starts_with("host") ? std::string_view(name).substr(4) : name);
    if (number.has_value() && *number >= 0 && *number < context_.hosts) return *number;
    if (!map.documenting()) {
      const std::int64_t last = context_.hosts - 1;
      map.error("node", std::string(kFaultCode),
                fmt::format("'{}' = {} is none of the hosts", map.path_of("node"), name),
                fmt::format("their numbers are 0 to {}; or write host0 to host{}", last, last));
    }
    return -1;
  }

  void read_host(ConfigMap& map) {
    const std::int64_t host = read_host_number(map);
    const double speed = map.number({.name = "compute_scale", .doc = "speed of its GPUs, 1 = nominal", .fallback = 1.0,
                                     .min = 0.001, .max = 1000.0});
    const Period period = read_period(map);
    if (map.documenting()) return;
    if (!map.has("compute_scale")) {
      map.error("node", std::string(kFaultCode), "a host's fault states how fast its GPUs are, and this one does not",
                "compute_scale: 0.8; a host that fails ends the step: `ringwright goodput` simulates such failures");
      return;
    }
    if (period.at > TimePoint() || period.at_step || period.until != network_models::kForGood) {
      map.error(map.has("for") ? "for" : period.at_step ? "at_step" : "at", std::string(kFaultCode),
                "a host is slow for the whole run: only 'at: 0s' is supported");
      return;
    }
    if (host < 0 || speed <= 0.0) return;  // already reported
    faults_.slowdown_of_host.resize(static_cast<std::size_t>(context_.hosts), 1.0);
    faults_.slowdown_of_host[static_cast<std::size_t>(host)] /= speed;
    faults_.ordered.push_back({.text = fmt::format("host{} computes at {:.4g} times its speed", host, speed),
                               .at = period.at,
                               .until = period.until,
                               .is_down = false,
                               .of_link = false,
                               .host = host,
                               .path = map.path_of("node"),
                               .place = map.place("node")});
    note({});
  }

  [[nodiscard]] static std::string describe(const Reaction& reaction) {
    std::string text;
    if (reaction.failover != network_models::FailoverMode::kNone) {
      const bool moves = reaction.failover == network_models::FailoverMode::kMigrate;
      text = fmt::format(" ({}", moves             ? "its connections move to another NIC"
                                 : reaction.replans() ? "its traffic spreads over the others, and all-reduces spare it"
                                                    : "its traffic spreads over the others");
    }
    if (reaction.reroute_after > Duration()) {
      text += fmt::format("{}after {}", text.empty() ? " (other paths " : " ", to_string(reaction.reroute_after));
    }
    return text.empty() ? text : text + ")";
  }

  // Of the fault that was ordered last.
  void note(std::vector<LinkId> links) {
    links_of_.push_back(std::move(links));
    map_of_.push_back(number_);
  }

  // NICs that the library does not find are not reported as faults of the run.
  void leave_out_lost_nics(std::vector<ConfigMap>& maps) {
    const NicsDown down = find_nics_down(network_.fabric, faults_.links);
    const std::string problem = why_cut_off(
        down, {.hosts = context_.hosts,
               .nics = context_.nics,
               .rails_apart = context_.fabric == "rail_only",
               .host = context_.host});
    std::size_t last_lost = 0;
    const auto is_lost = [&](LinkId link) { return down.cables.contains(link); };
    for (std::size_t i = 0; i < faults_.ordered.size(); ++i) {
      OrderedFault& fault = faults_.ordered[i];
      const bool later = std::ranges::count(faults_.at_steps, i, &StepFault::ordered) > 0;
      fault.of_lost_nic = fault.of_link && !later && std::ranges::all_of(links_of_[i], is_lost);
      if (!fault.of_lost_nic) continue;
      fault.text += ": the library starts without it";
      last_lost = i;
    }
    if (!problem.empty()) {
      return maps[map_of_[last_lost]].error("", std::string(kFaultCode), problem,
                                             "leave the host a NIC, or start the fault after 'at: 0s'");
    }
    std::erase_if(faults_.links, [&](const network_models::LinkFault& fault) { return is_lost(fault.link); });
    faults_.lost_nics = down.sets(context_.hosts);
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
  std::size_t number_ = 0;                      // of the fault being read, in its list
  std::vector<std::vector<LinkId>> links_of_;  // by ordered fault
  std::vector<std::size_t> map_of_;            // by ordered fault: its number in the list
};

}  // namespace

bool Faults::last() const {
  return at_steps.empty() && std::ranges::all_of(links, [](const network_models::LinkFault& fault) {
           const bool avoided = fault.factor > 0.0 || fault.reroute_after == Duration();
           return fault.at == TimePoint() && fault.until == network_models::kForGood && avoided;
         });
}

std::string when_text(TimePoint at, TimePoint until) {
  const std::string from = fmt::format("from {}", to_string(at.since_start()));
  if (until == network_models::kForGood) return from + " on";
  return fmt::format("{} to {}", from, to_string(until.since_start()));
}

Faults read_faults(ConfigMap& root, const FaultContext& context) {
  FaultReader reader(context);
  std::vector<ConfigMap> maps = root.maps("faults", "links and hosts that fail or degrade during the run");
  for (std::size_t i = 0; i < maps.size(); ++i) reader.read(maps[i], i);
  return reader.take(maps);
}

}  // namespace ringwright::configs
