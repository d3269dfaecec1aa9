// The output of `nvidia-smi topo -m`: a matrix of the connections between GPUs and NICs.
//
//     X self, NV# that many bonded lanes, PIX one PCIe bridge, PXB several, PHB the socket's root, NODE within a NUMA
//     node, SYS over the link between sockets
#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "core/config/text_lines.h"
#include "network_models/imports/node_import.h"

namespace ringwright::network_models {
namespace {

constexpr int kMostLanes = 18;  // of one GPU; more, counted over its peers, means a switch between them

// Words between tabs or blanks, without the escapes that underline the header.
std::vector<std::string> words(const std::string& line) {
  std::string plain;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\x1b') {
      while (i < line.size() && line[i] != 'm') ++i;
      continue;
    }
    plain += line[i];
  }
  std::istringstream stream(plain);
  std::vector<std::string> result;
  for (std::string word; stream >> word;) result.push_back(word);
  return result;
}

bool is_gpu(std::string_view name) {
  return name.size() > 3 && name.starts_with("GPU") && name[3] >= '0' && name[3] <= '9';
}

bool is_nic(std::string_view name) {
  for (const std::string_view prefix : {"NIC", "mlx", "bnxt", "rdma", "irdma", "hfi", "efa", "rocep", "ibp"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

enum class Nearness : std::uint8_t { kSelf, kSwitch, kSocket, kFar, kLanes };

struct Cell {
  Nearness nearness = Nearness::kFar;
  int lanes = 0;
};

std::optional<Cell> parse_cell(std::string_view text) {
  if (text == "X") return Cell{Nearness::kSelf, 0};
  if (text == "PIX" || text == "PXB") return Cell{Nearness::kSwitch, 0};
  if (text == "PHB" || text == "NODE") return Cell{Nearness::kSocket, 0};
  if (text == "SYS") return Cell{Nearness::kFar, 0};
  if (!text.starts_with("NV")) return std::nullopt;
  int lanes = 0;
  const auto [end, error] = std::from_chars(text.data() + 2, text.data() + text.size(), lanes);
  if (error != std::errc() || end != text.data() + text.size() || lanes < 1 || lanes > kMostLanes) return std::nullopt;
  return Cell{Nearness::kLanes, lanes};
}

// Disjoint sets of devices that belong together.
class Sets {
 public:
  explicit Sets(std::size_t size) : parent_(size) { std::iota(parent_.begin(), parent_.end(), std::size_t{0}); }
  std::size_t find(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  void join(std::size_t a, std::size_t b) {
    a = find(a);
    b = find(b);
    parent_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parent_;
};

class MatrixReader {
 public:
  MatrixReader(const std::string& text, std::string name) : lines_(split_lines(text)), name_(std::move(name)) {}

  Result<ImportedNode> read() {
    if (!read_header()) return tl::unexpected(std::move(problems_));
    for (std::size_t i = header_ + 1; i < lines_.size() && rows_.size() < names_.size(); ++i) {
      const std::vector<std::string> row = words(lines_[i]);
      if (!row.empty()) read_row(row, static_cast<int>(i) + 1);
    }
    for (const std::string& name : names_) {
      if (!rows_.contains(name)) fail(0, fmt::format("the matrix has a column '{}' but no row of this name", name));
    }
    if (!problems_.has_errors()) check_symmetry();
    if (problems_.has_errors()) return tl::unexpected(std::move(problems_));
    place_devices();
    node_.states_links = true;
    find_nvlink();
    return std::move(node_);
  }

 private:
  void fail(int line, std::string message) {
    Diagnostic problem{.code = "E127", .place = {.file = name_, .line = line}, .message = std::move(message)};
    if (line > 0) problem.excerpt = lines_[static_cast<std::size_t>(line - 1)];
    if (line > 0) problem.place.column = 1;
    problems_.add(std::move(problem));
  }

  bool read_header() {
    for (header_ = 0; header_ < lines_.size(); ++header_) {
      const std::vector<std::string> columns = words(lines_[header_]);
      if (columns.size() < 1 || !is_gpu(columns[0])) continue;
      if (columns.size() > 1 && columns[1] == "X") continue;  // a row
      for (const std::string& column : columns) {
        if (!is_gpu(column) && !is_nic(column)) break;
        names_.push_back(column);
        gpus_ += is_gpu(column) ? std::size_t{1} : std::size_t{0};
      }
      return true;
    }
    fail(0, "no line names the columns GPU0, GPU1, ...");
    return false;
  }

  void read_row(const std::vector<std::string>& row, int line) {
    if (std::find(names_.begin(), names_.end(), row[0]) == names_.end()) return;  // the legend, or text between
    if (rows_.contains(row[0])) return fail(line, fmt::format("'{}' has two rows", row[0]));
    std::vector<Cell> cells;
    for (std::size_t i = 1; i <= names_.size(); ++i) {
      if (i >= row.size())
        return fail(line, fmt::format("'{}' has {} entries and the header {}", row[0], row.size() - 1, names_.size()));
      const std::optional<Cell> cell = parse_cell(row[i]);
      if (!cell) return fail(line, fmt::format("'{}' is not one of X, NV1 to NV18, PIX, PXB, PHB, NODE, SYS", row[i]));
      cells.push_back(*cell);
    }
    rows_[row[0]] = std::move(cells);
    line_of_[row[0]] = line;
  }

  [[nodiscard]] const Cell& cell(std::size_t a, std::size_t b) const { return rows_.at(names_[a])[b]; }

  void check_symmetry() {
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = 0; b <= a; ++b) {
        const Cell& one = cell(a, b);
        const Cell& other = cell(b, a);
        const bool identical = one.nearness == other.nearness && one.lanes == other.lanes;
        if (identical && (one.nearness == Nearness::kSelf) == (a == b)) continue;
        fail(line_of_[names_[a]],
             fmt::format("'{}' and '{}' disagree on their connection", names_[a], names_[b]));
        return;
      }
    }
  }

  void place_devices() {
    Sets switches(names_.size());
    Sets sockets(names_.size());
    for (std::size_t a = 0; a < names_.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const Nearness nearness = cell(a, b).nearness;
        if (nearness == Nearness::kSwitch) switches.join(a, b);
        if (nearness == Nearness::kSwitch || nearness == Nearness::kSocket) sockets.join(a, b);
      }
    }
    // By socket: its switches, numbered in order of appearance.
    std::map<std::size_t, std::map<std::size_t, int>> found;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      auto& inside = found[sockets.find(i)];
      if (inside.empty()) order.push_back(sockets.find(i));
      inside.try_emplace(switches.find(i), static_cast<int>(inside.size()));
    }
    std::size_t most = 0;
    for (const auto& [socket, inside] : found) most = std::max(most, inside.size());
    node_.sockets = static_cast<int>(found.size());
    node_.switches = node_.sockets * static_cast<int>(most);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t socket = sockets.find(i);
      const auto number = static_cast<int>(std::find(order.begin(), order.end(), socket) - order.begin());
      const int point = number * static_cast<int>(most) + found[socket][switches.find(i)];
      if (is_gpu(names_[i])) {
        node_.gpus.push_back({.point = point});
      } else {
        node_.nics.push_back({.point = point, .name = names_[i]});
      }
    }
  }

  // More lanes than a GPU has, counted over its peers, all end in one switch.
  void find_nvlink() {
    int least = kMostLanes;
    int sum = 0;
    for (std::size_t a = 0; a < gpus_; ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        const int lanes = cell(a, b).lanes;
        least = std::min(least, lanes);
        if (lanes > 0) node_.mesh.push_back({.a = static_cast<int>(b), .b = static_cast<int>(a), .lanes = lanes});
      }
    }
    for (std::size_t b = 1; b < gpus_; ++b) sum += cell(0, b).lanes;
    if (least == 0 || sum <= kMostLanes) return;
    node_.switch_lanes = least;
    node_.mesh.clear();
  }

  std::vector<std::string> lines_;
  std::string name_;
  std::size_t header_ = 0;
  std::vector<std::string> names_;  // of columns: GPUs, then NICs
  std::size_t gpus_ = 0;
  std::map<std::string, std::vector<Cell>> rows_;
  std::map<std::string, int> line_of_;
  ImportedNode node_;
  Diagnostics problems_;
};

}  // namespace

Result<ImportedNode> parse_smi_topology(const std::string& text, const std::string& name) {
  return MatrixReader(text, name).read();
}

Result<ImportedText> import_smi_topology(const InputFile& file) {
  auto node = parse_smi_topology(file.text, file.path);
  if (!node) return tl::unexpected(node.error());
  return node_text(*node, file.path);
}

}  // namespace ringwright::network_models
