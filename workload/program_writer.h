// Writes one program as a framework issues it: kernels on the compute stream in order, communication on streams of its
// own, and waits that hold up what is issued after them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workload/graph_tables.h"

namespace ringwright::workload {

// Which dimension talks and on which stream; absent where the dimension has one member.
struct Channel {
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
    std::string work;   // "forward": what it does, shared by all tasks that do the same
  };
  void name_work(WorkName name);
  void compute(PieceId piece);
  // Communication starts when all that was issued before on the compute stream is done.
  TaskIndex collective(const Channel& channel, const CollectiveSpec& spec, const std::string& label);
  TaskIndex send(const Channel& channel, const MessageSpec& spec, const std::string& label);
  // Waits for nothing; the message may arrive any time before.
  TaskIndex receive(const Channel& channel, const MessageSpec& spec, const std::string& label);
  // For communication that runs ahead of, or beside, what is being computed: starts when those tasks are done.
  TaskIndex collective_after(const Channel& channel, const CollectiveSpec& spec, const std::string& label,
                             const std::vector<TaskIndex>& after);
  TaskIndex send_after(const Channel& channel, const MessageSpec& spec, const std::string& label,
                       const std::vector<TaskIndex>& after);
  // A computation on a stream of communication, in the order of that stream.
  TaskIndex compute_on(StreamIndex stream, PieceId piece, const std::string& name, const std::vector<TaskIndex>& after);
  // What was issued last on the compute stream: one task, or none yet.
  [[nodiscard]] std::vector<TaskIndex> last_computation();
  // While it is off, nothing is sent, received or waited for: only computations are written.
  void mute(Communication communication) { communication_ = communication; }
  // Whatever is issued from here on starts after that task.
  void wait(TaskIndex task);

  [[nodiscard]] Program finish(int stream_count);

 private:
  void flush();
  TaskIndex add(Task task, const std::vector<TaskIndex>& dependencies);
  TaskIndex issue(Task task);

  static constexpr TaskIndex kNoTask = ~TaskIndex{0};

  GraphTables& tables_;
  Program program_;
  Communication communication_ = Communication::kOn;
  WorkName name_;
  std::vector<PieceId> pending_;  // kernels that will be one task
  std::vector<TaskIndex> waits_;  // for the next task of the compute stream
  std::optional<TaskIndex> last_compute_;
};

}  // namespace ringwright::workload
