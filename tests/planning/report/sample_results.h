// Small results for tests of the report's page.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "planning/report/page.h"

namespace ringwright::planning::samples {

// Two stages of 4 GPUs: 60 ms computing, 20 exposed, 20 waiting; 30 of 40 GiB, and 44.
inline constexpr std::string_view kRunResult = R"({
  "schema": "ringwright.result/1", "tool": {"name": "ringwright", "version": "0.1.0"}, "scenario": "two stages", "seed": 7,
  "command": ["ringwright", "run", "two.yaml"],
  "config": {"sha256": "abc", "resolved": {"parallel.pp": {"value": "2", "origin": "two.yaml:3"}}},
  "job": {"model": "tiny", "parameters": 1000000000, "gpus": 8, "layout": "TP 4 x PP 2 x DP 1", "microbatches": 4,
          "tokens_per_step": 4096, "peak_flops_per_s_per_gpu": 1e15, "memory_bytes_per_s_per_gpu": 3e12},
  "evidence": {"NVLink": {"level": "vendor-spec", "source": "a data sheet"}},
  "metrics": {"step_time_s": {"mean": 0.1, "min": 0.1, "max": 0.1, "n": 1}, "mfu": 0.4,
              "model_flops_per_s_per_gpu": 4e14, "tokens_per_s_per_gpu": 5120.0},
  "breakdown": [
    {"dim": "compute", "exposed_s": 0.06, "share": 0.6, "total_s": 0.06},
    {"dim": "tp", "exposed_s": 0.02, "share": 0.2, "hidden_s": 0.01, "total_s": 0.035, "bytes": 1048576},
    {"dim": "idle", "exposed_s": 0.02, "share": 0.2, "total_s": 0.02}],
  "slowest_stage": {"name": "stage 1", "breakdown": [{"dim": "compute", "exposed_s": 0.07, "share": 0.7}]},
  "pipeline": [{"stage": "stage 0", "bubble_s": 0.03, "of_step": 0.3}, {"stage": "stage 1", "bubble_s": 0.01, "of_step": 0.1}],
  "memory": [
    {"stage": 0, "items_bytes": {"weights": 32212254720}, "total_bytes": 32212254720, "capacity_bytes": 42949672960},
    {"stage": 1, "items_bytes": {"weights": 32212254720, "logits": 15032385536}, "total_bytes": 47244640256,
     "capacity_bytes": 42949672960}],
  "links": [{"id": "gpu0->nvswitch0", "util": 0.25, "bytes": 1048576, "multiplicity": 8}],
  "link_tiers": [{"tier": "GPU - NVSwitch", "links": 16, "mean_util": 0.2, "max_util": 0.25, "histogram": [0, 8, 8, 0]}],
  "kernels": [
    {"family": "gemm", "name": "qkv", "type": "bf16", "bound": "arithmetic", "launches": 8, "time_s": 0.05,
     "launch_s": 0.00625, "flops": 5e12, "bytes": 1e9},
    {"family": "norm", "name": "norm", "type": "bf16", "bound": "memory", "launches": 8, "time_s": 0.01,
     "launch_s": 0.00125, "flops": 1e9, "bytes": 2e9}],
  "collectives": [], "published": [{"metric": "step_time_s", "published": 0.08, "ours": 0.1, "difference": 0.25, "source": "a paper"}],
  "warnings": [], "assumptions": [], "ignored": [], "faults": []})";

inline constexpr std::string_view kSearchResult = R"({
  "schema": "ringwright.search/1", "scenario": "s", "objective": "step_time", "axes": {"tp": ["4", "8"], "pp": ["1"]},
  "combinations": 4, "same": 0, "predicted": 3, "too_large": 1, "memory_limit_bytes": 85899345920,
  "refused": [{"code": "E130", "reason": "does not divide", "count": 1, "example": "tp 3"}], "replayed": 1,
  "kendall_tau": null,
  "ranking": [{"tp": "4", "dp": 2, "memory_bytes": 20, "formulas": {"step_time_s": 1.0}, "simulated": {"step_time_s": 1.1, "mfu": 0.5}}],
  "layouts": {"columns": ["tp", "pp", "dp", "memory_bytes", "formulas_step_time_s", "simulated_step_time_s"],
              "rows": [["4", "1", 2, 20, 1.0, 1.1], ["8", "1", 1, 30, 1.2, null], ["8", "1", 1, 10, 1.5, null]]},
  "choices": [{"axis": "tp", "value": "4", "fit": 1, "too_large": 0, "best": {"formulas": {"step_time_s": 1.0}}},
              {"axis": "tp", "value": "8", "fit": 2, "too_large": 1, "best": {"formulas": {"step_time_s": 1.2}}},
              {"axis": "tp", "value": "16", "fit": 0, "too_large": 3}],
  "bound": {"computing_s": 0.8, "quickest_s": 1.0},
  "own": {"problem": ""}})";

// Two keys; the second value of `size` is the best; one point does not fit.
inline constexpr std::string_view kSweepResult = R"({
  "schema": "ringwright.sweep/1", "name": "sizes", "scenario": "s", "objective": "mfu", "keys": ["size", "speed", "fixed"],
  "combinations": 5, "excluded": 1, "ok": 3, "too_large": 1, "refused": 0, "unfinished": 0, "missing": 0, "ranking": [2, 0, 1],
  "points": [
    {"index": 0, "values": {"size": "10", "speed": "400Gbps", "fixed": "a"}, "status": "ok", "step_time_s": 2.0, "mfu": 0.4,
     "memory_bytes": 1073741824},
    {"index": 1, "values": {"size": "10", "speed": "200Gbps", "fixed": "a"}, "status": "ok", "step_time_s": 4.0, "mfu": 0.2,
     "memory_bytes": 2147483648},
    {"index": 2, "values": {"size": "9", "speed": "400Gbps", "fixed": "a"}, "status": "ok", "step_time_s": 1.6, "mfu": 0.5,
     "memory_bytes": 4294967296},
    {"index": 3, "values": {"size": "9", "speed": "200Gbps", "fixed": "a"}, "status": "too_large", "reason": "too much",
     "step_time_s": 1.0, "mfu": 0.8, "memory_bytes": 8589934592}]})";

inline constexpr std::string_view kComparison = R"({
  "schema": "ringwright.compare/1",
  "sides": [
    {"name": "a", "source": "a.yaml", "step_time_s": 1.0, "step_ps": 1000000000000, "mfu": 0.4,
     "parts_ps": [{"cause": "compute: gemm", "ps": 900000000000}, {"cause": "exposed tp", "ps": 100000000000}]},
    {"name": "b", "source": "b.yaml", "step_time_s": 0.9, "step_ps": 900000000000, "mfu": 0.44,
     "parts_ps": [{"cause": "compute: gemm", "ps": 700000000000}, {"cause": "exposed dp", "ps": 200000000000}]}],
  "differences": [{"from": 0, "to": 1, "change_ps": -100000000000, "changes_ps": [
    {"cause": "exposed tp", "ps": -100000000000}, {"cause": "compute: gemm", "ps": -200000000000},
    {"cause": "compute: copy", "ps": 0}, {"cause": "exposed dp", "ps": 200000000000}],
    "values": [{"key": "parallel.tp", "a": "8", "b": "4"}]}]})";

inline constexpr std::string_view kWhatIfResult = R"({
  "schema": "ringwright.what_if/1", "scenario": "s",
  "base": {"status": "ok", "step_time_s": 1.0, "step_ps": 1000000000000, "mfu": 0.4,
           "parts_ps": [{"cause": "compute: gemm", "ps": 1000000000000}]},
  "what_ifs": [
    {"name": "slower", "set": ["a=1", "b=2"], "notes": ["the price is another GPU's", "b has no effect"],
     "status": "ok", "step_time_s": 1.5, "change_ps": 500000000000,
     "changes_ps": [{"cause": "compute: gemm", "ps": 300000000000}, {"cause": "exposed dp", "ps": 200000000000}]},
    {"name": "too large", "set": [], "status": "too_large", "reason": "no room", "step_time_s": 0.5,
     "change_ps": -500000000000, "changes_ps": []}]})";

inline constexpr std::string_view kSensitivityResult = R"({
  "schema": "ringwright.sensitivity/1", "scenario": "s", "share": 0.1, "step_ps": 1000000000000,
  "parameters": [
    {"key": "gpu.peak", "value": "1PFLOPS", "evidence": "vendor-spec", "elasticity": -0.8,
     "low": {"value": "0.9PFLOPS", "step_ps": 1090000000000}, "high": {"value": "1.1PFLOPS", "step_ps": 930000000000}},
    {"key": "gpu.speed", "value": "98%", "evidence": "assumed", "elasticity": -0.5,
     "low": {"value": "88.2%", "step_ps": 1050000000000}, "high": {"value": "107.8%", "step_ps": null, "reason": "above 100 %"}}],
  "without_effect": ["a", "b"], "unknown": []})";

inline ReportSection section_from(std::string_view text, const traces::Timeline* timeline = nullptr) {
  auto section =
      section_of({.name = "result.json", .json = parse_json("result.json", text).value(), .timeline = timeline});
  if (!section) throw std::runtime_error(render(section.error()));
  return std::move(*section);
}

// Throws where the section has no such panel.
inline Panel panel_of(const ReportSection& section, std::string_view id) {
  for (const Panel& panel : section.panels) {
    if (panel.id == id) return panel;
  }
  throw std::runtime_error("no panel " + std::string(id));
}

inline std::vector<double> numbers_of(const Panel& panel, std::size_t column) {
  return std::get<std::vector<double>>(panel.columns.at(column).cells);
}
inline std::vector<std::string> texts_of(const Panel& panel, std::size_t column) {
  return std::get<std::vector<std::string>>(panel.columns.at(column).cells);
}

}  // namespace ringwright::planning::samples
