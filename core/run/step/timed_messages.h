// Messages between stages whose times are known when they are sent: the moments at which they arrive, by channel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/ports/call_overhead.h"
#include "core/ports/network_model.h"
#include "core/run/job/activity_log.h"
#include "core/run/job/job_groups.h"

namespace ringwright {

class TimedMessages {
 public:
  // `overhead`: null: none.
  TimedMessages(const JobGroups& groups, NetworkModel& network, const CallOverhead* overhead)
      : groups_(groups), network_(network), overhead_(overhead), ends_(groups.classes.count()) {}

  // Whether the graph has only messages that this finds the times of.
  [[nodiscard]] static bool cover(const TaskGraph& graph);

  // One class's sends, or receives, of one kind.
  struct End {
    TaskKind kind = TaskKind::kSend;
    DimensionId dimension;
    std::uint32_t spec = 0;     // index into TaskGraph::messages
    std::uint32_t channel = 0;  // index
    ClassId peer;
    Duration takes;          // of sends
    std::uint64_t sent = 0;  // so far
  };
  // The end of a task of this class, valid until another is looked for; null: its times are not known, or the two ends
  // do not stand for each other.
  [[nodiscard]] End* find(ClassId rank_class, const Task& task) {
    OfClass& own = ends_[rank_class.index()];
    const std::size_t place = place_of(task);
    const std::uint32_t last = place < own.last.size() ? own.last[place] : 0;
    const bool known = last != 0 && own.ends[last - 1].dimension == task.dimension;
    return known ? &own.ends[last - 1] : search(own, rank_class, task);
  }

  // The next message of the channel leaves then; the moment at which it arrives.
  TimePoint send(End& end, TimePoint at) {
    const TimePoint arrives = at + end.takes;
    channels_[end.channel].flights.push_back({.begin = at, .end = arrives});
    ++end.sent;
    return arrives;
  }
  // Calls visit(class, end) for every end that sends.
  template <class Visit>
  void visit_senders(Visit&& visit) const {
    for (std::size_t c = 0; c < ends_.size(); ++c) {
      for (const End& end : ends_[c].ends) {
        if (end.kind == TaskKind::kSend) visit(ClassId(c), end);
      }
    }
  }
  // The number of the next receive.
  [[nodiscard]] std::uint32_t next(const End& end) const { return channels_[end.channel].received; }
  void receive(const End& end) { ++channels_[end.channel].received; }
  // When a message arrives; before it has been sent: kNotSent, and no optional, which GCC assembles in memory.
  static constexpr TimePoint kNotSent{Duration(-1)};
  [[nodiscard]] TimePoint arrival(std::uint32_t channel, std::uint32_t number) const {
    const std::vector<ActivityLog::Flight>& flights = channels_[channel].flights;
    return number < flights.size() ? flights[number].end : kNotSent;
  }
  // All messages, at both their ends.
  void note(ActivityLog& log);

 private:
  // From one class to another.
  struct Channel {
    ClassId sender;
    ClassId receiver;
    DimensionId dimension;
    int from = 0;  // index of the sender in its group
    int to = 0;    // of the receiver
    std::uint8_t number = 0;
    std::vector<ActivityLog::Flight> flights;  // in the order of sends
    std::uint32_t received = 0;
  };
  struct OfClass {
    std::vector<End> ends;
    std::vector<std::uint32_t> last;  // by message and kind of end: one more than the end found last; 0: none
  };
  [[nodiscard]] static std::size_t place_of(const Task& task) {
    return 2 * std::size_t{task.detail} + (task.kind == TaskKind::kSend ? 1 : 0);
  }
  [[nodiscard]] End* search(OfClass& own, ClassId rank_class, const Task& task);
  [[nodiscard]] std::optional<std::uint32_t> channel_between(const Channel& ends);
  [[nodiscard]] std::optional<End> make(ClassId rank_class, const Task& task);
  [[nodiscard]] std::optional<Duration> time_of(ClassId rank_class, const Task& task) const;

  JobGroups groups_;
  NetworkModel& network_;
  const CallOverhead* overhead_;
  std::vector<OfClass> ends_;  // by class
  std::vector<Channel> channels_;
};

}  // namespace ringwright
