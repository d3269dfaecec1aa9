#include "validation/mpi/mpi_table.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

using configs::CollectiveOperation;

constexpr std::array<std::string_view, 8> kHeader{"of",   "source", "what",   "machines",
                                                  "unit", "note",   "status", "fitted"};
constexpr std::array<std::string_view, 11> kMpiTableColumns{"system", "nodes",       "collective", "algorithm",
                                                            "mpi",    "mpi_version", "bytes",      "iterations",
                                                            "p10_ns", "median_ns",   "p90_ns"};
constexpr std::array<std::string_view, 6> kMpiTableNeeded{"system",    "nodes", "collective",
                                                          "algorithm", "bytes", "median_ns"};
constexpr TableCells::Format kMpiTableFormat{.of = "named MPI algorithms",
                                             .header = kHeader,
                                             .columns = kMpiTableColumns,
                                             .needed = kMpiTableNeeded,
                                             .page = "docs/mpi.md"};

struct Counterpart {
  CollectiveOperation operation;
  std::string_view theirs;  // without the prefix of the implementation
  std::string_view ours;
};
// Recursive halving of OpenMPI and MPICH starts with the farthest partner, recursive distance doubling with the
// nearest.
constexpr std::array kCounterparts = {
    Counterpart{CollectiveOperation::kAllReduce, "recursive_doubling", "recursive_doubling"},
    Counterpart{CollectiveOperation::kAllReduce, "RECDOUB_L_UTOFU_0_1", "recursive_doubling"},
    Counterpart{CollectiveOperation::kAllReduce, "ring", "ring"},
    Counterpart{CollectiveOperation::kAllReduce, "rabenseifner", "halving_doubling"},
    Counterpart{CollectiveOperation::kAllReduce, "bine_lat", "bine_doubling"},
    Counterpart{CollectiveOperation::kAllReduce, "bine_bdw_remap", "bine"},
    Counterpart{CollectiveOperation::kAllReduce, "bine_bdw_static", "bine"},
    Counterpart{CollectiveOperation::kAllGather, "recursive_doubling", "recursive_doubling"},
    Counterpart{CollectiveOperation::kAllGather, "ring", "ring"},
    Counterpart{CollectiveOperation::kAllGather, "neighbor", "neighbor_exchange"},
    Counterpart{CollectiveOperation::kAllGather, "bruck", "bruck"},
    Counterpart{CollectiveOperation::kAllGather, "brucks", "bruck"},
    Counterpart{CollectiveOperation::kAllGather, "bine_send_remap", "bine"},
    Counterpart{CollectiveOperation::kAllGather, "bine_permute_remap", "bine"},
    Counterpart{CollectiveOperation::kReduceScatter, "ring", "ring"},
    Counterpart{CollectiveOperation::kReduceScatter, "recursive_halving", "recursive_doubling"},
    Counterpart{CollectiveOperation::kReduceScatter, "recursive_distance_doubling", "halving_doubling"},
    Counterpart{CollectiveOperation::kReduceScatter, "bine_send_remap", "bine"},
    Counterpart{CollectiveOperation::kReduceScatter, "bine_permute_remap", "bine"},
    Counterpart{CollectiveOperation::kBroadcast, "binomial", "binomial"},
    Counterpart{CollectiveOperation::kBroadcast, "scatter_allgather", "scatter_allgather"},
    Counterpart{CollectiveOperation::kBroadcast, "scatter_allgather_ring", "scatter_ring"},
    Counterpart{CollectiveOperation::kReduce, "binomial", "binomial"},
    Counterpart{CollectiveOperation::kReduce, "rabenseifner", "scatter_allgather"},
    Counterpart{CollectiveOperation::kAllToAll, "linear", "direct"},
    Counterpart{CollectiveOperation::kAllToAll, "pairwise", "pairwise"},
    Counterpart{CollectiveOperation::kAllToAll, "modified_bruck", "bruck"},
};

// "2x4" -> {2, 4}; empty when it is no such thing.
std::vector<std::int64_t> sides_of(std::string_view text) {
  std::vector<std::int64_t> sides;
  while (!text.empty()) {
    std::int64_t side = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
    if (error != std::errc() || side < 1 || side > 1'000'000) return {};
    sides.push_back(side);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty() && (text.front() != 'x' || text.size() == 1)) return {};
    if (!text.empty()) text.remove_prefix(1);
  }
  return sides;
}

// "fugaku 2x2x2, leonardo 32".
std::set<std::string> fitted_runs(const CsvTable& csv) {
  std::set<std::string> runs;
  for (const CsvHeaderLine& line : csv.header) {
    if (line.key != "fitted") continue;
    std::string_view rest = line.value;
    while (!rest.empty()) {
      const std::size_t comma = rest.find(',');
      const std::size_t begin = std::min(rest.find_first_not_of(' '), rest.size());
      runs.emplace(rest.substr(begin, comma == std::string_view::npos ? comma : comma - begin));
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
  }
  return runs;
}

void read_mpi_row(TableCells& cells, const CsvRow& row, const std::set<std::string>& fitted, MpiTable& table) {
  cells.check_row(row);
  const auto text = [&](std::string_view column) {
    const CsvCell* const cell = cells.cell(row, column);
    return cell == nullptr ? std::string() : cell->text;
  };
  MeasuredMpi measured{.system = text("system"),
                       .nodes = text("nodes"),
                       .sides = sides_of(text("nodes")),
                       .name = text("algorithm"),
                       .line = row.line};
  measured.bytes = Bytes(cells.whole(row, "bytes", 1));
  measured.seconds = cells.number(row, "median_ns", 1.0, 1e-3) * 1e-9;
  if (measured.sides.empty()) {
    cells.refuse_cell(row, "nodes",
                      fmt::format("nodes is '{}' and must be a number or the sides of a torus", measured.nodes),
                      "512, or 8x8x8");
  }
  if (measured.bytes < Bytes(1)) cells.refuse_cell(row, "bytes", "bytes must be at least 1");
  const auto operation = configs::parse_operation(text("collective") == "BCAST" ? "broadcast" : text("collective"));
  if (operation) {
    measured.operation = *operation;
    measured.algorithm = algorithm_of_mpi(*operation, measured.name);
  }
  if (measured.algorithm.empty()) {
    ++table.left_out;
    return;
  }
  measured.fitted = fitted.contains(measured.system + " " + measured.nodes);
  table.rows.push_back(std::move(measured));
}

Result<MpiTable> read_from(const Result<CsvTable>& csv) {
  if (!csv) return tl::unexpected(csv.error());
  TableCells cells(*csv, kMpiTableFormat);
  MpiTable table{.file = csv->file, .source = cells.source(), .rows = {}};
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  const std::set<std::string> fitted = fitted_runs(*csv);
  for (const CsvRow& row : csv->rows) read_mpi_row(cells, row, fitted, table);
  if (table.rows.empty()) cells.refuse({.file = csv->file}, "there is no row of a known algorithm in this table");
  if (cells.problems().has_errors()) return tl::unexpected(std::move(cells.problems()));
  return table;
}

}  // namespace

std::int64_t MeasuredMpi::hosts() const {
  std::int64_t product = 1;
  for (const std::int64_t side : sides) product *= side;
  return product;
}

std::string_view algorithm_of_mpi(CollectiveOperation operation, std::string_view name) {
  std::string bare(name);
  std::ranges::replace(bare, '-', '_');
  if (bare.starts_with("default_")) bare.erase(0, 8);
  for (const std::string_view who : {"_ompi", "_mpich", "_over"}) {
    if (bare.ends_with(who)) bare.resize(bare.size() - who.size());
  }
  for (const Counterpart& counterpart : kCounterparts) {
    if (counterpart.operation == operation && counterpart.theirs == bare) return counterpart.ours;
  }
  return {};
}

Result<MpiTable> read_mpi_table(const std::string& path) {
  return read_from(read_csv(path));
}

Result<MpiTable> parse_mpi_table(const std::string& name, std::string_view text) {
  return read_from(parse_csv(name, text));
}

}  // namespace ringwright::validation
