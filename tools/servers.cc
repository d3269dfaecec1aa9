// The command `servers`: a layer table with parameter servers, synchronous, stale-synchronous and asynchronous.
#include <string>

#include "planning/servers/servers.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Servers final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "servers"; }
  [[nodiscard]] std::string_view summary() const override {
    return "simulate parameter servers: synchronous, stale-synchronous, asynchronous";
  }
  [[nodiscard]] std::string notes() const override {
    return "The scenario trains a layer table with `parameter_server` (docs/parameter-servers.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override { return study_.options(); }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto path = find_scenario(study_.config);
    if (!path) return refuse(path.error());
    const auto scenario = configs::load_scenario(*path, {.overrides = study_.settings, .share_folders = {}});
    if (!scenario) return refuse(scenario.error());
    const auto result = planning::study_servers(*scenario);
    if (!result) return refuse(result.error());
    print(common.json ? render_servers_json(*result) : render_servers_text(*result));
    return ExitCode::kOk;
  }

 private:
  StudyOptions study_;
};

}  // namespace

std::unique_ptr<Command> make_servers() { return std::make_unique<Servers>(); }

}  // namespace ringwright::tools
