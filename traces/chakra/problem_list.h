// The problems of one trace file, in a list of bounded length.
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "core/base/diagnostic.h"

namespace ringwright::traces {

class ProblemList {
 public:
  explicit ProblemList(std::string file) : file_(std::move(file)) {}

  void error(std::string code, std::string message, std::string hint = {});
  void warning(std::string code, std::string message, std::string hint = {});
  // As many as anyone reads: a reader may stop.
  [[nodiscard]] bool is_full() const { return found_.error_count() >= kMost; }
  [[nodiscard]] bool has_errors() const { return found_.has_errors(); }
  [[nodiscard]] Diagnostics take() && { return std::move(found_); }

 private:
  static constexpr std::size_t kMost = 100;

  std::string file_;
  Diagnostics found_;
};

}  // namespace ringwright::traces
