// The command `probe`: how soon probing finds links that are down or lose packets, on the fabric of a scenario.
#include <string>

#include "configs/simulation/probe_study.h"
#include "tools/command.h"
#include "tools/scenario_arguments.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Probe final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "probe"; }
  [[nodiscard]] std::string_view summary() const override {
    return "localise failed and lossy links by probing (NetBouncer)";
  }
  [[nodiscard]] std::string notes() const override {
    return "The faults are those of `faults`, or each link in turn; `probing` has the settings (docs/faults.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return arguments_.options();
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto scenario = arguments_.load();
    if (!scenario) return refuse(scenario.error());
    const auto study = configs::study_probes(*scenario, scenario->probing);
    if (!study) return refuse(study.error());
    print(common.json ? render_json(*study, scenario->probing) : render_text(*study, scenario->probing));
    return ExitCode::kOk;
  }

 private:
  ScenarioArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> make_probe() {
  return std::make_unique<Probe>();
}

}  // namespace ringwright::tools
