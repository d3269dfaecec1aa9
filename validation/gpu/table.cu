// Tables on disk.
#include "table.cuh"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>

#include "check.cuh"

namespace ringwright::gpu {
namespace {

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::stringstream stream(line);
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  if (!line.empty() && line.back() == ',') fields.emplace_back();
  return fields;
}

std::string joined(const std::vector<std::string>& fields) {
  std::string line;
  for (const std::string& field : fields) line += (line.empty() ? "" : ",") + field;
  return line;
}

[[noreturn]] void refuse(const std::string& path, const char* why) {
  std::fprintf(stderr, "error: '%s' %s; move it away\n", path.c_str(), why);
  std::exit(2);
}

// The complete lines of a file; an incomplete last line is cut off.
std::vector<std::string> whole_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; begin = end + 1, end = text.find('\n', begin)) {
    lines.push_back(text.substr(begin, end - begin));
  }
  std::error_code error;
  if (begin < text.size()) std::filesystem::resize_file(path, begin, error);
  if (error) refuse(path, "ends in half a row, which cannot be taken off");
  return lines;
}

}  // namespace

Table::Table(const std::string& path, const std::vector<std::string>& header_lines, std::vector<std::string> keys,
             const std::vector<std::string>& values)
    : keys_(std::move(keys)), columns_(keys_) {
  columns_.insert(columns_.end(), values.begin(), values.end());
  const bool goes_on = read(path, header_lines);
  file_.open(path, goes_on ? std::ios::app : std::ios::trunc);
  if (!goes_on) {
    for (const std::string& line : header_lines) file_ << "# " << line << '\n';
    file_ << joined(columns_) << '\n' << std::flush;
  }
  if (!file_) refuse(path, "cannot be written");
}

bool Table::read(const std::string& path, const std::vector<std::string>& header_lines) {
  const std::string kDevice = "device: ";
  const auto is_device = [&](const std::string& line) { return line.starts_with(kDevice); };
  const auto ours = std::find_if(header_lines.begin(), header_lines.end(), is_device);
  bool seen_columns = false;
  for (const std::string& line : whole_lines(path)) {
    if (line.starts_with("# " + kDevice) && ours != header_lines.end() && line != "# " + *ours) {
      refuse(path, "was measured on another device");
    }
    if (line.empty() || line[0] == '#') continue;
    if (!seen_columns) {
      if (line != joined(columns_)) refuse(path, "holds another table");
      seen_columns = true;
      continue;
    }
    const std::vector<std::string> fields = split(line);
    if (fields.size() != columns_.size()) refuse(path, "has a row with too few or too many columns");
    Row row;
    for (std::size_t i = 0; i < columns_.size(); ++i) row[columns_[i]] = fields[i];
    known_.insert(key_of(row));
  }
  return seen_columns;
}

std::string Table::key_of(const Row& row) const {
  std::string key;
  for (const std::string& name : keys_) {
    const auto found = row.find(name);
    key += (found == row.end() ? "" : found->second) + ",";
  }
  return key;
}

void Table::add(const Row& row) {
  std::vector<std::string> fields;
  for (const std::string& column : columns_) {
    const auto found = row.find(column);
    fields.push_back(found == row.end() ? "" : found->second);
  }
  std::string line;
  for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + fields[i];
  file_ << line << '\n' << std::flush;
  if (!file_) fail("a row cannot be written: is the disk full?");
  known_.insert(key_of(row));
}

std::string text(double number) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.6g", number);
  return digits;
}

std::string text(long long number) {
  return std::to_string(number);
}

void add_timing(Row& row, const Timing& timing) {
  row["time_us"] = text(timing.median_us);
  row["ci_low_us"] = text(timing.ci_low_us);
  row["ci_high_us"] = text(timing.ci_high_us);
}

}  // namespace ringwright::gpu
