// The command `cluster`: a cluster over days, under several scheduling policies.
#include <string>

#include "planning/jobs/cluster_study.h"
#include "tools/command.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class ClusterOverDays final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "cluster"; }
  [[nodiscard]] std::string_view summary() const override { return "simulate the jobs of a cluster over days"; }
  [[nodiscard]] std::string notes() const override {
    return "The file names hosts, jobs (a log, or a generator), speeds and scheduling policies;\n"
           "`ringwright list clusters` shows the shipped ones. Printed are waiting and completion times, use of the\n"
           "GPUs and fragmentation by policy (docs/jobs.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "config",
             .value = "",
             .doc = "a YAML file, or the name of a shipped one",
             .target = &study_.config,
             .required = true},
            {.names = "--set",
             .value = "KEY=VALUE",
             .doc = "override a value, may be repeated",
             .target = &study_.settings},
            {.names = "--csv",
             .value = "FILE",
             .doc = "write when each job ran, by policy, as a table",
             .target = &csv_,
             .writes = true},
            page_option(&html_),
            threads_option(&study_.threads)};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto plan = planning::load_cluster_plan(study_.config, study_.settings);
    if (!plan) return refuse(plan.error());
    warn(plan->warnings, common);
    const auto study = planning::study_cluster(*plan, study_.workers(common));
    study_.clear_progress();
    if (!study) return refuse(study.error());
    print(common.json ? render_cluster_json(*study) : render_cluster_text(*study));
    if (!csv_.empty()) {
      if (const ExitCode code = write_to(csv_, render_cluster_csv(*plan, *study)); code != ExitCode::kOk) return code;
    }
    return write_page(html_, render_cluster_json(*study));
  }

 private:
  StudyOptions study_;
  std::string csv_, html_;
};

}  // namespace

std::unique_ptr<Command> make_cluster() {
  return std::make_unique<ClusterOverDays>();
}

}  // namespace ringwright::tools
