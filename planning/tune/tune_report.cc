// What tuning found: for people, for programs, and as a file that NCCL's tuner plug-in reads.
#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/tune/tune.h"
#include "planning/tune/tuner_line.h"

namespace ringwright::planning {
namespace {

bool is_same(const CallSetting& a, const CallSetting& b) {
  return setting_text(a) == setting_text(b);
}

// Sizes from `first` to `last`, inclusive, of one operation.
struct SizeBand {
  std::size_t first = 0;
  std::size_t last = 0;
};

std::vector<SizeBand> bands_of(const std::vector<TunedCall>& calls) {
  std::vector<SizeBand> bands;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const bool joins = !bands.empty() && calls[bands.back().last].operation == calls[i].operation &&
                       calls[bands.back().last].is_faster() == calls[i].is_faster() &&
                       is_same(calls[bands.back().last].best, calls[i].best);
    if (joins)
      bands.back().last = i;
    else
      bands.push_back({.first = i, .last = i});
  }
  return bands;
}

// Between two sizes on a logarithmic scale.
std::int64_t middle(Bytes a, Bytes b) {
  return std::llround(std::sqrt(static_cast<double>(a.count()) * static_cast<double>(b.count())));
}

// Threads and buffer only where they are not NCCL's own.
std::string json_fields(const CallSetting& setting) {
  std::string fields = fmt::format("\"algorithm\": {}, \"protocol\": {}, \"channels\": {}",
                                   json_text(tuner_algorithm(setting.algorithm)), json_text(setting.protocol),
                                   setting.channels);
  if (setting.threads > 0) fields += fmt::format(", \"threads\": {}", setting.threads);
  if (setting.buffer > Bytes(0)) fields += fmt::format(", \"buffer\": {}", setting.buffer.count());
  return fields;
}

std::string json_setting(const CallSetting& setting) {
  return "{" + json_fields(setting) + "}";
}

std::string json_candidate(const TriedSetting& tried) {
  return fmt::format("{{{}, \"us\": {:.6f}}}", json_fields(tried.setting), to_seconds(tried.time) * 1e6);
}

std::string microseconds(Duration time) {
  return fmt::format("{:.2f}", to_seconds(time) * 1e6);
}

}  // namespace

std::string render_tuner_csv(const TuneResult& result) {
  std::string text = "# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks\n";
  const std::vector<TunedCall>& calls = result.calls;
  for (const SizeBand& band : bands_of(calls)) {
    const TunedCall& call = calls[band.first];
    if (!call.is_faster()) continue;
    const bool is_first = band.first == 0 || calls[band.first - 1].operation != call.operation;
    const bool is_last = band.last + 1 == calls.size() || calls[band.last + 1].operation != call.operation;
    const std::int64_t from = is_first ? 0 : middle(calls[band.first - 1].size, call.size) + 1;
    const std::int64_t to = is_last ? kTunerNoLimit : middle(calls[band.last].size, calls[band.last + 1].size);
    if (const auto variables = kernel_variables(call.best); !variables.empty()) {
      text += fmt::format("# the next line is for a process with {}\n", join(variables, " "));
    }
    const TunerCalls calls_of_line{
        .least_bytes = from, .most_bytes = to, .hosts = result.hosts, .ranks = result.ranks};
    text += tuner_line(call.operation, calls_of_line, call.best);
  }
  return text;
}

std::string render_tune_text(const TuneResult& result) {
  TextTable table(
      {Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kLeft, Align::kRight, Align::kRight});
  table.add_row({"operation", "size", "NCCL's choice", "us", "fastest", "us", "gain"});
  double log_sum = 0.0;
  std::size_t faster = 0;
  long long tried = 0;
  for (const TunedCall& call : result.calls) {
    log_sum += std::log(ratio(call.own_time, call.best_time));
    faster += call.is_faster() ? 1U : 0U;
    tried += call.tried;
    table.add_row({std::string(to_string(call.operation)), to_string(call.size), setting_text(call.own),
                   microseconds(call.own_time), call.is_faster() ? setting_text(call.best) : "the same",
                   microseconds(call.best_time),
                   call.is_faster() ? fmt::format("{:.2f}x", ratio(call.own_time, call.best_time)) : "-"});
  }
  std::string text;
  for (const std::string& line : table.lines()) text += line + "\n";
  if (result.calls.empty()) return text + "no size has an element for each rank\n";
  return text +
         fmt::format(
             "\n{} of {} calls can be faster, {:.2f}x in the geometric mean over all; {} settings were {}\n", faster,
             result.calls.size(), std::exp(log_sum / static_cast<double>(result.calls.size())), with_commas(tried),
             result.measured ? "read from logs" : "simulated");
}

std::string render_tune_json(const std::string& machine, const TuneResult& result) {
  std::vector<std::string> rows;
  for (const TunedCall& call : result.calls) {
    std::vector<std::string> candidates;
    for (const TriedSetting& one : call.candidates) candidates.push_back(json_candidate(one));
    rows.push_back(fmt::format(
        "    {{\"operation\": {}, \"size\": {}, \"own\": {}, \"own_us\": {:.6f}, \"best\": {}, \"best_us\": {:.6f}, "
        "\"tried\": {},\n     \"candidates\": [{}]}}",
        json_text(to_string(call.operation)), call.size.count(), json_setting(call.own),
        to_seconds(call.own_time) * 1e6, json_setting(call.best), to_seconds(call.best_time) * 1e6, call.tried,
        join(candidates, ", ")));
  }
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.tune/1\",\n  \"machine\": {},\n  \"hosts\": {},\n  \"ranks\": {},\n"
      "  \"calls\": [\n{}\n  ]\n}}\n",
      json_text(machine), result.hosts, result.ranks, join(rows, ",\n"));
}

}  // namespace ringwright::planning
