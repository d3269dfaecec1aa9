// Simulates a shipped scenario through the installed library, and prints the step time in picoseconds.
#include <cstdio>

#include "configs/scenario/catalogue.h"
#include "configs/scenario/scenario.h"
#include "configs/simulation/simulate.h"

int main(int count, char** arguments) {
  namespace configs = ringwright::configs;
  const std::string path = configs::scenario_path(configs::load_options({}), count > 1 ? arguments[1] : "");
  const auto scenario = configs::load_scenario(path);
  if (!scenario) {
    std::fputs(ringwright::render(scenario.error()).c_str(), stderr);
    return 1;
  }
  const auto outcome = configs::simulate(*scenario, configs::FoldMode::kFold);
  if (!outcome || !outcome->report) return 1;
  std::puts(ringwright::render_json(*outcome->report).c_str());
  return 0;
}
