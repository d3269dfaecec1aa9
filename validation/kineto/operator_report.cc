#include "validation/kineto/operator_report.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/report/text_table.h"
#include "validation/kineto/replay_cells.h"

namespace ringwright::validation {
namespace {

using namespace literals;

constexpr std::size_t kOperatorsShown = 30;
// Shorter kernels last about as long as starting and ending one takes; old profilers write whole microseconds.
constexpr Duration kShortKernel = 10_us;

double total_of(const ReplayedOperator& row, Duration ReplayedOperator::*time) {
  return to_seconds(row.*time) * static_cast<double>(row.calls);
}

struct FamilyTotal {
  std::size_t shapes = 0, calls = 0;
  double measured = 0.0, simulated = 0.0;  // seconds
};

std::string gemms_text(const OperatorReplay& replay) {
  if (replay.gemms.empty()) return "";
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"type", "batch", "m", "n", "k", "calls", "measured us", "simulated us", "error"});
  for (std::size_t i = 0; i < std::min(kReplayRowsShown, replay.gemms.size()); ++i) {
    const ReplayedOperator& row = replay.gemms[i];
    const Kernel& kernel = row.kernel;
    table.add_row({std::string(to_string(kernel.type)), fmt::format("{}", kernel.batch), fmt::format("{}", kernel.m),
                   fmt::format("{}", kernel.n), fmt::format("{}", kernel.k), fmt::format("{}", row.calls),
                   us_cell(row.measured), us_cell(row.simulated), error_cell(row.simulated, row.measured)});
  }
  const ErrorStatistics errors = error_statistics(pairs_of(replay.gemms));
  return "Matrix multiplications by shape (m x k times k x n), medians\n" + text_block(table) +
         fmt::format("  geometric mean of the absolute error: {:.1f} % of {} shapes\n",
                     100.0 * errors.geometric_mean_abs, errors.count);
}

std::string families_text(const OperatorReplay& replay) {
  std::map<KernelFamily, FamilyTotal> families;
  for (const auto* rows : {&replay.gemms, &replay.others}) {
    for (const ReplayedOperator& row : *rows) {
      FamilyTotal& total = families[row.kernel.family];
      ++total.shapes;
      total.calls += row.calls;
      total.measured += total_of(row, &ReplayedOperator::measured);
      total.simulated += total_of(row, &ReplayedOperator::simulated);
    }
  }
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"family", "shapes", "calls", "measured ms", "simulated ms", "error"});
  for (const auto& [family, total] : families) {
    table.add_row({std::string(to_string(family)), fmt::format("{}", total.shapes), fmt::format("{}", total.calls),
                   fmt::format("{:.3f}", total.measured * 1e3), fmt::format("{:.3f}", total.simulated * 1e3),
                   fmt::format("{:+.1f} %", 100.0 * (total.simulated / total.measured - 1.0))});
  }
  return "Kernels by family, median times calls\n" + text_block(table) +
         fmt::format("  compared: {:.0f} % of the time of kernels that do not communicate\n",
                     100.0 * ratio(replay.compared, std::max(replay.computing, replay.compared)));
}

std::string mean_error(std::string_view which, const std::vector<ReplayedOperator>& rows) {
  if (rows.empty()) return "";
  const ErrorStatistics errors = error_statistics(pairs_of(rows));
  return fmt::format("  {}: {:.1f} % ({} rows; mean {:+.1f} %)\n", which, 100.0 * errors.geometric_mean_abs,
                     errors.count, 100.0 * errors.mean_error);
}

std::string others_text(const OperatorReplay& replay) {
  if (replay.others.empty()) return "";
  std::vector<ReplayedOperator> rows = replay.others, brief, lasting;
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [](const ReplayedOperator& row) { return total_of(row, &ReplayedOperator::measured); });
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"operator", "bytes", "calls", "measured us", "simulated us", "error"});
  for (const ReplayedOperator& row : rows) {
    (row.measured < kShortKernel ? brief : lasting).push_back(row);
    if (brief.size() + lasting.size() > kOperatorsShown) continue;
    table.add_row({row.kernel.name, fmt::format("{}", row.kernel.bytes.count()), fmt::format("{}", row.calls),
                   us_cell(row.measured), us_cell(row.simulated), error_cell(row.simulated, row.measured)});
  }
  std::string text =
      "Other kernels by operator and size, those that take longest in all, medians\n" + text_block(table);
  if (rows.size() > kOperatorsShown) text += fmt::format("  and {} rows\n", rows.size() - kOperatorsShown);
  return text + "Geometric mean of the absolute error of other kernels\n" + mean_error("10 us and longer", lasting) +
         mean_error("shorter", brief);
}

}  // namespace

std::string operators_text(const OperatorReplay& replay) {
  if (replay.gemms.empty() && replay.others.empty()) return "";
  std::string text = gemms_text(replay);
  if (const std::string others = others_text(replay); !others.empty()) text += (text.empty() ? "" : "\n") + others;
  return text + "\n" + families_text(replay);
}

std::string gemm_rows_json(const OperatorReplay& replay) {
  std::vector<std::string> rows;
  for (const ReplayedOperator& row : replay.gemms) {
    rows.push_back(
        fmt::format("    {{\"type\": {}, \"batch\": {}, \"m\": {}, \"n\": {}, \"k\": {}, \"calls\": {}, "
                    "\"measured_us\": {:.6g}, \"simulated_us\": {:.6g}}}",
                    json_text(to_string(row.kernel.type)), row.kernel.batch, row.kernel.m, row.kernel.n, row.kernel.k,
                    row.calls, to_seconds(row.measured) * 1e6, to_seconds(row.simulated) * 1e6));
  }
  return fmt::format("{}", fmt::join(rows, ",\n"));
}

std::string operator_rows_json(const OperatorReplay& replay) {
  std::vector<std::string> rows;
  for (const ReplayedOperator& row : replay.others) {
    rows.push_back(fmt::format(
        "    {{\"operator\": {}, \"family\": {}, \"bytes\": {}, \"flops\": {:.6g}, \"calls\": {}, "
        "\"measured_us\": {:.6g}, \"simulated_us\": {:.6g}}}",
        json_text(row.kernel.name), json_text(to_string(row.kernel.family)), row.kernel.bytes.count(),
        row.kernel.flops.count(), row.calls, to_seconds(row.measured) * 1e6, to_seconds(row.simulated) * 1e6));
  }
  return fmt::format("{}", fmt::join(rows, ",\n"));
}

}  // namespace ringwright::validation
