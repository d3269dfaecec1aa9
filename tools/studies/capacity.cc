// The command `capacity`: which machine to train on, and with how many GPUs.
#include <optional>

#include "planning/capacity/capacity.h"
#include "planning/capacity/capacity_file.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/scenario_file.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Capacity final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "capacity"; }
  [[nodiscard]] std::string_view summary() const override {
    return "compare machines for a training run: time, money, energy, GPUs";
  }
  [[nodiscard]] std::string notes() const override {
    return "A capacity file names a scenario, the tokens to train on, machines with numbers of hosts, and a budget\n"
           "(docs/capacity.md). On each machine the best layout is searched; printed are its step time, days, dollars\n"
           "and MWh for the whole run, and the machines within the budget.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "file", .value = "", .doc = "a capacity file (YAML)", .target = &file_, .required = true},
            threads_option(&threads_),
            {.names = "--csv",
             .value = "FILE",
             .doc = "write every machine and size as a table",
             .target = &csv_,
             .writes = true},
            page_option(&html_)};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto plan = planning::load_capacity(file_);
    if (!plan) return refuse(plan.error());
    const auto scenario = find_scenario(plan->scenario);
    if (!scenario) return refuse(scenario.error());
    std::optional<Progress> progress;
    const auto result = planning::find_capacity(
        *plan, *scenario,
        {.threads = static_cast<int>(threads_.value_or(0)), .progress = progress_of_parts(progress, common.quiet)});
    if (progress) progress->clear();
    if (!result) return refuse(result.error());
    print(common.json ? render_capacity_json(*plan, *result) : render_capacity_text(*plan, *result));
    if (!csv_.empty()) {
      if (const ExitCode code = write_to(csv_, render_capacity_csv(*plan, *result)); code != ExitCode::kOk) return code;
    }
    const ExitCode code = write_page(html_, render_capacity_json(*plan, *result));
    if (code != ExitCode::kOk) return code;
    return result->ranking.empty() ? ExitCode::kInfeasible : ExitCode::kOk;
  }

 private:
  std::string file_, csv_, html_;
  std::optional<std::uint64_t> threads_;
};

}  // namespace

std::unique_ptr<Command> make_capacity() {
  return std::make_unique<Capacity>();
}

}  // namespace ringwright::tools
