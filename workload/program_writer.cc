#include "workload/program_writer.h"

#include <utility>

namespace ringwright::workload {

ProgramWriter::ProgramWriter(GraphTables& tables, std::string name) : tables_(tables) {
  program_.name = std::move(name);
}

void ProgramWriter::name_work(WorkName name) {
  flush();
  name_ = std::move(name);
}

void ProgramWriter::compute(PieceId piece) {
  if (tables_.has_kernels(piece)) pending_.push_back(piece);
}

TaskIndex ProgramWriter::add(Task task, const std::vector<TaskIndex>& dependencies) {
  task.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
  task.dependency_count = static_cast<std::uint32_t>(dependencies.size());
  program_.dependencies.insert(program_.dependencies.end(), dependencies.begin(), dependencies.end());
  program_.tasks.push_back(task);
  return static_cast<TaskIndex>(program_.tasks.size() - 1);
}

void ProgramWriter::flush() {
  if (pending_.empty()) return;
  Task task{.kind = TaskKind::kCompute, .stream = kComputeStream};
  task.detail = tables_.work(pending_, name_.work);
  task.label = tables_.label(name_.label);
  last_compute_ = add(task, waits_);
  pending_.clear();
  waits_.clear();
}

TaskIndex ProgramWriter::issue(Task task) {
  flush();
  std::vector<TaskIndex> dependencies = waits_;
  if (last_compute_) dependencies.push_back(*last_compute_);
  return add(task, dependencies);
}

TaskIndex ProgramWriter::collective(const Channel& channel, const CollectiveSpec& spec, const std::string& label) {
  if (communication_ == Communication::kOff) return kNoTask;
  Task task{.kind = TaskKind::kCollective, .stream = channel.stream, .dimension = channel.dimension};
  task.detail = tables_.collective(spec);
  task.label = tables_.label(label);
  return issue(task);
}

TaskIndex ProgramWriter::collective_after(const Channel& channel, const CollectiveSpec& spec, const std::string& label,
                                          const std::vector<TaskIndex>& after) {
  flush();
  Task task{.kind = TaskKind::kCollective, .stream = channel.stream, .dimension = channel.dimension};
  task.detail = tables_.collective(spec);
  task.label = tables_.label(label);
  return add(task, after);
}

TaskIndex ProgramWriter::send_after(const Channel& channel, const MessageSpec& spec, const std::string& label,
                                    const std::vector<TaskIndex>& after) {
  flush();
  Task task{.kind = TaskKind::kSend, .stream = channel.stream, .dimension = channel.dimension};
  task.detail = tables_.message(spec);
  task.label = tables_.label(label);
  return add(task, after);
}

TaskIndex ProgramWriter::compute_on(StreamIndex stream, PieceId piece, const std::string& name,
                                    const std::vector<TaskIndex>& after) {
  flush();
  Task task{.kind = TaskKind::kCompute, .stream = stream};
  task.detail = tables_.work({piece}, name);
  task.label = tables_.label(name);
  return add(task, after);
}

std::vector<TaskIndex> ProgramWriter::last_computation() {
  flush();
  return last_compute_ ? std::vector<TaskIndex>{*last_compute_} : std::vector<TaskIndex>();
}

TaskIndex ProgramWriter::send(const Channel& channel, const MessageSpec& spec, const std::string& label) {
  if (communication_ == Communication::kOff) return kNoTask;
  Task task{.kind = TaskKind::kSend, .stream = channel.stream, .dimension = channel.dimension};
  task.detail = tables_.message(spec);
  task.label = tables_.label(label);
  return issue(task);
}

TaskIndex ProgramWriter::receive(const Channel& channel, const MessageSpec& spec, const std::string& label) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  Task task{.kind = TaskKind::kReceive, .stream = kNoStream, .dimension = channel.dimension};
  task.detail = tables_.message(spec);
  task.label = tables_.label(label);
  return add(task, {});
}

void ProgramWriter::wait(TaskIndex task) {
  if (communication_ == Communication::kOff) return;
  flush();
  waits_.push_back(task);
}

Program ProgramWriter::finish(int stream_count) {
  flush();
  program_.stream_count = stream_count;
  return std::move(program_);
}

}  // namespace ringwright::workload
