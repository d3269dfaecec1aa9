// Writes one program as a framework issues it: kernels on the compute stream in order, communication on separate
// streams, and waits that block subsequently issued tasks.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workload/program/graph_tables.h"

namespace ringwright::workload {

// A dimension and its communication stream; absent if the dimension has one member.
struct CommStream {
  DimensionId dimension;
  StreamIndex stream = kNoStream;
};

using TaskIndex = std::uint32_t;

enum class Communication { kOn, kOff };

class ProgramWriter {
 public:
  ProgramWriter(GraphTables& tables, std::string name);

  // Names the computations that follow.
  struct WorkName {
    std::string label;  // "F3": this task in a timeline
    std::string work;   // "forward": its kind of work, shared by all tasks of the kind
  };
  void name_work(const WorkName& name);
  // A label of the tables; `work` outlives this.
  void name_work(std::uint32_t label, std::string_view work);
  void compute(SectionId section);
  // Communication starts when everything issued before on the compute stream is done.
  TaskIndex collective(const CommStream& channel, const CollectiveSpec& spec, std::string_view label);
  TaskIndex send(const CommStream& channel, const MessageSpec& spec, std::string_view label);
  // Waits for nothing; the message may arrive any time before.
  TaskIndex receive(const CommStream& channel, const MessageSpec& spec, std::string_view label) {
    return communication_ == Communication::kOff ? kNoTask : receive(look_up(channel, spec, label));
  }
  // A message that a program repeats with every pass, by its places in the tables.
  struct KnownMessage {
    CommStream channel;
    std::uint32_t spec = 0;
    std::uint32_t label = 0;
  };
  [[nodiscard]] KnownMessage look_up(const CommStream& channel, const MessageSpec& spec, std::string_view label);
  TaskIndex receive(const KnownMessage& message);
  // Sent between two passes. Where passes of chunks without layers compute nothing, many of these follow each other:
  // each depends only on what its stream's previous one did not wait for; that one implies the rest.
  TaskIndex pass_on(const KnownMessage& message);
  // For communication ahead of, or concurrent with, the computation: starts when those tasks are done.
  TaskIndex collective_after(const CommStream& channel, const CollectiveSpec& spec, std::string_view label,
                             const std::vector<TaskIndex>& after);
  TaskIndex send_after(const CommStream& channel, const MessageSpec& spec, std::string_view label,
                       const std::vector<TaskIndex>& after);
  // A computation on a communication stream, in that stream's order, as part of the communication.
  TaskIndex compute_on(StreamIndex stream, SectionId section, const std::string& name,
                       const std::vector<TaskIndex>& after);
  // The last task on the compute stream, or none yet.
  [[nodiscard]] std::vector<TaskIndex> last_computation();
  // While it is off, nothing is sent, received or waited for, including prefetches: only the work of compute() is
  // written.
  void mute(Communication communication) { communication_ = communication; }
  // Everything issued from here on starts after that task.
  void wait(TaskIndex task);

  // The tasks between begin and end become a segment, which the program calls instead; begin follows name_work and end
  // comes before the next one. Empty, with unchanged tasks, if they do not meet the conditions of a segment.
  void begin_segment();
  [[nodiscard]] std::optional<std::uint32_t> end_segment();
  // The dependencies of a call at this point: calls of one segment must have the same number of them.
  struct CallShape {
    std::size_t waits = 0;
    bool follows_computation = false;
    friend auto operator<=>(const CallShape&, const CallShape&) = default;
  };
  [[nodiscard]] CallShape call_shape();
  void call(std::uint32_t segment);

  // The number of tasks, after pending kernels are written.
  [[nodiscard]] TaskIndex position();
  // For as many tasks, most of them with one or two dependencies; more are possible.
  void expect(std::size_t tasks);
  [[nodiscard]] Program finish(int stream_count);

 private:
  static constexpr TaskIndex kNoTask = ~TaskIndex{0};

  void flush() {
    if (!pending_.empty()) write_kernels();
  }
  void write_kernels();
  // A new task, which depends on these, and on the last computation if given: to be written where it stays, since a
  // copy of what has just been written field by field waits for each of them.
  Task& add(std::span<const TaskIndex> dependencies, TaskIndex computation = kNoTask);
  Task& issue();
  [[nodiscard]] TaskIndex last() const { return static_cast<TaskIndex>(program_.tasks.size() - 1); }

  void clear_waits() {
    waits_.clear();
    passed_on_.clear();
  }
  [[nodiscard]] std::vector<TaskIndex> call_dependencies() const;
  // By dependency of a call: the first place where the call has it, and the dependency itself; in ascending order.
  struct CallPlace {
    TaskIndex task = 0;
    std::uint32_t place = 0;
    friend auto operator<=>(const CallPlace&, const CallPlace&) = default;
  };
  using CallPlaces = std::vector<CallPlace>;
  [[nodiscard]] CallPlaces call_places() const;
  [[nodiscard]] bool hangs_together(const CallPlaces& places) const;
  [[nodiscard]] bool all_awaited() const;
  [[nodiscard]] bool all_begin_within(const CallPlaces& places) const;
  [[nodiscard]] Segment cut_segment(const CallPlaces& places);

  GraphTables& tables_;
  Program program_;
  Communication communication_ = Communication::kOn;
  std::uint32_t label_ = 0;
  std::string own_work_;
  std::string_view work_;  // that, or what its caller keeps
  std::vector<SectionId> pending_;  // kernels that will be one task
  std::vector<TaskIndex> waits_;  // for the next task of the compute stream
  TaskIndex last_compute_ = kNoTask;
  // How many of the first waits the last message of a stream follows that was passed on since then.
  struct PassedOn {
    StreamIndex stream = kNoStream;
    std::size_t waits = 0;
  };
  std::vector<PassedOn> passed_on_;
  // The segment being written: its begin, and the dependencies of its call.
  struct OpenSegment {
    TaskIndex begin = 0;
    std::size_t dependency = 0;
    std::vector<TaskIndex> waits;
    TaskIndex last_compute = kNoTask;
    std::vector<TaskIndex> after;  // both
  };
  OpenSegment open_;
};

}  // namespace ringwright::workload
