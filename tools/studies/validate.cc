// The command `validate`: compares predictions with measurements, with an exit code for scripts.
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "tools/command.h"
#include "tools/progress.h"
#include "tools/studies/measured_files.h"
#include "tools/terminal.h"
#include "tools/written_files.h"
#include "validation/builtin.h"
#include "validation/training/row.h"

namespace ringwright::tools {
namespace {

using validation::ValidationOutcome;

class Validate final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "validate"; }
  [[nodiscard]] std::string_view summary() const override {
    return "compare predictions with measurements (exit code 5: outside the threshold)";
  }
  [[nodiscard]] std::string notes() const override {
    return kinds_text(validation::validators()) + "\n" + validation::training_columns_text();
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {
        {.names = "files",
         .value = "",
         .doc = "kind of measurement (below), then its files; default: the shipped set",
         .target = &words_},
        played_values_option(&overrides_),
        played_machine_option(&cluster_),
        node_option(&node_),
        {.names = "--profile",
         .value = "NAME",
         .doc = "simulate with these constants: a shipped profile, a file written by `calibrate`, "
                "or none for values of the class",
         .target = &profile_},
        collective_option(&collective_),
        {.names = "--classes",
         .value = "FOLDER",
         .doc = "for nccl: constants of classes from this folder instead of the shipped "
                "ones, or none for planning values",
         .target = &classes_},
        {.names = "--hosts",
         .value = "N",
         .doc = "for kineto and nccl-inspector: hosts over which the measured job was spread",
         .target = &records_.hosts,
         .least = 1,
         .most = 1'000'000},
        {.names = "--group",
         .value = "STREAM=RANKS",
         .doc = "for kineto: ranks of the calls of a stream whose group is not recorded, as 363=0,8; repeatable",
         .target = &records_.groups},
        {.names = "--threshold", .value = "PERCENT", .doc = "largest error that passes", .target = &threshold_},
        {.names = "--markdown",
         .value = "FILE",
         .doc = "also write the tables as Markdown",
         .target = &markdown_,
         .writes = true},
        {.names = "--plots", .value = "FOLDER", .doc = "also write the plots of that page, as SVG", .target = &plots_},
        {.names = "--scenarios",
         .value = "FOLDER",
         .doc = "for training: also write each row's scenario, which `run` simulates (without --set)",
         .target = &scenarios_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    std::string problem;
    const validation::Validator* const validator = take_kind(validation::validators(), words_, problem);
    if (validator == nullptr) return refuse(problem);
    validation::ValidationRequest request{.files = words_, .overrides = overrides_};
    if (!cluster_.empty()) request.cluster = cluster_;
    if (!profile_.empty()) request.profile = profile_;
    if (!classes_.empty() && validator->name != "nccl") return refuse("--classes is for `validate nccl`");
    if (!classes_.empty()) request.classes = classes_;
    if (!node_.empty() && validator->name != "nccl") return refuse("--node is for `validate nccl`");
    if (!node_.empty() && !cluster_.empty()) return refuse("--node and --cluster contradict each other");
    if (!node_.empty()) request.node = node_;
    if (!collective_.empty() && validator->name != "nccl") return refuse("--collective is for `validate nccl`");
    if (!collective_.empty()) request.collective = collective_;
    const bool records = validator->name == "kineto" || validator->name == "nccl-inspector";
    if (records_.hosts && !records) return refuse("--hosts is for `validate kineto` and `validate nccl-inspector`");
    if (!records_.groups.empty() && validator->name != "kineto") return refuse("--group is for `validate kineto`");
    if (!profile_.empty() && records) return refuse("--profile has no effect on traces: name the machine by --cluster");
    if (!profile_.empty() && validator->name != "nccl" && validator->name != "systems") {
      return refuse("--profile is for `validate nccl`");
    }
    if (!overrides_.empty() && (validator->name == "memory" || validator->name == "host_copies")) {
      return refuse(
          fmt::format("--set has no effect: `validate {}` fits formulas, and simulates nothing", validator->name));
    }
    if (!scenarios_.empty() && validator->name != "training") return refuse("--scenarios is for `validate training`");
    if (!markdown_.empty() && records) return refuse("--markdown: this kind of measurement has no page");
    if (records_.hosts) request.hosts = static_cast<int>(*records_.hosts);
    request.groups = records_.groups;
    request.wants_page = !markdown_.empty();
    if (!threshold_.empty() && !read_threshold(request)) {
      return refuse("--threshold is '" + threshold_ + "' and must be a percentage such as 10 or 10%");
    }
    request.progress = progress_of_parts(progress_, common.quiet);
    const Result<ValidationOutcome> outcome = validation::run_validator(*validator, request);
    if (progress_) progress_->clear();
    if (!outcome) {
      std::fputs(render(outcome.error()).c_str(), stderr);
      return ExitCode::kBadInput;
    }
    return answer(*outcome, common);
  }

 private:
  [[nodiscard]] bool read_threshold(validation::ValidationRequest& request) const {
    double percent = 0.0;
    const char* const end = threshold_.data() + threshold_.size();
    const auto [rest, error] = std::from_chars(threshold_.data(), end, percent);
    const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
    if (error != std::errc() || !(unit.empty() || unit == "%") || !(percent >= 0.0)) return false;
    request.threshold = percent / 100.0;
    return true;
  }

  [[nodiscard]] ExitCode answer(const ValidationOutcome& outcome, const CommonOptions& common) const {
    if (!outcome.warnings.all().empty() && !common.quiet) std::fputs(render(outcome.warnings).c_str(), stderr);
    print(common.json ? outcome.json : outcome.text);
    if (!markdown_.empty()) {
      if (const ExitCode code = write_to(markdown_, outcome.markdown); code != ExitCode::kOk) return code;
    }
    if (const ExitCode code = write_all(plots_, outcome.plots); code != ExitCode::kOk) return code;
    if (!plots_.empty() && outcome.plots.empty()) {
      std::fputs("note: this kind of measurement has no plots\n", stderr);
    }
    if (const ExitCode code = write_all(scenarios_, outcome.scenarios); code != ExitCode::kOk) return code;
    return outcome.passed ? ExitCode::kOk : ExitCode::kOutsideThreshold;
  }

  [[nodiscard]] static ExitCode write_all(const std::string& folder, const std::vector<validation::NamedText>& texts) {
    if (folder.empty()) return ExitCode::kOk;
    std::vector<FileContent> files;
    for (const validation::NamedText& text : texts) files.push_back({.name = text.name, .text = text.text});
    const std::string problem = write_files(folder, files);
    return problem.empty() ? ExitCode::kOk : refuse("cannot write into '" + folder + "': " + problem);
  }

  // Of traces and communication logs.
  struct RecordOptions {
    std::optional<std::uint64_t> hosts;
    std::vector<std::string> groups;
  };

  std::vector<std::string> words_, overrides_;
  RecordOptions records_;
  std::string cluster_, node_, profile_, classes_, threshold_, markdown_, plots_, scenarios_, collective_;
  std::optional<Progress> progress_;
};

}  // namespace

std::unique_ptr<Command> make_validate() {
  return std::make_unique<Validate>();
}

}  // namespace ringwright::tools
