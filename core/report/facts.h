// The facts of a report besides the run record: names, sizes, memory, evidence; filled by the code that assembles a
// run.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/evidence.h"
#include "core/base/units.h"
#include "core/report/step_cost.h"

namespace ringwright {

struct MemoryItem {
  std::string_view name;  // a literal: "weights", "activations"
  Bytes size;
};

// Device memory of one GPU of a pipeline stage, at its peak.
struct MemoryRow {
  int stage = 0;
  std::string_view kind = "stage";  // a literal; of a recommendation model "tables": GPUs with the same tables
  std::vector<MemoryItem> items;
  Bytes total;
  Bytes capacity;
  Bytes largest_weight;  // that is one allocation
  Bytes largest_block;   // of free memory; 0: it is not fragmented

  [[nodiscard]] std::string role() const { return std::string(kind) + " " + std::to_string(stage); }
  [[nodiscard]] bool fits_in_blocks() const { return largest_block == Bytes(0) || largest_weight <= largest_block; }
  [[nodiscard]] bool fits() const { return total <= capacity && fits_in_blocks(); }
};

// What the ranks of the fullest host store outside their GPUs.
struct HostRow {
  std::string what;  // "memory", "drives"
  std::int64_t host = 0;
  std::vector<MemoryItem> items;
  Bytes total;
  Bytes capacity;  // 0: not given

  [[nodiscard]] bool fits() const { return capacity == Bytes(0) || total <= capacity; }
};

// A group of nodes of one kind.
struct GroupRow {
  std::string name;
  std::string gpu;
  std::int64_t hosts = 0;
  Bytes memory;  // of one GPU
};

enum class PublishedQuantity {
  kStepTime,               // seconds
  kModelFlopUtilisation,   // ratio
  kModelFlopRatePerGpu,    // FLOP/s, model FLOPs only
  kTokensPerSecondPerGpu,
};

// A published measurement on the real system, to compare the prediction with.
struct PublishedFigure {
  PublishedQuantity quantity = PublishedQuantity::kStepTime;
  double value = 0.0;  // in the unit named above
  std::string source;
};

struct InputEvidence {
  std::string input;  // "compute", "NVLink", "fabric"
  Evidence level = Evidence::kAssumed;
  std::string source;
};

struct AssumedValue {
  std::string path;
  std::string value;
  std::string why;
};

struct IgnoredKnob {
  std::string path;
  std::string why;
};

struct ReportWarning {
  std::string code;   // "W204"
  std::string where;  // a key or a file location
  std::string text;
};

struct ConfigValue {
  std::string path;
  std::string text;
  std::string origin;  // "llama.yaml:9", "preset:dgx-h100.yaml:3", "default"
};

// The transfers of one checkpoint in the simulated step.
struct CheckpointFacts {
  std::string to;    // "host_memory"
  std::string mode;  // "blocking"
  Bytes of_gpu;      // saved by one GPU
  Bytes total;       // saved by the job
  Bytes to_peers;    // sent over the network by one GPU
  Bytes in_host_memory;  // of a host, one version
  Bytes host_memory;     // its capacity; 0: not known
  Duration copying;  // of the rank that takes longest, from its first transfer to its last
  Duration takes;    // the same until all is stored
  std::optional<Duration> stall;  // mean step time with it minus that without; empty: not simulated without
  std::int64_t every = 0;         // steps from one to the next; 0: not stated, and neither are these:
  Duration mean_step;             // over the steps from one to the next
  Duration waits;                 // of each, for the one before to be stored
};

// Workers that prepare the samples of every step ahead of it.
struct DataFacts {
  double samples_per_second = 0.0;  // prepared, at most
  std::string limit;                // what more of would prepare more: "CPU workers"
  std::int64_t samples = 0;         // of a step
  Duration batch;                   // until those of a step are prepared; where every n-th takes longer, of the others
  Duration stall;                   // of a step, which waits for its samples; a mean
  std::int64_t remote_workers = 0;  // elastic ones that were added included
  std::int64_t elastic_workers = 0; // of them
};

// Workers that train on their own and exchange their parameters, one fragment after another.
struct OuterFacts {
  std::int64_t every = 1;  // steps between two exchanges of a parameter
  int workers = 2;
  int fragments = 1;
  Bytes exchanged;   // by the collective of a rank with most parameters, in one exchange
  Duration without;  // a step without an exchange
  Duration with;     // one with an exchange
  Duration added;    // to a step, as a mean
};

// A link, or one that represents `multiplicity` links with the same load.
struct LinkLoad {
  std::string name;
  double utilisation = 0.0;  // of its capacity, over the whole run
  Bytes bytes;               // on one link, over the whole run
  std::uint64_t multiplicity = 1;
};

// The links between two kinds of nodes, both directions.
inline constexpr std::size_t kUseBins = 10;
struct LinkTier {
  std::string name;            // "GPU - NVSwitch"
  std::uint64_t links = 0;
  double mean = 0.0;           // share of its capacity that a link carries, over the whole run
  double highest = 0.0;
  std::array<std::uint64_t, kUseBins> by_use = {};  // links by that share, in classes (link_tiers.h)
};

// What takes longest of a kernel's arithmetic at the GPU's peak, its memory traffic at full bandwidth, and a launch.
enum class KernelBound : std::uint8_t { kArithmetic, kMemory, kOverhead };

// One kernel of the step, as a mean over ranks.
struct KernelUse {
  std::string family;  // "gemm"
  std::string name;    // "qkv dgrad"
  std::string type;    // "bf16"
  KernelBound bound = KernelBound::kOverhead;
  double launches = 0.0;  // in a step
  Duration time = {};     // of all of them
  Duration launch = {};   // of one, as the other two
  Flops flops = {};
  Bytes bytes = {};
};

// The calls of one collective in a step: the chosen plan and their times.
struct CollectiveUse {
  std::string dimension;  // "tp"
  std::string operation;  // "all_reduce"
  Bytes bytes;
  int ranks = 0;          // of the group
  int hosts = 0;
  std::uint64_t calls = 0;  // in a step, of the rank with the most
  std::string algorithm;
  std::string protocol;     // empty where the model has none
  int channels = 0;         // 0 where the model has none
  // Of the rank that joined a call last: without waiting. Empty where calls are not simulated one by one.
  std::optional<Duration> shortest;
  std::optional<Duration> mean;  // over ranks and calls, waiting for others included
};

// The kernels of one family in a step: a mean over ranks, at the nominal speed of the GPUs.
struct KernelTime {
  std::string family;  // "gemm"
  Duration time;
};

struct NamedCount {
  std::string name;
  std::uint64_t value = 0;
};

// Statistics of the simulator itself. Wall time and memory differ from run to run; the rest does not.
struct EngineFacts {
  std::string network;      // the rung of the ladder: "flow", "alpha_beta"
  std::string collectives;
  std::string compute;
  std::string interference;
  std::uint64_t events = 0;
  std::string little_folded;  // why most ranks are classes of their own; empty when they are not
  std::size_t classes = 0;  // ranks simulated; each represents its class
  std::uint64_t nearly_equal_cycles = 0;  // of the pipeline, that were left out although they are not exactly equal
  Duration most_change;                   // of the step's time by them
  std::vector<NamedCount> counters;
  double wall_seconds = 0.0;
  Bytes peak_memory;        // resident set of the process
};

struct StepFacts {
  std::string scenario;
  std::string config_sha256;
  std::uint64_t seed = 0;

  std::string model;
  std::int64_t parameters = 0;
  std::string layout;                // "TP 8 x PP 16 x DP 128"
  std::int64_t microbatches = 0;     // per pipeline and step
  std::int64_t tokens_per_step = 0;  // of the whole job
  std::string processed = "tokens";  // what tokens_per_step counts: "samples" of a recommendation model
  Flops model_flops;                 // of a step of the whole job: what the mathematics needs
  Flops hardware_flops;              // the same with recomputation
  FlopRate peak_flop_rate;           // of one GPU, dense, in the precision of the GEMMs
  Bandwidth memory_bandwidth;        // of one GPU

  int warmup_iterations = 0;         // simulated before the counted iterations
  std::vector<MemoryRow> memory;     // by stage
  std::vector<HostRow> hosts;        // empty when nothing is offloaded
  std::vector<GroupRow> groups;      // of nodes; empty where all hosts are of one kind
  std::vector<int> group_of_rank;    // index into groups; empty without them
  std::vector<int> held_at_peak;     // by stage: most microbatches of a model chunk that wait for their backward pass
  std::vector<int> weight_versions;  // by stage: versions of the weights, including the newest
  std::vector<PublishedFigure> published;
  std::vector<std::string> changed_since_published;  // keys of the job that differ from the published one
  std::vector<InputEvidence> evidence;
  std::vector<AssumedValue> assumptions;
  std::vector<IgnoredKnob> ignored;
  std::vector<ReportWarning> warnings;
  std::vector<ConfigValue> config;   // the effective configuration, defaults included
  std::vector<LinkLoad> links;       // busiest first
  std::vector<LinkTier> link_tiers;  // from the GPU outwards
  std::vector<KernelUse> kernels;    // longest first
  std::vector<std::string> command;  // that was given, without folders; empty where there was none
  std::vector<CollectiveUse> collectives;
  std::vector<std::string> faults;   // simulated, in words
  std::vector<KernelTime> kernel_times;
  std::optional<CostRates> cost_rates;
  std::optional<CheckpointFacts> checkpoint;
  std::optional<DataFacts> data;  // empty: data are always ready
  std::optional<OuterFacts> outer;  // empty: all replicas meet in every step
  EngineFacts engine;
};

}  // namespace ringwright
