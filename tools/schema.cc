// The command `schema`: the JSON Schema of a scenario, for completion and checking in editors.
#include <cstdio>

#include "configs/scenario/explanation.h"
#include "tools/command.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Schema final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "schema"; }
  [[nodiscard]] std::string_view summary() const override { return "print the JSON Schema of scenarios, for editors"; }
  [[nodiscard]] std::vector<OptionSpec> options() override { return {}; }

  [[nodiscard]] ExitCode run(const CommonOptions&) override {
    print(configs::scenario_schema());
    return ExitCode::kOk;
  }
};

}  // namespace

std::unique_ptr<Command> make_schema() {
  return std::make_unique<Schema>();
}

}  // namespace ringwright::tools
