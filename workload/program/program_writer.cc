#include "workload/program/program_writer.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringwright::workload {
namespace {

struct Content {
  std::uint32_t detail = 0;
  std::uint32_t label = 0;
};

void write(Task& task, TaskKind kind, const CommStream& channel, const Content& content) {
  task.kind = kind;
  task.stream = channel.stream;
  task.dimension = channel.dimension;
  task.detail = content.detail;
  task.label = content.label;
}

}  // namespace

ProgramWriter::ProgramWriter(GraphTables& tables, std::string name) : tables_(tables) {
  program_.name = std::move(name);
}

void ProgramWriter::name_work(const WorkName& name) {
  flush();
  own_work_ = name.work;
  name_work(tables_.label(name.label), own_work_);
}

void ProgramWriter::name_work(std::uint32_t label, std::string_view work) {
  flush();
  label_ = label;
  work_ = work;
}

void ProgramWriter::compute(SectionId section) {
  if (tables_.has_kernels(section)) pending_.push_back(section);
}

Task& ProgramWriter::add(std::span<const TaskIndex> dependencies, TaskIndex computation) {
  Task& task = program_.tasks.emplace_back();
  task.first_dependency = static_cast<std::uint32_t>(program_.dependencies.size());
  task.dependency_count = static_cast<std::uint32_t>(dependencies.size()) + (computation != kNoTask ? 1 : 0);
  for (const TaskIndex before : dependencies) program_.dependencies.push_back(before);
  if (computation != kNoTask) program_.dependencies.push_back(computation);
  return task;
}

void ProgramWriter::write_kernels() {
  const std::uint32_t work = tables_.work(pending_, work_);
  Task& task = add(waits_);
  task.detail = work;
  task.label = label_;
  last_compute_ = last();
  pending_.clear();
  clear_waits();
}

Task& ProgramWriter::issue() {
  flush();
  return add(waits_, last_compute_);
}

TaskIndex ProgramWriter::collective(const CommStream& channel, const CollectiveSpec& spec, std::string_view label) {
  if (communication_ == Communication::kOff) return kNoTask;
  write(issue(), TaskKind::kCollective, channel, {.detail = tables_.collective(spec), .label = tables_.label(label)});
  return last();
}

TaskIndex ProgramWriter::collective_after(const CommStream& channel, const CollectiveSpec& spec, std::string_view label,
                                          const std::vector<TaskIndex>& after) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  write(add(after), TaskKind::kCollective, channel,
        {.detail = tables_.collective(spec), .label = tables_.label(label)});
  return last();
}

TaskIndex ProgramWriter::send_after(const CommStream& channel, const MessageSpec& spec, std::string_view label,
                                    const std::vector<TaskIndex>& after) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  write(add(after), TaskKind::kSend, channel, {.detail = tables_.message(spec), .label = tables_.label(label)});
  return last();
}

TaskIndex ProgramWriter::compute_on(StreamIndex stream, SectionId section, const std::string& name,
                                    const std::vector<TaskIndex>& after) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  const std::uint32_t work = tables_.work({section}, name);
  Task& task = add(after);
  task.stream = stream;
  task.detail = work;
  task.label = tables_.label(name);
  return last();
}

std::vector<TaskIndex> ProgramWriter::last_computation() {
  flush();
  return last_compute_ != kNoTask ? std::vector<TaskIndex>{last_compute_} : std::vector<TaskIndex>();
}

TaskIndex ProgramWriter::send(const CommStream& channel, const MessageSpec& spec, std::string_view label) {
  if (communication_ == Communication::kOff) return kNoTask;
  write(issue(), TaskKind::kSend, channel, {.detail = tables_.message(spec), .label = tables_.label(label)});
  return last();
}

ProgramWriter::KnownMessage ProgramWriter::look_up(const CommStream& channel, const MessageSpec& spec,
                                                   std::string_view label) {
  const std::uint32_t number = tables_.message(spec);
  return {.channel = channel, .spec = number, .label = tables_.label(label)};
}

TaskIndex ProgramWriter::pass_on(const KnownMessage& message) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  const StreamIndex stream = message.channel.stream;
  std::size_t waited_for = 0;
  if (stream != kNoStream && !waits_.empty()) {
    auto before = std::ranges::find(passed_on_, stream, &PassedOn::stream);
    if (before == passed_on_.end()) before = passed_on_.insert(before, {.stream = stream});
    waited_for = std::exchange(before->waits, waits_.size());
  }
  write(add(std::span(waits_).subspan(waited_for), last_compute_), TaskKind::kSend, message.channel,
        {.detail = message.spec, .label = message.label});
  return last();
}

TaskIndex ProgramWriter::receive(const KnownMessage& message) {
  if (communication_ == Communication::kOff) return kNoTask;
  flush();
  write(add({}), TaskKind::kReceive, {.dimension = message.channel.dimension},
        {.detail = message.spec, .label = message.label});
  return last();
}

void ProgramWriter::wait(TaskIndex task) {
  if (communication_ == Communication::kOff) return;
  flush();
  waits_.push_back(task);
}

std::vector<TaskIndex> ProgramWriter::call_dependencies() const {
  std::vector<TaskIndex> dependencies = waits_;
  if (last_compute_ != kNoTask) dependencies.push_back(last_compute_);
  return dependencies;
}

ProgramWriter::CallShape ProgramWriter::call_shape() {
  flush();
  return {.waits = waits_.size(), .follows_computation = last_compute_ != kNoTask};
}

void ProgramWriter::begin_segment() {
  flush();
  open_ = {.begin = static_cast<TaskIndex>(program_.tasks.size()),
           .dependency = program_.dependencies.size(),
           .waits = waits_,
           .last_compute = last_compute_,
           .after = call_dependencies()};
}

std::optional<std::uint32_t> ProgramWriter::end_segment() {
  flush();
  const CallPlaces places = call_places();
  if (!hangs_together(places)) return std::nullopt;
  const std::uint32_t segment = tables_.segment(cut_segment(places));
  waits_ = std::move(open_.waits);
  last_compute_ = open_.last_compute;
  call(segment);
  return segment;
}

void ProgramWriter::call(std::uint32_t segment) {
  flush();
  Task& task = add(waits_, last_compute_);
  task.kind = TaskKind::kSegment;
  task.detail = segment;
  task.label = label_;
  last_compute_ = last();
  clear_waits();
}

ProgramWriter::CallPlaces ProgramWriter::call_places() const {
  CallPlaces places;
  for (const TaskIndex task : open_.after) {
    places.push_back({.task = task, .place = static_cast<std::uint32_t>(places.size())});
  }
  std::ranges::sort(places);
  return places;
}

bool ProgramWriter::hangs_together(const CallPlaces& places) const {
  const bool ends = program_.tasks.size() > open_.begin && program_.tasks.back().stream == kComputeStream;
  return ends && waits_.empty() && all_awaited() && all_begin_within(places);
}

// The last task follows all others: each is on a stream with a later one, or a later one depends on it.
bool ProgramWriter::all_awaited() const {
  std::vector<bool> awaited(program_.tasks.size() - open_.begin, false);
  awaited.back() = true;
  std::array<bool, kNoStream> streams{};
  for (std::size_t i = awaited.size(); i-- > 0;) {
    const Task& task = program_.tasks[open_.begin + i];
    const bool later_on_stream = task.stream != kNoStream && std::exchange(streams[task.stream], true);
    if (!awaited[i] && !later_on_stream) return false;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const TaskIndex before = program_.dependencies[task.first_dependency + d];
      if (before >= open_.begin) awaited[before - open_.begin] = true;
    }
  }
  return true;
}

// Every task follows all dependencies of a call: it waits for all of that itself, or for a task that does; the compute
// stream's first task always comes after the previous computation. A receive may begin before, since its message does
// not.
bool ProgramWriter::all_begin_within(const CallPlaces& places) const {
  bool computed = false;
  for (std::size_t i = open_.begin; i < program_.tasks.size(); ++i) {
    const Task& task = program_.tasks[i];
    if (task.kind == TaskKind::kReceive && task.dependency_count == 0) continue;
    std::size_t outside = 0;
    for (std::uint32_t d = 0; d < task.dependency_count; ++d) {
      const TaskIndex before = program_.dependencies[task.first_dependency + d];
      if (before >= open_.begin) continue;
      if (!std::ranges::binary_search(places, before, {}, &CallPlace::task)) return false;
      ++outside;
    }
    const bool computes = task.stream == kComputeStream;
    const bool follows = outside < task.dependency_count || (computes && computed);
    if (!follows && outside < (computes ? open_.waits.size() : open_.after.size())) return false;
    computed = computed || computes;
  }
  return true;
}

Segment ProgramWriter::cut_segment(const CallPlaces& places) {
  Segment segment;
  const auto begin = program_.tasks.begin() + static_cast<std::ptrdiff_t>(open_.begin);
  segment.tasks.assign(begin, program_.tasks.end());
  const auto size = static_cast<std::uint32_t>(segment.tasks.size());
  for (Task& task : segment.tasks) {
    task.first_dependency -= static_cast<std::uint32_t>(open_.dependency);
    if (task.label == label_) task.label = kCallersLabel;
  }
  for (std::size_t d = open_.dependency; d < program_.dependencies.size(); ++d) {
    const TaskIndex before = program_.dependencies[d];
    if (before >= open_.begin) {
      segment.dependencies.push_back(before - open_.begin);
      continue;
    }
    const auto place = std::ranges::lower_bound(places, before, {}, &CallPlace::task);
    segment.dependencies.push_back(size + place->place);
  }
  segment.call_dependencies = static_cast<std::uint32_t>(open_.after.size());
  program_.tasks.erase(begin, program_.tasks.end());
  program_.dependencies.resize(open_.dependency);
  return segment;
}

TaskIndex ProgramWriter::position() {
  flush();
  return static_cast<TaskIndex>(program_.tasks.size());
}

void ProgramWriter::expect(std::size_t tasks) {
  program_.tasks.reserve(tasks);
  program_.dependencies.reserve(2 * tasks);
}

Program ProgramWriter::finish(int stream_count) {
  flush();
  program_.stream_count = stream_count;
  return std::move(program_);
}

}  // namespace ringwright::workload
