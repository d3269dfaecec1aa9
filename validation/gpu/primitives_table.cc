#include "validation/gpu/primitives_table.h"

#include <array>

#include <fmt/format.h>

#include "core/base/random.h"
#include "core/plan/channel_costs.h"
#include "validation/tables/csv_table.h"
#include "validation/tables/table_cells.h"

namespace ringwright::validation {
namespace {

constexpr std::array<std::string_view, 11> kPrimitivesTableColumns{"graph",   "protocol",  "ranks",      "channels",
                                                                   "threads", "slots",     "slot_bytes", "bytes",
                                                                   "time_us", "ci_low_us", "ci_high_us"};
constexpr std::array<std::string_view, 9> kPrimitivesTableNeeded{"graph", "protocol",   "ranks", "channels", "threads",
                                                                 "slots", "slot_bytes", "bytes", "time_us"};
enum class Graph { kRing, kTree };
constexpr std::array kGraphs{TableWord<Graph>{"ring", Graph::kRing}, TableWord<Graph>{"tree", Graph::kTree}};
constexpr std::array kPrimitiveProtocols{TableWord<Protocol>{"LL", Protocol::kLl},
                                TableWord<Protocol>{"LL128", Protocol::kLl128},
                                TableWord<Protocol>{"Simple", Protocol::kSimple}};

int count(TableCells& cells, const CsvRow& row, std::string_view column, int least) {
  const std::int64_t value = cells.whole(row, column, least);
  if (value < least || value > 4096) {
    cells.refuse_cell(row, column, fmt::format("{} is {} and must be between {} and 4096", column, value, least));
    return least;
  }
  return static_cast<int>(value);
}

void read_primitives_row(TableCells& cells, const CsvRow& row, PrimitivesTable& table) {
  cells.check_row(row);
  MeasuredExchange measured{.line = row.line};
  const Graph graph = cells.word(row, "graph", Graph::kRing, kGraphs);
  measured.protocol = cells.word(row, "protocol", Protocol::kSimple, kPrimitiveProtocols);
  measured.ranks = count(cells, row, "ranks", 2);
  measured.channels = count(cells, row, "channels", 1);
  measured.threads = count(cells, row, "threads", 1);
  const int slots = count(cells, row, "slots", 1);
  measured.slot = Bytes(cells.whole(row, "slot_bytes", 1));
  measured.bytes = Bytes(cells.whole(row, "bytes", 1));
  measured.seconds = cells.number(row, "time_us", 1.0, 1e-3) * 1e-6;
  static_cast<void>(cells.number(row, "ci_low_us", 0.0, 0.0));
  static_cast<void>(cells.number(row, "ci_high_us", 0.0, 0.0));
  if (graph == Graph::kTree || slots != kSlots) {
    ++table.left_out;
    return;
  }
  measured.held_out = hash_text(exchange_label(measured)) % 4 == 0;
  table.rows.push_back(measured);
}

constexpr TableCells::Format kPrimitivesTableFormat{.of = "rings",
                                                    .header = kMeasuredHeader,
                                                    .columns = kPrimitivesTableColumns,
                                                    .needed = kPrimitivesTableNeeded,
                                                    .page = "docs/primitives.md"};

}  // namespace

Bytes MeasuredExchange::chunk() const {
  return Bytes(static_cast<std::int64_t>(static_cast<double>(slot.count()) / wire_bytes_per_byte(protocol)));
}

Result<PrimitivesTable> read_primitives_table(const std::string& path) {
  return read_measured<PrimitivesTable>(read_csv(path), kPrimitivesTableFormat, read_primitives_row);
}

Result<PrimitivesTable> parse_primitives_table(const std::string& name, std::string_view text) {
  return read_measured<PrimitivesTable>(parse_csv(name, text), kPrimitivesTableFormat, read_primitives_row);
}

std::string exchange_label(const MeasuredExchange& row) {
  return fmt::format("{}, {} ranks, {} channel{} of {} threads, slots of {}, {}", to_string(row.protocol), row.ranks,
                     row.channels, row.channels == 1 ? "" : "s", row.threads, to_string(row.slot),
                     to_string(row.bytes));
}

}  // namespace ringwright::validation
