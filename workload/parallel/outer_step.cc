#include "workload/parallel/outer_step.h"

#include <utility>

#include "workload/kernels/optimizer_kernels.h"

namespace ringwright::workload {

OuterStep::OuterStep(SectionTable& sections, std::int64_t elements, std::optional<CommStream> workers)
    : options_(sections.context().training.local_sgd), channel_(workers) {
  if (!meets()) return;
  const std::int64_t part = options_.fragment_of(elements);
  bytes_ = Bytes(part * static_cast<std::int64_t>(bytes_per_element(options_.exchanged)));
  gradient_ = sections.add(outer_gradient(sections.context(), part));
  update_ = sections.add(outer_update(sections.context(), part));
}

TaskIndex OuterStep::exchange(ProgramWriter& writer) const {
  return writer.collective(*channel_, {.kind = CollectiveKind::kAllReduce, .bytes = bytes_},
                           "outer all_reduce parameters");
}

void OuterStep::begin_step(ProgramWriter& writer) {
  if (meets() && options_.overlapped) exchanged_ = exchange(writer);
}

void OuterStep::end_step(ProgramWriter& writer) {
  if (!meets()) return;
  writer.name_work({.label = "outer step", .work = "outer step"});
  if (options_.overlapped) {
    writer.wait(*std::exchange(exchanged_, std::nullopt));
    writer.compute(update_);
    writer.compute(gradient_);
    return;
  }
  writer.compute(gradient_);
  writer.wait(exchange(writer));
  writer.compute(update_);
}

}  // namespace ringwright::workload
