// The report for programs: JSON with the schema "ringwright.result/1"; keys are only ever added.
#include <string>

#include <nlohmann/json.hpp>

#include "core/report/checkpoint_line.h"
#include "core/report/report.h"
#include "core/report/step_parts.h"

namespace ringwright {
namespace {

using Json = nlohmann::ordered_json;

// A division, unlike a product with 1e-12, gives the double nearest to the decimal fraction: 0.1, not
// 0.09999999999999999.
double seconds(Duration duration) { return static_cast<double>(duration.count()) / 1e12; }

// Where a value came from, without the folders of the user's machine: "llama.yaml:9".
std::string without_folder(const std::string& origin) {
  const std::size_t slash = origin.find_last_of('/');
  return slash == std::string::npos ? origin : origin.substr(slash + 1);
}

// A source is a sentence or a place in a file; a sentence may name units such as GB/s.
std::string without_folders(const std::string& source) {
  return source.starts_with('/') ? without_folder(source) : source;
}

std::string to_key(PublishedQuantity quantity) {
  switch (quantity) {
    case PublishedQuantity::kStepTime: return "step_time_s";
    case PublishedQuantity::kModelFlopUtilisation: return "mfu";
    case PublishedQuantity::kModelFlopRatePerGpu: return "model_flops_per_s_per_gpu";
    case PublishedQuantity::kTokensPerSecondPerGpu: return "tokens_per_s_per_gpu";
  }
  return "";
}

Json optional_number(const std::optional<double>& number) { return number ? Json(*number) : Json(nullptr); }

Json config_json(const StepFacts& facts) {
  Json resolved = Json::object();
  for (const ConfigValue& value : facts.config) {
    resolved[value.path] = {{"value", value.text}, {"origin", without_folder(value.origin)}};
  }
  return {{"sha256", facts.config_sha256}, {"resolved", resolved}};
}

Json job_json(const Report& report) {
  const StepFacts& facts = report.facts;
  Json job = {{"model", facts.model},
              {"parameters", facts.parameters},
              {"gpus", report.gpus},
              {"layout", facts.layout},
              {"microbatches", facts.microbatches},
              {"tokens_per_step", facts.tokens_per_step},
              {"model_flops_per_step", facts.model_flops.count()},
              {"hardware_flops_per_step", facts.hardware_flops.count()},
              {"peak_flops_per_s_per_gpu", facts.peak_flop_rate.count()},
              {"memory_bytes_per_s_per_gpu", facts.memory_bandwidth.count()}};
  if (facts.processed != "tokens") job["tokens_are"] = facts.processed;
  return job;
}

Json metrics_json(const Report& report) {
  const StepTimes& step = report.step_time;
  Json peak_memory = nullptr;
  if (report.fullest_memory) peak_memory = report.facts.memory[*report.fullest_memory].total.count();
  return {{"step_time_s",
           {{"mean", seconds(step.mean)},
            {"min", seconds(step.minimum)},
            {"p50", seconds(step.median)},
            {"p99", seconds(step.p99)},
            {"max", seconds(step.maximum)},
            {"n", step.count}}},
          {"mfu", optional_number(report.model_flop_utilisation)},
          {"hfu", optional_number(report.hardware_flop_utilisation)},
          {"model_flops_per_s_per_gpu", report.model_flop_rate_per_gpu.count()},
          {"tokens_per_s_per_gpu", report.tokens_per_second_per_gpu},
          {"peak_mem_bytes", peak_memory}};
}

// The exposed times add up to the step time.
Json breakdown_json(const TimeBreakdown& breakdown) {
  const auto row = [&](std::string_view name, Duration exposed, Duration total) {
    return Json{{"dim", name}, {"exposed_s", seconds(exposed)}, {"share", breakdown.share(exposed)},
                {"total_s", seconds(total)}};
  };
  Json rows = Json::array({row("compute", breakdown.computing, breakdown.computing)});
  for (const DimensionTime& dimension : breakdown.dimensions) {
    Json entry = row(dimension.name, dimension.exposed, dimension.in_flight);
    entry["hidden_s"] = seconds(dimension.hidden);
    if (breakdown.contended) {
      entry["compute_lost_to_sms_s"] = seconds(dimension.compute_lost_to_sms);
      entry["compute_lost_to_memory_s"] = seconds(dimension.compute_lost_to_memory);
      entry["lost_to_compute_s"] = seconds(dimension.lost_to_compute);
    }
    entry["bytes"] = dimension.sent.count();
    rows.push_back(entry);
  }
  rows.push_back(row("idle", breakdown.idle, breakdown.idle));
  if (breakdown.data > Duration()) rows.push_back(row("data", breakdown.data, breakdown.data));
  if (breakdown.outer > Duration()) rows.push_back(row("outer_step", breakdown.outer, breakdown.outer));
  return rows;
}

Json groups_json(const Report& report) {
  Json rows = Json::array();
  for (std::size_t g = 0; g < report.groups.size(); ++g) {
    const GroupRow& group = report.facts.groups[g];
    rows.push_back({{"name", group.name}, {"gpu", group.gpu}, {"hosts", group.hosts},
                    {"memory_bytes_per_gpu", group.memory.count()}, {"breakdown", breakdown_json(report.groups[g])}});
  }
  return rows;
}

Json parts_json(const Report& report) {
  Json rows = Json::array();
  for (const StepPart& part : parts_of(report.everywhere, report.facts.kernel_times, report.step_time.mean)) {
    rows.push_back({{"cause", part.cause}, {"ps", part.time.count()}});
  }
  return rows;
}

Json data_json(const DataFacts& data) {
  return {{"samples_per_s", data.samples_per_second},
          {"limit", data.limit},
          {"samples", data.samples},
          {"batch_s", to_seconds(data.batch)},
          {"remote_workers", data.remote_workers},
          {"elastic_workers", data.elastic_workers},
          {"stall_s", to_seconds(data.stall)}};
}

Json outer_json(const OuterFacts& outer) {
  return {{"sync_every", outer.every},
          {"workers", outer.workers},
          {"fragments", outer.fragments},
          {"exchanged_bytes", outer.exchanged.count()},
          {"step_s", to_seconds(outer.without)},
          {"step_with_exchange_s", to_seconds(outer.with)},
          {"added_s", to_seconds(outer.added)}};
}

Json checkpoint_json(const Report& report) {
  const CheckpointFacts& facts = *report.facts.checkpoint;
  const Json stall = facts.stall ? Json(to_seconds(*facts.stall)) : Json();
  Json json = {{"to", facts.to},
          {"mode", facts.mode},
          {"bytes_per_gpu", facts.of_gpu.count()},
          {"bytes", facts.total.count()},
          {"bytes_to_peers_per_gpu", facts.to_peers.count()},
          {"host_memory_bytes", facts.in_host_memory.count()},
          {"copying_s", to_seconds(facts.copying)},
          {"takes_s", to_seconds(facts.takes)},
          {"within_step", ends_within_step(report)},
          {"steps", steps_until_stored(report)},
          {"stall_s", stall}};
  if (facts.every == 0) return json;
  json["every_steps"] = facts.every;
  json["mean_step_s"] = to_seconds(facts.mean_step);
  json["waits_s"] = to_seconds(facts.waits);
  return json;
}

Json cost_json(const Report& report, const CostRates& rates) {
  const StepCost cost = cost_of(report);
  Json json = {{"usd_per_step", optional_number(cost.usd)},
               {"usd_per_1e12_tokens", optional_number(cost.usd_per_tera_tokens)},
               {"joules_per_step", optional_number(cost.joules)},
               {"joules_per_token", optional_number(cost.joules_per_token)},
               {"usd_per_gpu_hour", rates.usd_per_gpu_hour},
               {"gpu_watts", rates.gpu_watts},
               {"host_watts", rates.host_watts},
               {"power_usage_effectiveness", rates.power_usage},
               {"usd_per_kwh", rates.usd_per_kwh}};
  if (!rates.network) return json;
  const NetworkCost& net = *rates.network;
  json["network"] = {{"usd", net.usd}, {"watts", net.watts}, {"switches", net.switches}};
  json["network"].update({{"ports", net.ports}, {"transceivers", net.transceivers}});
  return json;
}

Json bubbles_json(const std::vector<StageBubble>& bubbles) {
  Json rows = Json::array();
  for (const StageBubble& stage : bubbles) {
    rows.push_back({{"stage", stage.stage}, {"bubble_s", seconds(stage.bubble)}, {"of_step", stage.of_step()},
                    {"of_ideal", stage.of_ideal()}, {"held_at_peak", stage.held_at_peak},
                    {"weight_versions", stage.weight_versions}});
  }
  return rows;
}

Json hosts_json(const std::vector<HostRow>& hosts) {
  Json rows = Json::array();
  for (const HostRow& row : hosts) {
    Json items = Json::object();
    for (const MemoryItem& item : row.items) items[std::string(item.name)] = item.size.count();
    Json capacity = nullptr;
    if (row.capacity > Bytes(0)) capacity = row.capacity.count();
    rows.push_back({{"what", row.what},
                    {"host", row.host},
                    {"items_bytes", items},
                    {"total_bytes", row.total.count()},
                    {"capacity_bytes", capacity},
                    {"fits", row.fits()}});
  }
  return rows;
}

Json memory_json(const std::vector<MemoryRow>& memory) {
  Json rows = Json::array();
  for (const MemoryRow& row : memory) {
    Json items = Json::object();
    for (const MemoryItem& item : row.items) items[std::string(item.name)] = item.size.count();
    rows.push_back({{"stage", row.stage}, {"role", row.role()}, {"items_bytes", items}, {"fits", row.fits()},
                    {"total_bytes", row.total.count()}, {"capacity_bytes", row.capacity.count()}});
    if (row.largest_block == Bytes(0)) continue;
    rows.back()["largest_weight_bytes"] = row.largest_weight.count();
    rows.back()["largest_block_bytes"] = row.largest_block.count();
  }
  return rows;
}

Json links_json(const std::vector<LinkLoad>& links) {
  Json rows = Json::array();
  for (const LinkLoad& link : links) {
    rows.push_back({{"id", link.name}, {"util", link.utilisation}, {"bytes", link.bytes.count()},
                    {"multiplicity", link.multiplicity}});
  }
  return rows;
}

Json link_tiers_json(const std::vector<LinkTier>& tiers) {
  Json rows = Json::array();
  for (const LinkTier& tier : tiers) {
    rows.push_back({{"tier", tier.name}, {"links", tier.links}, {"mean_util", tier.mean}, {"max_util", tier.highest},
                    {"histogram", tier.by_use}});
  }
  return rows;
}

std::string to_key(KernelBound bound) {
  switch (bound) {
    case KernelBound::kArithmetic: return "arithmetic";
    case KernelBound::kMemory: return "memory";
    case KernelBound::kOverhead: return "overhead";
  }
  return "";
}

Json kernels_json(const std::vector<KernelUse>& kernels) {
  Json rows = Json::array();
  for (const KernelUse& kernel : kernels) {
    rows.push_back({{"family", kernel.family}, {"name", kernel.name}, {"type", kernel.type},
                    {"bound", to_key(kernel.bound)}, {"launches", kernel.launches}, {"time_s", seconds(kernel.time)},
                    {"launch_s", seconds(kernel.launch)}, {"flops", kernel.flops.count()},
                    {"bytes", kernel.bytes.count()}});
  }
  return rows;
}

Json collectives_json(const std::vector<CollectiveUse>& collectives) {
  Json rows = Json::array();
  for (const CollectiveUse& use : collectives) {
    Json row = {{"dim", use.dimension},      {"operation", use.operation}, {"bytes", use.bytes.count()},
                {"ranks", use.ranks},        {"hosts", use.hosts},         {"calls_per_step", use.calls},
                {"algorithm", use.algorithm}};
    row["protocol"] = use.protocol.empty() ? Json(nullptr) : Json(use.protocol);
    row["channels"] = use.channels == 0 ? Json(nullptr) : Json(use.channels);
    row["shortest_s"] = optional_number(use.shortest ? std::optional(seconds(*use.shortest)) : std::nullopt);
    row["mean_s"] = optional_number(use.mean ? std::optional(seconds(*use.mean)) : std::nullopt);
    rows.push_back(row);
  }
  return rows;
}

Json published_json(const Report& report) {
  Json rows = Json::array();
  for (const Comparison& comparison : report.comparisons) {
    rows.push_back({{"metric", to_key(comparison.published.quantity)}, {"published", comparison.published.value},
                    {"ours", comparison.ours}, {"difference", comparison.difference()},
                    {"source", comparison.published.source}});
    if (!report.facts.changed_since_published.empty()) rows.back()["changed"] = report.facts.changed_since_published;
  }
  return rows;
}

Json evidence_json(const std::vector<InputEvidence>& evidence) {
  Json inputs = Json::object();
  for (const InputEvidence& input : evidence) {
    inputs[input.input] = {{"level", to_string(input.level)}, {"source", without_folders(input.source)}};
  }
  return inputs;
}

void add_remarks(const StepFacts& facts, Json& document) {
  document["assumptions"] = Json::array();
  for (const AssumedValue& assumed : facts.assumptions) {
    document["assumptions"].push_back({{"path", assumed.path}, {"value", assumed.value}, {"why", assumed.why}});
  }
  document["ignored"] = Json::array();
  for (const IgnoredKnob& ignored : facts.ignored) {
    document["ignored"].push_back({{"path", ignored.path}, {"why", ignored.why}});
  }
  document["warnings"] = Json::array();
  for (const ReportWarning& warning : facts.warnings) {
    document["warnings"].push_back(
        {{"code", warning.code}, {"where", without_folder(warning.where)}, {"text", warning.text}});
  }
}

// The legs of a step with many exchanges between ranks: the first of them.
constexpr std::size_t kMostLegs = 5'000;

Json critical_path_json(const CriticalPath& path) {
  Json kinds = Json::array(), legs = Json::array(), waits = Json::array();
  for (const CriticalPath::Kind& kind : path.kinds) {
    kinds.push_back({{"kind", kind.name}, {"time_ps", kind.time.count()}, {"tasks", kind.tasks}});
  }
  for (const CriticalPath::Leg& leg : path.legs) {
    if (legs.size() == kMostLegs) break;
    legs.push_back({{"rank", leg.rank.value},
                    {"role", leg.role},
                    {"what", leg.what},
                    {"start_ps", leg.start.count()},
                    {"end_ps", leg.end.count()},
                    {"computing_ps", leg.computing.count()},
                    {"communication_ps", leg.communication.count()},
                    {"tasks", leg.tasks}});
  }
  for (const CriticalPath::Wait& wait : path.waits) {
    waits.push_back({{"role", wait.role},
                     {"cause", wait.cause},
                     {"words", wait_text(wait)},
                     {"total_s", seconds(wait.total)},
                     {"longest_s", seconds(wait.longest)},
                     {"count", wait.count},
                     {"first_s", seconds(wait.first)}});
  }
  return {{"time_ps", path.time.count()}, {"tasks", path.tasks}, {"rank_changes", path.changes},
          {"kinds", kinds},               {"waits", waits},      {"legs", legs},
          {"legs_left_out", path.legs.size() - legs.size()}};
}

Json engine_json(const Report& report) {
  const EngineFacts& engine = report.facts.engine;
  Json counters = Json::object();
  for (const NamedCount& counter : engine.counters) counters[counter.name] = counter.value;
  return {{"network", engine.network},   {"collectives", engine.collectives}, {"compute", engine.compute},
          {"interference", engine.interference},
          {"events", engine.events},     {"messages", report.messages},       {"classes", engine.classes},
          {"ranks", report.gpus},        {"little_folded", engine.little_folded}, {"counters", counters},
          {"nearly_equal_cycles", engine.nearly_equal_cycles}, {"most_change_s", seconds(engine.most_change)},
          {"wall_s", engine.wall_seconds}, {"peak_rss_bytes", engine.peak_memory.count()}};
}

}  // namespace

std::string render_json(const Report& report) {
  const StepFacts& facts = report.facts;
  Json document = {{"schema", "ringwright.result/1"},
                   {"tool", {{"name", "ringwright"}, {"version", RINGWRIGHT_VERSION}}},
                   {"scenario", facts.scenario},
                   {"seed", facts.seed},
                   {"config", config_json(facts)},
                   {"job", job_json(report)},
                   {"evidence", evidence_json(facts.evidence)},
                   {"metrics", metrics_json(report)},
                   {"breakdown", breakdown_json(report.everywhere)},
                   {"step_ps", report.step_time.mean.count()},
                   {"parts_ps", parts_json(report)}};
  if (facts.checkpoint) document["checkpoint"] = checkpoint_json(report);
  if (facts.data) document["data_pipeline"] = data_json(*facts.data);
  if (facts.outer) document["local_sgd"] = outer_json(*facts.outer);
  if (facts.cost_rates) document["cost"] = cost_json(report, *facts.cost_rates);
  if (report.slowest_stage) {
    document["slowest_stage"] = {{"name", report.slowest_stage->of},
                                 {"breakdown", breakdown_json(*report.slowest_stage)}};
  }
  if (!report.groups.empty()) document["groups"] = groups_json(report);
  if (!report.bubbles.empty()) document["pipeline"] = bubbles_json(report.bubbles);
  document["memory"] = memory_json(facts.memory);
  if (!facts.command.empty()) document["command"] = facts.command;
  if (!facts.hosts.empty()) document["hosts"] = hosts_json(facts.hosts);
  document["links"] = links_json(facts.links);
  document["link_tiers"] = link_tiers_json(facts.link_tiers);
  document["kernels"] = kernels_json(facts.kernels);
  document["collectives"] = collectives_json(facts.collectives);
  document["faults"] = facts.faults;
  if (report.critical_path) document["critical_path"] = critical_path_json(*report.critical_path);
  document["published"] = published_json(report);
  add_remarks(facts, document);
  document["engine"] = engine_json(report);
  // Text from the user's files may not be UTF-8; a replacement character is better than no result.
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace ringwright
