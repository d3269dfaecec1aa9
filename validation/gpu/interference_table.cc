#include "validation/gpu/interference_table.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "core/base/random.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 13> kInterferenceTableColumns{"family",
                                                                     "dtype",
                                                                     "m",
                                                                     "n",
                                                                     "k",
                                                                     "flops",
                                                                     "bytes",
                                                                     "blocks",
                                                                     "sms",
                                                                     "compute_alone_us",
                                                                     "compute_together_us",
                                                                     "blocks_alone_GB_per_s",
                                                                     "blocks_together_GB_per_s"};
constexpr std::array<std::string_view, 10> kInterferenceTableNeeded{"family",
                                                                    "dtype",
                                                                    "flops",
                                                                    "bytes",
                                                                    "blocks",
                                                                    "sms",
                                                                    "compute_alone_us",
                                                                    "compute_together_us",
                                                                    "blocks_alone_GB_per_s",
                                                                    "blocks_together_GB_per_s"};
constexpr std::array kCopyBlocks{TableWord<bool>{"copy", false}, TableWord<bool>{"reduce", true}};
constexpr std::array kKernelFamilies{TableWord<KernelFamily>{"gemm", KernelFamily::kGemm},
                               TableWord<KernelFamily>{"copy", KernelFamily::kCopy}};
constexpr std::array kTypes{TableWord<DataType>{"bf16", DataType::kBf16}, TableWord<DataType>{"fp16", DataType::kFp16},
                            TableWord<DataType>{"fp32", DataType::kFp32}};

// One pair in four, by its kernel and its copy blocks.
bool pair_is_held_out(const MeasuredPair& pair) {
  return hash_text(pair_label(pair)) % 4 == 0;
}

void read_interference_row(TableCells& cells, const CsvRow& row, InterferenceTable& table) {
  cells.check_row(row);
  MeasuredPair pair{.line = row.line};
  Kernel& kernel = pair.kernel;
  kernel.family = cells.word(row, "family", KernelFamily::kGemm, kKernelFamilies);
  kernel.type = cells.word(row, "dtype", DataType::kBf16, kTypes);
  kernel.m = cells.whole(row, "m", 0);
  kernel.n = cells.whole(row, "n", 0);
  kernel.k = cells.whole(row, "k", 0);
  kernel.flops = Flops(cells.number(row, "flops", 0.0, 0.0));
  kernel.bytes = Bytes(std::llround(std::min(cells.number(row, "bytes", 0.0, 0.0), 1e18)));
  const CsvCell* const family = cells.cell(row, "family");
  const bool product = family != nullptr && family->text == "gemm";
  if (product && (kernel.m < 1 || kernel.n < 1 || kernel.k < 1)) {
    cells.refuse_cell(row, "family", "a kernel of family gemm needs m, n and k");
  }
  pair.adds = cells.word(row, "blocks", false, kCopyBlocks);
  pair.sms = cells.whole(row, "sms", 1);
  if (pair.sms < 1) cells.refuse_cell(row, "sms", "copy blocks hold at least one multiprocessor");
  constexpr double kLeast = 1e-3;
  pair.alone_seconds = cells.number(row, "compute_alone_us", 1.0, kLeast) * 1e-6;
  pair.together_seconds = cells.number(row, "compute_together_us", 1.0, kLeast) * 1e-6;
  pair.blocks_alone = Bandwidth(cells.number(row, "blocks_alone_GB_per_s", 1.0, kLeast) * 1e9);
  pair.blocks_together = Bandwidth(cells.number(row, "blocks_together_GB_per_s", 1.0, kLeast) * 1e9);
  pair.held_out = pair_is_held_out(pair);
  table.rows.push_back(std::move(pair));
}

constexpr TableCells::Format kInterferenceTableFormat{.of = "interference",
                                                      .header = kMeasuredHeader,
                                                      .columns = kInterferenceTableColumns,
                                                      .needed = kInterferenceTableNeeded,
                                                      .page = "docs/interference.md"};

}  // namespace

Result<InterferenceTable> read_interference_table(const std::string& path) {
  return read_measured<InterferenceTable>(read_csv(path), kInterferenceTableFormat, read_interference_row);
}

Result<InterferenceTable> parse_interference_table(const std::string& name, std::string_view text) {
  return read_measured<InterferenceTable>(parse_csv(name, text), kInterferenceTableFormat, read_interference_row);
}

std::string pair_label(const MeasuredPair& pair) {
  const Kernel& kernel = pair.kernel;
  const std::string what = kernel.m > 0
                               ? fmt::format("{} {} x {} x {}", to_string(kernel.type), kernel.m, kernel.n, kernel.k)
                               : to_string(kernel.bytes);
  return fmt::format("{} {} next to {} on {} SM{}", to_string(kernel.family), what, pair.adds ? "reduce" : "copy",
                     pair.sms, pair.sms == 1 ? "" : "s");
}

}  // namespace ringwright::validation
