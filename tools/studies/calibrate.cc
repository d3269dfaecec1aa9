// The command `calibrate`: fits the few physical constants of a platform to measurements, and writes them as a profile.
#include <cstdio>

#include "core/base/diagnostic.h"
#include "tools/command.h"
#include "tools/studies/measured_files.h"
#include "tools/terminal.h"
#include "validation/builtin.h"

namespace ringwright::tools {
namespace {

using validation::CalibrationOutcome;

class Calibrate final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "calibrate"; }
  [[nodiscard]] std::string_view summary() const override { return "fit a platform's constants to measurements"; }
  [[nodiscard]] std::string notes() const override { return kinds_text(validation::calibrators()); }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "files", .value = "", .doc = "kind of measurement (below), then its files", .target = &words_},
            played_values_option(&overrides_),
            played_machine_option(&cluster_),
            node_option(&node_),
            collective_option(&collective_),
            {.names = "--classes",
             .value = "FOLDER",
             .doc = "for nccl: start from the constants of classes in this folder "
                    "instead of the shipped ones, or from none",
             .target = &classes_},
            {.names = "--only",
             .value = "WHAT",
             .doc = "for nccl: fit only the constants of `kernels`, of the `network`, or `costs`: both, without the "
                    "shares of nominal rates that links carry",
             .target = &only_},
            {.names = "-o,--out",
             .value = "PROFILE",
             .doc = "output file of the profile; default: standard output",
             .target = &out_,
             .writes = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    std::string problem;
    const validation::Calibrator* const calibrator = take_kind(validation::calibrators(), words_, problem);
    if (calibrator == nullptr) return refuse(problem);
    if (words_.empty()) return refuse("name the files with the measurements");
    validation::CalibrationRequest request{.files = words_, .overrides = overrides_};
    if (!cluster_.empty()) request.cluster = cluster_;
    if (calibrator->name != "nccl" && !(classes_.empty() && only_.empty())) {
      return refuse("--classes and --only are for `calibrate nccl`");
    }
    if (!only_.empty() && only_ != "kernels" && only_ != "network" && only_ != "costs") {
      return refuse("--only is '" + only_ + "' and must be kernels, network or costs");
    }
    if (!overrides_.empty() && calibrator->name == "host_copies") {
      return refuse("--set has no effect: `calibrate host_copies` fits formulas, and simulates nothing");
    }
    if (!classes_.empty()) request.classes = classes_;
    if (!node_.empty() && calibrator->name != "nccl") return refuse("--node is for `calibrate nccl`");
    if (!node_.empty() && !cluster_.empty()) return refuse("--node and --cluster contradict each other");
    if (!node_.empty()) request.node = node_;
    if (!collective_.empty() && calibrator->name != "nccl") return refuse("--collective is for `calibrate nccl`");
    if (!collective_.empty()) request.collective = collective_;
    if (!only_.empty()) request.only = only_;
    const Result<CalibrationOutcome> outcome = validation::run_calibrator(*calibrator, request);
    if (!outcome) {
      std::fputs(render(outcome.error()).c_str(), stderr);
      return ExitCode::kBadInput;
    }
    return answer(*outcome, common);
  }

 private:
  [[nodiscard]] ExitCode answer(const CalibrationOutcome& outcome, const CommonOptions& common) const {
    if (!outcome.warnings.all().empty() && !common.quiet) std::fputs(render(outcome.warnings).c_str(), stderr);
    const ExitCode fitted = outcome.passed ? ExitCode::kOk : ExitCode::kOutsideThreshold;
    if (out_.empty()) {
      print(common.json ? outcome.json : outcome.profile);
      return fitted;
    }
    print(common.json ? outcome.json : outcome.text);
    const ExitCode written = write_to(out_, outcome.profile);
    return written == ExitCode::kOk ? fitted : written;
  }

  std::vector<std::string> words_, overrides_;
  std::string cluster_, node_, classes_, only_, out_, collective_;
};

}  // namespace

std::unique_ptr<Command> make_calibrate() {
  return std::make_unique<Calibrate>();
}

}  // namespace ringwright::tools
