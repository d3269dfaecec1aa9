// The command `embeddings`: caches, checkpoints and recovery of embedding tables with skewed access.
#include <string>

#include "planning/embeddings/embeddings.h"
#include "tools/command.h"
#include "tools/scenario_arguments.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Embeddings final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "embeddings"; }
  [[nodiscard]] std::string_view summary() const override {
    return "caches, checkpoints and recovery of embedding tables";
  }
  [[nodiscard]] std::string notes() const override {
    return "The scenario trains a recommendation model (docs/embeddings.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override { return arguments_.options(); }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto scenario = arguments_.load();
    if (!scenario) return refuse(scenario.error());
    warn(planning::embeddings_warnings(*scenario), common);
    const auto result = planning::study_embeddings(*scenario);
    if (!result) return refuse(result.error());
    print(common.json ? render_embeddings_json(*result) : render_embeddings_text(*result));
    return ExitCode::kOk;
  }

 private:
  ScenarioArguments arguments_;
};

}  // namespace

std::unique_ptr<Command> make_embeddings() { return std::make_unique<Embeddings>(); }

}  // namespace ringwright::tools
