#include "configs/scenario/probing.h"

#include <array>

namespace ringwright::configs {
namespace {

using namespace literals;

// Counts of the map, each from 1.
int count(ConfigMap& map, Key<std::int64_t> key) {
  key.min = 1;
  return static_cast<int>(map.integer(key));
}

constexpr std::array kProbingCodes = {
    ErrorCode{.code = "E640",
              .title = "a fabric that cannot be probed",
              .explanation =
                  "NetBouncer sends probes from NICs to the switches of the highest tier and back over the same "
                  "cables.\nOnly fabrics of leaves, spines and cores have tiers.",
              .example = "ringwright probe FILE --set cluster.fabric.type=torus\n"
                         "ringwright probe FILE --set cluster.fabric.type=rail_optimized"},
    ErrorCode{.code = "E641",
              .title = "a fault that probes cannot meet",
              .explanation =
                  "The library starts without a NIC that is down from 0 s for good: it is not part of the job. Slow "
                  "hosts, links that\nlose bandwidth only, and faults at a step of a run (`at_step`) lose no probes.",
              .example = "faults: [{nic: host0/nic0}]\nfaults: [{nic: host0/nic0, at: 1ns}]"},
    ErrorCode{.code = "E642",
              .title = "a fault at a share of a step",
              .explanation =
                  "'at_step' counts steps of the run without the fault, warm-up included: 1.4 is 40 % of the second. "
                  "The run\nmust have that step, and only runs and studies of runs simulate one.",
              .example = "faults: [{nic: host0/nic0, at_step: 70}] in a run of two steps\n"
                         "faults: [{nic: host0/nic0, at_step: 140%}]"},
};

}  // namespace

std::span<const ErrorCode> probing_error_codes() { return kProbingCodes; }

ProbingSettings read_probing(ConfigMap root) {
  ProbingSettings settings;
  // Only the command `probe` needs it: its defaults do not belong to a scenario that is run.
  if (!root.has("probing") && !root.documenting()) return settings;
  ConfigMap map = root.map("probing", "how `ringwright probe` finds links that are down or lose packets (NetBouncer)");
  settings.interval = map.duration({.name = "interval",
                                    .doc = "between two probes of one port of a NIC",
                                    .fallback = settings.interval,
                                    .min = 1_ns});
  settings.probes_per_path = count(map, {.name = "probes_per_path",
                                         .doc = "probes of each path in a round",
                                         .fallback = settings.probes_per_path,
                                         .max = 1'000'000});
  settings.paths_per_port = count(map, {.name = "paths_per_port",
                                        .doc = "paths that a port probes, at most",
                                        .fallback = settings.paths_per_port,
                                        .max = 100'000});
  settings.threshold = map.percent({.name = "threshold",
                                    .doc = "a link is reported that loses more packets than this",
                                    .fallback = settings.threshold,
                                    .min = 0.0,
                                    .max = 0.99});
  settings.penalty = map.number({.name = "penalty",
                                 .doc = "lambda of NetBouncer's model: how strongly rates are pulled to 0 or 1",
                                 .fallback = settings.penalty,
                                 .min = 0.0,
                                 .max = 1000.0});
  settings.analysis = map.duration({.name = "analysis",
                                    .doc = "from the end of a round to its report",
                                    .fallback = settings.analysis,
                                    .min = Duration(0)});
  settings.rounds = count(map, {.name = "rounds",
                                .doc = "rounds until a fault counts as missed",
                                .fallback = settings.rounds,
                                .max = 1000});
  settings.loss = map.percent({.name = "loss",
                               .doc = "of packets, of the link that is tried where 'faults' has none; 100 %: down",
                               .fallback = settings.loss,
                               .min = 1e-9,
                               .max = 1.0});
  settings.cables = count(map, {.name = "cables",
                                .doc = "links that are tried one by one then, at most",
                                .fallback = settings.cables,
                                .max = 1'000'000});
  settings.repetitions = count(map, {.name = "repetitions",
                                     .doc = "of each fault, at random times",
                                     .fallback = settings.repetitions,
                                     .max = 100'000});
  settings.seed =
      static_cast<std::uint64_t>(map.integer({.name = "seed", .doc = "of random losses", .fallback = 1, .min = 0}));
  return settings;
}

}  // namespace ringwright::configs
