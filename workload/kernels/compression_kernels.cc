#include "workload/kernels/compression_kernels.h"

#include "workload/kernels/kernel_maker.h"

namespace ringwright::workload {
namespace {

using enum KernelFamily;

constexpr double kError = 4.0;  // bytes of a stored error, in fp32

struct Sizes {
  Sizes(const KernelContext& context, double gradient_bytes, std::int64_t elements)
      : gradients(static_cast<double>(elements) * gradient_bytes),
        errors(context.training.compression.error_feedback ? static_cast<double>(elements) * kError : 0.0),
        encoded(bytes(context.training.compression.encoded(elements, static_cast<std::int64_t>(gradient_bytes)))),
        factor(bytes(context.training.compression.factor(elements, static_cast<std::int64_t>(gradient_bytes)))) {}

  static double bytes(Bytes count) { return static_cast<double>(count.count()); }

  double gradients;
  double errors;
  double encoded;
  double factor;
};

}  // namespace

std::vector<Kernel> encode_gradients(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const GradientCompression& compression = context.training.compression;
  const Sizes sizes(context, make.gradient_bytes, elements);
  // The error of the last step is read and added; the new one is written.
  if (compression.error_feedback) {
    make.bytes_only(kElementwise, "add error", 2.0 * sizes.gradients + sizes.errors, DataType::kFp32);
  }
  switch (compression.codec) {
    case GradientCodec::kTopK:
      make.bytes_only(kCast, "select top-k", (make.gradient_bytes + 1.0) * sizes.gradients + sizes.encoded,
                      DataType::kFp32);
      break;
    case GradientCodec::kPowerSgd:
      // The second factor of the last step is the first guess.
      make.bytes_only(kCast, "powersgd first factor", sizes.gradients + 2.0 * sizes.factor, DataType::kFp32);
      return make.take();
    case GradientCodec::kInt8:
    case GradientCodec::kInt4:
    case GradientCodec::kOneBit:
      // Once for the scale, once for the values.
      make.bytes_only(kCast, "quantize gradients", 2.0 * sizes.gradients + sizes.encoded, DataType::kFp32);
      break;
    case GradientCodec::kNone:
    case GradientCodec::kFp16:
      make.bytes_only(kCast, "cast gradients", sizes.gradients + sizes.encoded, DataType::kFp32);
      break;
  }
  if (compression.error_feedback) {
    make.bytes_only(kElementwise, "store error", sizes.gradients + sizes.encoded + sizes.errors, DataType::kFp32);
  }
  return make.take();
}

std::vector<Kernel> second_factor(const KernelContext& context, std::int64_t elements) {
  KernelMaker make(context);
  const Sizes sizes(context, make.gradient_bytes, elements);
  // Gram-Schmidt: every column is read again for each later one.
  const auto rank = static_cast<double>(context.training.compression.rank);
  make.bytes_only(kCast, "powersgd orthogonalize", sizes.factor * (rank + 1.0), DataType::kFp32);
  make.bytes_only(kCast, "powersgd second factor", sizes.gradients + 2.0 * sizes.factor, DataType::kFp32);
  return make.take();
}

std::vector<Kernel> decode_gradients(const KernelContext& context, std::int64_t elements, std::int64_t ranks) {
  KernelMaker make(context);
  const GradientCompression& compression = context.training.compression;
  const Sizes sizes(context, make.gradient_bytes, elements);
  const double received = compression.linear() ? sizes.encoded : sizes.encoded * static_cast<double>(ranks);
  double sums = sizes.gradients;
  if (compression.codec == GradientCodec::kTopK) {
    // Cleared, then each chosen value is added to its place: read and written.
    sums += 2.0 * static_cast<double>(ranks * compression.chosen(elements)) * make.gradient_bytes;
  }
  make.bytes_only(kCast, "decode gradients", received + sums, DataType::kFp32);
  // PowerSGD's error needs the decoded gradients; before the sum, others know what they lost.
  if (compression.codec == GradientCodec::kPowerSgd && compression.error_feedback) {
    make.bytes_only(kElementwise, "store error", 2.0 * sizes.gradients + sizes.errors, DataType::kFp32);
  }
  return make.take();
}

}  // namespace ringwright::workload
