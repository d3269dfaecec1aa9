// The head of a run: its key figures, the evidence of its inputs, and what they say in words.
#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "planning/report/breakdown_rows.h"
#include "planning/report/builtin_panels.h"
#include "planning/report/memory_role.h"
#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

std::string capitalised(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

std::string subtitle_of(const JsonValue& job) {
  std::vector<std::string> parts;
  std::string model = job["model"].text();
  if (const auto count = job["parameters"].number(); count && *count > 0.0) {
    model += fmt::format(", {:.4g} billion parameters", *count / 1e9);
  }
  if (!model.empty()) parts.push_back(model);
  std::string gpus = fmt::format("{} GPUs", count_text(job["gpus"].number().value_or(0.0)));
  if (!job["layout"].text().empty()) gpus += " = " + job["layout"].text();
  parts.push_back(gpus);
  if (const auto count = job["microbatches"].number(); count && *count > 0.0) {
    parts.push_back(count_text(*count) + (*count > 1.0 ? " microbatches" : " microbatch"));
  }
  if (const auto tokens = job["tokens_per_step"].number(); tokens && *tokens > 0.0) {
    parts.push_back(count_text(*tokens) + " " + processed_of(job) + " per step");
  }
  return join(parts, " | ");
}

void add_memory_figure(const JsonValue& result, ReportSection& section) {
  const JsonValue* fullest = nullptr;
  double most = -1.0;
  for (const JsonValue& row : result["memory"].list()) {
    const double share = row["total_bytes"].number().value_or(0.0) / row["capacity_bytes"].number().value_or(1.0);
    if (share > most) fullest = &row;
    most = std::max(most, share);
  }
  if (fullest == nullptr) return;
  const double total = (*fullest)["total_bytes"].number().value_or(0.0);
  const double capacity = (*fullest)["capacity_bytes"].number().value_or(0.0);
  const std::string role = role_of(*fullest);
  section.figures.push_back(
      {.name = "Peak memory",
       .value = bytes_text(total),
       .remark = fmt::format("{} of {}, {}", percent_text(most), bytes_text(capacity), role)});
  if (total > capacity) {
    section.sentences.push_back(fmt::format("The job does not fit: {} needs {} and its GPUs have {}.", role,
                                            bytes_text(total), bytes_text(capacity)));
  }
}

void add_figures(const JsonValue& result, ReportSection& section) {
  const JsonValue& metrics = result["metrics"];
  const JsonValue& step = metrics["step_time_s"];
  const double mean = step["mean"].number().value_or(0.0);
  std::string spread;
  if (step["n"].number().value_or(1.0) > 1.0 && step["max"].number().value_or(mean) > mean) {
    spread = fmt::format("{} to {} in {} steps", seconds_text(step["min"].number().value_or(mean)),
                         seconds_text(step["max"].number().value_or(mean)), count_text(*step["n"].number()));
  }
  section.figures.push_back({.name = "Step time", .value = seconds_text(mean), .remark = std::move(spread)});
  if (const auto mfu = metrics["mfu"].number()) {
    section.figures.push_back(
        {.name = "MFU",
         .value = percent_text(*mfu),
         .remark = fmt::format("{:.4g} TFLOP/s per GPU",
                               metrics["model_flops_per_s_per_gpu"].number().value_or(0.0) / 1e12)});
  }
  if (const auto tokens = metrics["tokens_per_s_per_gpu"].number(); tokens && *tokens > 0.0) {
    const double all = *tokens * result["job"]["gpus"].number().value_or(1.0);
    section.figures.push_back(
        {.name = processed_of(result["job"]) == "tokens" ? "Tokens/s per GPU" : "Samples/s per GPU",
         .value = count_text(*tokens), .remark = count_text(all) + " of all GPUs"});
  }
  add_memory_figure(result, section);
  const std::vector<BreakdownRow> rows = breakdown_rows(result["breakdown"]);
  double exposed = 0.0, share = 0.0;
  for (const BreakdownRow& row : rows) {
    if (!row.is_communication()) continue;
    exposed += row.exposed;
    share += row.share;
  }
  if (!rows.empty()) {
    section.figures.push_back({.name = "Exposed communication",
                               .value = percent_text(share),
                               .remark = seconds_text(exposed) + " of a step"});
  }
}

// Where the step goes, the largest loss first.
std::optional<std::string> loss_sentence(const JsonValue& result) {
  std::vector<BreakdownRow> rows = breakdown_rows(result["breakdown"]);
  if (rows.empty()) return std::nullopt;
  const auto computing = std::ranges::find_if(rows, [](const BreakdownRow& row) { return row.dimension == "compute"; });
  std::string text;
  if (computing != rows.end()) {
    text = fmt::format("A GPU computes {} of the step.", percent_text(computing->share));
    rows.erase(computing);
  }
  const auto largest = std::ranges::max_element(rows, {}, &BreakdownRow::exposed);
  if (largest != rows.end() && largest->share > 0.0005) {
    text += fmt::format(" The largest loss is {}: {} ({}).", largest->name(), seconds_text(largest->exposed),
                        percent_text(largest->share));
  }
  return text;
}

std::optional<std::string> stage_sentence(const JsonValue& result) {
  const JsonValue* most = nullptr;
  for (const JsonValue& stage : result["pipeline"].list()) {
    if (most == nullptr || stage["bubble_s"].number().value_or(0.0) > (*most)["bubble_s"].number().value_or(0.0)) {
      most = &stage;
    }
  }
  const std::string& slowest = result["slowest_stage"]["name"].text();
  if (most == nullptr || slowest.empty()) return std::nullopt;
  const std::vector<BreakdownRow> rows = breakdown_rows(result["slowest_stage"]["breakdown"]);
  const double computing = rows.empty() ? 0.0 : rows.front().exposed;
  return fmt::format("{} computes longest, {}; {} waits most for the others, {} ({} of the step).",
                     capitalised(slowest), seconds_text(computing), (*most)["stage"].text(),
                     seconds_text((*most)["bubble_s"].number().value_or(0.0)),
                     percent_text((*most)["of_step"].number().value_or(0.0)));
}

std::optional<std::string> link_sentence(const JsonValue& result) {
  const std::vector<JsonValue>& links = result["links"].list();
  if (links.empty()) return std::nullopt;
  return fmt::format("The busiest link, {}, is used to {} on average over the run.", links.front()["id"].text(),
                     percent_text(links.front()["util"].number().value_or(0.0)));
}

std::string_view words_for_metric(std::string_view metric) {
  if (metric == "step_time_s") return "step time";
  if (metric == "mfu") return "MFU";
  if (metric == "model_flops_per_s_per_gpu") return "arithmetic rate";
  return "rate of tokens";
}

std::optional<std::string> published_sentence(const JsonValue& result) {
  const std::vector<JsonValue>& figures = result["published"].list();
  if (figures.empty()) return std::nullopt;
  const JsonValue& figure = figures.front();
  const double difference = figure["difference"].number().value_or(0.0);
  return fmt::format("The predicted {} is {:.1f} % {} the one that was measured on the real system ({}).",
                     words_for_metric(figure["metric"].text()), 100.0 * std::abs(difference),
                     difference < 0.0 ? "below" : "above", figure["source"].text());
}

std::string without_folders(const std::string& source) {
  const bool is_path = source.starts_with('/') && source.find(' ') == std::string::npos;
  return is_path ? source.substr(source.find_last_of('/') + 1) : source;
}

}  // namespace

ReportSection run_header(const ResultInput& input) {
  const JsonValue& result = input.json;
  ReportSection section{.title = result["scenario"].text(), .subtitle = subtitle_of(result["job"])};
  add_figures(result, section);
  for (const auto& sentence :
       {loss_sentence(result), stage_sentence(result), link_sentence(result), published_sentence(result)}) {
    if (sentence && !sentence->empty()) section.sentences.push_back(*sentence);
  }
  const JsonValue& evidence = result["evidence"];
  for (std::size_t i = 0; i < evidence.keys.size(); ++i) {
    section.badges.push_back({.input = evidence.keys[i],
                              .level = evidence.items[i]["level"].text(),
                              .source = without_folders(evidence.items[i]["source"].text())});
  }
  for (const JsonValue& word : result["command"].list()) section.command.push_back(word.text());
  section.fingerprint = fmt::format("configuration {}, seed {}, {} {}", result["config"]["sha256"].text(),
                                    count_text(result["seed"].number().value_or(0.0)), result["tool"]["name"].text(),
                                    result["tool"]["version"].text());
  return section;
}

}  // namespace ringwright::planning
