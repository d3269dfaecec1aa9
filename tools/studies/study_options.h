// The options of commands that simulate many variants of one scenario.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/study/workers.h"
#include "tools/command.h"
#include "tools/progress.h"

namespace ringwright::tools {

struct StudyOptions {
  std::string config;
  std::vector<std::string> settings;
  std::optional<std::uint64_t> threads;
  std::optional<Progress> progress;

  [[nodiscard]] std::vector<OptionSpec> options();
  // Shows progress on standard error unless the user wants silence; this object outlives them.
  [[nodiscard]] planning::Workers workers(const CommonOptions& common);
  void clear_progress();
};

}  // namespace ringwright::tools
