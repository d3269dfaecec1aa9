// The command `tune`: the fastest algorithm, protocol and channels for each collective and size, as a file for NCCL.
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/load_warnings.h"
#include "core/base/text.h"
#include "planning/tune/measured_tuner.h"
#include "planning/tune/step_tuner.h"
#include "planning/tune/tune.h"
#include "tools/command.h"
#include "tools/machine_file.h"
#include "tools/progress.h"
#include "tools/scenario_arguments.h"
#include "tools/size_range.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

constexpr std::size_t kMostTunedSizes = 200;
constexpr const char* kFirstSize = "1K";
constexpr const char* kLastSize = "1G";

class Tune final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "tune"; }
  [[nodiscard]] std::string_view summary() const override {
    return "the fastest NCCL settings by collective and size, as a tuner file";
  }
  [[nodiscard]] std::string notes() const override {
    return "The file is read by NCCL's example tuner plug-in (NCCL_TUNER_CONFIG_FILE) and as `comm.tuner_config` of a\n"
           "scenario. Calls are simulated in isolation; with --step the training step of a scenario is simulated, in\n"
           "which kernels and collectives slow each other down, to tune NCCL's variables (docs/tune.md).\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "cluster",
             .value = "",
             .doc = "a file with a cluster, or a shipped node or machine (`list nodes`, `list machines`); with --step "
                    "a scenario",
             .target = &cluster_,
             .required = true},
            {.names = "-c,--collective",
             .value = "NAME",
             .doc = "all_reduce (default), all_gather, reduce_scatter, broadcast or reduce; may be repeated",
             .target = &operations_},
            {.names = "-N,--nodes", .value = "N", .doc = "hosts, instead of the file's", .target = &nodes_, .least = 1},
            {.names = "-b,--minbytes",
             .value = "SIZE",
             .doc = "first size in bytes; K, M, G are powers of 1024 (1K)",
             .target = &from_},
            {.names = "-e,--maxbytes", .value = "SIZE", .doc = "last size (1G)", .target = &to_},
            {.names = "-f,--stepfactor",
             .value = "F",
             .doc = "each size is F times the previous one (4)",
             .target = &factor_,
             .least = 2},
            {.names = "--kernels",
             .doc = "also tune threads and buffers of channels, which are variables of the whole process",
             .target = &kernels_},
            {.names = "--step",
             .doc = "tune for the training step of a scenario, with computing at the same time",
             .target = &step_},
            {.names = "--measured",
             .value = "SETTING=LOG",
             .doc = "logs of nccl-tests instead of simulations: own=a.log, ring/ll128=b.log, tree/simple/16=c.log; "
                    "repeated",
             .target = &measured_},
            {.names = "-o,--output",
             .value = "FILE",
             .doc = "write the tuner file",
             .target = &output_,
             .writes = true},
            {.names = "--set", .value = "KEY=VALUE", .doc = "override a value, may be repeated", .target = &settings_},
            page_option(&html_),
            threads_option(&threads_)};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    if (step_) return run_step(common);
    if (!measured_.empty()) return run_measured(common);
    planning::TuneOptions options;
    if (const std::string problem = read_request(options); !problem.empty()) return refuse(problem);
    options.kernels = kernels_;
    options.workers.threads = static_cast<int>(threads_.value_or(0));
    const auto alone = machine({});
    if (!alone) return refuse(alone.error());
    warn(configs::unlisted_warnings(*alone), common);
    std::optional<Progress> progress;
    options.workers.progress = progress_of_parts(progress, common.quiet);
    const auto result = planning::tune([this](const std::vector<std::string>& more) { return machine(more); }, options);
    if (progress) progress->clear();
    if (!result) return refuse(result.error());
    return write(*result, common);
  }

 private:
  [[nodiscard]] ExitCode run_step(const CommonOptions& common) const {
    const bool sizes = !operations_.empty() || factor_ || from_ != kFirstSize || to_ != kLastSize;
    if (sizes || nodes_ || !measured_.empty() || !output_.empty() || !html_.empty()) {
      return refuse(
          "--step takes collectives, sizes and hosts from the scenario, and variables are not by size: leave "
          "out --collective, --nodes, --minbytes, --maxbytes, --stepfactor, --measured, --output and --html");
    }
    planning::StepTuneOptions options{.kernels = kernels_};
    options.workers.threads = static_cast<int>(threads_.value_or(0));
    std::optional<Progress> progress;
    options.workers.progress = progress_of_parts(progress, common.quiet);
    const auto result = planning::tune_step(
        [this](const std::vector<std::string>& more) {
          std::vector<std::string> settings = planning::step_tuning_settings();
          settings.insert(settings.end(), settings_.begin(), settings_.end());
          settings.insert(settings.end(), more.begin(), more.end());
          return ScenarioArguments{.config = cluster_, .settings = std::move(settings)}.load();
        },
        options);
    if (progress) progress->clear();
    if (!result) return refuse(result.error());
    print(common.json ? render_step_tune_json(*result) : render_step_tune_text(*result));
    return ExitCode::kOk;
  }

  [[nodiscard]] ExitCode run_measured(const CommonOptions& common) const {
    const bool simulates = !operations_.empty() || nodes_ || factor_ || kernels_ || !settings_.empty() ||
                           from_ != kFirstSize || to_ != kLastSize;
    if (simulates) {
      return refuse(
          "--measured takes collectives, hosts and sizes from the logs, and simulates nothing: leave out "
          "--collective, --nodes, --minbytes, --maxbytes, --stepfactor, --kernels and --set");
    }
    std::vector<planning::MeasuredSetting> logs;
    for (const std::string& text : measured_) {
      auto one = planning::parse_measured(text);
      if (!one) return refuse(one.error());
      logs.push_back(std::move(*one));
    }
    const auto result = planning::tune_by_measurements(logs);
    if (result) warn(result->warnings, common);
    return result ? write(*result, common) : refuse(result.error());
  }

  [[nodiscard]] ExitCode write(const planning::TuneResult& result, const CommonOptions& common) const {
    print(common.json ? render_tune_json(cluster_, result) : render_tune_text(result));
    ExitCode code = write_page(html_, render_tune_json(cluster_, result));
    if (code != ExitCode::kOk || output_.empty()) return code;
    code = write_to(output_, render_tuner_csv(result));
    if (code == ExitCode::kOk && !common.quiet) tell(fmt::format("tuner file in {}\n", output_));
    return code;
  }

  [[nodiscard]] Result<configs::Scenario> machine(const std::vector<std::string>& more) const {
    std::vector<std::string> settings = settings_;
    settings.insert(settings.end(), more.begin(), more.end());
    return load_machine(cluster_, {.nodes = nodes_, .overrides = std::move(settings)});
  }

  // Parses the words of the command line; returns what is wrong with them.
  [[nodiscard]] std::string read_request(planning::TuneOptions& options) const {
    for (const std::string& word : operations_.empty() ? std::vector<std::string>{"all_reduce"} : operations_) {
      const auto operation = configs::parse_operation(word);
      if (!operation || !planning::is_tunable(*operation)) {
        return "--collective is '" + word + "' and must be all_reduce, all_gather, reduce_scatter, broadcast or reduce";
      }
      if (std::ranges::find(options.operations, *operation) != options.operations.end()) {
        return "--collective names " + word + " twice";
      }
      options.operations.push_back(*operation);
    }
    const auto from = parse_test_size(from_), to = parse_test_size(to_);
    if (!from) return "--minbytes is '" + from_ + "' and must be a size such as 8, 128M or 1G, at most 1 PiB";
    if (!to) return "--maxbytes is '" + to_ + "' and must be a size such as 8, 128M or 1G, at most 1 PiB";
    if (*from > *to) return fmt::format("--minbytes {} is above --maxbytes {}", from_, to_);
    options.sizes = sizes_of(
        {.from = *from, .to = *to, .factor = static_cast<double>(factor_.value_or(4)), .increment = std::nullopt});
    if (options.sizes.size() > kMostTunedSizes) {
      return fmt::format("{} sizes are asked for, and at most {} are tuned", options.sizes.size(), kMostTunedSizes);
    }
    return "";
  }

  std::string cluster_, from_ = kFirstSize, to_ = kLastSize, output_, html_;
  std::vector<std::string> operations_, settings_, measured_;
  std::optional<std::uint64_t> nodes_, factor_, threads_;
  bool kernels_ = false;
  bool step_ = false;
};

}  // namespace

std::unique_ptr<Command> make_tune() {
  return std::make_unique<Tune>();
}

}  // namespace ringwright::tools
