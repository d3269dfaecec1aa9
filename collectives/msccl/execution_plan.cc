// From JSON to a plan: every value checked, buffers and channels found by the numbers that thread blocks use for them.
#include "collectives/msccl/execution_plan.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "collectives/msccl/plan_actions.h"
#include "collectives/msccl/plan_links.h"
#include "collectives/msccl/plan_proof.h"
#include "collectives/nccl/tables/vocabulary.h"
#include "core/config/yaml_reader.h"

namespace ringwright::collectives {
namespace {

constexpr int kMostPlanChunks = 1 << 16;
constexpr int kMostUnits = 1 << 10;  // of a chunk
constexpr std::int64_t kMostUnitsInAll = std::int64_t{1} << 22;

// A range as in the file, before chunks become units.
struct RawRange {
  int part = 0;
  int parts = 1;
};

// Objects that a GPU's thread blocks refer to by number.
struct GpuNames {
  std::vector<PlanChannel> memory;
  std::vector<PlanChannel> port;
  std::vector<PlanRange> remote;  // empty ranges: GPU and buffer
};
struct BlockNames {
  std::vector<int> memory;  // numbers in GpuNames
  std::vector<int> port;
  std::vector<int> remote_memory;
  std::vector<int> remote_port;
};

class PlanReader {
 public:
  PlanReader(const ConfigNode& root, Diagnostics& problems) : root_(root), problems_(problems) {}

  std::optional<ExecutionPlan> read(const std::string& name) {
    plan_.file = name;
    read_head();
    const ConfigNode* gpus = list(root_, "gpus");
    if (gpus != nullptr && gpus->items.empty()) fail(*gpus, "there are no GPUs");
    if (gpus == nullptr || problems_.has_errors()) return std::nullopt;
    plan_.gpus.resize(gpus->items.size());
    for (std::size_t rank = 0; rank < gpus->items.size(); ++rank) read_gpu(gpus->items[rank], static_cast<int>(rank));
    if (!problems_.has_errors()) check_chunks(*gpus);
    if (problems_.has_errors()) return std::nullopt;
    find_units();
    return problems_.has_errors() ? std::nullopt : std::optional(std::move(plan_));
  }

 private:
  void fail(const ConfigNode& at, std::string message, std::string hint = {}) {
    problems_.add(at_value(at, "E187", std::move(message), std::move(hint)));
  }

  const ConfigNode* value(const ConfigNode& map, std::string_view key) {
    const ConfigEntry* entry = map.kind == ConfigKind::kMap ? find_entry(map, key) : nullptr;
    return entry == nullptr ? nullptr : &entry->value;
  }
  const ConfigNode* list(const ConfigNode& map, std::string_view key) {
    const ConfigNode* found = value(map, key);
    if (found != nullptr && found->kind == ConfigKind::kList) return found;
    fail(found == nullptr ? map : *found, fmt::format("there is no list '{}'", key));
    return nullptr;
  }
  // An absent list is an empty one.
  std::vector<const ConfigNode*> items(const ConfigNode& map, std::string_view key) {
    std::vector<const ConfigNode*> result;
    if (value(map, key) == nullptr) return result;
    if (const ConfigNode* found = list(map, key)) {
      for (const ConfigNode& item : found->items) result.push_back(&item);
    }
    return result;
  }
  std::uint64_t number_of(const ConfigNode& at, std::string_view what, std::uint64_t most) {
    std::uint64_t number = 0;
    const char* const end = at.text.data() + at.text.size();
    const auto [stop, error] = std::from_chars(at.text.data(), end, number);
    if (at.kind == ConfigKind::kScalar && error == std::errc() && stop == end && number <= most) return number;
    fail(at, fmt::format("{} is {} and must be a whole number from 0 to {}", what, summary(at), most));
    return 0;
  }
  int number(const ConfigNode& map, std::string_view key, int most, std::optional<int> fallback = std::nullopt) {
    const ConfigNode* found = value(map, key);
    if (found != nullptr) return static_cast<int>(number_of(*found, key, static_cast<std::uint64_t>(most)));
    if (!fallback) fail(map, fmt::format("there is no '{}'", key));
    return fallback.value_or(0);
  }
  std::string text(const ConfigNode& map, std::string_view key) {
    const ConfigNode* found = value(map, key);
    if (found != nullptr && found->kind == ConfigKind::kScalar) return found->text;
    fail(map, fmt::format("there is no '{}'", key));
    return {};
  }
  bool is_set(const ConfigNode& map, std::string_view key) {
    const ConfigNode* found = value(map, key);
    if (found == nullptr || found->text == "false") return false;
    if (found->text != "true") fail(*found, fmt::format("{} must be true or false", key));
    return true;
  }
  Bytes size(std::string_view key, std::uint64_t fallback) {
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    const ConfigNode* found = value(root_, key);
    const std::uint64_t given =
        found == nullptr ? fallback : number_of(*found, key, std::numeric_limits<std::uint64_t>::max());
    return Bytes(static_cast<std::int64_t>(std::min(given, kMost)));
  }

  void read_head() {
    plan_.name = text(root_, "name");
    const std::string collective = text(root_, "collective");
    const auto kind = collective == "alltoall" ? CollectiveKind::kAllToAll : parse_nccl_function(collective);
    if (!kind && !collective.empty()) {
      fail(*value(root_, "collective"), fmt::format("collective is '{}'", collective),
           "one of allreduce, allgather, reducescatter, reduce, broadcast, alltoall");
    }
    plan_.kind = kind.value_or(CollectiveKind::kAllReduce);
    const std::string protocol = text(root_, "protocol");
    if (protocol == "LL") plan_.protocol = Protocol::kLl;
    if (protocol != "LL" && protocol != "Simple" && !protocol.empty()) {
      fail(*value(root_, "protocol"), fmt::format("protocol is '{}' and must be Simple or LL", protocol));
    }
    plan_.in_place = is_set(root_, "inplace");
    plan_.threads = number(root_, "num_threads_per_block", 1024, 1024);
    plan_.alignment = Bytes(std::max(1, number(root_, "buffer_alignment", 1 << 30, 16)));
    plan_.min_bytes = size("min_message_size", 0);
    plan_.max_bytes = size("max_message_size", std::numeric_limits<std::uint64_t>::max());
  }

  void read_gpu(const ConfigNode& node, int rank) {
    PlanGpu& gpu = plan_.gpus[static_cast<std::size_t>(rank)];
    gpu.line = node.line;
    if (number(node, "id", kMostPlanChunks) != rank) return fail(node, fmt::format("GPU {} is expected here", rank));
    gpu.inputs = number(node, "input_chunks", kMostPlanChunks);
    gpu.outputs = number(node, "output_chunks", kMostPlanChunks);
    gpu.scratch = number(node, "scratch_chunks", kMostPlanChunks, 0);
    for (const ConfigNode* semaphore : items(node, "semaphores")) {
      gpu.semaphores.push_back(number(*semaphore, "init_value", kMostPlanChunks));
    }
    const GpuNames names = read_names(node, rank);
    const std::vector<const ConfigNode*> blocks = items(node, "threadblocks");
    gpu.blocks.resize(blocks.size());
    for (std::size_t b = 0; b < blocks.size() && !problems_.has_errors(); ++b) {
      gpu.blocks[b].id = number(*blocks[b], "id", kMostPlanChunks);
      read_block(*blocks[b], names, gpu.blocks[b], rank);
    }
  }

  int peer_of(const ConfigNode& node, int rank) {
    const int peer = static_cast<int>(number_of(node, "a GPU", plan_.gpus.size() - 1));
    if (peer == rank) fail(node, fmt::format("GPU {} names itself as its peer", rank));
    return peer;
  }

  // Channels to one peer are numbered in file order, by kind.
  GpuNames read_names(const ConfigNode& node, int rank) {
    GpuNames names;
    std::map<std::pair<int, bool>, int> known;
    for (const ConfigNode* channel : items(node, "channels")) {
      const std::string type = text(*channel, "channel_type");
      if (type == "switch") {
        fail(*channel, "switch channels (NVSwitch) in plans are not simulated", "use comm.plan.algorithm: nvls");
        continue;
      }
      const bool port = type == "port";
      if (!port && type != "memory")
        fail(*channel, fmt::format("channel_type is '{}' and must be memory or port", type));
      for (const ConfigNode* to : items(*channel, "connected_to")) {
        const int peer = peer_of(*to, rank);
        (port ? names.port : names.memory).push_back({.peer = peer, .ordinal = known[{peer, port}]++, .port = port});
      }
    }
    for (const ConfigNode* remote : items(node, "remote_buffers")) {
      const ConfigNode* of = value(*remote, "rank");
      if (of == nullptr) {
        fail(*remote, "there is no 'rank'");
        continue;
      }
      names.remote.push_back({.gpu = peer_of(*of, rank), .buffer = buffer(*remote)});
    }
    return names;
  }

  MscclBuffer buffer(const ConfigNode& node) {
    const std::string type = text(node, "type");
    if (type == "i") return MscclBuffer::kInput;
    if (type == "o") return MscclBuffer::kOutput;
    if (type != "s" && !type.empty()) fail(node, fmt::format("type is '{}' and must be i, o or s", type));
    return MscclBuffer::kScratch;
  }

  std::vector<int> numbers(const ConfigNode& node, std::string_view key, std::size_t below) {
    std::vector<int> result;
    for (const ConfigNode* item : items(node, key)) {
      if (below == 0) {
        fail(*item, fmt::format("{} refers to something that does not exist", key));
        break;
      }
      result.push_back(static_cast<int>(number_of(*item, key, below - 1)));
    }
    return result;
  }

  void read_block(const ConfigNode& node, const GpuNames& names, PlanBlock& block, int rank) {
    BlockNames own;
    for (const ConfigNode* channel : items(node, "channels")) {
      const bool port = text(*channel, "channel_type") == "port";
      for (const int id : numbers(*channel, "channel_ids", (port ? names.port : names.memory).size())) {
        (port ? own.port : own.memory).push_back(id);
      }
    }
    for (const ConfigNode* refs : items(node, "remote_buffer_refs")) {
      const bool port = text(*refs, "access_channel_type") == "port";
      for (const int id : numbers(*refs, "remote_buffer_ids", names.remote.size())) {
        (port ? own.remote_port : own.remote_memory).push_back(id);
      }
    }
    const std::vector<const ConfigNode*> ops = items(node, "ops");
    block.ops.resize(ops.size());
    for (std::size_t o = 0; o < ops.size() && !problems_.has_errors(); ++o) {
      read_op(*ops[o], {.gpu = names, .block = own, .rank = rank}, block.ops[o]);
    }
  }

  struct Names {
    const GpuNames& gpu;
    const BlockNames& block;
    int rank = 0;
  };

  void read_op(const ConfigNode& node, const Names& names, PlanOp& op) {
    op.line = node.line;
    const std::string name = text(node, "name");
    op.action = find_plan_action(name);
    if (op.action == nullptr) return fail(node, fmt::format("'{}' {}", name, why_no_plan_action(name)));
    const ConfigNode* type = value(node, "channel_type");
    op.port = type != nullptr && type->text == "port";
    const std::vector<int>& ids = op.port ? names.block.port : names.block.memory;
    if (op.port || op.action->signals || op.action->waits) {
      for (const int id : numbers(node, "channel_ids", ids.size())) {
        const int channel = ids[static_cast<std::size_t>(id)];
        op.channels.push_back((op.port ? names.gpu.port : names.gpu.memory)[static_cast<std::size_t>(channel)]);
      }
    }
    if (uses_buffers(op)) {
      read_ranges(node, "src_buff", names, op.port, op.sources);
      read_ranges(node, "dst_buff", names, op.port, op.targets);
    }
    op.barrier = number(node, "barrier_id", kMostPlanChunks, 0);
    op.semaphores = numbers(node, "semaphore_ids", plan_.gpus[static_cast<std::size_t>(names.rank)].semaphores.size());
    check_op(node, op);
  }

  static bool uses_buffers(const PlanOp& op) {
    const PlanAction& action = *op.action;
    if (action.name.starts_with("pws")) return true;
    const bool talks = action.signals || action.waits || action.barrier || action.acquires || action.releases;
    return !talks && action.name != "nop" && action.name != "flush";
  }

  void check_op(const ConfigNode& node, const PlanOp& op) {
    if ((op.action->signals || op.action->waits) && op.channels.empty()) {
      fail(node, fmt::format("'{}' names no channel", op.action->name));
    }
    if (op.action->name.starts_with("pws") && !op.port) {
      return fail(node, "a put with a signal goes through a port only", "channel_type: port");
    }
    if (!uses_buffers(op)) return;
    if (op.sources.empty() || op.targets.empty()) {
      return fail(node, fmt::format("'{}' needs src_buff and dst_buff", op.action->name));
    }
    const auto size = [](const PlanRange& range) { return range.end; };  // so far: chunks
    const bool equal =
        std::ranges::all_of(op.targets, [&](const PlanRange& r) { return size(r) == size(op.targets[0]); }) &&
        std::ranges::all_of(op.sources, [&](const PlanRange& r) { return size(r) == size(op.targets[0]); });
    if (!equal) fail(node, fmt::format("'{}' has sources and targets of unequal size", op.action->name));
  }

  void read_ranges(const ConfigNode& node, std::string_view key, const Names& names, bool port,
                   std::vector<PlanRange>& ranges) {
    const std::vector<int>& refs = port ? names.block.remote_port : names.block.remote_memory;
    const ConfigNode* group = value(node, "tbg_info");
    const int parts = group == nullptr ? 1 : std::max(1, number(*group, "tbg_size", kMostUnits));
    const int part = group == nullptr ? 0 : number(*group, "tb_id", parts - 1);
    units_ = std::lcm(units_, parts);
    if (units_ > kMostUnits) return fail(node, "thread block groups split chunks into too many parts");
    for (const ConfigNode* buff : items(node, key)) {
      PlanRange range{.gpu = names.rank};
      if (value(*buff, "buffer_id") != nullptr) {
        const auto most = refs.empty() ? 0 : static_cast<int>(refs.size()) - 1;
        const int id = number(*buff, "buffer_id", most);
        if (refs.empty()) return fail(*buff, "the thread block has no remote buffers of this kind");
        range = names.gpu.remote[static_cast<std::size_t>(refs[static_cast<std::size_t>(id)])];
      } else {
        range.buffer = buffer(*buff);
      }
      range.begin = number(*buff, "index", kMostPlanChunks);
      range.end = number(*buff, "size", kMostPlanChunks);  // until chunks become units
      ranges.push_back(range);
      parts_.push_back({.part = part, .parts = parts});
      places_.push_back(buff);
    }
  }

  void check_chunks(const ConfigNode& gpus) {
    const PlanGpu& first = plan_.gpus.front();
    plan_.chunks = std::max(first.inputs, first.outputs);
    const int ranks = plan_.ranks();
    int inputs = plan_.chunks;
    int outputs = plan_.chunks;
    if (plan_.kind == CollectiveKind::kAllGather) inputs = plan_.chunks / ranks;
    if (plan_.kind == CollectiveKind::kReduceScatter) outputs = plan_.chunks / ranks;
    for (std::size_t rank = 0; rank < plan_.gpus.size(); ++rank) {
      const PlanGpu& gpu = plan_.gpus[rank];
      if (plan_.chunks > 0 && gpu.inputs == inputs && gpu.outputs == outputs) continue;
      fail(gpus.items[rank], fmt::format("GPU {} has {} input and {} output chunks and must have {} and {}", rank,
                                         gpu.inputs, gpu.outputs, inputs, outputs));
    }
    if (plan_.chunks % ranks != 0 && inputs != outputs) fail(gpus, "chunks must divide evenly among the GPUs");
  }

  // Chunks become units once it is known how finely thread block groups split them.
  void find_units() {
    std::int64_t all = 0;
    for (const PlanGpu& gpu : plan_.gpus) all += std::int64_t{gpu.inputs + gpu.outputs + gpu.scratch} * units_;
    if (all > kMostUnitsInAll) return fail(root_, fmt::format("{} chunks and parts of chunks are too many", all));
    plan_.units_per_chunk = units_;
    for (PlanGpu& gpu : plan_.gpus) {
      for (int* count : {&gpu.inputs, &gpu.outputs, &gpu.scratch}) *count *= units_;
    }
    std::size_t next = 0;
    for (PlanGpu& gpu : plan_.gpus) {
      for (PlanBlock& block : gpu.blocks) {
        for (PlanOp& op : block.ops) {
          for (PlanRange& range : op.sources) cut(range, next++);
          for (PlanRange& range : op.targets) cut(range, next++);
        }
      }
    }
  }

  void cut(PlanRange& range, std::size_t number) {
    const RawRange& raw = parts_[number];
    const int first = range.begin * units_;
    const int all = range.end * units_;
    range.begin = first + all / raw.parts * raw.part;
    range.end = first + all / raw.parts * (raw.part + 1);
    const PlanGpu& gpu = plan_.gpus[static_cast<std::size_t>(range.gpu)];
    const bool scratch = range.buffer == MscclBuffer::kScratch;
    const int own = scratch ? gpu.scratch : range.buffer == MscclBuffer::kInput ? gpu.inputs : gpu.outputs;
    // In place the smaller buffer is the GPU's part of the larger one.
    const int whole = plan_.in_place && !scratch ? std::max(gpu.inputs, gpu.outputs) : own;
    const int most = own < whole ? whole - range.gpu * own : whole;
    if (first + all > most) {
      fail(*places_[number], fmt::format("chunks {} to {} are out of range: the buffer has {}", first / units_,
                                         (first + all) / units_ - 1, most / units_));
    }
  }

  const ConfigNode& root_;
  Diagnostics& problems_;
  ExecutionPlan plan_;
  int units_ = 1;
  std::vector<RawRange> parts_;  // of all ranges, in the order of the file
  std::vector<const ConfigNode*> places_;
};

}  // namespace

Result<ExecutionPlan> parse_execution_plan(std::string_view text, const std::string& name) {
  ConfigSource source{.name = name};
  Diagnostics problems;
  const std::optional<ConfigNode> root = read_yaml(text, source, problems);
  if (!root || problems.has_errors()) return tl::unexpected(std::move(problems));
  auto plan = PlanReader(*root, problems).read(name);
  if (!plan) return tl::unexpected(std::move(problems));
  std::optional<PlanProblem> problem = link(*plan);
  if (!problem) problem = disprove(*plan);
  if (!problem) return std::move(*plan);
  ConfigNode at;
  at.source = &source;
  at.line = problem->line;
  at.column = 1;
  problems.add(at_value(at, "E187", problem->what));
  return tl::unexpected(std::move(problems));
}

}  // namespace ringwright::collectives
