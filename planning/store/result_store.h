// Results of studies in a SQLite database: each point once, for each version of the program.
//
// The journal is a write-ahead log (WAL): a point that was stored is there after the process was killed, and readers do
// not wait for the writer. Tables have no row numbers, so that the content does not depend on the order of writing:
//
//   points        a row for each scenario: fingerprint, version, status, code, reason, figures
//   parts         the step time of a point by cause, in picoseconds
//   sweep_points  which values of a sweep's keys lead to which point
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "planning/study/point.h"

struct sqlite3;

namespace ringwright::planning {

// A point of a sweep: its values as a JSON object.
struct SweepEntry {
  std::size_t index = 0;
  std::string values;
  std::string fingerprint;
};

class ResultStore {
 public:
  ResultStore(ResultStore&&) noexcept = default;
  ResultStore& operator=(ResultStore&&) noexcept = default;
  ~ResultStore() = default;

  // Creates the file, and its folder, where there is none. Fails for a file that is no database of results (E310).
  [[nodiscard]] static Result<ResultStore> open(const std::string& path);

  // As this version of the program computed it: "0.1.0-3f2a9c1db07e", with source_hash().
  [[nodiscard]] Result<std::optional<Point>> find(const std::string& fingerprint);
  // What went wrong, or nothing. A point that is there stays.
  [[nodiscard]] Diagnostics put(const Point& point);
  // Replaces the entries of the sweep of this name.
  [[nodiscard]] Diagnostics put_sweep(const std::string& sweep, const std::vector<SweepEntry>& entries);
  // Adds the points of another database, of all versions.
  [[nodiscard]] Diagnostics merge(const std::string& path);
  // A warning for each other version of which there are points (W310).
  [[nodiscard]] Diagnostics unused();
  [[nodiscard]] Result<std::size_t> size();  // points of all versions

 private:
  struct Closer {
    void operator()(sqlite3* database) const;
  };
  explicit ResultStore(std::string path);
  [[nodiscard]] Diagnostics run(const char* statements);
  [[nodiscard]] Diagnostics check_content(const char* schema);
  [[nodiscard]] Diagnostics problem() const;

  std::string path_;
  std::unique_ptr<sqlite3, Closer> database_;
};

}  // namespace ringwright::planning
