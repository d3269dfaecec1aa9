// What the readers of an ASTRA-sim job's parts share: its settings, and a list of what is wrong.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "core/base/diagnostic.h"
#include "network_models/topologies/dimensions/astra_topology.h"
#include "traces/astra/memory_file.h"
#include "traces/astra/system_file.h"

namespace ringwright::configs {

struct AstraSettings {
  traces::AstraSystem system;
  std::string system_file;
  traces::AstraMemory memory;
  network_models::AstraTopology topology;

  [[nodiscard]] std::uint32_t ranks() const { return topology.ranks(); }
};

// At most as many errors as anyone reads.
class AstraProblems {
 public:
  void error(std::string code, std::string file, std::string message, std::string hint = {}) {
    if (found_.error_count() >= kMost) return;
    found_.add({.code = std::move(code),
                .place = {.file = std::move(file)},
                .message = std::move(message),
                .hint = std::move(hint)});
  }
  void warn(std::string code, std::string file, std::string message) {
    if (found_.all().size() >= 2 * kMost) return;
    found_.add({.severity = Severity::kWarning,
                .code = std::move(code),
                .place = {.file = std::move(file)},
                .message = std::move(message)});
  }
  void take(const Diagnostics& others) {
    for (const Diagnostic& other : others.all()) found_.add(other);
  }
  [[nodiscard]] bool has_errors() const { return found_.has_errors(); }
  [[nodiscard]] const Diagnostics& found() const { return found_; }

 private:
  static constexpr std::size_t kMost = 100;
  Diagnostics found_;
};

}  // namespace ringwright::configs
