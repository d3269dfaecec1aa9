// The command `report`: results of earlier commands as one HTML page, with charts.
#include <cstdio>
#include <filesystem>

#include "core/base/diagnostic.h"
#include "core/base/user_file.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/page.h"
#include "tools/command.h"

namespace ringwright::tools {
namespace {

class ReportCommand final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "report"; }
  [[nodiscard]] std::string_view summary() const override {
    return "results of earlier commands as one HTML page that works offline";
  }
  [[nodiscard]] std::string notes() const override {
    std::string text = "Results are files written by:\n";
    for (const planning::ResultKind& kind : planning::result_kinds()) text += "  " + std::string(kind.command) + "\n";
    return text +
           "A folder stands for the result.json in it. `ringwright run --html FILE` writes the page of a run at "
           "once,\nwith the tasks of its pipeline stages.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "results",
             .value = "",
             .doc = "result.json of a run, or the JSON of another command; one or more",
             .target = &files_,
             .required = true},
            {.names = "-o,--output",
             .value = "FILE",
             .doc = "the page; report.html",
             .target = &output_,
             .writes = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    std::vector<planning::ReportSection> sections;
    Diagnostics mistakes;
    for (const std::string& file : files_) {
      auto section = read(file);
      if (section) {
        sections.push_back(std::move(*section));
        continue;
      }
      for (const Diagnostic& mistake : section.error().all()) mistakes.add(mistake);
    }
    if (mistakes.has_errors()) {
      std::fputs(render(mistakes).c_str(), stderr);
      return ExitCode::kBadInput;
    }
    const ExitCode code = write_to(output_, planning::render_page(sections));
    if (code == ExitCode::kOk && !common.quiet) std::fprintf(stderr, "report in %s\n", output_.c_str());
    return code;
  }

 private:
  static Result<planning::ReportSection> read(const std::string& file) {
    std::error_code ignored;
    const bool is_folder = std::filesystem::is_directory(file, ignored);
    const std::string path = is_folder ? file + "/result.json" : file;
    const auto text = read_user_file(path);
    if (!text) return tl::unexpected(failure("E340", "the result cannot be read: " + text.error(), {.file = path}));
    auto json = planning::parse_json(path, *text);
    if (!json) return tl::unexpected(std::move(json.error()));
    return planning::section_of({.name = path, .json = std::move(*json)});
  }

  std::vector<std::string> files_;
  std::string output_ = "report.html";
};

}  // namespace

std::unique_ptr<Command> make_report() {
  return std::make_unique<ReportCommand>();
}

}  // namespace ringwright::tools
