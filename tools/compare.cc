// The command `compare`: explains the difference between two or more steps, cause by cause.
#include <optional>

#include "planning/compare/comparison.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Compare final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "compare"; }
  [[nodiscard]] std::string_view summary() const override { return "explain the difference between steps, by cause"; }
  [[nodiscard]] std::string notes() const override {
    return "A side is a scenario, a result.json of an earlier run, or the folder of one. The changes add up exactly,\n"
           "to the picosecond (docs/compare.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "sides",
             .value = "",
             .doc = "scenarios or results; all are compared with the first",
             .target = &sides_,
             .required = true},
            {.names = "--set",
             .value = "KEY=VALUE",
             .doc = "a value of the second scenario, which is the first one again if it is not named; may be repeated",
             .target = &settings_},
            page_option(&html_)};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    if (sides_.size() == 1 && !settings_.empty()) sides_.push_back(sides_.front());
    if (sides_.size() < 2) return refuse("name two scenarios or results, or change one: --set parallel.tp=4");
    std::vector<planning::ComparedStep> steps;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const std::string earlier = planning::result_file(sides_[i]);
      if (i == 1 && !settings_.empty() && !earlier.empty()) {
        return refuse("--set changes a scenario, and '" + sides_[i] + "' is a result");
      }
      const auto path = earlier.empty() ? find_scenario(sides_[i]) : Result<std::string>(earlier);
      if (!path) return refuse(path.error());
      auto step = planning::load_compared(*path, i == 1 ? settings_ : std::vector<std::string>());
      if (!step) return refuse(step.error());
      step->source = sides_[i];
      for (const std::string& setting : i == 1 ? settings_ : std::vector<std::string>()) {
        step->source += " --set " + setting;
      }
      steps.push_back(std::move(*step));
    }
    const planning::SideBySide both = planning::compare(std::move(steps));
    print(common.json ? render_comparison_json(both) : render_comparison_text(both, terminal_width()));
    return write_page(html_, render_comparison_json(both));
  }

 private:
  std::vector<std::string> sides_, settings_;
  std::string html_;
};

}  // namespace

std::unique_ptr<Command> make_compare() {
  return std::make_unique<Compare>();
}

}  // namespace ringwright::tools
