// A table of measurements as CSV, written row by row: rows survive an interrupted run, and the next run does not
// measure them again.
#pragma once

#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "timing.cuh"

namespace ringwright::gpu {

using Row = std::map<std::string, std::string>;  // by column

class Table {
 public:
  // The columns `keys` describe the measurement, `values` hold its results. An existing file is continued when its
  // columns and its device are the same; its rows are then known, and a row that a killed run left half written is
  // cut off. Ends the program when it is another table, or another device's.
  Table(const std::string& path, const std::vector<std::string>& header_lines, std::vector<std::string> keys,
        const std::vector<std::string>& values);

  [[nodiscard]] bool has(const Row& row) const { return known_.contains(key_of(row)); }
  void add(const Row& row);

 private:
  [[nodiscard]] std::string key_of(const Row& row) const;
  // Whether it holds a table that can be continued; if not, it holds nothing.
  bool read(const std::string& path, const std::vector<std::string>& header_lines);

  std::vector<std::string> keys_;
  std::vector<std::string> columns_;
  std::set<std::string> known_;
  std::ofstream file_;
};

[[nodiscard]] std::string text(double number);
[[nodiscard]] std::string text(long long number);
// Adds time_us, ci_low_us, ci_high_us.
void add_timing(Row& row, const Timing& timing);

}  // namespace ringwright::gpu
