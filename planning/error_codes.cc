#include "planning/error_codes.h"

#include <array>

namespace ringwright::planning {
namespace {

constexpr std::array kStudyCodes = {
    ErrorCode{.code = "E300",
              .title = "a sweep that does not say what it varies",
              .explanation =
                  "A sweep file names a scenario and, in a grid, a list, random or latin_hypercube, keys with their "
                  "values.\nEvery key stands in one place only, and has at least one value.",
              .example = "scenario: llama.yaml\ngrid: { parallel.tp: [4, 8] }"},
    ErrorCode{.code = "E301",
              .title = "a sweep or study names a key that no scenario has",
              .explanation =
                  "Keys are written with all maps that they stand in, as --set takes them. `ringwright explain KEY` "
                  "describes\nthe known ones.",
              .example = "grid: { tp: [4, 8] }              # write: parallel.tp: [4, 8]"},
    ErrorCode{.code = "E302",
              .title = "a condition of a sweep that cannot be evaluated",
              .explanation =
                  "A condition compares two sides with < <= == != >= or >. A side is a number, a quantity with its "
                  "unit, a key, a\nword, or numbers combined with + - * / % and brackets; operators stand between "
                  "blanks. Several conditions\nin the list must all hold.",
              .example = "where: [ \"parallel.tp * parallel.pp <= 64\", \"training.recompute != full\" ]"},
    ErrorCode{.code = "E303",
              .title = "values that cannot be drawn",
              .explanation =
                  "A sampled key has a list of values, or a range `from` .. `to` whose ends have units of one kind. "
                  "With `scale: log`\nratios are equally likely, and the range starts above 0. Ends that are whole "
                  "numbers without a unit give\nwhole numbers.",
              .example = "random: { samples: 50, keys: { cluster.node.nic.bandwidth: {from: 100Gbps, to: 800Gbps} } }"},
    ErrorCode{.code = "E304",
              .title = "a sweep with too many points",
              .explanation =
                  "At most 1,000,000 combinations are looked at, and 100,000 of them may meet the conditions. "
                  "Random samples of a\nlarge space show as much as all of its points.",
              .example = "latin_hypercube: { samples: 1000, keys: {...} }   # instead of a grid over six keys"},
    ErrorCode{.code = "E305",
              .title = "a sweep that would take hours",
              .explanation =
                  "Before a sweep, five of its points are built and their cost is estimated. Above one hour it is "
                  "refused, unless\n--allow-slow is given. Points that are stored already do not count.",
              .example = "ringwright sweep plan.yaml --dry-run      # prints the estimate"},
    ErrorCode{.code = "E306",
              .title = "a shard that is none",
              .explanation =
                  "`--shard 2/8` simulates the second of eight parts of a sweep, for batch arrays. Each part writes a "
                  "database of\nits own; `--merge` joins them.",
              .example = "ringwright sweep plan.yaml --shard 2/8 --db part2.sqlite\n"
                         "ringwright sweep plan.yaml --merge part1.sqlite --merge part2.sqlite"},
    ErrorCode{.code = "E307",
              .title = "a sweep whose points cannot be ranked",
              .explanation =
                  "Points were simulated, and none has the figure that the sweep ranks by: `cost` needs prices in the "
                  "scenario, `mfu`\nthe peak rate of the GPU. The results are stored.",
              .example = "objective: cost     # the scenario needs: cost: { usd_per_gpu_hour: 2.5 }"},
    ErrorCode{.code = "E485",
              .title = "a cluster over days that cannot be simulated as described",
              .explanation =
                  "The file names the hosts, jobs from a log or a generator, how fast jobs run on other GPUs, and "
                  "policies. No job asks\nfor more GPUs than the cluster has, or fails so often (`failures`) that it "
                  "hardly ever ends.",
              .example = "cluster: { hosts: 256 }\njobs: { count: 10000, span: 168h }\nscheduler: { policies: [fifo, "
                         "srtf] }"},
    ErrorCode{.code = "E486",
              .title = "a machine whose simulated steps give no speeds",
              .explanation =
                  "`speed.machine` names a scenario with `jobs`: each is a type of job, simulated alone at 1, 2, 4 ... "
                  "GPUs in one host,\nin one unit and over units. At one size at least its layout must be valid: leave "
                  "parallel.dp: auto. Hosts have as many GPUs as `cluster.gpus_per_host` says.",
              .example = "speed: { machine: types.yaml }   # jobs: [{name: a, gpus: 8, model: {preset: llama3-8b}}]"},
    ErrorCode{.code = "E310",
              .title = "a database of results that cannot be used",
              .explanation =
                  "Sweeps store their results in SQLite databases. The file must be one that this program wrote, and "
                  "the folder\nwritable. A write-ahead log needs a local disk: on shared network file systems, give "
                  "every process a\ndatabase of its own and merge them.",
              .example = "ringwright sweep plan.yaml --db results.sqlite"},
    ErrorCode{.code = "W310",
              .title = "stored results of another version",
              .explanation =
                  "A sweep uses stored points of its own version only: the version of the program and a hash of the "
                  "sources that\nsimulate. Points of other versions stay in the database, and are simulated again.",
              .example = "git pull; ./run sweep plan.yaml"},
    ErrorCode{.code = "E320",
              .title = "a result that cannot be compared",
              .explanation = "`compare` takes scenarios, and results of `ringwright run` (result.json, or the folder "
                             "that holds it). A result states\nits step time by cause in whole picoseconds, parts_ps; "
                             "results of older versions do not.",
              .example = "ringwright compare llama.yaml out/llama"},
    ErrorCode{.code = "E321",
              .title = "sides that cannot be compared",
              .explanation = "A comparison needs two sides: scenarios, results of earlier runs, or one scenario and "
                             "what changes in it. A result\nis what was simulated; values cannot be changed in it.",
              .example = "ringwright compare a.yaml\nringwright compare a.yaml --set parallel.tp=4"},
    ErrorCode{.code = "E330",
              .title = "a what-if that changes nothing",
              .explanation =
                  "Every entry of `what_if` has a unique name and changes something: values by `set`, or "
                  "`faults`.",
              .example = "what_if:\n  - { name: slower links, set: { cluster.fabric.leaf.speed: 200Gbps } }"},
    ErrorCode{.code = "E331",
              .title = "a scenario without what-ifs",
              .explanation =
                  "`ringwright what-if` simulates the changes that the scenario lists as `what_if`. One change "
                  "alone needs no list:\n`ringwright compare SCENARIO --set KEY=VALUE`.",
              .example = "what_if:\n  - { name: one slow host, faults: [ { node: 3, compute_scale: 0.8 } ] }"},
    ErrorCode{.code = "E340",
              .title = "a result is no JSON",
              .explanation = "`ringwright report` shows results that other commands wrote. The place is where the text "
                             "stops to be JSON: often\nits end, where a command was interrupted or a disk was full.",
              .example = "ringwright report report.txt -o report.html      # the text for people\n"
                         "ringwright report result.json -o report.html"},
    ErrorCode{.code = "E341",
              .title = "a result is too large for a page",
              .explanation = "A browser reads the whole page into memory. Results hold at most a million values, and "
                             "lists in lists at most\n64 deep.",
              .example = "ringwright search llama.yaml --top 1000 --json > search.json"},
    ErrorCode{.code = "E342",
              .title = "a result of an unknown kind",
              .explanation = "The key `schema` of a result names its kind and version. A report shows the kinds that "
                             "the message lists; a newer\nversion of ringwright may know more.",
              .example = "ringwright inspect rank0.json --json > a.json    # not a kind of result that has a page\n"
                         "ringwright run llama.yaml --json > a.json"},
    ErrorCode{.code = "E343",
              .title = "a result without a value that the page needs",
              .explanation = "Results are written whole, so this one was changed afterwards, or another program wrote "
                             "it. docs/result-format.md\nlists all keys.",
              .example = "\"metrics\": {}\n\"metrics\": {\"step_time_s\": {\"mean\": 1.5}}"},
    ErrorCode{.code = "E520",
              .title = "a machine whose calls cannot be tuned",
              .explanation = "Tuning compares NCCL's algorithms, protocols and channels by simulating its kernels. "
                             "Formulas, algorithms as\nsteps and algorithms that a scenario names itself have none of "
                             "these choices.",
              .example = "collectives: { model: closed_form }\ncollectives: { model: chunks }"},
    ErrorCode{.code = "E521",
              .title = "measured settings that do not fit together",
              .explanation = "`tune --measured` compares logs of nccl-tests of one machine: for every collective one "
                             "of NCCL's own choice and\none for each setting, of the same ranks and hosts.",
              .example = "ringwright tune dgx-h100 --measured own=a.log --measured ring/ll128=b.log"},
    ErrorCode{.code = "E522",
              .title = "a compression whose ratio cannot follow delays",
              .explanation = "`adapt` changes the ratio of the codec topk between the scenario's and --least, step by "
                             "step, while the\nnetwork changes by --phase.",
              .example = "ringwright adapt job.yaml --set training.compression.codec=topk \\\n"
                         "  --phase '20' --phase '20 cluster.node.nic.bandwidth=2Gbps'"},
    ErrorCode{.code = "E620",
              .title = "a capacity file whose machines are not clear",
              .explanation = "A capacity file lists at least one machine. Every machine has a unique name, and "
                             "numbers of hosts in one place\nonly: `hosts`, or `cluster.nodes` among its values. At "
                             "most 1,000 machines and numbers are searched.",
              .example = "machines:\n  - { name: H100, hosts: [16, 32], set: { cluster.node.preset: dgx-h100 } }"},
    ErrorCode{.code = "E621",
              .title = "a machine without a price",
              .explanation = "The objective `usd` and limits of money or energy need prices and power of every "
                             "machine. `ringwright list prices`\nshows those that are shipped.",
              .example = "set: { cost.usd_per_gpu_hour: 2.5 }\nset: { cost.preset: dgx-h100 }"},
};

}  // namespace

std::span<const ErrorCode> planning_error_codes() {
  return kStudyCodes;
}

}  // namespace ringwright::planning
