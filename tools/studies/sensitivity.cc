// The command `sensitivity`: how the step time responds to every physical parameter of a scenario.
#include <optional>

#include "configs/simulation/overhead_store.h"
#include "core/base/cache_folder.h"
#include "planning/sensitivity/sensitivity.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Sensitivity final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "sensitivity"; }
  [[nodiscard]] std::string_view summary() const override {
    return "find the parameters that the step time depends on";
  }
  [[nodiscard]] std::string notes() const override {
    return "Every bandwidth, latency, rate and efficiency of the scenario is changed alone, down and up. The "
           "elasticity is the\n"
           "relative change of the step time over that of the parameter: -0.6 means that 1 % more of it saves 0.6 % of "
           "the\n"
           "step (docs/what-if.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    std::vector<OptionSpec> options = study_.options();
    options.push_back({.names = "--by",
                       .value = "PERCENT",
                       .doc = "how far each parameter is changed, down and up; 10%",
                       .target = &share_});
    options.push_back(
        {.names = "--top", .value = "N", .doc = "number of parameters shown; 20", .target = &top_, .least = 1});
    options.push_back(page_option(&html_));
    return options;
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto share = planning::parse_share(share_);
    if (!share) {
      return refuse("--by is '" + share_ + "', and must be above 0% and below 100%, as 10%");
    }
    const auto path = find_scenario(study_.config);
    if (!path) return refuse(path.error());
    configs::OverheadStore store(cache_folder());
    const auto result = planning::sensitivity(*path, study_.settings,
                                              {.share = *share, .workers = study_.workers(common), .store = &store});
    study_.clear_progress();
    if (!result) return refuse(result.error());
    print(common.json ? render_sensitivity_json(*result) : render_sensitivity_text(*result, top_.value_or(20)));
    return write_page(html_, render_sensitivity_json(*result));
  }

 private:
  StudyOptions study_;
  std::string html_;
  std::string share_ = "10%";
  std::optional<std::uint64_t> top_;
};

}  // namespace

std::unique_ptr<Command> make_sensitivity() {
  return std::make_unique<Sensitivity>();
}

}  // namespace ringwright::tools
