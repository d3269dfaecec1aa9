#include "workload/parallel/compressed_sum.h"

#include "workload/kernels/compression_kernels.h"
#include "workload/parallel/element_bytes.h"

namespace ringwright::workload {

CompressedSum::CompressedSum(SectionTable& sections, std::int64_t elements, std::int64_t ranks)
    : encode_(sections.add(encode_gradients(sections.context(), elements))),
      decode_(sections.add(decode_gradients(sections.context(), elements, ranks))),
      compression_(sections.context().training.compression) {
  const std::int64_t gradient = ElementBytes(sections.context().training).gradient;
  exchanged_ = compression_.encoded(elements, gradient);
  if (!compression_.linear()) exchanged_ = exchanged_ * ranks;
  if (compression_.codec != GradientCodec::kPowerSgd) return;
  exchanged_ = compression_.factor(elements, gradient);
  second_ = sections.add(second_factor(sections.context(), elements));
}

TaskIndex CompressedSum::write(ProgramWriter& writer, const CommStream& channel, const std::string& prefix) const {
  writer.compute(encode_);
  const CollectiveKind kind = compression_.linear() ? CollectiveKind::kAllReduce : CollectiveKind::kAllGather;
  const std::string label =
      prefix + (compression_.linear() ? "all_reduce compressed gradients" : "all_gather compressed gradients");
  TaskIndex done = writer.collective(channel, {.kind = kind, .bytes = exchanged_}, label);
  if (compression_.codec == GradientCodec::kPowerSgd) {
    const TaskIndex second = writer.compute_on(channel.stream, second_, "powersgd second factor", {done});
    done = writer.collective_after(channel, {.kind = kind, .bytes = exchanged_}, label, {second});
  }
  return writer.compute_on(channel.stream, decode_, "decode gradients", {done});
}

}  // namespace ringwright::workload
