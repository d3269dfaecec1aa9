// One training step as programs of tasks, and which rank runs which program. Ranks with one role share one program,
// so that a hundred thousand ranks cost a few programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/plan/collective_call.h"
#include "core/plan/dma_path.h"
#include "core/plan/gpu_sharing.h"
#include "core/plan/group_layouts.h"
#include "core/plan/kernel.h"

namespace ringwright {

// kSegment: stands for all tasks of a segment.
enum class TaskKind : std::uint8_t { kCompute, kCollective, kSend, kReceive, kSegment };

// Tasks of one stream of a rank run one at a time, in program order, as on a CUDA stream. Tasks on kNoStream start as
// soon as their dependencies are met. Stream 0 is the compute stream. Computing on no stream is not the GPU's: it is
// the host of a recorded step, or a delay; it takes its time and does not count as computing.
using StreamIndex = std::uint8_t;
inline constexpr StreamIndex kComputeStream = 0;
inline constexpr StreamIndex kNoStream = 255;

struct Task {
  TaskKind kind = TaskKind::kCompute;
  StreamIndex stream = kComputeStream;
  DimensionId dimension;               // collective, send, receive: in which dimension's group
  std::uint32_t detail = 0;            // index into works, collectives, messages or segments of the task graph
  std::uint32_t first_dependency = 0;  // into Program::dependencies
  std::uint32_t dependency_count = 0;
  std::uint32_t label = 0;  // index into TaskGraph::labels
  friend bool operator==(const Task&, const Task&) = default;
};

// Equal runs of tasks one after another, as the steady state of a pipeline: cycle i repeats cycle i - 1, with the same
// dependencies at the same distance back.
struct Loop {
  std::uint32_t first = 0;  // task of the first cycle
  std::uint32_t size = 0;   // tasks in a cycle; 0: no loop
  std::uint32_t cycles = 0;
  [[nodiscard]] std::uint32_t end() const { return first + size * cycles; }
  friend bool operator==(const Loop&, const Loop&) = default;
};

// Of ranks without work where there are several jobs.
inline constexpr std::uint32_t kNoJob = ~std::uint32_t{0};

struct Program {
  std::string name;  // "stage 3"
  std::vector<Task> tasks;
  // Indices of earlier tasks of the same program that must have finished; ranges belong to tasks. A dependency always
  // has a smaller index than the task that waits.
  std::vector<std::uint32_t> dependencies;
  int stream_count = 1;
  Loop loop;
  std::uint32_t job = 0;  // index into TaskGraph::jobs where there are several, or kNoJob
};

// A run of tasks that programs repeat, as the pass of a microbatch through a model chunk; stored once. A task of kind
// kSegment on the compute stream calls it: it stands for these tasks, one after another, each on its own stream. They
// start and end together: none starts before everything that the call depends on has finished, and all have finished
// when the last one has, which is on the compute stream. A task that depends on the call depends on that one.
// core/plan/segments.h expands them.
struct Segment {
  std::vector<Task> tasks;  // no segments; a label of kCallersLabel is that of the call
  // Below the number of tasks: an earlier task of the segment. From there on: a dependency of the call, by its
  // position.
  std::vector<std::uint32_t> dependencies;
  std::uint32_t call_dependencies = 0;  // dependencies of a call
  friend bool operator==(const Segment&, const Segment&) = default;
};
inline constexpr std::uint32_t kCallersLabel = ~std::uint32_t{0};

// Every rank of the group calls the same collectives in the same order; the n-th call of one matches the n-th of all.
struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Bytes bytes;  // as in CollectiveCall
};

// Kernels of the collective library at both ends; or the sender alone, which stores into the receiver's memory, as with
// Transformer Engine user buffers and PyTorch symmetric memory; or an agent next to the rank's process, which saves
// checkpoints: copy engines and NICs move the bytes, no kernel runs, and the rank's host neither issues it nor waits.
enum class MovedBy : std::uint8_t { kLibrary, kSender, kAgent };

// Relative to the job's own traffic: kYields waits wherever the job fills a link.
enum class Importance : std::uint8_t { kEqual, kYields };

// A message between two ranks of a group. The n-th receive on (peer, channel) matches the peer's n-th send to this rank
// there.
struct MessageSpec {
  int peer = 0;  // index in the group; or an offset from our own index, modulo the group's size
  Bytes bytes;
  std::uint8_t channel = 0;  // separates independent sequences (activations, gradients); below kChannels
  // Of a receive: it matches a send this many earlier than the n-th; the first ones match sends from before the run.
  // Steps of a pipeline that never drains pass work to each other like this.
  std::uint8_t lag = 0;
  // Not to a peer but to memory or storage of the rank's own host, or back: the peer is the rank itself, and no receive
  // matches.
  DmaPath path = DmaPath::kNone;
  bool relative = false;  // `peer` is an offset; lets the ranks of a ring share a program
  MovedBy moved_by = MovedBy::kLibrary;
  Importance importance = Importance::kEqual;

  friend bool operator==(const MessageSpec&, const MessageSpec&) = default;

  [[nodiscard]] int peer_of(int own, std::size_t size) const {
    return relative ? static_cast<int>(static_cast<std::size_t>(own + peer) % size) : peer;
  }
  // Of a relative one: the offset at which the peer finds this rank.
  [[nodiscard]] int offset_back(std::size_t size) const {
    const int members = static_cast<int>(size);
    return (members - peer % members) % members;
  }
};
inline constexpr int kChannels = 4;

// A parallel dimension partitions all ranks into disjoint groups. Every rank is in exactly one group of each dimension.
struct Dimension {
  std::string name;                            // "tp", "dp", "pp"
  bool joins_stages = false;                   // its messages pass between pipeline stages
  ParameterServers servers = {};               // of every group
  std::vector<std::uint32_t> group_of;         // by rank
  std::vector<std::uint32_t> index_in_group;   // by rank
  std::vector<std::vector<RankId>> groups;     // by group: its ranks in group order
  std::vector<std::uint32_t> layout_of_group;  // by group: index into TaskGraph::layouts
};

// Background traffic of others: it starts at its time and nobody waits for it.
struct BackgroundTransfer {
  RankId from;
  RankId to;
  Bytes size;
  TimePoint at;
  std::uint32_t repeats = 1;  // each starts when the previous one has arrived
  Importance importance = Importance::kYields;
  friend bool operator==(const BackgroundTransfer&, const BackgroundTransfer&) = default;
};

// One of several independent jobs that share a fabric.
struct JobSpec {
  std::string name;
  Duration start;                     // of its first step, from the start of the run
  bool host_awaits_receives = false;  // as in ExecutorOptions, of this job
  TenantLimits limits = {};           // on GPUs that it shares
};

struct TaskGraph {
  std::vector<Program> programs;
  std::vector<ProgramId> program_of;  // by rank
  std::vector<Dimension> dimensions;
  GroupLayouts layouts;  // distinct shapes of groups
  std::vector<Work> works;
  std::vector<CollectiveSpec> collectives;
  std::vector<MessageSpec> messages;
  std::vector<Segment> segments;
  std::vector<std::string> labels;
  std::vector<double> compute_slowdown;  // by rank, 1 = nominal, 1.05 = 5 % slower; empty = all nominal
  std::vector<BackgroundTransfer> background;
  // Several jobs, each of whose steps is repeated as long as steps of another one count (core/run/step/job_steps.h).
  // Empty: all ranks are one job.
  std::vector<JobSpec> jobs;
  GpuSharing sharing = {};  // of these jobs
  int iterations = 1;       // how often every program runs, back to back on each rank
  // Cycles of every program's loop that are left out of the tasks; nothing else is left out.
  std::uint32_t cycles_left_out = 0;

  [[nodiscard]] std::size_t rank_count() const { return program_of.size(); }
};

// The label that distinguishes a dimension's connections in routing hashes.
[[nodiscard]] constexpr std::uint32_t collective_label(DimensionId dimension) {
  return dimension.value * (1 + kChannels);
}
[[nodiscard]] constexpr std::uint32_t message_label(DimensionId dimension, std::uint8_t channel) {
  return dimension.value * (1 + kChannels) + 1 + channel;
}

inline constexpr std::uint32_t kBackgroundLabels = 1U << 31U;
[[nodiscard]] constexpr std::uint32_t background_label(std::uint32_t index) {
  return kBackgroundLabels + index;
}
// The same for one channel of a collective: every channel has its own connections.
[[nodiscard]] constexpr std::uint32_t on_channel(std::uint32_t label, int channel) {
  return label + (static_cast<std::uint32_t>(channel) << 16U);
}
[[nodiscard]] constexpr std::uint32_t channel_label(DimensionId dimension, int channel) {
  return on_channel(collective_label(dimension), channel);
}

// The background transfers on which nothing in the job depends: they yield, and none of the job's own messages does, so
// that they take what the job leaves and share it among themselves. They distinguish no ranks. By transfer;
// empty: none, or too many to give each links of its own.
inline constexpr std::size_t kMostBehindJob = 16;
[[nodiscard]] std::vector<bool> background_behind_job(const TaskGraph& graph);

// What is wrong with the graph (an index out of range, a dependency on a later task, a rank outside its group), empty
// when it is sound. For hand-written and imported graphs; the executor relies on it.
[[nodiscard]] std::string check_task_graph(const TaskGraph& graph);

// The position of a rank: host and GPU position within the host.
struct RankPosition {
  std::int64_t host = 0;
  int gpu = 0;
  int nic_set = 0;    // as in GroupLayout
  int nics = 0;       // of the host, where all-reduces are planned around some of them
  int nics_lost = 0;  // a bit for each, by its number below 16
  friend bool operator==(const RankPosition&, const RankPosition&) = default;
};

// Whether `layouts` and every dimension's layout_of_group are there, of an earlier step.
[[nodiscard]] bool are_groups_laid_out(const TaskGraph& graph);
// Fills them from the positions of the ranks.
void lay_out_groups(TaskGraph& graph, const std::vector<RankPosition>& place_of_rank);

// Makes the dimension's index_in_group and group_of from its groups.
void index_groups(Dimension& dimension, std::size_t rank_count);
// One group of all ranks, indexed.
[[nodiscard]] Dimension world_dimension(std::string name, std::size_t rank_count);

}  // namespace ringwright
