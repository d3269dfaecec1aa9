// The command `explain`: the page of a configuration key or of an error code, offline.
#include <algorithm>
#include <array>
#include <cstdio>

#include <fmt/format.h>

#include "configs/scenario/explanation.h"
#include "configs/scenario/foreign_names.h"
#include "core/base/error_code.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "planning/error_codes.h"
#include "planning/operation/error_codes.h"
#include "planning/operation/goodput_file.h"
#include "tools/command.h"
#include "tools/terminal.h"
#include "validation/error_codes.h"

namespace ringwright::tools {
namespace {

class Explain final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "explain"; }
  [[nodiscard]] std::string_view summary() const override {
    return "explain a key (parallel.tp), an error code (E110), or NCCL tables (nccl-2.20)";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "word",
             .value = "",
             .doc = "a key, an error code, or nccl-VERSION",
             .target = &word_,
             .required = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    configs::Explanation explanation = configs::explain(word_);
    const std::vector<KeyDoc> of_goodput = planning::goodput_keys();
    if (const std::string page = explain_key(of_goodput, word_); !page.empty()) {
      if (!explanation.page.empty()) explanation.page += "\n";
      explanation.page += "In a file of `ringwright goodput`:\n\n" + page;
    }
    const std::array of_studies = {validation::validation_error_codes(), planning::planning_error_codes(),
                                         planning::operation_error_codes()};
    if (explanation.page.empty()) explanation.page = explain_error(of_studies, word_);
    if (explanation.page.empty()) {
      for (const std::string& near : near_keys(of_goodput, word_)) {
        if (std::ranges::find(explanation.near, near) == explanation.near.end()) explanation.near.push_back(near);
      }
      return unknown(explanation.near);
    }
    const std::string text =
        common.json ? fmt::format("{{\"word\": {}, \"page\": {}}}\n", json_text(word_), json_text(explanation.page))
                    : explanation.page;
    print(text);
    if (!text.ends_with('\n')) print("\n");
    return ExitCode::kOk;
  }

 private:
  ExitCode unknown(const std::vector<std::string>& near) const {
    std::fprintf(stderr, "error: no key and no error code is called '%s'\n", word_.c_str());
    if (const std::string hint = configs::foreign_name_hint(word_); !hint.empty()) {
      std::fprintf(stderr, "%s\n", hint.c_str());
      return ExitCode::kUsage;
    }
    if (!near.empty()) std::fprintf(stderr, "Near: %s\n", join(near, ", ").c_str());
    return ExitCode::kUsage;
  }

  std::string word_;
};

}  // namespace

std::unique_ptr<Command> make_explain() {
  return std::make_unique<Explain>();
}

}  // namespace ringwright::tools
