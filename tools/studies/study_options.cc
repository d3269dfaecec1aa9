#include "tools/studies/study_options.h"

#include "tools/scenario_arguments.h"

namespace ringwright::tools {

OptionSpec threads_option(std::optional<std::uint64_t>* threads) {
  // Each holds a scenario of its own; more threads than cores only share them.
  constexpr std::uint64_t kMost = 256;
  return {
      .names = "-j", .value = "N", .doc = "threads; default: all cores", .target = threads, .least = 1, .most = kMost};
}

std::vector<OptionSpec> StudyOptions::options() {
  std::vector<OptionSpec> options = scenario_options(&config, &settings);
  options.push_back(threads_option(&threads));
  return options;
}

planning::Workers StudyOptions::workers(const CommonOptions& common) {
  return {.threads = static_cast<int>(threads.value_or(0)),
          .progress = progress_of_parts(progress, common.quiet, "simulations")};
}

void StudyOptions::clear_progress() {
  if (progress) progress->clear();
}

}  // namespace ringwright::tools
