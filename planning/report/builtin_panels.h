// The kinds of results that a report shows, each with its panels in the order of the page.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "planning/report/panel.h"
#include "planning/report/result_input.h"

namespace ringwright::planning {

// None where the result has nothing to show there.
using PanelMaker = std::vector<Panel>(const ResultInput& result);
using HeaderMaker = ReportSection(const ResultInput& result);

// A value without which the result cannot be shown.
struct RequiredValue {
  std::string_view path;  // "metrics.step_time_s.mean"
  JsonValue::Kind kind;
};

struct ResultKind {
  std::string_view schema;   // "ringwright.result/1"
  std::string_view command;  // that writes it: "ringwright run --json"
  std::span<const RequiredValue> required;
  HeaderMaker* header;
  std::span<PanelMaker* const> panels;
};

[[nodiscard]] std::span<const ResultKind> result_kinds();

// One file each, with the name of the panel.
HeaderMaker run_header, search_header, collective_header, training_header, nccl_header, calls_header;
HeaderMaker sweep_header, compare_header, what_if_header, sensitivity_header;
HeaderMaker goodput_header, jobs_header, cluster_header, tune_header, capacity_header;
HeaderMaker adaptive_header, server_plan_header, servers_header, embeddings_header;
PanelMaker step_waterfall, slowest_stage_waterfall, exposed_communication, kernel_families, kernel_roofline,
    pipeline_gantt, stage_times, critical_path, memory_over_time, memory_stack, host_memory, link_use, link_tiers,
    busiest_links, collective_calls, published_figures, remarks, configuration;
PanelMaker search_front, search_axes, search_choices, search_layouts, search_refusals;
PanelMaker sweep_front, sweep_axes, sweep_effects, sweep_table;
PanelMaker compare_changes, compare_parts, compare_values, what_if_changes, what_if_parts, sensitivity_tornado,
    sensitivity_parameters;
PanelMaker goodput_waterfall, goodput_policies, goodput_spread, goodput_parts, goodput_intervals, goodput_checkpoints;
PanelMaker jobs_slowdowns, jobs_parts, jobs_links;
PanelMaker cluster_means, cluster_shares, cluster_over_time, cluster_distributions, cluster_locality,
    cluster_percentiles, cluster_sharing;
PanelMaker tune_gains, tune_settings, tune_candidates, capacity_front, capacity_parts, capacity_table;
PanelMaker adaptive_steps, adaptive_ratios, adaptive_table, server_plan_speeds, server_plan_table;
PanelMaker servers_speeds, servers_staleness, servers_worker_time, servers_table;
PanelMaker embeddings_caches, embeddings_lookaheads, embeddings_checkpoints, embeddings_recoveries, embeddings_table,
    embeddings_intervals;
PanelMaker bandwidth_curve, measured_bandwidth, validation_scatter, validation_errors;

}  // namespace ringwright::planning
