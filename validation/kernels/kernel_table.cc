#include "validation/kernels/kernel_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/random.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 17> kKernelTableColumns{
    "family", "op",    "dtype", "layout", "m",     "n",       "k",         "batch",     "mask",
    "window", "flops", "bytes", "mode",   "cache", "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array<std::string_view, 5> kKernelTableNeeded{"family", "dtype", "flops", "bytes", "time_us"};

template <class Value>
using Word = TableWord<Value>;
constexpr std::array kModes{Word<LaunchMode>{"eager", LaunchMode::kEager},
                            Word<LaunchMode>{"graph", LaunchMode::kGraph},
                            Word<LaunchMode>{"kernel", LaunchMode::kKernel}};
constexpr std::array kCaches{Word<bool>{"warm", false}, Word<bool>{"cold", true}};
constexpr std::array kLayouts{Word<GemmRole>{"TN", GemmRole::kForward}, Word<GemmRole>{"NN", GemmRole::kDgrad},
                              Word<GemmRole>{"NT", GemmRole::kWgrad}};
constexpr std::array kMasks{Word<AttentionMask>{"none", AttentionMask::kNone},
                            Word<AttentionMask>{"causal", AttentionMask::kCausal}};

// The enumerators from 0 to `last` by the names that they print as.
template <class Value>
std::vector<Word<Value>> printed_words(Value last) {
  std::vector<Word<Value>> words;
  for (int i = 0; i <= static_cast<int>(last); ++i)
    words.push_back({to_string(static_cast<Value>(i)), static_cast<Value>(i)});
  return words;
}

// A variant may do more or less than its shape says, but not many times as much: a shape or a unit is wrong then.
void check_flops(TableCells& cells, const CsvRow& row, const Kernel& kernel) {
  constexpr double kMostRatio = 2.0;
  if (kernel.family != KernelFamily::kGemm) return;
  const double flops = 2.0 * static_cast<double>(kernel.m) * static_cast<double>(kernel.n) *
                       static_cast<double>(kernel.k) * static_cast<double>(kernel.batch);
  if (kernel.flops.count() <= kMostRatio * flops && flops <= kMostRatio * kernel.flops.count()) return;
  cells.refuse_cell(row, "flops",
                    fmt::format("flops is {:.6g}, and 2 m n k times batch is {:.6g}", kernel.flops.count(), flops));
}

void read_kernel_row(TableCells& cells, const CsvRow& row, KernelTable& table) {
  cells.check_row(row);
  MeasuredKernel measured{.line = row.line};
  Kernel& kernel = measured.kernel;
  kernel.family = cells.word(row, "family", KernelFamily::kCopy, printed_words(KernelFamily::kCopy));
  if (const CsvCell* const op = cells.cell(row, "op")) kernel.name = op->text;
  kernel.type = cells.word(row, "dtype", DataType::kBf16, printed_words(DataType::kFp4));
  kernel.role = cells.word(row, "layout", GemmRole::kForward, kLayouts);
  kernel.mask = cells.word(row, "mask", AttentionMask::kNone, kMasks);
  kernel.window = cells.whole(row, "window", 0);
  kernel.m = cells.whole(row, "m", 0);
  kernel.n = cells.whole(row, "n", 0);
  kernel.k = cells.whole(row, "k", 0);
  kernel.batch = std::max<std::int64_t>(cells.whole(row, "batch", 1), 1);
  kernel.flops = Flops(cells.number(row, "flops", 0.0, 0.0));
  kernel.bytes = Bytes(std::llround(std::min(cells.number(row, "bytes", 0.0, 0.0), 1e18)));
  measured.mode = cells.word(row, "mode", LaunchMode::kEager, kModes);
  measured.cold = cells.word(row, "cache", false, kCaches);
  if (const CsvCell* const time = cells.cell(row, "time_us")) measured.time_column = time->column;
  measured.seconds = cells.number(row, "time_us", 1.0, 1e-3) * 1e-6;
  const bool has_sizes = kernel.m > 0 && kernel.n > 0 && kernel.k > 0;
  if (kernel.family <= KernelFamily::kAttentionBackward && !has_sizes) {
    cells.refuse_cell(row, "family", fmt::format("a kernel of family {} needs m, n and k", to_string(kernel.family)));
  }
  if (has_sizes) check_flops(cells, row, kernel);
  if (kernel.window > 0 && kernel.mask != AttentionMask::kCausal) {
    cells.refuse_cell(row, "window", "a window needs `causal` in column mask");
  }
  static_cast<void>(cells.number(row, "ci_low_us", 0.0, 0.0));
  static_cast<void>(cells.number(row, "ci_high_us", 0.0, 0.0));
  measured.held_out = is_held_out(kernel);
  table.rows.push_back(std::move(measured));
}

constexpr TableCells::Format kKernelTableFormat{.of = "kernels",
                                                .header = kMeasuredHeader,
                                                .columns = kKernelTableColumns,
                                                .needed = kKernelTableNeeded,
                                                .page = "docs/kernel-tables.md"};

}  // namespace

Result<KernelTable> read_kernel_table(const std::string& path) {
  return read_measured<KernelTable>(read_csv(path), kKernelTableFormat, read_kernel_row);
}

Result<KernelTable> parse_kernel_table(const std::string& name, std::string_view text) {
  return read_measured<KernelTable>(parse_csv(name, text), kKernelTableFormat, read_kernel_row);
}

std::string shape_key(const Kernel& kernel) {
  if (kernel.m == 0) {
    return fmt::format("{}/{}/{}", to_string(kernel.family), to_string(kernel.type), kernel.bytes.count());
  }
  std::array sizes{kernel.m, kernel.n, kernel.k};
  std::ranges::sort(sizes);
  return fmt::format("{}/{}/{}/{}/{}/{}", to_string(kernel.family), to_string(kernel.type), kernel.batch, sizes[0],
                     sizes[1], sizes[2]);
}

bool is_held_out(const Kernel& kernel) {
  return hash_text(shape_key(kernel)) % 4 == 0;
}

Diagnostics check_arithmetic(const KernelTable& table, const workload::GpuSpec& gpu) {
  Diagnostics problems;
  for (const MeasuredKernel& row : table.rows) {
    if (row.kernel.flops <= Flops(0.0) || gpu.peak_of(row.kernel.type) > FlopRate(0.0)) continue;
    problems.add(
        {.code = "E163",
         .place = {.file = table.file, .line = row.line, .column = 1},
         .message = fmt::format("{} has no {} arithmetic", gpu.name, to_string(row.kernel.type)),
         .hint = fmt::format("add `peak: {{{}: ...TFLOPS}}` to the GPU {}", to_string(row.kernel.type), table.gpu)});
    break;
  }
  return problems;
}

namespace {

// Of a GPU's arithmetic or memory bandwidth, whichever a kernel uses more: 1 at the peak.
double achieved_share(const MeasuredKernel& row, const workload::GpuSpec& gpu) {
  const FlopRate peak = gpu.peak_of(row.kernel.type);
  const double by_flops = peak > FlopRate(0.0) ? row.kernel.flops.count() / peak.count() : 0.0;
  const double by_bytes = static_cast<double>(row.kernel.bytes.count()) / gpu.memory_bandwidth.count();
  return std::max(by_flops, by_bytes) / row.seconds;
}

// The unit in which times that are `factor` times too small were written.
std::string_view likely_unit(double factor) {
  if (factor > 3e4) return "seconds";
  if (factor > 30.0) return "milliseconds";
  return factor < 1.0 / 30.0 ? "nanoseconds" : "another unit";
}

}  // namespace

Diagnostics check_units(const KernelTable& table, const workload::GpuSpec& gpu) {
  // No kernel goes beyond the peak; caches serve bytes several times as fast as memory. A kernel with 20 us of work
  // at the peak is not limited by its launch: it reaches more than a two-hundredth.
  constexpr double kMost = 10.0, kLeast = 1.0 / 200.0, kTypical = 0.5, kLargeSeconds = 20e-6;
  std::vector<double> all, large;
  for (const MeasuredKernel& row : table.rows) {
    const double share = achieved_share(row, gpu);
    if (!(share > 0.0)) continue;
    all.push_back(share);
    if (share * row.seconds >= kLargeSeconds) large.push_back(share);
  }
  const bool any_large = !large.empty();
  std::vector<double>& judged = any_large ? large : all;
  if (judged.empty()) return {};
  std::ranges::nth_element(judged, judged.begin() + static_cast<std::ptrdiff_t>(judged.size() / 2));
  const double middle = judged[judged.size() / 2];
  if (middle <= kMost && (middle >= kLeast || !any_large)) return {};
  return failure("E167",
                 fmt::format("the times cannot be right: the median of {} kernels reaches {:.3g} of what {} has at "
                             "its peak",
                             judged.size(), middle, gpu.name),
                 {.file = table.file, .line = table.rows.front().line, .column = table.rows.front().time_column},
                 fmt::format("time_us is in microseconds; these seem to be {}. Else see flops and bytes",
                             likely_unit(middle / kTypical)));
}

int older_flash_attention(const MeasuredKernel& row, const workload::GpuSpec& gpu) {
  constexpr std::string_view kName = "flash";
  const std::string_view op = row.kernel.name;
  if (op.size() != kName.size() + 1 || !op.starts_with(kName)) return 0;
  const int release = op.back() - '0';
  const bool known =
      std::ranges::any_of(gpu.kernels.flash_attention, [&](const auto& other) { return other.release == release; });
  return known || (release > 0 && release < workload::newest_flash_attention(gpu)) ? release : 0;
}

double predicted_seconds(const MeasuredKernel& row, const workload::GpuSpec& gpu) {
  using enum workload::KernelConstant;
  if (auto other = workload::with_flash_attention(gpu.kernels, older_flash_attention(row, gpu))) {
    workload::GpuSpec chosen = gpu;
    chosen.kernels = std::move(*other);
    return predicted_seconds(row, chosen);
  }
  const bool moves = row.kernel.family > KernelFamily::kAttentionBackward;  // the rules of others know no cache
  if (row.cold && moves && gpu.l2 > Bytes(0)) {
    workload::GpuSpec without_cache = gpu;
    without_cache.l2 = Bytes(0);
    return predicted_seconds(row, without_cache);
  }
  const double busy = workload::kernel_seconds(row.kernel, gpu);
  if (row.mode == LaunchMode::kGraph) return busy;
  if (row.mode == LaunchMode::kKernel) return busy - gpu.kernels[kStreamGap];
  return std::max(busy, gpu.kernels[kHostLaunch] + workload::library_issue_seconds(row.kernel, gpu));
}

}  // namespace ringwright::validation
