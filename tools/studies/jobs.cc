// The command `jobs`: several jobs on one machine, each against alone.
#include <string>

#include "planning/sharing/sharing.h"
#include "tools/command.h"
#include "tools/scenario_file.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Jobs final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "jobs"; }
  [[nodiscard]] std::string_view summary() const override { return "simulate several jobs on one machine"; }
  [[nodiscard]] std::string notes() const override {
    return "The file describes a machine and lists jobs with their GPUs and placement as `jobs`. The output is\n"
           "the step time of each job alone and together with the others, and the links that several jobs use\n"
           "(docs/jobs.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    std::vector<OptionSpec> options = study_.options();
    options.push_back(
        {.names = "--placements",
         .value = "given|all",
         .doc =
             "given (default): as in the file; all: also packed, spread, rail_aligned and random placement of all jobs",
         .target = &placements_});
    options.push_back(page_option(&html_));
    options.push_back({.names = "--no-fold", .value = "", .doc = "simulate every rank", .target = &unfolded_});
    return options;
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto path = find_scenario(study_.config);
    if (!path) return refuse(path.error());
    if (placements_ != "given" && placements_ != "all") {
      return refuse("--placements is '" + placements_ + "', and can be given or all");
    }
    const auto shared = configs::load_shared(*path, {.overrides = study_.settings, .share_folders = {}});
    if (!shared) return refuse(shared.error());
    const Diagnostics warnings = warnings_of(*shared);
    warn(placements_ == "all" ? without_seed(warnings) : warnings, common);
    const planning::SharingResult result = planning::share_machine(
        *shared, {.placements = placements_ == "all" ? planning::Placements::kAll : planning::Placements::kAsGiven,
                  .fold = unfolded_ ? configs::FoldMode::kNoFold : configs::FoldMode::kFold,
                  .workers = study_.workers(common)});
    study_.clear_progress();
    print(common.json ? render_sharing_json(result) : render_sharing_text(result));
    if (const ExitCode code = write_page(html_, render_sharing_json(result)); code != ExitCode::kOk) return code;
    return result.arrangements.front().was_simulated() ? ExitCode::kOk : ExitCode::kInfeasible;
  }

 private:
  // All placements are tried, the random one among them, whatever the file's jobs have.
  static Diagnostics without_seed(const Diagnostics& warnings) {
    Diagnostics others;
    for (const Diagnostic& warning : warnings.all()) {
      if (warning.code != "W131" || !warning.message.starts_with("simulate.seed ")) others.add(warning);
    }
    return others;
  }

  StudyOptions study_;
  std::string placements_ = "given", html_;
  bool unfolded_ = false;
};

}  // namespace

std::unique_ptr<Command> make_jobs() {
  return std::make_unique<Jobs>();
}

}  // namespace ringwright::tools
