// Small CSV tables under tests/: comment lines with their source, a header, then rows.
#pragma once

#include "tests/paths.h"
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace ringwright::workload {

using TableRow = std::map<std::string, std::string>;  // by column

inline std::vector<std::string> split_fields(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> fields;
  for (std::string field; std::getline(stream, field, ',');) fields.push_back(field);
  return fields;
}

inline std::vector<TableRow> read_table(const std::string& name) {
  std::ifstream file(ringwright::test_data() + "/workload/data/" + name);
  std::vector<TableRow> rows;
  std::vector<std::string> header;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("#")) continue;
    const std::vector<std::string> fields = split_fields(line);
    if (header.empty()) {
      header = fields;
      continue;
    }
    TableRow row;
    for (std::size_t i = 0; i < fields.size(); ++i) row[header.at(i)] = fields[i];
    rows.push_back(row);
  }
  return rows;
}

inline double number(const TableRow& row, const std::string& column) {
  return std::stod(row.at(column));
}
inline std::int64_t whole(const TableRow& row, const std::string& column) {
  return std::stoll(row.at(column));
}

}  // namespace ringwright::workload
