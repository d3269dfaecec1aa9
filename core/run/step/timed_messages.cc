#include "core/run/step/timed_messages.h"

#include <algorithm>
#include <utility>

namespace ringwright {

// Between two GPUs, by kernels of the library, from one place of the group to another.
bool TimedMessages::cover(const TaskGraph& graph) {
  return std::ranges::all_of(graph.messages, [](const MessageSpec& message) {
    return message.path == DmaPath::kNone && message.moved_by == MovedBy::kLibrary && !message.relative &&
           message.lag == 0;
  });
}

TimedMessages::End* TimedMessages::search(OfClass& own, ClassId rank_class, const Task& task) {
  auto& [ends, last] = own;
  const auto is_of_task = [&task](const End& end) {
    return end.spec == task.detail && end.kind == task.kind && end.dimension == task.dimension;
  };
  auto found = std::ranges::find_if(ends, is_of_task);
  if (found == ends.end()) {
    const std::optional<End> made = make(rank_class, task);
    if (!made) return nullptr;
    found = ends.insert(ends.end(), *made);
  }
  last.resize(2 * groups_.graph.messages.size());
  last[place_of(task)] = static_cast<std::uint32_t>(found - ends.begin()) + 1;
  return &*found;
}

std::optional<TimedMessages::End> TimedMessages::make(ClassId rank_class, const Task& task) {
  const MessageSpec& message = groups_.graph.messages[task.detail];
  const ClassId peer = groups_.class_of_member(rank_class, task.dimension, message.peer);
  const int own = groups_.index_in_group(rank_class, task.dimension);
  const bool sends = task.kind == TaskKind::kSend;
  const std::optional<std::uint32_t> channel = channel_between(
      {.sender = sends ? rank_class : peer,
       .receiver = sends ? peer : rank_class,
       .dimension = task.dimension,
       .from = sends ? own : message.peer,
       .to = sends ? message.peer : own,
       .number = message.channel,
       .flights = {}});
  const std::optional<Duration> takes = sends ? time_of(rank_class, task) : Duration();
  if (!channel || !takes) return std::nullopt;
  return End{.kind = task.kind,
             .dimension = task.dimension,
             .spec = task.detail,
             .channel = *channel,
             .peer = peer,
             .takes = *takes};
}

// Empty where several classes, or several places of one, would share it.
std::optional<std::uint32_t> TimedMessages::channel_between(const Channel& ends) {
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    const Channel& known = channels_[i];
    if (known.dimension != ends.dimension || known.number != ends.number) continue;
    if (known.sender == ends.sender && known.receiver == ends.receiver) {
      const bool same = known.from == ends.from && known.to == ends.to;
      return same ? std::optional(static_cast<std::uint32_t>(i)) : std::nullopt;
    }
    if (known.sender == ends.sender && known.to == ends.to) return std::nullopt;
  }
  channels_.push_back(ends);
  // A pass has three tasks, one of them its message in the direction of the pass, and goes one of two directions.
  constexpr std::size_t kTasksOfMessage = 6;
  const ProgramId program = groups_.graph.program_of[groups_.rank_of(ends.sender).index()];
  const std::size_t tasks = groups_.graph.programs[program.index()].tasks.size();
  channels_.back().flights.reserve(tasks / kTasksOfMessage + 1);
  return static_cast<std::uint32_t>(channels_.size() - 1);
}

// On one stream they begin one after another.
void TimedMessages::note(ActivityLog& log) {
  for (Channel& channel : channels_) {
    if (!std::ranges::is_sorted(channel.flights, {}, &ActivityLog::Flight::begin)) {
      std::ranges::sort(channel.flights, {}, &ActivityLog::Flight::begin);
    }
    log.add_flights(channel.sender, channel.dimension, channel.flights);
    log.add_flights(channel.receiver, channel.dimension, channel.flights);
  }
}

std::optional<Duration> TimedMessages::time_of(ClassId rank_class, const Task& task) const {
  const MessageSpec& message = groups_.graph.messages[task.detail];
  const RankId sender = groups_.rank_of(rank_class);
  const RankId receiver =
      groups_.group_of(rank_class, task.dimension)[static_cast<std::size_t>(message.peer)];
  const std::optional<Duration> on_wires =
      network_.time_alone({.from = sender,
                           .to = receiver,
                           .size = message.bytes,
                           .label = message_label(task.dimension, message.channel),
                           .priority = message.importance == Importance::kYields ? Priority::kLow : Priority::kHigh});
  if (!on_wires || overhead_ == nullptr) return on_wires;
  const MessageCall call{.bytes = message.bytes,
                         .layout = &groups_.graph.layouts[groups_.layout_of(rank_class, task.dimension)],
                         .from = groups_.index_in_group(rank_class, task.dimension),
                         .to = message.peer,
                         .dimension = task.dimension};
  return *on_wires + overhead_->of({.call = call, .sender = sender, .receiver = receiver});
}

}  // namespace ringwright
