// The command `compare`: explains the difference between two or more steps, cause by cause.
#include <optional>

#include "planning/compare/comparison.h"
#include "tools/command.h"
#include "tools/studies/compared_sides.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Compare final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "compare"; }
  [[nodiscard]] std::string_view summary() const override { return "explain the difference between steps, by cause"; }
  [[nodiscard]] std::string notes() const override {
    return "A side is a scenario, a result.json of an earlier run, the folder of one, or published:SCENARIO, the step\n"
           "that its publication measured. The changes add up exactly, to the picosecond (docs/compare.md).\n";
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
    const auto both = compare_sides(sides_, settings_);
    if (!both) return refuse(both.error());
    print(common.json ? render_comparison_json(*both) : render_comparison_text(*both, terminal_width()));
    return write_page(html_, render_comparison_json(*both));
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
