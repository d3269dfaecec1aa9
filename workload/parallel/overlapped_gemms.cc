#include "workload/parallel/overlapped_gemms.h"

#include <numeric>

namespace ringwright::workload {

OverlappedGemms::OverlappedGemms(SectionTable& sections, const CommStream& channel, const TensorOverlap& options,
                                 const Sizes& sizes)
    : sections_(sections),
      channel_(channel),
      ranks_(static_cast<int>(sections.context().tp)),
      // Chunks have whole rows of every rank.
      chunks_(static_cast<int>(
          std::gcd(sections.context().tokens() / sections.context().tp, std::int64_t{options.chunks}))),
      sizes_(sizes) {}

std::vector<TaskIndex> OverlappedGemms::run(ProgramWriter& writer, LayerSection section, AttentionSpan span,
                                               const Paths& paths) {
  const SplitSection cut = sections_.cut(section, span,
                                   {.role = paths.role,
                                    .first = paths.input == Input::kGathered ? ranks_ : 0,
                                    .last = paths.result == Result::kScattered ? chunks_ : 0});
  std::vector<TaskIndex> scattered;
  writer.compute(cut.head);
  if (paths.input == Input::kGathered) gather(writer, cut.first);
  writer.compute(cut.middle);
  if (paths.result == Result::kScattered) scattered = scatter(writer, cut.last);
  writer.compute(cut.tail);
  return scattered;
}

// The rank's own part first; each received part is forwarded while its GEMM runs, except the last one.
void OverlappedGemms::gather(ProgramWriter& writer, SectionId share) {
  const MessageSpec to_next{
      .peer = 1, .bytes = sizes_.gathered / ranks_, .relative = true, .moved_by = MovedBy::kSender};
  const MessageSpec from_previous{
      .peer = ranks_ - 1, .bytes = sizes_.gathered / ranks_, .relative = true, .moved_by = MovedBy::kSender};
  std::vector<TaskIndex> sent = {writer.send(channel_, to_next, "tp send part")};
  for (int part = 0; part < ranks_; ++part) {
    const bool more = part + 1 < ranks_;
    const TaskIndex next = more ? writer.receive(channel_, from_previous, "tp receive part") : 0;
    if (part + 2 < ranks_) sent.push_back(writer.send_after(channel_, to_next, "tp send part", {next}));
    writer.compute(share);
    if (more) writer.wait(next);
  }
  for (const TaskIndex task : sent) writer.wait(task);  // the buffer is reused
}

std::vector<TaskIndex> OverlappedGemms::scatter(ProgramWriter& writer, SectionId share) {
  std::vector<TaskIndex> scattered;
  const CollectiveSpec spec{.kind = CollectiveKind::kReduceScatter, .bytes = sizes_.scattered / chunks_};
  for (int chunk = 0; chunk < chunks_; ++chunk) {
    writer.compute(share);
    scattered.push_back(writer.collective(channel_, spec, "tp reduce_scatter chunk"));
  }
  return scattered;
}

}  // namespace ringwright::workload
