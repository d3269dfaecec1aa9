#include "workload/parallel/overlapped_gemms.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "workload/kernels/split_gemms.h"

namespace ringwright::workload {

OverlappedGemms::OverlappedGemms(SectionTable& sections, const CommStream& channel, const TensorOverlap& options,
                                 const Sizes& sizes)
    : sections_(sections),
      channel_(channel),
      options_(options),
      ranks_(static_cast<int>(sections.context().tp)),
      // Chunks have whole rows of every rank.
      chunks_(static_cast<int>(
          std::gcd(sections.context().tokens() / sections.context().tp, std::int64_t{options.chunks}))),
      sizes_(sizes) {
  if (fused()) local_sum_ = sections.add(sum_of_tiles(sections.context(), sizes.scattered, ranks_));
}

std::vector<TaskIndex> OverlappedGemms::run(ProgramWriter& writer, LayerSection section, AttentionSpan span,
                                               const Paths& paths) {
  const SplitSection cut = sections_.cut(section, span,
                                         {.role = paths.role,
                                          .first = paths.input == Input::kThere ? 0 : fused() ? parts() : ranks_,
                                          .last = paths.result == Result::kStays ? 0 : fused() ? parts() : chunks_,
                                          .sms = options_.sms});
  std::vector<TaskIndex> scattered;
  writer.compute(cut.head);
  if (paths.input == Input::kGathered) {
    const FusedKernel kernel{.share = cut.first, .shares = std::max(cut.first_shares, 1)};
    fused() ? gather_tiles(writer, kernel) : gather(writer, cut.first);
  }
  writer.compute(cut.middle);
  if (paths.result == Result::kScattered) {
    scattered = fused() ? scatter_tiles(writer, {.share = cut.last, .shares = std::max(cut.last_shares, 1)})
                        : scatter(writer, cut.last);
  }
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

MessageSpec OverlappedGemms::part_of(int distance, Bytes activation, MovedBy moved_by) const {
  return {.peer = (distance + ranks_) % ranks_, .bytes = activation / parts(), .relative = true, .moved_by = moved_by};
}

// Parts leave in the order in which their readers need them: to the previous rank first, whose next rank this is. Two
// copies are in flight, so that the latency of one hides behind the bytes of the other.
void OverlappedGemms::gather_tiles(ProgramWriter& writer, const FusedKernel& kernel) {
  const CommStream engines{.dimension = channel_.dimension, .stream = kNoStream};
  std::vector<TaskIndex> sent, arrived;
  for (int part = options_.tiles; part < parts(); ++part) {
    const int distance = part / options_.tiles;
    const MessageSpec to = part_of(-distance, sizes_.gathered, MovedBy::kSender);
    sent.push_back(sent.size() < 2 ? writer.send(engines, to, "tp send tiles")
                                   : writer.send_after(engines, to, "tp send tiles", {sent[sent.size() - 2]}));
    const MessageSpec from = part_of(distance, sizes_.gathered, MovedBy::kAgent);  // the kernel polls for its signal
    arrived.push_back(writer.receive(channel_, from, "tp receive tiles"));
  }
  std::size_t awaited = 0;
  for (int share = 0; share < kernel.shares; ++share) {
    const int needed = ((share + 1) * parts() + kernel.shares - 1) / kernel.shares - options_.tiles;
    for (; std::cmp_less(awaited, needed); ++awaited) writer.wait(arrived[awaited]);
    writer.compute(kernel.share);
  }
  for (std::size_t last = sent.size() < 2 ? 0 : sent.size() - 2; last < sent.size(); ++last) {
    writer.wait(sent[last]);  // the buffer is reused
  }
}

// The rank's own part last; the sum needs the parts of all ranks. The kernel stores them: the host issues no copies.
std::vector<TaskIndex> OverlappedGemms::scatter_tiles(ProgramWriter& writer, const FusedKernel& kernel) {
  const CommStream stores{.dimension = channel_.dimension, .stream = kNoStream};
  const int elsewhere = parts() - options_.tiles;
  std::vector<TaskIndex> needed;
  int stored = 0;
  for (int share = 0; share < kernel.shares; ++share) {
    writer.compute(kernel.share);
    const int complete = std::min(elsewhere, (share + 1) * parts() / kernel.shares);
    for (; stored < complete; ++stored) {
      const int distance = 1 + stored / options_.tiles;
      const MessageSpec to = part_of(distance, sizes_.scattered, MovedBy::kAgent);
      needed.push_back(writer.send(stores, to, "tp store tiles"));
    }
  }
  for (int part = 0; part < elsewhere; ++part) {
    const int distance = 1 + part / options_.tiles;
    const MessageSpec from = part_of(-distance, sizes_.scattered, MovedBy::kAgent);
    needed.push_back(writer.receive(channel_, from, "tp receive tiles"));
  }
  return {writer.compute_on(channel_.stream, local_sum_, "tp sum tiles", needed)};
}

}  // namespace ringwright::workload
