#include "tools/studies/study_options.h"

#include "tools/scenario_arguments.h"

namespace ringwright::tools {

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
