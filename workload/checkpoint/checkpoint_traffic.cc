#include "workload/checkpoint/checkpoint_traffic.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace ringwright::workload {
namespace {

using TaskNumber = std::uint32_t;

// Ranks of the same number in their hosts.
std::vector<RankId> column_of(const std::vector<std::int64_t>& hosts, std::int64_t host_ranks, std::int64_t gpu) {
  std::vector<RankId> ranks;
  for (const std::int64_t host : hosts) ranks.emplace_back(static_cast<std::size_t>(host * host_ranks + gpu));
  return ranks;
}

// The hosts of each set whose members hold each other's state, in order.
std::vector<std::vector<std::int64_t>> holders(const CheckpointTraffic& traffic, std::int64_t hosts) {
  std::vector<std::vector<std::int64_t>> sets;
  if (hosts % (traffic.jump * traffic.copies) != 0) {
    auto& all = sets.emplace_back();
    for (std::int64_t host = 0; host < hosts; ++host) all.push_back(host);
    return sets;
  }
  for (std::int64_t block = 0; block < hosts; block += traffic.jump * traffic.copies) {
    for (std::int64_t first = block; first < block + traffic.jump; ++first) {
      auto& set = sets.emplace_back();
      for (std::int64_t copy = 0; copy < traffic.copies; ++copy) set.push_back(first + copy * traffic.jump);
    }
  }
  return sets;
}

// The offsets of the peers in such a set.
std::vector<int> peers_of(const CheckpointTraffic& traffic, std::int64_t set_size) {
  const std::int64_t step = set_size == traffic.copies ? 1 : traffic.jump;
  std::vector<int> peers;
  for (std::int64_t copy = 1; copy < traffic.copies; ++copy) peers.push_back(static_cast<int>(copy * step));
  return peers;
}

Dimension make_dimension(const CheckpointTraffic& traffic, std::size_t ranks) {
  Dimension dimension;
  dimension.name = kCheckpointDimension;
  if (traffic.to != CheckpointPlace::kPeerHost) {
    for (std::size_t rank = 0; rank < ranks; ++rank) dimension.groups.push_back({RankId(rank)});
  } else {
    CHECK(ranks % static_cast<std::size_t>(traffic.host_ranks) == 0, "every host has as many ranks");
    const std::int64_t hosts = static_cast<std::int64_t>(ranks) / traffic.host_ranks;
    for (const std::vector<std::int64_t>& set : holders(traffic, hosts)) {
      for (std::int64_t gpu = 0; gpu < traffic.host_ranks; ++gpu) {
        dimension.groups.push_back(column_of(set, traffic.host_ranks, gpu));
      }
    }
  }
  index_groups(dimension, ranks);
  return dimension;
}

// The last tasks of the step: no task waits for them, or follows on their stream.
std::vector<TaskNumber> last_tasks(const Program& program) {
  std::vector<bool> awaited(program.tasks.size(), false);
  for (const std::uint32_t before : program.dependencies) awaited[before] = true;
  std::vector<bool> followed(static_cast<std::size_t>(program.stream_count), false);
  std::vector<TaskNumber> result;
  for (auto task = static_cast<TaskNumber>(program.tasks.size()); task-- > 0;) {
    const StreamIndex stream = program.tasks[task].stream;
    const bool last = stream == kNoStream || !followed[stream];
    if (stream != kNoStream) followed[stream] = true;
    if (last && !awaited[task]) result.push_back(task);
  }
  return result;
}

class CheckpointWriter {
 public:
  CheckpointWriter(TaskGraph& graph, const CheckpointTraffic& traffic)
      : graph_(graph), traffic_(traffic), dimension_(graph.dimensions.size()) {
    graph_.dimensions.push_back(make_dimension(traffic, graph.rank_count()));
    own_copy_ = add_message({.peer = 0, .bytes = traffic.of_rank, .path = DmaPath::kToMemory, .relative = true});
    copy_label_ = add_label("checkpoint to host memory");
    if (traffic.to == CheckpointPlace::kPeerHost) add_pieces();
    if (writes()) {
      write_ = static_cast<std::uint32_t>(graph_.works.size());
      graph_.works.push_back({.name = "checkpoint write", .kernels = {}, .recorded = traffic.write});
      write_label_ = add_label("checkpoint write");
    }
  }

  void write(Program& program) const {
    const std::vector<TaskNumber> after =
        traffic_.mode == CheckpointMode::kBlocking ? last_tasks(program) : std::vector<TaskNumber>();
    add(program, message_task(TaskKind::kSend, own_copy_, copy_label_), after);
    if (writes()) {
      add(program, {.kind = TaskKind::kCompute, .stream = kNoStream, .detail = write_, .label = write_label_}, after);
    }
    std::vector<TaskNumber> before = after;
    for (const Piece& piece : pieces_) {
      before = {add(program, message_task(TaskKind::kSend, piece.sent, send_label_), before)};
      const TaskNumber received = add(program, message_task(TaskKind::kReceive, piece.received, receive_label_), {});
      add(program, message_task(TaskKind::kSend, piece.stored, copy_label_), {received});
    }
  }

 private:
  // To one peer, and from the rank whose peer we are; indices into the graph's messages.
  struct Piece {
    std::uint32_t sent;
    std::uint32_t received;
    std::uint32_t stored;
  };

  [[nodiscard]] bool writes() const {
    return traffic_.to == CheckpointPlace::kStorage && traffic_.mode == CheckpointMode::kBlocking;
  }

  void add_pieces() {
    send_label_ = add_label("checkpoint to peer");
    receive_label_ = add_label("checkpoint from peer");
    const auto members = static_cast<std::int64_t>(graph_.dimensions.back().groups.front().size());
    for (const int peer : peers_of(traffic_, members)) {
      std::int64_t left = traffic_.of_rank.count();
      for (std::int64_t piece = traffic_.pieces; piece > 0; --piece) {
        const Bytes bytes((left + piece - 1) / piece);
        left -= bytes.count();
        if (bytes == Bytes()) break;
        const int from = static_cast<int>(members) - peer;
        pieces_.push_back(
            {.sent = add_message({.peer = peer, .bytes = bytes, .relative = true}),
             .received = add_message({.peer = from, .bytes = bytes, .relative = true}),
             .stored = add_message({.peer = 0, .bytes = bytes, .path = DmaPath::kToMemory, .relative = true})});
      }
    }
  }

  std::uint32_t add_message(MessageSpec spec) {
    spec.moved_by = MovedBy::kAgent;
    if (traffic_.mode == CheckpointMode::kIdle) spec.importance = Importance::kYields;
    graph_.messages.push_back(spec);
    return static_cast<std::uint32_t>(graph_.messages.size() - 1);
  }

  std::uint32_t add_label(std::string label) {
    graph_.labels.push_back(std::move(label));
    return static_cast<std::uint32_t>(graph_.labels.size() - 1);
  }

  [[nodiscard]] Task message_task(TaskKind kind, std::uint32_t message, std::uint32_t label) const {
    return {.kind = kind, .stream = kNoStream, .dimension = DimensionId(dimension_), .detail = message, .label = label};
  }

  static TaskNumber add(Program& program, Task task, const std::vector<TaskNumber>& after) {
    task.first_dependency = static_cast<std::uint32_t>(program.dependencies.size());
    task.dependency_count = static_cast<std::uint32_t>(after.size());
    program.dependencies.insert(program.dependencies.end(), after.begin(), after.end());
    program.tasks.push_back(task);
    return static_cast<TaskNumber>(program.tasks.size() - 1);
  }

  TaskGraph& graph_;
  const CheckpointTraffic& traffic_;
  std::size_t dimension_;
  std::uint32_t own_copy_ = 0;
  std::uint32_t write_ = 0;
  std::uint32_t copy_label_ = 0;
  std::uint32_t send_label_ = 0;
  std::uint32_t receive_label_ = 0;
  std::uint32_t write_label_ = 0;
  std::vector<Piece> pieces_;
};

}  // namespace

std::string_view to_string(CheckpointPlace place) {
  static constexpr std::array<std::string_view, 3> kNames{"host_memory", "peer_host", "storage"};
  return kNames[static_cast<std::size_t>(place)];
}

std::string_view to_string(CheckpointMode mode) {
  static constexpr std::array<std::string_view, 3> kNames{"blocking", "async", "idle"};
  return kNames[static_cast<std::size_t>(mode)];
}

Bytes CheckpointTraffic::to_peers() const {
  return to == CheckpointPlace::kPeerHost ? of_rank * (copies - 1) : Bytes();
}

void add_checkpoint(TaskGraph& graph, const CheckpointTraffic& traffic) {
  CHECK(graph.cycles_left_out == 0, "every cycle meets the checkpoint differently");
  const CheckpointWriter writer(graph, traffic);
  for (Program& program : graph.programs) writer.write(program);
}

}  // namespace ringwright::workload
