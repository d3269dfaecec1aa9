// The command `goodput`: months of a job with faults, checkpoints and recovery, simulated many times.
#include <cstdio>

#include <fmt/format.h>

#include "planning/operation/goodput.h"
#include "planning/operation/policies/builtin_policies.h"
#include "tools/command.h"
#include "tools/studies/study_options.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Goodput final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "goodput"; }
  [[nodiscard]] std::string_view summary() const override {
    return "simulate a job over months: faults, checkpoints, recovery, goodput";
  }
  [[nodiscard]] std::string notes() const override {
    std::string text =
        "A goodput file describes a job, or names a scenario, with its faults, checkpoints and recovery; `ringwright\n"
        "list operation` names the shipped files. The output is the productive share of the wall time (ETTR), where\n"
        "the rest goes, the cost of each class of faults, and a comparison of checkpoint intervals and recovery\n"
        "policies (docs/goodput.md).\n"
        "Recovery policies:\n";
    for (const planning::PolicyEntry& entry : planning::recovery_policies()) {
      text += fmt::format("  {:<19}{}\n", entry.name, entry.help);
    }
    return text;
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "file",
             .value = "",
             .doc = "a goodput file, or the name of a shipped one",
             .target = &file_,
             .required = true},
            {.names = "--set",
             .value = "KEY=VALUE",
             .doc = "override a value of the file or of its scenario, may be repeated",
             .target = &settings_},
            {.names = "--no-intervals",
             .value = "",
             .doc = "do not simulate other intervals of checkpoints",
             .target = &no_intervals_},
            {.names = "--no-compare", .value = "", .doc = "only the chosen policy", .target = &no_compare_},
            page_option(&html_),
            threads_option(&threads_)};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const planning::Workers workers{.threads = static_cast<int>(threads_.value_or(0)), .progress = {}};
    const planning::GoodputOptions options{
        .settings = settings_, .workers = workers, .intervals = !no_intervals_, .compare = !no_compare_};
    const auto result = planning::goodput(file_, options);
    if (!result) return refuse(result.error());
    if (!result->warnings.all().empty() && !common.quiet) std::fputs(render(result->warnings).c_str(), stderr);
    print(common.json ? render_goodput_json(*result) : render_goodput_text(*result));
    return write_page(html_, render_goodput_json(*result));
  }

 private:
  std::string file_, html_;
  std::vector<std::string> settings_;
  std::optional<std::uint64_t> threads_;
  bool no_intervals_ = false;
  bool no_compare_ = false;
};

}  // namespace

std::unique_ptr<Command> make_goodput() {
  return std::make_unique<Goodput>();
}

}  // namespace ringwright::tools
