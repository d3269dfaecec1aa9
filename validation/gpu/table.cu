// Tables on disk.
#include "table.cuh"

#include <cstdio>
#include <cstdlib>
#include <sstream>

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

}  // namespace

Table::Table(const std::string& path, const std::vector<std::string>& header_lines, std::vector<std::string> keys,
             const std::vector<std::string>& values)
    : keys_(std::move(keys)), columns_(keys_) {
  columns_.insert(columns_.end(), values.begin(), values.end());
  const bool exists = std::ifstream(path).good();
  if (exists) read(path);
  file_.open(path, std::ios::app);
  if (!file_) {
    std::fprintf(stderr, "error: cannot write '%s'\n", path.c_str());
    std::exit(2);
  }
  if (exists) return;
  for (const std::string& line : header_lines) file_ << "# " << line << '\n';
  file_ << joined(columns_) << '\n' << std::flush;
}

void Table::read(const std::string& path) {
  std::ifstream file(path);
  bool seen_columns = false;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (!seen_columns) {
      if (line != joined(columns_)) {
        std::fprintf(stderr, "error: '%s' holds another table; move it away\n", path.c_str());
        std::exit(2);
      }
      seen_columns = true;
      continue;
    }
    const std::vector<std::string> fields = split(line);
    Row row;
    for (std::size_t i = 0; i < columns_.size() && i < fields.size(); ++i) row[columns_[i]] = fields[i];
    known_.insert(key_of(row));
  }
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
  known_.insert(key_of(row));
}

std::string text(double number) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.6g", number);
  return digits;
}

std::string text(long long number) { return std::to_string(number); }

void add_timing(Row& row, const Timing& timing) {
  row["time_us"] = text(timing.median_us);
  row["ci_low_us"] = text(timing.ci_low_us);
  row["ci_high_us"] = text(timing.ci_high_us);
}

}  // namespace ringwright::gpu
