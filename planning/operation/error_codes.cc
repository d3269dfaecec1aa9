#include "planning/operation/error_codes.h"

#include <array>

namespace ringwright::planning {
namespace {

constexpr std::array kOperationCodes = {
    ErrorCode{.code = "E401",
              .title = "a time of a goodput file that is none",
              .explanation =
                  "Times have a unit: us, ms, s, min, h or d. Random times are maps with a distribution: fixed, "
                  "exponential or\nweibull with a mean, uniform with from and to, lognormal with median and mean.",
              .example = "repair: { time: 2 }\n"
                         "repair: { time: {distribution: exponential, mean: 2 h} }"},
    ErrorCode{.code = "E402",
              .title = "a goodput file that contradicts itself",
              .explanation =
                  "A component class has one failure process: a mean time between faults, a rate, a count with its "
                  "exposure, a\nlifetime, or recorded times. A job lasts either a duration by the calendar or as long "
                  "as its work. Lifetimes\nand recorded times follow the calendar. A slow part has a `slowdown` or "
                  "values of the scenario (`set`), and a fault\ntakes out at most the hosts of the job.",
              .example = "components: { gpu: {mtbf: 50000 h, count: 148} }\n"
                         "components: { gpu: {count: 148, exposure: 21233664 h} }"},
    ErrorCode{.code = "E403",
              .title = "a recovery policy that does not exist or does not apply",
              .explanation =
                  "`ringwright goodput --help` lists the policies. Some need several data-parallel replicas, or "
                  "replicas over\nseveral hosts, and none waits for more replicas or hosts than the job has.",
              .example = "recovery: { policy: replica_drop }   # job: { replicas: 128 }"},
    ErrorCode{.code = "E404",
              .title = "too many faults to simulate",
              .explanation =
                  "All repetitions together may have at most 5e8 faults and planned stops, a class at most a million "
                  "recorded\nfaults, a job at most a million hosts and ten million parts with ages.",
              .example = "components: { gpu: {mtbf: 1 ms} }\n"
                         "components: { gpu: {mtbf: 50000 h} }"},
    ErrorCode{.code = "E405",
              .title = "a checkpoint whose interval or times are not known",
              .explanation =
                  "`every` is a time, a number of steps, young, daly or best; one tier at most has one of the last "
                  "three. Where\nrates are given instead of times, the size must be known: checkpoint.state, or a "
                  "scenario with a model. A\n`group` has more hosts than its stripes have parts of `parity`, and at "
                  "most those of the job.",
              .example = "checkpoint: { state: 5.67TB, tiers: { storage: {every: daly, total: 2TB/s} } }"},
    ErrorCode{.code = "E406",
              .title = "settings of spare hosts that have no effect",
              .explanation =
                  "Without `standby`, hosts are unlimited: none is selected, taken from others, retired, stands by "
                  "after a fault, or\nreturns from repair as a lemon. `fills_standby` needs hosts of other jobs, and "
                  "`swaps_missed` faults whose host\nis not found.",
              .example = "spares: { standby: 16, pool: 48, select: 3 min }"},
    ErrorCode{.code = "E407",
              .title = "a goodput study without the scenario that it needs",
              .explanation =
                  "Values that `set` or --set give to a scenario need one, and its steps must be possible to "
                  "simulate.",
              .example = "scenario: llama3-405b-16k-h100\nset: { parallel.tp: 8 }"},
    ErrorCode{.code = "W408",
              .title = "a recovery policy copies state in no time",
              .explanation = "Hosts that join need a replica's state. Without its size and the bandwidth of the copy "
                             "the policy looks better than those that load a checkpoint.",
              .example = "recovery: { policy: commit, commit: { state: 100 GB, bandwidth: 25GB/s } }"},
    ErrorCode{.code = "W409",
              .title = "a checkpoint loads in no time",
              .explanation = "Rates of writing say nothing of reading. Without a time or a rate of it a recovery is "
                             "shorter than it can be.",
              .example = "checkpoint: { tiers: { store: {every: daly, per_host: 5GB/s, read_per_host: 5GB/s} } }"},
    ErrorCode{.code = "W410",
              .title = "a checkpoint stalls training for no time",
              .explanation = "Training stands at least while it copies its state: give that time as `stall`, or rates "
                             "that it follows from. `write`\nis the time from then on until the version counts.",
              .example = "checkpoint: { tiers: { store: {every: 30 min, stall: 3 s, write: 60 s, load: 1 min} } }"},
    ErrorCode{.code = "W400",
              .title = "checkpoints that take longer to write than the time between them",
              .explanation =
                  "One version is written at a time. The interval is made as long as writing takes, and the report "
                  "shows it.",
              .example = "checkpoint: { tiers: { storage: {every: 10 s, write: 60 s, stall: 3 s} } }"},
};

}  // namespace

std::span<const ErrorCode> operation_error_codes() {
  return kOperationCodes;
}

}  // namespace ringwright::planning
