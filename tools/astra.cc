// The command `astra`: a job from ASTRA-sim's own files, by ASTRA-sim's rules.
#include <algorithm>
#include <charconv>
#include <cstdio>

#include <fmt/format.h>

#include "configs/astra/astra_files.h"
#include "configs/astra/astra_report.h"
#include "tools/command.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Astra final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "astra"; }
  [[nodiscard]] std::string_view summary() const override {
    return "run a job from ASTRA-sim's files, to the nanosecond as ASTRA-sim does";
  }
  [[nodiscard]] std::string notes() const override {
    return "Takes the command line of ASTRA-sim's analytical backends unchanged: docs/astra-sim.md.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "--workload-configuration",
             .value = "PREFIX",
             .doc = "Chakra traces PREFIX.RANK.et",
             .target = &files_.workload},
            {.names = "--system-configuration", .value = "FILE", .doc = "system.json", .target = &files_.system},
            {.names = "--network-configuration", .value = "FILE", .doc = "network.yml", .target = &files_.network},
            {.names = "--remote-memory-configuration",
             .value = "FILE",
             .doc = "remote_memory.json",
             .target = &files_.remote_memory},
            {.names = "--comm-group-configuration",
             .value = "FILE",
             .doc = "comm_group.json, or empty",
             .target = &files_.groups},
            {.names = "--backend",
             .value = "NAME",
             .doc = "analytical network: unaware (default) or aware of congestion",
             .target = &backend_},
            {.names = "--num-queues-per-dim",
             .value = "N",
             .doc = "queues of chunks per dimension (1)",
             .target = &queues_,
             .least = 1,
             .most = 1000},
            {.names = "--injection-scale", .value = "X", .doc = "factor of endpoint-delay (1)", .target = &injection_},
            {.names = "--rendezvous-protocol",
             .value = "BOOL",
             .doc = "a receiver asks for each message (false)",
             .target = &rendezvous_},
            {.names = "--compute-scale", .value = "X", .doc = "no effect, as in ASTRA-sim", .target = &unused_[0]},
            {.names = "--comm-scale", .value = "X", .doc = "no effect, as in ASTRA-sim", .target = &unused_[1]},
            {.names = "--logging-configuration", .value = "FILE", .doc = "no effect", .target = &unused_[2]},
            {.names = "--logging-folder", .value = "FOLDER", .doc = "no effect", .target = &unused_[3]},
            {.names = "--astra-log",
             .value = "",
             .doc = "print ASTRA-sim's lines: sys[0] finished, N cycles, ...",
             .target = &astra_log_},
            {.names = "--no-fold",
             .value = "",
             .doc = "simulate every rank of every collective; same times, slower",
             .target = &no_fold_}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const std::string problem = read_options();
    if (!problem.empty()) return refuse(problem);
    auto job = configs::load_astra_job(files_);
    if (!job) return refuse(job.error());
    Diagnostics warnings = job->warnings;
    warn_of_options(warnings);
    if (!common.quiet && !warnings.all().empty()) std::fputs(render(warnings).c_str(), stderr);
    const JobOutcome outcome = run_node_job(job->job, job->rules, *job->networks);
    std::string text = astra_log_ ? configs::astra_log(outcome) : configs::astra_report(*job, outcome);
    if (common.json) text = configs::astra_json(*job, outcome);
    print(text);
    const Diagnostics failures = configs::astra_failures(outcome, files_.workload);
    if (!failures.has_errors()) return ExitCode::kOk;
    std::fputs(render(failures).c_str(), stderr);
    return ExitCode::kInfeasible;
  }

 private:
  // Empty, or what is wrong.
  [[nodiscard]] std::string read_options() {
    const std::pair<std::string_view, const std::string&> required[] = {{"--workload-configuration", files_.workload},
                                                                        {"--system-configuration", files_.system},
                                                                        {"--network-configuration", files_.network}};
    for (const auto& [option, value] : required) {
      if (value.empty()) return fmt::format("{} is missing", option);
    }
    if (backend_ == "aware" || backend_ == "congestion_aware") {
      files_.backend = configs::AstraBackend::kAware;
    } else if (!backend_.empty() && backend_ != "unaware" && backend_ != "congestion_unaware") {
      return fmt::format("--backend is '{}' and must be unaware or aware", backend_);
    }
    if (queues_) files_.queues_per_dimension = static_cast<std::uint32_t>(*queues_);
    if (!injection_.empty()) {
      const char* const end = injection_.data() + injection_.size();
      const auto [rest, error] = std::from_chars(injection_.data(), end, files_.injection_scale);
      if (error != std::errc() || rest != end || !(files_.injection_scale >= 0.0)) {
        return fmt::format("--injection-scale is '{}' and must be a number from 0 on", injection_);
      }
    }
    files_.rendezvous = rendezvous_ == "true" || rendezvous_ == "1";
    if (!files_.rendezvous && !rendezvous_.empty() && rendezvous_ != "false" && rendezvous_ != "0") {
      return fmt::format("--rendezvous-protocol is '{}' and must be true or false", rendezvous_);
    }
    if (no_fold_) files_.shortcuts = Shortcuts::kNo;
    return {};
  }

  void warn_of_options(Diagnostics& warnings) const {
    constexpr std::string_view kNames[] = {"--compute-scale", "--comm-scale"};
    for (std::size_t i = 0; i < std::size(kNames); ++i) {
      if (unused_[i].empty() || unused_[i] == "1") continue;
      warnings.add({.severity = Severity::kWarning,
                    .code = "W272",
                    .message = fmt::format("{}={} has no effect, as in ASTRA-sim", kNames[i], unused_[i])});
    }
  }

  configs::AstraFiles files_;
  std::string backend_;
  std::optional<std::uint64_t> queues_;
  std::string injection_;
  std::string rendezvous_;
  std::string unused_[4];
  bool astra_log_ = false;
  bool no_fold_ = false;
};

}  // namespace

std::unique_ptr<Command> make_astra() {
  return std::make_unique<Astra>();
}

}  // namespace ringwright::tools
