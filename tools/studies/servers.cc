// The command `servers`: a layer table with parameter servers, synchronous, stale-synchronous and asynchronous.
#include <string>
#include <vector>

#include "planning/servers/server_plan.h"
#include "planning/servers/servers.h"
#include "tools/command.h"
#include "tools/scenario_arguments.h"
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
  [[nodiscard]] std::vector<OptionSpec> options() override {
    std::vector<OptionSpec> options = arguments_.options();
    options.push_back({.names = "--plan", .doc = "find how many of the hosts should be servers", .target = &plans_});
    return options;
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto scenario = arguments_.load();
    if (!scenario) return refuse(scenario.error());
    warn(planning::server_warnings(*scenario), common);
    if (plans_) return plan(common);
    const auto result = planning::study_servers(*scenario);
    if (!result) return refuse(result.error());
    print(common.json ? render_servers_json(*result) : render_servers_text(*result));
    return ExitCode::kOk;
  }

 private:
  [[nodiscard]] ExitCode plan(const CommonOptions& common) const {
    const auto result = planning::plan_servers([&](const std::vector<std::string>& more) {
      return arguments_.load(more);
    });
    if (!result) return refuse(result.error());
    print(common.json ? render_server_plan_json(*result) : render_server_plan_text(*result));
    return ExitCode::kOk;
  }

  ScenarioArguments arguments_;
  bool plans_ = false;
};

}  // namespace

std::unique_ptr<Command> make_servers() { return std::make_unique<Servers>(); }

}  // namespace ringwright::tools
