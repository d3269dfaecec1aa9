// Runs a task graph over a network that takes no time, directly from the definitions in task_graph.h: only the order of
// computations remains. For tests; slow and simple.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "core/plan/task_graph.h"

namespace ringwright::workload {

class FreePlayer {
 public:
  // Duration of each work, by name; 0 when not listed.
  FreePlayer(const TaskGraph& graph, std::map<std::string, std::int64_t> time_of)
      : graph_(graph), time_of_(std::move(time_of)) {
    for (std::size_t rank = 0; rank < graph.rank_count(); ++rank) index_rank(rank);
  }

  // The end of the last task, or nothing when some task never runs.
  [[nodiscard]] std::optional<std::int64_t> play() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t rank = 0; rank < graph_.rank_count(); ++rank) moved = advance(rank) || moved;
    }
    std::int64_t last = 0;
    for (const auto& ends : end_) {
      for (const auto& end : ends) {
        if (!end) return std::nullopt;
        last = std::max(last, *end);
      }
    }
    return last;
  }

 private:
  using Key = std::tuple<std::size_t, std::uint32_t, int, int>;  // rank, dimension, peer index, channel

  const Program& program(std::size_t rank) const { return graph_.programs[graph_.program_of[rank].index()]; }

  void index_rank(std::size_t rank) {
    const Program& mine = program(rank);
    end_.emplace_back(mine.tasks.size());
    before_.emplace_back(mine.tasks.size());
    ordinal_.emplace_back(mine.tasks.size(), 0);
    std::map<int, std::size_t> on_stream;
    std::map<Key, std::size_t> received;
    for (std::size_t i = 0; i < mine.tasks.size(); ++i) {
      const Task& task = mine.tasks[i];
      if (task.stream != kNoStream) {
        const auto previous = on_stream.find(task.stream);
        if (previous != on_stream.end()) before_.back()[i] = previous->second;
        on_stream[task.stream] = i;
      }
      if (task.kind == TaskKind::kCollective) {
        auto& calls = calls_[{rank, task.dimension.value, 0, 0}];
        ordinal_.back()[i] = calls.size();
        calls.push_back(i);
      } else if (task.kind != TaskKind::kCompute) {
        const MessageSpec& message = graph_.messages[task.detail];
        const Key key{rank, task.dimension.value, message.peer, message.channel};
        if (task.kind == TaskKind::kSend) sends_[key].push_back(i);
        if (task.kind == TaskKind::kReceive) ordinal_.back()[i] = received[key]++;
      }
    }
  }

  std::optional<std::int64_t> ready_at(std::size_t rank, std::size_t i) const {
    const Task& task = program(rank).tasks[i];
    std::int64_t ready = 0;
    const auto take = [&](std::size_t other) {
      if (!end_[rank][other]) return false;
      ready = std::max(ready, *end_[rank][other]);
      return true;
    };
    if (before_[rank][i] && !take(*before_[rank][i])) return std::nullopt;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      if (!take(program(rank).dependencies[task.first_dependency + d])) return std::nullopt;
    }
    return ready;
  }

  std::optional<std::int64_t> collective_end(std::size_t rank, std::size_t i) const {
    const Task& task = program(rank).tasks[i];
    const Dimension& dimension = graph_.dimensions[task.dimension.index()];
    const CollectiveSpec& mine = graph_.collectives[task.detail];
    std::int64_t end = 0;
    for (const RankId member : dimension.groups[dimension.group_of[rank]]) {
      const auto calls = calls_.find({member.index(), task.dimension.value, 0, 0});
      if (calls == calls_.end() || calls->second.size() <= ordinal_[rank][i]) return std::nullopt;
      const std::size_t theirs = calls->second[ordinal_[rank][i]];
      const CollectiveSpec& other = graph_.collectives[program(member.index()).tasks[theirs].detail];
      if (other.kind != mine.kind || other.bytes != mine.bytes) return std::nullopt;  // members disagree
      const auto ready = ready_at(member.index(), theirs);
      if (!ready) return std::nullopt;
      end = std::max(end, *ready);
    }
    return end;
  }

  std::optional<std::int64_t> receive_end(std::size_t rank, std::size_t i) const {
    const Task& task = program(rank).tasks[i];
    const Dimension& dimension = graph_.dimensions[task.dimension.index()];
    const MessageSpec& message = graph_.messages[task.detail];
    const auto& group = dimension.groups[dimension.group_of[rank]];
    const std::size_t sender = group[static_cast<std::size_t>(message.peer)].index();
    const auto sends =
        sends_.find({sender, task.dimension.value, static_cast<int>(dimension.index_in_group[rank]), message.channel});
    if (sends == sends_.end() || sends->second.size() <= ordinal_[rank][i]) return std::nullopt;
    const std::size_t theirs = sends->second[ordinal_[rank][i]];
    if (graph_.messages[program(sender).tasks[theirs].detail].bytes != message.bytes) return std::nullopt;
    return end_[sender][theirs];
  }

  bool advance(std::size_t rank) {
    bool moved = false;
    for (std::size_t i = 0; i < program(rank).tasks.size(); ++i) {
      if (end_[rank][i]) continue;
      const Task& task = program(rank).tasks[i];
      const auto ready = ready_at(rank, i);
      if (!ready) continue;
      std::optional<std::int64_t> end = ready;
      if (task.kind == TaskKind::kCompute) {
        const auto time = time_of_.find(graph_.works[task.detail].name);
        end = *ready + (time == time_of_.end() ? 0 : time->second);
      } else if (task.kind == TaskKind::kCollective) {
        end = collective_end(rank, i);
      } else if (task.kind == TaskKind::kReceive) {
        end = receive_end(rank, i);
        if (end) end = std::max(*end, *ready);
      }
      end_[rank][i] = end;
      moved = moved || end.has_value();
    }
    return moved;
  }

  const TaskGraph& graph_;
  std::map<std::string, std::int64_t> time_of_;
  std::vector<std::vector<std::optional<std::int64_t>>> end_;    // by rank and task
  std::vector<std::vector<std::optional<std::size_t>>> before_;  // by rank and task: the previous one on its stream
  std::vector<std::vector<std::size_t>> ordinal_;                // by rank and task: n-th call or receive
  std::map<Key, std::vector<std::size_t>> sends_;
  std::map<Key, std::vector<std::size_t>> calls_;
};

}  // namespace ringwright::workload
