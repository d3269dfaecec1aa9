// The command `adapt`: compression of gradients whose ratio follows measured delays, while the network changes.
#include <string>
#include <vector>

#include "planning/adaptive/adaptive_ratio.h"
#include "tools/command.h"
#include "tools/scenario_arguments.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Adapt final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "adapt"; }
  [[nodiscard]] std::string_view summary() const override {
    return "adaptive compression: the ratio follows measured delays while the network changes";
  }
  [[nodiscard]] std::string notes() const override {
    return "The scenario has `training.compression` with the codec topk; its ratio is the maximum\n"
           "(docs/compression.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    std::vector<OptionSpec> options = arguments_.options();
    options.push_back({.names = "--phase",
                       .value = "'STEPS KEY=VALUE ...'",
                       .doc = "a number of steps, and changes to the network during these; may be repeated",
                       .target = &phases_});
    options.push_back({.names = "--least", .value = "RATIO", .doc = "the minimum ratio (0.1%)", .target = &least_});
    return options;
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    planning::AdaptiveQuestion question{.load = [this](const std::vector<std::string>& more) {
      return arguments_.load(more);
    }};
    for (const std::string& text : phases_) {
      auto phase = planning::parse_phase(text);
      if (!phase) return refuse(phase.error());
      question.phases.push_back(*std::move(phase));
    }
    if (!least_.empty()) question.least = least_;
    if (const auto scenario = arguments_.load()) warn(warnings_of(*scenario), common);
    const auto result = planning::adapt_ratio(question);
    if (!result) return refuse(result.error());
    print(common.json ? render_adaptive_json(*result) : render_adaptive_text(*result));
    return ExitCode::kOk;
  }

 private:
  ScenarioArguments arguments_;
  std::vector<std::string> phases_;
  std::string least_;
};

}  // namespace

std::unique_ptr<Command> make_adapt() { return std::make_unique<Adapt>(); }

}  // namespace ringwright::tools
