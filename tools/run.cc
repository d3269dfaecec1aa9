// The command `run`: predicts one training step of a scenario, and prints or writes the report.
#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/fault_times.h"
#include "configs/simulation/overhead_store.h"
#include "configs/simulation/simulate.h"
#include "configs/simulation/simulation.h"
#include "configs/simulation/step_traces.h"
#include "core/base/cache_folder.h"
#include "core/base/diagnostic.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/report.h"
#include "planning/report/page.h"
#include "tools/command.h"
#include "tools/command_words.h"
#include "tools/misfit.h"
#include "tools/plan_text.h"
#include "tools/progress.h"
#include "tools/scenario_file.h"
#include "tools/step_files.h"
#include "tools/terminal.h"
#include "tools/timeline_file.h"
#include "tools/written_files.h"
#include "validation/left_out/left_out_steps.h"

namespace ringwright::tools {
namespace {

class ShownProgress final : public RunObserver {
 public:
  explicit ShownProgress(ProgressStyle style) : progress_(style) {}
  bool on_progress(double done, std::uint64_t events) override {
    progress_.update(done, events);
    return true;
  }
  void clear() { progress_.clear(); }

 private:
  Progress progress_;
};

TextOptions text_options(const CommonOptions& common) {
  const bool colour = !common.no_color && wants_colour(Stream::kOut);
  Detail detail = common.quiet ? Detail::kQuiet : Detail::kNormal;
  if (common.verbose) detail = Detail::kVerbose;
  return {.width = terminal_width(), .colour = colour ? Colour::kAnsi : Colour::kNever, .detail = detail};
}

// As in the text report.
std::string short_sha(const std::string& sha256) {
  return sha256.substr(0, 8);
}

// `config.sha256` of the results in a folder; empty when there are none.
std::string sha_of_results(const std::string& folder) {
  std::ifstream file(folder + "/result.json");
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  constexpr std::string_view kBefore = "\"sha256\": \"";
  constexpr std::size_t kDigits = 64;
  const std::size_t at = text.find(kBefore);
  return at == std::string::npos ? "" : text.substr(at + kBefore.size(), kDigits);
}

OptionSpec step_option(std::string_view name, std::string_view value, std::string_view doc, std::string* path) {
  return {.names = name, .value = value, .doc = doc, .target = path};
}

OptionSpec written_option(std::string_view name, std::string_view doc, std::string* path) {
  return {.names = name, .value = "FILE", .doc = doc, .target = path, .writes = true};
}

class Run final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "run"; }
  [[nodiscard]] std::string_view summary() const override { return "predict one training step of a scenario"; }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "config",
             .value = "",
             .doc = "a YAML file, or the name of a shipped scenario",
             .target = &config_,
             .required = true},
            step_option("--megatron", "FILE", "a run of Megatron-LM, Megatron-Bridge or NeMo: model, training, layout",
                        &megatron_),
            {.names = "--set", .value = "KEY=VALUE", .doc = "override a value, may be repeated", .target = &overrides_},
            {.names = "--out",
             .value = "DIR",
             .doc = "folder of result.json and report.txt; default: out/NAME, or out/NAME-SHA with --set, --seed "
                    "or --megatron (SHA: the first digits of config.sha256)",
             .target = &out_},
            {.names = "--no-out", .value = "", .doc = "write no files", .target = &no_out_},
            step_option("--chakra", "PREFIX",
                        "also write the step as Chakra execution traces: PREFIX.RANK.et and PREFIX.groups.json",
                        &chakra_),
            written_option("--goal", "also write the step as a GOAL schedule; binary if it ends in .bin", &goal_),
            {.names = "--dry-run",
             .value = "",
             .doc = "stop before the simulation: derived sizes and cost",
             .target = &dry_run_},
            {.names = "--show-origin",
             .value = "",
             .doc = "print every value of the configuration and its origin",
             .target = &show_origin_},
            {.names = "--no-fold",
             .value = "",
             .doc = "simulate every rank, even ranks that behave identically",
             .target = &no_fold_},
            {.names = "--no-fast-forward",
             .value = "",
             .doc = "simulate every step of a ring, every chunk and every cycle of a pipeline, even identical ones",
             .target = &no_fast_forward_},
            {.names = "--verify-fairness",
             .value = "",
             .doc = "check every bandwidth share against a full solve; slow",
             .target = &verify_fairness_},
            {.names = "--seed", .value = "N", .doc = "override simulate.seed", .target = &seed_, .most = INT64_MAX},
            {.names = "--allow-slow",
             .value = "",
             .doc = "run even if the estimate exceeds 2 minutes or 16 GiB (simulate.allow_slow)",
             .target = &allow_slow_},
            written_option("--timeline",
                           "also write what ranks did, for ui.perfetto.dev; Chrome's JSON when the name ends in .json",
                           &record_.timeline),
            written_option("--html",
                           "also write the report as a page with charts, with the tasks of each pipeline stage",
                           &record_.html),
            {.names = "--critical-path",
             .value = "",
             .doc = "also report the chain of tasks that bounds the step; --timeline and --html do, too",
             .target = &record_.critical_path},
            step_option("--trace-ranks", "RANKS", "ranks of the timeline: 0,8-15; default: the first replica",
                        &record_.trace_ranks),
            step_option("--trace-steps", "STEPS", "training steps of the timeline: 0,2-3; default: all",
                        &record_.trace_steps),
            {.names = "--no-progress", .value = "", .doc = "no progress line", .target = &no_progress_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    if (!(record_.trace_ranks + record_.trace_steps).empty() && record_.timeline.empty()) {
      return Command::refuse("--trace-ranks and --trace-steps are for --timeline");
    }
    if (dry_run_ && !(chakra_ + goal_).empty()) return Command::refuse("--chakra and --goal need more than --dry-run");
    for (const auto& [given, option] : {std::pair(!record_.timeline.empty(), "--timeline"),
                                        std::pair(record_.critical_path, "--critical-path"),
                                        std::pair(!record_.html.empty(), "--html")}) {
      if (given && dry_run_) return Command::refuse(std::string(option) + " needs the run that --dry-run leaves out");
    }
    std::vector<std::string> overrides = overrides_;
    if (!megatron_.empty()) overrides.push_back("megatron=" + json_text(megatron_));
    if (allow_slow_) overrides.emplace_back("simulate.allow_slow=true");
    if (seed_) overrides.push_back(fmt::format("simulate.seed={}", *seed_));
    const auto path = find_scenario(config_);
    if (!path) return refuse(path.error());
    auto scenario = configs::load_scenario(*path, {.overrides = overrides, .share_folders = {}});
    if (!scenario) return refuse(scenario.error());
    if (const auto wrong = configs::settle_fault_times(*scenario); wrong.has_errors()) return refuse(wrong);
    const auto fold = no_fold_ ? configs::FoldMode::kNoFold : configs::FoldMode::kFold;
    if (show_origin_ && !common.json) print(resolved_text(scenario->document.log()) + "\n");
    if (dry_run_) {
      const auto simulation = configs::Simulation::assemble(*scenario, fold);
      if (!simulation) return refuse(simulation.error());
      print(common.json ? plan_json(*scenario, **simulation) : plan_text(*scenario, **simulation));
      return ExitCode::kOk;
    }
    ShownProgress progress(progress_style(no_progress_ || common.quiet));
    auto outcome = simulate(*scenario, fold, progress);
    progress.clear();
    if (!outcome) return refuse(outcome.error());
    if (outcome->report) outcome->report->facts.command = command_given();
    if (out_.empty() && !common.json && outcome->report) {
      // Results of variants of one scenario go to different folders.
      const std::string variant = overrides.empty() ? "" : "-" + short_sha(outcome->report->facts.config_sha256);
      out_ = "out/" + scenario->name + variant;
    }
    const ExitCode code = finish(*outcome, common);
    if (outcome->report && !common.json && !common.quiet) print(error_of_kind(*scenario, *outcome->report));
    if ((chakra_.empty() && goal_.empty()) || !outcome->report) return code;
    const ExitCode written = write_traces(*scenario, fold, common);
    return written == ExitCode::kOk ? code : written;
  }

 private:
  // What was found for runs of this kind whose source was left out of everything that constants were fitted to.
  static std::string error_of_kind(const configs::Scenario& scenario, const Report& report) {
    if (!scenario.job.trains_transformer() || report.facts.engine.compute != "calibrated") return "";
    // Those runs had none of these.
    if (scenario.checkpoint || !scenario.faults.ordered.empty() || !scenario.background.transfers.empty()) return "";
    const auto errors = validation::read_left_out_steps();
    if (!errors) return "";
    const std::string text = validation::left_out_steps_text(*errors, validation::step_kind_of(scenario));
    return text.empty() ? "" : "\n  Expected error of the step time: " + text + "\n";
  }

  // A job that is impossible as requested (codes E13x: layouts, batches, stages) is distinguished from a mistake in the
  // file.
  static ExitCode refuse(const Diagnostics& diagnostics) {
    tell(render(diagnostics));
    const auto infeasible = [](const Diagnostic& d) {
      return d.severity == Severity::kWarning || d.code.starts_with("E13");
    };
    return std::ranges::all_of(diagnostics.all(), infeasible) ? ExitCode::kInfeasible : ExitCode::kUsage;
  }

  // As far as the result depends on it.
  [[nodiscard]] std::vector<std::string> command_given() const {
    std::vector<std::string> words = {"ringwright", "run", base_name(config_)};
    if (!megatron_.empty()) words.insert(words.end(), {"--megatron", base_name(megatron_)});
    for (const std::string& setting : overrides_) words.insert(words.end(), {"--set", without_folders_in(setting)});
    if (seed_) words.insert(words.end(), {"--seed", std::to_string(*seed_)});
    return words;
  }

  // A page shows the tasks of a step where they can be recorded; it is written without them where they cannot.
  Result<configs::Outcome> simulate(const configs::Scenario& scenario, configs::FoldMode fold,
                                    ShownProgress& progress) {
    using Ranks = configs::TimelineRequest::Choice;
    configs::TimelineRequest timeline{.ranks = {},
                                      .steps = {},
                                      .form = traces::form_of_timeline(record_.timeline),
                                      .choice = record_.timeline.empty() ? Ranks::kRoles : Ranks::kReplica,
                                      .links = true};
    if (record_.timeline.empty()) timeline.form = traces::TimelineForm::kPage;
    if (!record_.trace_ranks.empty()) timeline.ranks = record_.trace_ranks;
    if (!record_.trace_steps.empty()) timeline.steps = record_.trace_steps;
    configs::OverheadStore store(cache_folder());
    configs::SimulateOptions options{
        .observer = &progress,
        .verify_fairness = verify_fairness_,
        .fast_forward = no_fast_forward_ ? network_models::FastForward::kOff : network_models::FastForward::kOn,
        .store = &store,
        .timeline = record_.timeline.empty() && record_.html.empty() ? nullptr : &timeline,
        .critical_path = path_wish()};
    auto outcome = configs::simulate(scenario, fold, options);
    if (outcome || record_.html.empty() || !record_.timeline.empty()) return outcome;
    const std::string why = outcome.error().all().front().message;
    options.timeline = nullptr;
    outcome = configs::simulate(scenario, fold, options);
    if (outcome) record_.no_tasks = "The tasks of this run are not shown: " + why + ".";
    return outcome;
  }

  [[nodiscard]] configs::PathWish path_wish() const {
    if (record_.critical_path) return configs::PathWish::kAlways;
    return record_.timeline.empty() && record_.html.empty() ? configs::PathWish::kNone : configs::PathWish::kIfSmall;
  }

  ExitCode finish(const configs::Outcome& outcome, const CommonOptions& common) const {
    switch (outcome.end) {
      case RunOutcome::kFinished: break;
      case RunOutcome::kStalled:
        tell("error: the run cannot continue: ranks wait for each other\n" + render(outcome.stall));
        return ExitCode::kInfeasible;
      case RunOutcome::kGivenUp:
        tell("error: the run ends: a NIC gave up a transfer over a link that stays down\n" + render(outcome.stall));
        return ExitCode::kInfeasible;
      case RunOutcome::kLivelock:
        tell("error: the run does not end: events follow each other without time passing\n");
        return ExitCode::kInfeasible;
      case RunOutcome::kClockRanOut: tell(render(outcome.late)); return ExitCode::kInfeasible;
      case RunOutcome::kDisturbed:
      case RunOutcome::kUnproven:
      case RunOutcome::kStopped: return ExitCode::kInterrupted;
    }
    const Report& report = *outcome.report;
    print(common.json ? render_json(report) : render_text(report, text_options(common)));
    if (!out_.empty() && !no_out_ && !write_results(report, common)) return ExitCode::kUsage;
    if (outcome.timeline && !record_.timeline.empty()) {
      const auto said = write_timeline(*outcome.timeline, record_.timeline);
      if (!said) return refuse(said.error());
      if (!common.quiet) tell(*said);
    }
    if (!record_.html.empty() && !write_run_page(outcome, common)) return ExitCode::kUsage;
    const std::string too_large = misfit(report) + misfit_of_hosts(report);
    tell(too_large);
    return too_large.empty() ? ExitCode::kOk : ExitCode::kInfeasible;
  }

  // The step is simulated once more, task by task.
  [[nodiscard]] ExitCode write_traces(const configs::Scenario& scenario, configs::FoldMode fold,
                                      const CommonOptions& common) const {
    const auto step = configs::StepTraces::record(scenario, fold);
    if (!step) return refuse(step.error());
    const Result<std::string> said = write_step(**step, {.chakra = chakra_, .goal = goal_});
    if (!said) return refuse(said.error());
    if (!common.quiet) tell(*said);
    return ExitCode::kOk;
  }

  [[nodiscard]] bool write_results(const Report& report, const CommonOptions& common) const {
    const std::string before = sha_of_results(out_);
    const std::array files{
        FileContent{.name = "result.json", .text = render_json(report)},
        FileContent{.name = "report.txt", .text = render_text(report, {.detail = Detail::kVerbose})}};
    const std::string problem = write_files(out_, files);
    if (!problem.empty()) {
      tell(fmt::format("error: cannot write into '{}': {}\n", out_, problem));
      return false;
    }
    const bool replaced = !before.empty() && before != report.facts.config_sha256;
    const std::string instead =
        replaced ? fmt::format(" (instead of those of configuration {})", short_sha(before)) : "";
    if (!common.quiet || replaced) tell(fmt::format("results in {}/: result.json, report.txt{}\n", out_, instead));
    return true;
  }

  // From the JSON of the result, as `ringwright report` does it.
  [[nodiscard]] bool write_run_page(const configs::Outcome& outcome, const CommonOptions& common) const {
    const traces::Timeline* const tasks = outcome.timeline ? &*outcome.timeline : nullptr;
    const auto page = planning::page_of_result(render_json(*outcome.report), tasks, record_.no_tasks);
    if (!page) return refuse(page.error()) == ExitCode::kOk;
    const std::string problem = write_file(record_.html, *page);
    if (!problem.empty()) tell(fmt::format("error: cannot write '{}': {}\n", record_.html, problem));
    if (problem.empty() && !common.quiet) tell(fmt::format("report in {}\n", record_.html));
    return problem.empty();
  }

  // What is shown of the tasks of a step.
  struct Recording {
    std::string timeline, trace_ranks, trace_steps, html;
    bool critical_path = false;
    std::string no_tasks;  // why the page lacks them
  };

  std::string config_, out_, megatron_, chakra_, goal_;
  Recording record_;
  std::vector<std::string> overrides_;
  std::optional<std::uint64_t> seed_;
  bool allow_slow_ = false;
  bool dry_run_ = false;
  bool show_origin_ = false;
  bool no_fold_ = false;
  bool no_fast_forward_ = false;
  bool verify_fairness_ = false;
  bool no_out_ = false;
  bool no_progress_ = false;
};

}  // namespace

std::unique_ptr<Command> make_run() {
  return std::make_unique<Run>();
}

}  // namespace ringwright::tools
