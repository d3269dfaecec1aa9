// Constants are found group by group: bytes first, then GEMMs, grouped GEMMs, attention, each on its own rows with the
// earlier results. The measure is the mean of |ln(predicted / measured)|, in which outliers do not dominate. The
// search (bounded_fit.h) starts from several fixed points; the best one wins. Nothing in it is random, so that a fit
// can be repeated to the last digit.
#include "validation/kernels/kernel_fit.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <concepts>
#include <functional>
#include <numbers>

#include "validation/fit/bounded_fit.h"
#include "validation/kernels/kernel_questions.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

using workload::ConstantForm;
using workload::ConstantSpec;
using workload::GpuSpec;
using workload::KernelConstant;
using enum workload::KernelConstant;

using KernelRows = std::vector<const MeasuredKernel*>;

const ConstantSpec& spec_of(KernelConstant constant) {
  return workload::kernel_constants()[static_cast<std::size_t>(constant)];
}

// A constant as a number from 0 to 1: times by their logarithm, the rest evenly.
double to_unit(const ConstantSpec& spec, double value) {
  if (spec.form == ConstantForm::kTime) {
    constexpr double kLeast = 1e-8;
    const double low = std::log(std::max(spec.min, kLeast));
    return (std::log(std::max(value, kLeast)) - low) / (std::log(spec.max) - low);
  }
  return (value - spec.min) / (spec.max - spec.min);
}
double from_unit(const ConstantSpec& spec, double unit) {
  if (spec.form == ConstantForm::kTime) {
    constexpr double kLeast = 1e-8;
    const double low = std::log(std::max(spec.min, kLeast));
    return std::exp(low + unit * (std::log(spec.max) - low));
  }
  return spec.min + unit * (spec.max - spec.min);
}

double mean_error(const GpuSpec& gpu, const KernelRows& rows) {
  double sum = 0.0;
  for (const MeasuredKernel* row : rows) sum += std::abs(std::log(predicted_seconds(*row, gpu) / row->seconds));
  return sum / static_cast<double>(rows.size());
}

// The point i of Halton's sequence along one axis: starts that cover the box evenly, the same each time.
double halton(std::size_t i, std::size_t axis) {
  constexpr std::array<std::size_t, 16> kPrimes{2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
  const std::size_t base = kPrimes[axis];
  double value = 0.0;
  for (double weight = 1.0 / static_cast<double>(base); i > 0; i /= base, weight /= static_cast<double>(base)) {
    value += weight * static_cast<double>(i % base);
  }
  return value;
}

// Regularises constants towards the class values with the weight of half a row's error, so that few rows do not
// distort many constants.
constexpr double kPull = 0.5;
constexpr std::size_t kStarts = 200;   // evaluated
constexpr std::size_t kDescents = 12;  // followed: the best of them

struct Point {
  std::vector<double> units;
  double error = 0.0;
};

class KernelSearch {
 public:
  KernelSearch(GpuSpec& gpu, const KernelRows& rows, std::vector<KernelConstant> constants)
      : gpu_(gpu), rows_(rows), constants_(std::move(constants)) {
    const auto fits = [this](KernelConstant constant) {
      return std::ranges::find(constants_, constant) != constants_.end();
    };
    one_exposed_ = fits(kGemmExposed) && !fits(kGemmExposedResults);
    for (const KernelConstant constant : constants_) {
      usual_.push_back(to_unit(spec_of(constant), spec_of(constant).fallback));
    }
  }

  void run() {
    std::vector<double> start;
    for (const KernelConstant constant : constants_)
      start.push_back(to_unit(spec_of(constant), gpu_.kernels[constant]));
    std::vector<Point> starts{{.units = start, .error = error_at(start)}};
    for (std::size_t i = 1; i <= kStarts; ++i) {
      std::vector<double> units;
      for (std::size_t axis = 0; axis < start.size(); ++axis) units.push_back(halton(i, axis));
      starts.push_back({.units = units, .error = error_at(units)});
    }
    std::ranges::sort(starts.begin() + 1, starts.end(), {}, &Point::error);
    Point best = descend(starts.front().units);
    for (std::size_t i = 1; i <= kDescents; ++i) {
      const Point other = descend(starts[i].units);
      if (other.error < best.error) best = other;
    }
    set(gpu_, best.units);
  }

 private:
  void set(GpuSpec& gpu, std::span<const double> units) const {
    for (std::size_t i = 0; i < units.size(); ++i) {
      gpu.kernels[constants_[i]] = from_unit(spec_of(constants_[i]), units[i]);
    }
    if (one_exposed_) gpu.kernels[kGemmExposedResults] = gpu.kernels[kGemmExposed];
  }
  [[nodiscard]] double error_at(std::span<const double> units) const {
    GpuSpec gpu = gpu_;
    set(gpu, units);
    double strayed = 0.0;
    for (std::size_t i = 0; i < units.size(); ++i) strayed += (units[i] - usual_[i]) * (units[i] - usual_[i]);
    return mean_error(gpu, rows_) + kPull * strayed / static_cast<double>(rows_.size());
  }

  // The shared search moves logarithms: of exp(unit), which is between 1 and e.
  [[nodiscard]] Point descend(const std::vector<double>& units) const {
    std::vector<FitConstant> bounds;
    for (const double unit : units) {
      bounds.push_back({.low = 1.0, .high = std::numbers::e, .start = std::exp(std::clamp(unit, 0.0, 1.0))});
    }
    const auto units_of = [](std::span<const double> values) {
      std::vector<double> found;
      for (const double value : values) found.push_back(std::clamp(std::log(value), 0.0, 1.0));
      return found;
    };
    const FitAnswer answer = fit(
        bounds, [&](std::span<const double> values) { return error_at(units_of(values)); },
        {.first_factor = std::exp(0.1), .last_factor = std::exp(5e-4), .most_rounds = 1000, .cores = FitCores::kOne});
    return {.units = units_of(answer.values), .error = answer.error};
  }

  GpuSpec& gpu_;
  const KernelRows& rows_;
  std::vector<KernelConstant> constants_;
  std::vector<double> usual_;  // the class values
  bool one_exposed_ = false;   // no row tells the exposed share of results from that of operands
};

class Fitter {
 public:
  Fitter(const GpuSpec& gpu, std::span<const MeasuredKernel> rows) : gpu_(gpu), all_(rows) {}

  KernelFit fit() {
    group(stream_questions(), [](const Kernel& k) { return k.family == KernelFamily::kCopy; });
    family_speeds();
    group(gemm_questions(),
          [](const Kernel& k) { return k.family == KernelFamily::kGemm || k.family == KernelFamily::kGroupedGemm; });
    std::vector<int> releases;  // 0: the fastest kernels
    for (const MeasuredKernel& row : all_) releases.push_back(older_flash_attention(row, gpu_));
    std::ranges::sort(releases);
    releases.erase(std::ranges::unique(releases).begin(), releases.end());
    for (const int release : releases) attention(release);
    ranges();
    return {.profile = gpu_.kernels, .fitted = std::move(fitted_), .fitted_releases = std::move(fitted_releases_)};
  }

 private:
  template <class Predicate>
  KernelRows rows_where(Predicate&& predicate) const {
    KernelRows rows;
    for (const MeasuredKernel& row : all_) {
      if (!row.held_out && predicate(row)) rows.push_back(&row);
    }
    return rows;
  }

  // The constants on which enough rows depend.
  static std::vector<KernelConstant> answered(std::span<const Question> questions, const KernelRows& rows) {
    std::vector<KernelConstant> constants;
    for (const Question& question : questions) {
      const auto answers =
          std::ranges::count_if(rows, [&](const MeasuredKernel* row) { return question.answers(*row); });
      if (static_cast<std::size_t>(answers) >= question.least) constants.push_back(question.constant);
    }
    return constants;
  }
  template <class Questions, class Predicate>
  requires std::predicate<Predicate, const Kernel&>
  void group(const Questions& questions, Predicate&& predicate) {
    group(questions, rows_where([&](const MeasuredKernel& row) { return predicate(row.kernel); }));
  }
  void group(std::span<const Question> questions, const KernelRows& rows) {
    const std::vector<KernelConstant> constants = answered(questions, rows);
    if (constants.empty()) return;
    KernelSearch(gpu_, rows, constants).run();
    fitted_.insert(fitted_.end(), constants.begin(), constants.end());
  }

  static bool is_attention(const Kernel& kernel) {
    return kernel.family == KernelFamily::kAttentionForward || kernel.family == KernelFamily::kAttentionBackward;
  }
  // On rows of that release of FlashAttention; 0: of the fastest kernels.
  void attention(int release) {
    const KernelRows rows = rows_where([&](const MeasuredKernel& row) {
      return is_attention(row.kernel) && older_flash_attention(row, gpu_) == release;
    });
    if (release == 0) {
      group(attention_questions(), rows);
      return;
    }
    GpuSpec other = gpu_;
    if (auto known = workload::with_flash_attention(gpu_.kernels, release)) other.kernels = std::move(*known);
    other.kernels.flash_attention.clear();
    std::vector<KernelConstant> constants = answered(attention_questions(), rows);
    std::erase_if(constants, [](KernelConstant constant) {
      return std::ranges::find(workload::kLibraryConstants, constant) == workload::kLibraryConstants.end();
    });
    if (constants.empty()) return;
    KernelSearch(other, rows, constants).run();
    workload::FlashAttention fitted{.release = release};
    for (std::size_t i = 0; i < fitted.values.size(); ++i) {
      fitted.values[i] = other.kernels[workload::kLibraryConstants[i]];
    }
    std::vector<workload::FlashAttention>& known = gpu_.kernels.flash_attention;
    const auto old = std::ranges::find(known, release, &workload::FlashAttention::release);
    if (old != known.end()) {
      *old = fitted;
    } else {
      known.push_back(fitted);
    }
    fitted_releases_.push_back({.release = release, .rows = rows.size()});
  }

  template <KernelFamily family>
  void family_speed(KernelConstant constant) {
    group(std::array{Question{constant, 3, any_row}}, [](const Kernel& k) { return k.family == family; });
  }
  void family_speeds() {
    family_speed<KernelFamily::kNorm>(kStreamNorm);
    group(std::array{Question{kStreamElementwise, 3, any_row}, Question{kStreamStart, kManyRows, is_cold_row}},
          [](const Kernel& k) { return k.family == KernelFamily::kElementwise; });
    family_speed<KernelFamily::kSoftmax>(kStreamSoftmax);
    family_speed<KernelFamily::kEmbedding>(kStreamEmbedding);
    family_speed<KernelFamily::kOptimizer>(kStreamOptimizer);
    family_speed<KernelFamily::kCast>(kStreamCast);
  }

  void widen(KernelConstant least, KernelConstant most, std::int64_t value) {
    double& low = gpu_.kernels[least];
    double& high = gpu_.kernels[most];
    const auto v = static_cast<double>(value);
    low = high > 0.0 ? std::min(low, v) : v;
    high = std::max(high, v);
  }
  // Of all rows: those held out show that the rule holds there.
  void ranges() {
    for (const KernelConstant constant :
         {kGemmSmallest, kGemmLargest, kAttentionShortest, kAttentionLongest, kStreamSmallest, kStreamLargest}) {
      gpu_.kernels[constant] = 0.0;
    }
    for (const MeasuredKernel& row : all_) {
      const Kernel& kernel = row.kernel;
      if (kernel.family == KernelFamily::kGemm || kernel.family == KernelFamily::kGroupedGemm) {
        for (const std::int64_t size : {kernel.m, kernel.n, kernel.k}) widen(kGemmSmallest, kGemmLargest, size);
      } else if (kernel.family <= KernelFamily::kAttentionBackward) {
        widen(kAttentionShortest, kAttentionLongest, kernel.n);
      } else {
        widen(kStreamSmallest, kStreamLargest, kernel.bytes.count());
      }
    }
  }

  GpuSpec gpu_;
  std::span<const MeasuredKernel> all_;
  std::vector<KernelConstant> fitted_;
  std::vector<FittedRelease> fitted_releases_;
};

}  // namespace

KernelFit fit_kernels(const GpuSpec& gpu, std::span<const MeasuredKernel> rows) {
  return Fitter(gpu, rows).fit();
}

}  // namespace ringwright::validation
