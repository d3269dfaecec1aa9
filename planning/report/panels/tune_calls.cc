// What tuning gains for each call, and the simulated time of each setting that was tried.
#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "planning/report/builtin_panels.h"

namespace ringwright::planning {
namespace {

constexpr std::string_view kNcclsChoice = "NCCL's choice";

std::string full_setting(const JsonValue& setting) {
  return fmt::format("{} {} {}", setting["algorithm"].text(), setting["protocol"].text(),
                     setting["channels"].number().value_or(0.0));
}

std::vector<std::string> operations_of(const JsonValue& study) {
  std::vector<std::string> operations;
  for (const JsonValue& call : study["calls"].list()) {
    const std::string& operation = call["operation"].text();
    if (std::ranges::find(operations, operation) == operations.end()) operations.push_back(operation);
  }
  return operations;
}

// The columns of the panel with the settings of one operation.
struct SettingColumns {
  PanelColumn series = text_column("setting");
  PanelColumn size = number_column("message size", "B");
  PanelColumn time = number_column("time", "us");
  PanelColumn channels = number_column("channels", "");

  void add(const std::string& name, const JsonValue& bytes, double microseconds, double number) {
    texts(series).push_back(name);
    numbers(size).push_back(bytes.number_or_unknown());
    numbers(time).push_back(microseconds);
    numbers(channels).push_back(number);
  }
};

// The fastest number of channels of each algorithm and protocol.
std::map<std::string, const JsonValue*> quickest_by_setting(const JsonValue& call) {
  std::map<std::string, const JsonValue*> fastest;
  for (const JsonValue& one : call["candidates"].list()) {
    const JsonValue*& best = fastest[one["algorithm"].text() + " " + one["protocol"].text()];
    if (best == nullptr || one["us"].number_or_unknown() < (*best)["us"].number_or_unknown()) best = &one;
  }
  return fastest;
}

}  // namespace

std::vector<Panel> tune_gains(const ResultInput& result) {
  PanelColumn series = text_column("operation"), size = number_column("message size", "B"),
              gain = number_column("gain", "times as fast"), own = number_column("NCCL's time", "us"),
              best = number_column("fastest", "us"), choice = text_column("NCCL's choice"),
              setting = text_column("fastest setting"), tried = number_column("settings simulated", "");
  for (const JsonValue& call : result.json["calls"].list()) {
    texts(series).push_back(call["operation"].text());
    numbers(size).push_back(call["size"].number_or_unknown());
    numbers(gain).push_back(call["own_us"].number_or_unknown() / call["best_us"].number_or_unknown());
    numbers(own).push_back(call["own_us"].number_or_unknown());
    numbers(best).push_back(call["best_us"].number_or_unknown());
    texts(choice).push_back(full_setting(call["own"]));
    texts(setting).push_back(full_setting(call["best"]));
    numbers(tried).push_back(call["tried"].number_or_unknown());
  }
  if (series.size() == 0) return {};
  return {Panel{.id = "gains",
                .title = "What the best setting gains",
                .sentence = "The time with NCCL's own choice divided by the time with the fastest setting; 1: NCCL's "
                            "choice is not beaten. Settings are algorithm, protocol and channels.",
                .chart = Chart::kLines,
                .columns = {series, size, gain, own, best, choice, setting, tried},
                .x_scale = AxisScale::kLogarithmic,
                .wide = true}};
}

std::vector<Panel> tune_settings(const ResultInput& result) {
  std::vector<Panel> panels;
  for (const std::string& operation : operations_of(result.json)) {
    // Series by series, each by size: points of a line are in the order of its columns.
    std::map<std::string, SettingColumns> lines;
    SettingColumns own;
    for (const JsonValue& call : result.json["calls"].list()) {
      if (call["operation"].text() != operation) continue;
      for (const auto& [name, best] : quickest_by_setting(call)) {
        lines[name].add(name, call["size"], (*best)["us"].number_or_unknown(), (*best)["channels"].number_or_unknown());
      }
      own.add(std::string(kNcclsChoice), call["size"], call["own_us"].number_or_unknown(),
              call["own"]["channels"].number_or_unknown());
    }
    if (lines.empty()) continue;
    SettingColumns all;
    lines.emplace("~", own);  // after all names
    for (const auto& [name, line] : lines) {
      std::ranges::copy(std::get<0>(line.size.cells), std::back_inserter(numbers(all.size)));
      std::ranges::copy(std::get<0>(line.time.cells), std::back_inserter(numbers(all.time)));
      std::ranges::copy(std::get<0>(line.channels.cells), std::back_inserter(numbers(all.channels)));
      std::ranges::copy(std::get<1>(line.series.cells), std::back_inserter(texts(all.series)));
    }
    panels.push_back({.id = fmt::format("settings-{}", panels.size() + 1),
                      .title = "Time of each setting, " + operation,
                      .sentence = "Simulated, for each algorithm and protocol with its fastest number of channels. The "
                                  "points are what NCCL chooses itself.",
                      .chart = Chart::kLines,
                      .columns = {all.series, all.size, all.time, all.channels},
                      .x_scale = AxisScale::kLogarithmic,
                      .y_scale = AxisScale::kLogarithmic,
                      .drawn_as_points = {std::string(kNcclsChoice)},
                      .wide = true});
  }
  return panels;
}

std::vector<Panel> tune_candidates(const ResultInput& result) {
  PanelColumn operation = text_column("operation"), size = number_column("message size", "B"),
              algorithm = text_column("algorithm"), protocol = text_column("protocol"),
              channels = number_column("channels", ""), time = number_column("time", "us");
  for (const JsonValue& call : result.json["calls"].list()) {
    for (const JsonValue& one : call["candidates"].list()) {
      texts(operation).push_back(call["operation"].text());
      numbers(size).push_back(call["size"].number_or_unknown());
      texts(algorithm).push_back(one["algorithm"].text());
      texts(protocol).push_back(one["protocol"].text());
      numbers(channels).push_back(one["channels"].number_or_unknown());
      numbers(time).push_back(one["us"].number_or_unknown());
    }
  }
  if (operation.size() == 0) return {};
  return {Panel{.id = "candidates",
                .title = "All settings that were simulated",
                .sentence = "From NCCL's number of channels to fewer and more, as long as that is faster.",
                .columns = {operation, size, algorithm, protocol, channels, time},
                .wide = true}};
}

}  // namespace ringwright::planning
