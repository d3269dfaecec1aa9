// The command `version`: the version of ringwright, and the compiler that built it.
#include <cstdio>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "tools/command.h"
#include "tools/terminal.h"

namespace ringwright::tools {
namespace {

class Version final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "version"; }
  [[nodiscard]] std::string_view summary() const override { return "print the version"; }
  [[nodiscard]] std::vector<OptionSpec> options() override { return {}; }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const std::string text = common.json ? fmt::format("{{\"version\": {}, \"compiler\": {}}}\n",
                                                       json_text(RINGWRIGHT_VERSION), json_text(kCompiler))
                                         : fmt::format("ringwright {} ({})\n", RINGWRIGHT_VERSION, kCompiler);
    print(text);
    return ExitCode::kOk;
  }

 private:
#ifdef __clang__
  static constexpr std::string_view kCompiler = "clang " __clang_version__;
#else
  static constexpr std::string_view kCompiler = "g++ " __VERSION__;
#endif
};

}  // namespace

std::unique_ptr<Command> make_version() {
  return std::make_unique<Version>();
}

}  // namespace ringwright::tools
