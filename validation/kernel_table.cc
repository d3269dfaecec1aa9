#include "validation/kernel_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/base/text.h"
#include "validation/csv_table.h"
#include "workload/kernels/kernel_rules.h"

namespace ringwright::validation {
namespace {

constexpr std::array kColumns{"family", "op",    "dtype", "layout", "m",       "n",         "k",         "batch",
                              "mask",   "flops", "bytes", "mode",   "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array kHeader{"gpu",  "source",    "evidence", "device", "clocks", "power",   "driver",
                             "cuda", "libraries", "date",     "method", "note",   "address", "licence"};

template <class Names>
std::string nearest_of(std::string_view word, const Names& names) {
  const std::vector<std::string> candidates(names.begin(), names.end());
  const std::string near = nearest_name(word, candidates);
  return near.empty() ? "names: " + join(candidates, ", ") : "did you mean '" + near + "'?";
}

// One value of an enum by its name in a table.
template <class Value>
struct Word {
  std::string_view name;
  Value value;
};
constexpr std::array kModes{Word<LaunchMode>{"eager", LaunchMode::kEager},
                            Word<LaunchMode>{"graph", LaunchMode::kGraph},
                            Word<LaunchMode>{"kernel", LaunchMode::kKernel}};
constexpr std::array kLayouts{Word<ProductRole>{"TN", ProductRole::kForward},
                              Word<ProductRole>{"NN", ProductRole::kDgrad},
                              Word<ProductRole>{"NT", ProductRole::kWgrad}};
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

class TableReader {
 public:
  explicit TableReader(const CsvTable& csv) : csv_(csv) { table_.file = csv.file; }

  Result<KernelTable> read() {
    read_header();
    check_columns();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    for (const CsvRow& row : csv_.rows) read_row(row);
    if (csv_.rows.empty()) refuse({.file = csv_.file}, "there is no row in this table", "", "");
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    return std::move(table_);
  }

 private:
  void refuse(Place place, std::string message, std::string excerpt, std::string hint) {
    problems_.add({.code = "E163",
                   .place = std::move(place),
                   .message = std::move(message),
                   .excerpt = std::move(excerpt),
                   .hint = std::move(hint)});
  }

  void read_header() {
    for (const CsvHeaderLine& line : csv_.header) {
      if (std::ranges::find(kHeader, line.key) == kHeader.end()) {
        refuse({.file = csv_.file}, fmt::format("the head of this table has an unknown key '{}'", line.key), "",
               nearest_of(line.key, kHeader));
      }
      if (line.key == "gpu") table_.gpu = line.value;
      if (line.key == "source") table_.source = line.value;
    }
    if (table_.gpu.empty())
      refuse({.file = csv_.file}, "the table does not name its GPU", "", "add `# gpu: h100-sxm5-80gb`");
    if (table_.source.empty()) {
      refuse({.file = csv_.file}, "the table does not say where its times come from", "", "add `# source: who, where`");
    }
  }

  void check_columns() {
    for (const std::string& column : csv_.columns) {
      if (std::ranges::find(kColumns, column) != kColumns.end()) continue;
      refuse({.file = csv_.file}, fmt::format("column '{}' means nothing in a table of kernels", column), "",
             nearest_of(column, kColumns));
    }
    for (const char* needed : {"family", "dtype", "flops", "bytes", "time_us"}) {
      if (csv_.find_column(needed)) continue;
      refuse({.file = csv_.file}, fmt::format("there is no column '{}'", needed), "", "see docs/kernel-tables.md");
    }
  }

  // The cell of a column; null when the table has no such column or the cell is empty.
  [[nodiscard]] const CsvCell* cell(const CsvRow& row, std::string_view column) const {
    const auto index = csv_.find_column(column);
    if (!index || row.cells[*index].text.empty()) return nullptr;
    return &row.cells[*index];
  }
  void refuse_cell(const CsvRow& row, std::string_view column, std::string message, std::string hint) {
    const auto index = csv_.find_column(column);
    refuse({.file = csv_.file, .line = row.line, .column = index ? row.cells[*index].column : 1}, std::move(message),
           row.raw, std::move(hint));
  }

  double number(const CsvRow& row, std::string_view column, double fallback, double least) {
    const CsvCell* const found = cell(row, column);
    if (found == nullptr) return fallback;
    double value = 0.0;
    const char* const end = found->text.data() + found->text.size();
    const auto [rest, error] = std::from_chars(found->text.data(), end, value);
    if (error == std::errc() && rest == end && std::isfinite(value) && value >= least && value <= 1e30) return value;
    refuse_cell(row, column, fmt::format("{} is '{}' and must be a number from {} on", column, found->text, least), "");
    return fallback;
  }
  std::int64_t whole(const CsvRow& row, std::string_view column, std::int64_t fallback) {
    const double value = number(row, column, static_cast<double>(fallback), 0.0);
    if (value <= 1e12 && std::floor(value) >= value) return static_cast<std::int64_t>(value);
    refuse_cell(row, column, fmt::format("{} is {} and must be a whole number", column, value), "");
    return fallback;
  }

  template <class Value, class Words>
  Value word(const CsvRow& row, std::string_view column, Value fallback, const Words& words) {
    const CsvCell* const found = cell(row, column);
    if (found == nullptr) return fallback;
    std::vector<std::string> names;
    for (const Word<Value>& candidate : words) {
      if (candidate.name == found->text) return candidate.value;
      names.emplace_back(candidate.name);
    }
    refuse_cell(row, column, fmt::format("{} '{}' is unknown", column, found->text), nearest_of(found->text, names));
    return fallback;
  }

  void read_row(const CsvRow& row) {
    for (const char* needed : {"family", "dtype", "flops", "bytes", "time_us"}) {
      if (cell(row, needed) == nullptr) refuse_cell(row, needed, fmt::format("{} is missing", needed), "");
    }
    MeasuredKernel measured{.line = row.line};
    Kernel& kernel = measured.kernel;
    kernel.family = word(row, "family", KernelFamily::kCopy, printed_words(KernelFamily::kCopy));
    if (const CsvCell* const op = cell(row, "op")) kernel.name = op->text;
    kernel.type = word(row, "dtype", DataType::kBf16, printed_words(DataType::kFp4));
    kernel.role = word(row, "layout", ProductRole::kForward, kLayouts);
    kernel.mask = word(row, "mask", AttentionMask::kNone, kMasks);
    kernel.m = whole(row, "m", 0);
    kernel.n = whole(row, "n", 0);
    kernel.k = whole(row, "k", 0);
    kernel.batch = std::max<std::int64_t>(whole(row, "batch", 1), 1);
    kernel.flops = Flops(number(row, "flops", 0.0, 0.0));
    kernel.bytes = Bytes(std::llround(std::min(number(row, "bytes", 0.0, 0.0), 1e18)));
    measured.mode = word(row, "mode", LaunchMode::kEager, kModes);
    measured.seconds = number(row, "time_us", 1.0, 1e-3) * 1e-6;
    const bool has_sizes = kernel.m > 0 && kernel.n > 0 && kernel.k > 0;
    if (kernel.family <= KernelFamily::kAttentionBackward && !has_sizes) {
      refuse_cell(row, "family", fmt::format("a kernel of family {} needs m, n and k", to_string(kernel.family)), "");
    }
    static_cast<void>(number(row, "ci_low_us", 0.0, 0.0));
    static_cast<void>(number(row, "ci_high_us", 0.0, 0.0));
    measured.kept_aside = is_kept_aside(kernel);
    table_.rows.push_back(std::move(measured));
  }

  const CsvTable& csv_;
  KernelTable table_;
  Diagnostics problems_;
};

Result<KernelTable> read_csv_table(const Result<CsvTable>& csv) {
  if (!csv) return tl::unexpected(csv.error());
  return TableReader(*csv).read();
}

}  // namespace

Result<KernelTable> read_kernel_table(const std::string& path) {
  return read_csv_table(read_csv(path));
}

Result<KernelTable> parse_kernel_table(const std::string& name, std::string_view text) {
  return read_csv_table(parse_csv(name, text));
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

bool is_kept_aside(const Kernel& kernel) {
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

double predicted_seconds(const MeasuredKernel& row, const workload::GpuSpec& gpu) {
  using enum workload::KernelConstant;
  const double busy = workload::kernel_seconds(row.kernel, gpu);
  if (row.mode == LaunchMode::kGraph) return busy;
  if (row.mode == LaunchMode::kKernel) return busy - gpu.kernels[kStreamGap];
  return std::max(busy, gpu.kernels[kHostLaunch] + workload::library_issue_seconds(row.kernel, gpu));
}

}  // namespace ringwright::validation
