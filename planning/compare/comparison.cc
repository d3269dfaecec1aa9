#include "planning/compare/comparison.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "configs/scenario/published.h"
#include "configs/simulation/simulate.h"
#include "core/config/config_document.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kResultCode = "E320";
constexpr std::int64_t kMostPicoseconds = std::numeric_limits<std::int64_t>::max() / 4;

std::vector<ResolvedValue> resolved_values(const ConfigLog& log) {
  std::vector<ResolvedValue> values;
  for (const ValueRead& value : log.values()) values.push_back({.key = value.path, .value = value.text});
  std::ranges::sort(values, {}, &ResolvedValue::key);
  return values;
}

std::int64_t read_picoseconds(ConfigMap& map, std::string_view name) {
  return map.integer({.name = name, .doc = "picoseconds", .min = -kMostPicoseconds, .max = kMostPicoseconds});
}

void read_metrics(ConfigMap root, StepFigures& figures) {
  ConfigMap metrics = root.map("metrics", "the key figures");
  figures.tokens_per_second_per_gpu =
      metrics.number({.name = "tokens_per_s_per_gpu", .doc = "tokens per second of a GPU", .fallback = 0.0});
  if (metrics.has("mfu")) {
    const double use = metrics.number({.name = "mfu", .doc = "model FLOP utilisation", .fallback = 0.0});
    figures.model_flop_utilisation = use;
  }
  ConfigMap job = root.map("job", "the job");
  figures.gpus = job.integer({.name = "gpus", .doc = "ranks of the job", .fallback = 0});
  if (job.has("tokens_are")) figures.processed = job.text({.name = "tokens_are", .doc = "what its tokens are"});
}

std::vector<StepPart> read_parts(ConfigMap root) {
  std::vector<StepPart> parts;
  for (ConfigMap& map : root.maps("parts_ps", "the step time by cause")) {
    parts.push_back({.cause = map.text({.name = "cause", .doc = "what takes the time"}),
                     .time = Duration(read_picoseconds(map, "ps"))});
  }
  return parts;
}

std::vector<ResolvedValue> read_values(ConfigMap root) {
  std::vector<ResolvedValue> values;
  ConfigMap resolved = root.map("config", "the configuration").map("resolved", "its values");
  for (const std::string& key : resolved.keys()) {
    values.push_back({.key = key, .value = resolved.map(key, "a value").remark("value")});
  }
  std::ranges::sort(values, {}, &ResolvedValue::key);
  return values;
}

Result<ComparedStep> read_result_document(ConfigDocument document, const std::string& name) {
  ConfigMap root = document.root();
  const std::string schema = root.has("schema") ? root.remark("schema") : "";
  if (schema != "ringwright.result/1" || !root.has("parts_ps")) {
    return tl::unexpected(failure(std::string(kResultCode),
                                  schema != "ringwright.result/1"
                                      ? fmt::format("'{}' is no result of `ringwright run`", name)
                                      : fmt::format("'{}' has no parts_ps: an older version wrote it", name),
                                  {.file = name}, "name a scenario, or run it again"));
  }
  ComparedStep step{.name = root.remark("scenario"), .source = name, .figures = {}, .values = read_values(root)};
  step.figures.step = Duration(read_picoseconds(root, "step_ps"));
  step.figures.parts = read_parts(root);
  read_metrics(root, step.figures);
  Duration sum;
  for (const StepPart& part : step.figures.parts) sum += part.time;
  if (!document.log().diagnostics().has_errors() && sum != step.figures.step) {
    root.error(
        "parts_ps", std::string(kResultCode),
        fmt::format("the parts add up to {} ps, and the step takes {} ps", sum.count(), step.figures.step.count()),
        "the file was changed by hand; run the scenario again");
  }
  if (document.log().diagnostics().has_errors()) return tl::unexpected(document.log().diagnostics());
  return step;
}

Result<ComparedStep> simulate_side(const std::string& path, const std::vector<std::string>& settings) {
  auto scenario = configs::load_scenario(path, {.overrides = settings, .share_folders = {}});
  if (!scenario) return tl::unexpected(scenario.error());
  Point point = simulate_point(*scenario);
  if (!point.was_simulated()) {
    return tl::unexpected(failure(point.code.empty() ? std::string(kResultCode) : point.code,
                                  fmt::format("'{}' cannot be compared: {}", path, point.reason), {.file = path}));
  }
  return ComparedStep{.name = scenario->name,
                      .source = path,
                      .figures = std::move(point.figures),
                      .values = resolved_values(scenario->document.log())};
}

std::vector<DifferentValue> different_values(const ComparedStep& before, const ComparedStep& after) {
  std::vector<DifferentValue> different;
  auto a = before.values.begin();
  auto b = after.values.begin();
  while (a != before.values.end() || b != after.values.end()) {
    const bool only_a = b == after.values.end() || (a != before.values.end() && a->key < b->key);
    const bool only_b = a == before.values.end() || (b != after.values.end() && b->key < a->key);
    const std::string& key = only_b ? b->key : a->key;
    DifferentValue entry{.key = key, .before = only_b ? "" : a->value, .after = only_a ? "" : b->value};
    if (entry.before != entry.after && key != "name") different.push_back(std::move(entry));
    if (!only_b) ++a;
    if (!only_a) ++b;
  }
  return different;
}

}  // namespace

std::string result_file(const std::string& path) {
  std::error_code ignored;
  const std::filesystem::path inside = std::filesystem::path(path) / "result.json";
  if (std::filesystem::is_directory(path, ignored)) return inside.string();
  if (std::filesystem::path(path).extension() != ".json") return {};
  const auto document = ConfigDocument::load(path);
  return document && document->names("schema") ? path : std::string();
}

Result<ComparedStep> read_result(const std::string& name, std::string_view text) {
  auto document = ConfigDocument::load_text(name, text);
  if (!document) return tl::unexpected(document.error());
  return read_result_document(std::move(*document), name);
}

Result<ComparedStep> load_compared(const std::string& path, const std::vector<std::string>& settings) {
  const std::string file = result_file(path);
  if (file.empty()) return simulate_side(path, settings);
  auto document = ConfigDocument::load(file);
  if (!document) return tl::unexpected(document.error());
  return read_result_document(std::move(*document), file);
}

Result<ComparedStep> load_published(const std::string& path) {
  auto scenario = configs::load_scenario(path);
  if (!scenario) return tl::unexpected(scenario.error());
  if (scenario->published.empty()) {
    return tl::unexpected(failure(std::string(kResultCode), fmt::format("'{}' has no published figure", path),
                                  {.file = path}, "published: [{source: a paper, step_time: 1.9s}]"));
  }
  const std::vector<std::string> changed = configs::changed_since_published(scenario->document);
  if (!changed.empty()) {
    return tl::unexpected(failure(std::string(kResultCode),
                                  fmt::format("the published figures of '{}' are of the file that it extends, and it "
                                              "changes '{}'",
                                              path, changed.front()),
                                  {.file = path},
                                  "give the figures of the changed job as `published`, or name that file"));
  }
  const auto outcome = configs::simulate(*scenario, configs::FoldMode::kFold);
  if (!outcome) return tl::unexpected(outcome.error());
  if (!outcome->report) {
    return tl::unexpected(failure(std::string(kResultCode), fmt::format("'{}' does not end", path), {.file = path}));
  }
  const Report& report = *outcome->report;
  const auto is_time = [](const Comparison& one) { return one.published.quantity == PublishedQuantity::kStepTime; };
  const auto timed = std::ranges::find_if(report.comparisons, is_time);
  const Comparison& figure = timed != report.comparisons.end() ? *timed : report.comparisons.front();
  const double slower = is_time(figure) ? figure.published.value / figure.ours : figure.ours / figure.published.value;
  ComparedStep side{.name = scenario->name + ", published",
                    .source = path,
                    .figures = {},
                    .values = resolved_values(scenario->document.log())};
  side.figures.step = scale(report.step_time.mean, slower);
  side.figures.parts = {{.cause = "as published", .time = side.figures.step}};
  side.figures.tokens_per_second_per_gpu = report.tokens_per_second_per_gpu / slower;
  if (report.model_flop_utilisation) side.figures.model_flop_utilisation = *report.model_flop_utilisation / slower;
  side.figures.gpus = static_cast<std::int64_t>(report.gpus);
  side.figures.processed = report.facts.processed;
  return side;
}

SideBySide compare(std::vector<ComparedStep> sides) {
  SideBySide both{.sides = std::move(sides), .comparisons = {}};
  for (std::size_t i = 1; i < both.sides.size(); ++i) {
    const ComparedStep& first = both.sides.front();
    both.comparisons.push_back({.other = i,
                                .changes = difference(first.figures.parts, both.sides[i].figures.parts),
                                .values = different_values(first, both.sides[i])});
  }
  return both;
}

}  // namespace ringwright::planning
