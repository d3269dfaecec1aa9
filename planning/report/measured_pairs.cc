#include "planning/report/measured_pairs.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "planning/report/scales.h"

namespace ringwright::planning {
namespace {

void add_pair(MeasuredPair pair, std::vector<MeasuredPair>& pairs) {
  if (pair.measured > 0.0 && pair.predicted > 0.0) pairs.push_back(std::move(pair));
}

double of_microseconds(const JsonValue& value) {
  return value.number().value_or(0.0) / 1e6;
}

}  // namespace

std::vector<MeasuredPair> measured_pairs(const JsonValue& validation) {
  std::vector<MeasuredPair> pairs;
  for (const JsonValue& row : validation["rows"].list()) {
    add_pair({.source = row["source"].text(),
              .what = fmt::format("{}: {}, {}", row["id"].text(), row["model"].text(), row["layout"].text()),
              .measured = row["measured_s"].number().value_or(0.0),
              .predicted = row["predicted_s"].number().value_or(0.0)},
             pairs);
  }
  for (const JsonValue& log : validation["logs"].list()) {
    for (const JsonValue& row : log["rows"].list()) {
      add_pair({.source = log["operation"].text(),
                .what = fmt::format("{}, {}", log["log"].text(), bytes_text(row["size"].number().value_or(0.0))),
                .measured = of_microseconds(row["measured_us"]),
                .predicted = of_microseconds(row["simulated_us"])},
               pairs);
    }
  }
  for (const JsonValue& call : validation["collectives"].list()) {
    add_pair(
        {.source = call["operation"].text(),
         .what = fmt::format("{}, {}", call["communicator"].text(), bytes_text(call["bytes"].number().value_or(0.0))),
         .measured = of_microseconds(call["measured_us"]),
         .predicted = of_microseconds(call["simulated_us"])},
        pairs);
  }
  for (const JsonValue& gemm : validation["gemms"].list()) {
    add_pair({.source = "GEMM",
              .what = fmt::format("{} {} x {} x {}", gemm["type"].text(), count_text(gemm["m"].number().value_or(0.0)),
                                  count_text(gemm["n"].number().value_or(0.0)),
                                  count_text(gemm["k"].number().value_or(0.0))),
              .measured = of_microseconds(gemm["measured_us"]),
              .predicted = of_microseconds(gemm["simulated_us"])},
             pairs);
  }
  return pairs;
}

std::vector<SourceErrors> errors_by_source(const std::vector<MeasuredPair>& pairs) {
  std::vector<SourceErrors> sources;
  SourceErrors all{.source = "all"};
  const auto add = [](const MeasuredPair& pair, SourceErrors& errors) {
    ++errors.count;
    errors.mean_absolute += std::abs(pair.error());
    errors.mean += pair.error();
    errors.largest = std::max(errors.largest, std::abs(pair.error()));
  };
  for (const MeasuredPair& pair : pairs) {
    auto known = std::ranges::find(sources, pair.source, &SourceErrors::source);
    if (known == sources.end()) known = sources.insert(known, {.source = pair.source});
    add(pair, *known);
    add(pair, all);
  }
  if (sources.size() > 1) sources.push_back(all);
  for (SourceErrors& errors : sources) {
    errors.mean_absolute /= static_cast<double>(errors.count);
    errors.mean /= static_cast<double>(errors.count);
  }
  return sources;
}

}  // namespace ringwright::planning
