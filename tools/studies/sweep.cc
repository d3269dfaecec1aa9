// The command `sweep`: simulates every point of a sweep file once, and ranks them.
#include <filesystem>
#include <optional>

#include <fmt/format.h>

#include "configs/simulation/overhead_store.h"
#include "core/base/cache_folder.h"
#include "core/base/text.h"
#include "planning/store/result_store.h"
#include "planning/sweep/mpi_sweep.h"
#include "planning/sweep/sweep.h"
#include "planning/sweep/sweep_report.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/scenario_file.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Sweep final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "sweep"; }
  [[nodiscard]] std::string_view summary() const override {
    return "simulate many variants of a scenario, and rank them";
  }
  [[nodiscard]] std::string notes() const override {
    return "A sweep file names a scenario, and keys with values in a grid, a list, random or latin_hypercube\n"
           "(docs/sweep.md). Each result is stored at once: an interrupted sweep continues where it stopped.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {
        {.names = "file", .value = "", .doc = "a sweep file (YAML)", .target = &file_, .required = true},
        {.names = "--db",
         .value = "FILE",
         .doc = "the SQLite database of the results; default: out/NAME.sqlite",
         .target = &database_},
        {.names = "--objective",
         .value = "WHAT",
         .doc = "step_time, tokens_per_s, tokens_per_s_per_gpu, mfu, memory or cost; default: the file's",
         .target = &objective_},
        {.names = "--top", .value = "N", .doc = "number of points shown; 20", .target = &top_, .least = 1},
        threads_option(&threads_),
        {.names = "--csv", .value = "FILE", .doc = "write every point as a table", .target = &csv_, .writes = true},
        page_option(&html_),
        {.names = "--shard", .value = "I/N", .doc = "only the I-th of N parts, for batch arrays", .target = &shard_},
        {.names = "--merge",
         .value = "FILE",
         .doc = "first import the points of another database, may be repeated",
         .target = &merged_},
        {.names = "--dry-run", .value = "", .doc = "stop before the simulations: counts and cost", .target = &dry_run_},
        {.names = "--allow-slow",
         .value = "",
         .doc = "run even if the estimate exceeds an hour",
         .target = &allow_slow_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto shard = shard_.empty() ? planning::Shard() : planning::parse_shard(shard_);
    if (!shard) return refuse(failure("E306", "cannot read --shard '" + shard_ + "'", {}, "write --shard 2/8"));
    auto plan = planning::load_sweep(file_);
    if (!plan) return refuse(plan.error());
    if (const ExitCode code = take_objective(*plan); code != ExitCode::kOk) return code;
    const auto scenario = find_scenario(plan->scenario);
    if (!scenario) return refuse(scenario.error());
    if (planning::is_under_mpirun() && !planning::has_mpi()) {
      return refuse(
          "mpirun started this process, and this build has no MPI: each process would simulate every point; "
          "build with MPI installed, or share the points with --shard");
    }
    planning::MpiSession session;
    if (session.ranks().rank > 0) {
      session.serve(*plan, *scenario);
      return ExitCode::kOk;
    }
    return run_here(*plan, *scenario, *shard, session, common);
  }

 private:
  // In the one process that prints and stores.
  [[nodiscard]] ExitCode run_here(const planning::SweepPlan& plan, const std::string& scenario,
                                  const planning::Shard& shard, planning::MpiSession& session,
                                  const CommonOptions& common) {
    if (database_.empty()) database_ = "out/" + plan.name + ".sqlite";
    auto store = planning::ResultStore::open(database_);
    if (!store) return refuse(store.error());
    for (const std::string& other : merged_) {
      if (const Diagnostics wrong = store->merge(other); wrong.has_errors()) return refuse(wrong);
    }
    warn(store->unused(), common);
    const planning::Workers workers{.threads = static_cast<int>(threads_.value_or(0)), .progress = simulating(common)};
    const bool alone = session.ranks().ranks == 1;
    configs::OverheadStore overheads(cache_folder());
    const auto result = planning::sweep(
        plan, scenario, *store,
        {.workers = workers,
         .reading = progress_of_parts(reading_, common.quiet, "points read"),
         .shard = shard,
         .allow_slow = allow_slow_,
         .only_count = dry_run_,
         .store = &overheads,
         .simulate = alone ? planning::SimulatePoints() : session.simulate_elsewhere(workers.progress)});
    if (reading_) reading_->clear();
    if (simulating_) simulating_->clear();
    if (!result) return refuse(result.error());
    return finish(plan, *result, common);
  }

  [[nodiscard]] ExitCode take_objective(planning::SweepPlan& plan) const {
    if (objective_.empty()) return ExitCode::kOk;
    plan.objective = planning::objective_named(objective_);
    if (planning::to_string(plan.objective) == objective_) return ExitCode::kOk;
    const std::vector<std::string> names = planning::sweep_objective_names();
    const std::string near = nearest_name(objective_, names);
    return refuse(fmt::format("--objective is '{}'{}; one of: {}", objective_,
                              near.empty() ? "" : fmt::format("; did you mean '{}'?", near), join(names, ", ")));
  }

  // Its line follows that of the points that are read.
  [[nodiscard]] planning::StudyProgress simulating(const CommonOptions& common) {
    if (common.quiet) return {};
    return [this](std::size_t done, std::size_t all) {
      if (!simulating_) {
        if (reading_) reading_->clear();
        show_simulated_ = progress_of_parts(simulating_, false, "points");
      }
      show_simulated_(done, all);
    };
  }

  [[nodiscard]] ExitCode finish(const planning::SweepPlan& plan, const planning::SweepResult& result,
                                const CommonOptions& common) const {
    const planning::SweepReport report{
        .plan = plan, .result = result, .top = top_.value_or(20), .width = terminal_width()};
    print(common.json ? render_sweep_json(report) : render_sweep_text(report));
    if (dry_run_ && !common.quiet) {
      tell(fmt::format("{} points to simulate, in about {:.0f} s on this machine\n", result.missing,
                       result.estimated_seconds));
    }
    if (!csv_.empty()) {
      if (const ExitCode code = write_to(csv_, render_sweep_csv(report)); code != ExitCode::kOk) return code;
    }
    if (const ExitCode code = write_page(html_, render_sweep_json(report)); code != ExitCode::kOk) return code;
    if (!common.quiet) tell(fmt::format("results in {}\n", database_));
    return dry_run_ || !result.ranking.empty() ? ExitCode::kOk : ExitCode::kInfeasible;
  }

  std::string file_, database_, objective_, csv_, html_, shard_;
  std::vector<std::string> merged_;
  std::optional<std::uint64_t> top_, threads_;
  std::optional<Progress> reading_, simulating_;
  planning::StudyProgress show_simulated_;
  bool dry_run_ = false;
  bool allow_slow_ = false;
};

}  // namespace

std::unique_ptr<Command> make_sweep() {
  return std::make_unique<Sweep>();
}

}  // namespace ringwright::tools
