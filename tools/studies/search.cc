// The command `search`: finds the best parallel layout of a scenario that fits its machine.
#include <array>
#include <charconv>
#include <cstdio>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/scenario.h"
#include "configs/simulation/overhead_store.h"
#include "core/base/cache_folder.h"
#include "core/base/text.h"
#include "planning/search/search.h"
#include "planning/search/search_base.h"
#include "planning/search/search_report.h"
#include "planning/search/search_space.h"
#include "tools/command.h"
#include "tools/command_words.h"
#include "tools/progress.h"
#include "tools/scenario_file.h"

namespace ringwright::tools {
namespace {

// "KEY=a,b,c" in its two halves.
struct Assignment {
  std::string key;
  std::string value;
};
Result<Assignment> assignment(const std::string& argument, std::string_view option) {
  const std::size_t equals = argument.find('=');
  if (equals != std::string::npos && equals > 0 && equals + 1 < argument.size()) {
    return Assignment{argument.substr(0, equals), argument.substr(equals + 1)};
  }
  return tl::unexpected(failure("E153", fmt::format("cannot read {} '{}'", option, argument), {},
                                fmt::format("write {} tp={}", option, option == "--vary" ? "4,8" : "8")));
}

Diagnostics given_twice(const std::string& key) {
  return failure("E153", fmt::format("'{}' is given twice by --fix and --vary", key), {},
                 fmt::format("list its values once: --vary {}=A,B", key));
}

std::vector<std::string> comma_separated(const std::string& text) {
  std::vector<std::string> words;
  int depth = 0;  // commas inside a list or map do not separate values
  std::string word;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0)
      words.push_back(std::exchange(word, {}));
    else
      word += c;
  }
  words.push_back(word);
  return words;
}

Diagnostics add_other(const std::string& key, std::vector<std::string> values,
                      std::vector<configs::SearchAxis>& others) {
  if (const std::string why = configs::why_not_varied(key); !why.empty()) return failure("E153", why);
  others.push_back({.name = key, .values = std::move(values)});
  return {};
}

// What a search does not take over from the scenario: a fixed value is an axis of one. Files are read into the
// scenario, which keeps what they say about everything but the layout.
bool is_of_layouts(const Assignment& fixed) {
  if (fixed.key == "parallel.dp") return fixed.value != "auto";
  if (fixed.key == "parallel.zero.stage") return true;
  return planning::holds_for_one_layout(fixed.key) && configs::why_not_varied(fixed.key).empty();
}

class Search final : public Command {
 public:
  [[nodiscard]] std::string_view name() const override { return "search"; }
  [[nodiscard]] std::string_view summary() const override { return "find the best parallel layout of a scenario"; }
  [[nodiscard]] std::string notes() const override {
    return "Prints the best layouts with step time, tokens/s, MFU and memory, what each choice costs, time against\n"
           "memory, what does not fit, and the scenario's own layout (docs/search.md).\n"
           "Axes: tp, pp, virtual_stages, cp, ep, etp, micro_batch, recompute, sharding, stage_layers, schedule,\n"
           "sequence_parallel; `ringwright explain search.tp` lists its default values. The block `search`\n"
           "of the scenario has the same settings as these options.\n";
  }
  [[nodiscard]] std::vector<OptionSpec> options() override {
    return {{.names = "config",
             .value = "",
             .doc = "a YAML file, or the name of a shipped scenario",
             .target = &config_,
             .required = true},
            {.names = "--objective",
             .value = "WHAT",
             .doc = "step_time (default), tokens_per_s, mfu or memory",
             .target = &objective_},
            {.names = "--max-memory",
             .value = "SIZE",
             .doc = "memory that a GPU may use: 76GiB; default: all it has",
             .target = &max_memory_},
            {.names = "--top", .value = "N", .doc = "number of configurations shown; 10", .target = &top_, .least = 1},
            {.names = "--replay",
             .value = "N",
             .doc = "number of the best layouts that are simulated with the models of the scenario; 10",
             .target = &replay_},
            {.names = "--vary",
             .value = "KEY=a,b,c",
             .doc = "values of an axis, or of a key of the job, may be repeated",
             .target = &vary_},
            {.names = "--fix",
             .value = "KEY=VALUE",
             .doc = "one value of an axis, or of any key, may be repeated",
             .target = &fix_},
            threads_option(&threads_),
            {.names = "--skip-slower",
             .value = "",
             .doc = "do not predict layouts that a bound excludes from all tables of the page",
             .target = &skip_slower_},
            {.names = "--predict-all",
             .value = "",
             .doc = "predict every layout that fits; default where at most 500 fit, and with --csv, --html or --json",
             .target = &predict_all_},
            {.names = "--csv",
             .value = "FILE",
             .doc = "write every legal layout as a table",
             .target = &csv_,
             .writes = true},
            page_option(&html_),
            {.names = "--write",
             .value = "FILE",
             .doc = "write the best layout as a scenario",
             .target = &write_,
             .writes = true}};
  }

  [[nodiscard]] ExitCode run(const CommonOptions& common) override {
    const auto path = find_scenario(config_);
    if (!path) return refuse(path.error());
    std::vector<configs::SearchAxis> others;
    const auto overrides = settings_of(others);
    if (!overrides) return refuse(overrides.error());
    const auto base = planning::load_search_base(*path, {.overrides = *overrides, .share_folders = {}}, others);
    if (!base) return refuse(base.error());
    const configs::Scenario* const scenario = &base->scenario;
    configs::SearchSettings settings = scenario->search;
    settings.given.insert(settings.given.end(), others.begin(), others.end());
    configs::OverheadStore store(cache_folder());
    const auto result = planning::search(*scenario, settings,
                                         {.threads = static_cast<int>(threads_.value_or(0)),
                                          .progress = progress_of_parts(progress_, common.quiet),
                                          .lists_all = common.json || !csv_.empty() || !html_.empty(),
                                          .store = &store,
                                          .own_problem = base->own_problem});
    if (progress_) progress_->clear();
    if (!result) return refuse(result.error());
    warn(limit_without_effect(settings, *result), common);
    const planning::SearchReport report{.scenario = *scenario,
                                        .settings = settings,
                                        .result = *result,
                                        .detail = common.quiet ? Detail::kQuiet : Detail::kNormal,
                                        .command = command_given()};
    print(common.json ? render_search_json(report) : render_search_text(report));
    if (!csv_.empty()) {
      if (const ExitCode code = write_to(csv_, render_search_csv(report)); code != ExitCode::kOk) return code;
    }
    if (const ExitCode code = write_page(html_, render_search_json(report)); code != ExitCode::kOk) return code;
    if (result->ranked.empty()) return ExitCode::kInfeasible;
    return write_.empty() ? ExitCode::kOk : write_best(*scenario, settings, *result);
  }

 private:
  static Diagnostics limit_without_effect(const configs::SearchSettings& settings,
                                          const planning::SearchResult& result) {
    Diagnostics warnings;
    if (settings.max_memory <= result.capacity) return warnings;
    warnings.add({.severity = Severity::kWarning,
                  .code = "W131",
                  .message = fmt::format("search.max_memory of {} has no effect: a GPU has {}",
                                         to_string(settings.max_memory), to_string(result.capacity)),
                  .hint = "cluster.node.gpu.memory is what it has"});
    return warnings;
  }

  // As far as the result depends on it.
  [[nodiscard]] std::vector<std::string> command_given() const {
    std::vector<std::string> words = {"ringwright", "search", base_name(config_)};
    for (const std::string& setting : fix_) words.insert(words.end(), {"--fix", without_folders_in(setting)});
    for (const std::string& setting : vary_) words.insert(words.end(), {"--vary", without_folders_in(setting)});
    if (!objective_.empty()) words.insert(words.end(), {"--objective", objective_});
    if (!max_memory_.empty()) words.insert(words.end(), {"--max-memory", max_memory_});
    if (top_) words.insert(words.end(), {"--top", std::to_string(*top_)});
    if (replay_) words.insert(words.end(), {"--replay", std::to_string(*replay_)});
    if (skip_slower_) words.emplace_back("--skip-slower");
    if (predict_all_) words.emplace_back("--predict-all");
    return words;
  }

  // The options as settings of the scenario; axes that are no key of `search` are separate.
  [[nodiscard]] Result<std::vector<std::string>> settings_of(std::vector<configs::SearchAxis>& others) const {
    std::vector<std::string> settings;
    const auto set = [&settings](std::string_view key, const std::string& value) {
      if (!value.empty()) settings.push_back(fmt::format("search.{}={}", key, value));
    };
    std::set<std::string> given;
    const auto is_second = [&given](const std::string& axis, const std::string& key) {
      return !given.insert(axis.empty() ? key : axis).second;
    };
    for (const std::string& argument : fix_) {
      const auto fixed = assignment(argument, "--fix");
      if (!fixed) return tl::unexpected(fixed.error());
      const std::string axis = configs::axis_of(fixed->key);
      if (is_second(axis, fixed->key)) return tl::unexpected(given_twice(fixed->key));
      if (!axis.empty()) {
        set(axis, "[" + fixed->value + "]");
      } else if (is_of_layouts(*fixed)) {
        if (Diagnostics wrong = add_other(fixed->key, {fixed->value}, others); wrong.has_errors()) {
          return tl::unexpected(std::move(wrong));
        }
      } else {
        settings.push_back(argument);
      }
    }
    for (const std::string& argument : vary_) {
      const auto varied = assignment(argument, "--vary");
      if (!varied) return tl::unexpected(varied.error());
      const std::string axis = configs::axis_of(varied->key);
      if (is_second(axis, varied->key)) return tl::unexpected(given_twice(varied->key));
      if (!axis.empty()) {
        set(axis, "[" + varied->value + "]");
        continue;
      }
      if (Diagnostics wrong = add_other(varied->key, comma_separated(varied->value), others); wrong.has_errors()) {
        return tl::unexpected(std::move(wrong));
      }
    }
    set("objective", objective_);
    set("max_memory", max_memory_);
    if (top_) set("top", std::to_string(*top_));
    if (replay_) set("replay", std::to_string(*replay_));
    if (skip_slower_ && predict_all_) {
      return tl::unexpected(failure("E153", "--skip-slower and --predict-all exclude each other"));
    }
    if (skip_slower_ || predict_all_) set("skip_slower", skip_slower_ ? "true" : "false");
    return settings;
  }

  // The layout is read back before it is written: a scenario that names files in its folder cannot move to another one.
  [[nodiscard]] ExitCode write_best(const configs::Scenario& scenario, const configs::SearchSettings& settings,
                                    const planning::SearchResult& result) const {
    const planning::SearchSpace space(scenario, settings);
    const std::string text = planning::written(scenario, space, result.ranked.front());
    const auto again = configs::load_scenario_text(write_, text);
    if (again) return write_to(write_, text);
    tell(
        fmt::format("error: the best layout cannot be read as '{}', and was not written; does the scenario name files "
                    "in its own folder?\n",
                    write_));
    return refuse(again.error());
  }

  std::string config_, objective_, max_memory_, csv_, html_, write_;
  std::vector<std::string> vary_, fix_;
  std::optional<std::uint64_t> top_, replay_, threads_;
  bool skip_slower_ = false, predict_all_ = false;
  std::optional<Progress> progress_;
};

}  // namespace

std::unique_ptr<Command> make_search() {
  return std::make_unique<Search>();
}

}  // namespace ringwright::tools
