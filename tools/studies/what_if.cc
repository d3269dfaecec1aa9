// The command `what-if`: simulates the what-ifs of a scenario, each against the scenario as it stands.
#include <optional>

#include "configs/simulation/overhead_store.h"
#include "core/base/cache_folder.h"
#include "planning/what_if/what_if.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class WhatIf final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "what-if"; }
  [[nodiscard]] std::string_view summary() const override { return "simulate the what-ifs that a scenario lists"; }
  [[nodiscard]] std::string notes() const override {
    return "The scenario lists named changes, faults among them, as `what_if`. Printed are the step time with each, "
           "its\n"
           "change, tokens/s, MFU, memory, and the cause that changes most (docs/what-if.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    std::vector<OptionSpec> options = study_.options();
    options.push_back(page_option(&html_));
    return options;
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto path = find_scenario(study_.config);
    if (!path) return refuse(path.error());
    configs::OverheadStore store(cache_folder());
    const auto result =
        planning::ask_what_ifs(*path, study_.settings, {.workers = study_.workers(common), .store = &store});
    study_.clear_progress();
    if (!result) return refuse(result.error());
    print(common.json ? render_what_if_json(*result) : render_what_if_text(*result));
    return write_page(html_, render_what_if_json(*result));
  }

 private:
  StudyOptions study_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_what_if() {
  return std::make_unique<WhatIf>();
}

}  // namespace ringwright::tools
