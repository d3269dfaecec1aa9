#include "configs/simulation/step_facts.h"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "configs/scenario/host_rows.h"
#include "configs/scenario/published.h"
#include "configs/simulation/kernel_times.h"
#include "core/base/sha256.h"
#include "core/config/log_warnings.h"

namespace ringwright::configs {
namespace {

// "PP 3: TP 2 x DP 2, TP 4 x DP 1, TP 4 x DP 1"
std::string meshes_text(const std::vector<workload::StageMesh>& meshes) {
  std::string text = fmt::format("PP {}", meshes.size());
  for (std::size_t stage = 0; stage < meshes.size(); ++stage) {
    text += fmt::format("{} TP {} x DP {}", stage == 0 ? ":" : ",", meshes[stage].tp, meshes[stage].dp);
  }
  return text;
}

std::string layout_text(const workload::ParallelOptions& parallel) {
  if (!parallel.meshes.empty()) return meshes_text(parallel.meshes);
  std::string text = fmt::format("TP {} x PP {} x DP {}", parallel.tp, parallel.pp, parallel.dp);
  if (parallel.cp > 1) text += fmt::format(" x CP {}", parallel.cp);
  if (parallel.virtual_stages > 1) text += fmt::format(", {} virtual stages", parallel.virtual_stages);
  return text;
}

// The inputs that determine a step time, and the key whose evidence applies to each.
struct EvidenceKey {
  std::string_view input;
  std::string_view path;
};
constexpr std::array kEvidenceKeys = {
    EvidenceKey{"GPU memory", "cluster.node.gpu.memory_bandwidth"},
    EvidenceKey{"kernel efficiency", "compute.gemm_efficiency"},
    EvidenceKey{"kernel profile", "cluster.node.gpu.kernels.gemm.half_share"},
    EvidenceKey{"NVLink", "cluster.node.nvlink.bandwidth"},
    EvidenceKey{"PCIe", "cluster.node.pcie.bandwidth"},
    EvidenceKey{"NIC", "cluster.node.nic.bandwidth"},
    EvidenceKey{"fabric speed", "cluster.fabric.leaf.speed"},
    EvidenceKey{"fabric latency", "cluster.fabric.latency.hop"},
};

// What the value at `path` is: that input, or of the hosts of one group " (A100)" behind it; empty: another key's.
std::string input_at(std::string_view path, const EvidenceKey& key, const Cluster& cluster) {
  if (path == key.path) return std::string(key.input);
  constexpr std::string_view kNode = "cluster.node.";
  if (!key.path.starts_with(kNode)) return {};
  for (std::size_t g = 0; g < cluster.groups.size(); ++g) {
    const std::string below = fmt::format("cluster.groups[{}].node.{}", g, key.path.substr(kNode.size()));
    if (path == below) return fmt::format("{} ({})", key.input, cluster.groups[g].name);
  }
  return {};
}

std::vector<InputEvidence> gather_evidence(const Scenario& scenario) {
  const bool calibrated = std::ranges::any_of(scenario.document.log().values(), [](const ValueRead& value) {
    return value.path == "compute.model" && value.text == "calibrated";
  });
  std::vector<InputEvidence> evidence;
  const std::optional<TraceJob>& trace = scenario.job.trace;
  if (trace && trace->compute != "roofline") {
    evidence.push_back({.input = "computing", .level = Evidence::kMeasured, .source = trace->name});
  } else {
    evidence.push_back({.input = "GPU arithmetic", .level = scenario.cluster.gpu.evidence,
                        .source = scenario.cluster.gpu.name});
  }
  for (const EvidenceKey& key : kEvidenceKeys) {
    for (const ValueRead& value : scenario.document.log().values()) {
      std::string input = input_at(value.path, key, scenario.cluster);
      if (input.empty() || (key.input == "kernel profile" && !calibrated)) continue;
      evidence.push_back({.input = std::move(input), .level = value.evidence,
                          .source = value.source.empty() ? value.origin : value.source});
    }
  }
  return evidence;
}

// Kernels of sizes outside the range that the compute model's constants were fitted on, each name once.
void note_extrapolation(const Scenario& scenario, const TaskGraph& graph, StepFacts& facts) {
  constexpr std::size_t kNamed = 6;
  std::set<std::string> all, beyond;
  for (const Work& work : graph.works) {
    for (const Kernel& kernel : work.kernels) {
      all.insert(kernel.name);
      if (scenario.job.compute->of_gpu(work.gpu).extrapolates(kernel)) beyond.insert(kernel.name);
    }
  }
  if (beyond.empty()) return;
  std::string names;
  std::size_t named = 0;
  for (const std::string& name : beyond) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + name;
  }
  if (beyond.size() > kNamed) names += ", ...";
  facts.warnings.push_back({.code = "W143",
                            .where = "cluster.node.gpu.kernels",
                            .text = fmt::format("{} of {} kinds of kernels are extrapolated: {}", beyond.size(),
                                                all.size(), names)});
}

// Files without lines, such as traces, have none.
std::string file_and_line(const Place& place) {
  return place.line > 0 ? fmt::format("{}:{}", place.file, place.line) : place.file;
}

void add_log(const ConfigLog& log, StepFacts& facts) {
  for (const Assumption& assumed : log.assumptions()) {
    facts.assumptions.push_back({.path = assumed.path, .value = assumed.value, .why = assumed.why});
  }
  for (const IgnoredKey& ignored : log.ignored()) facts.ignored.push_back({.path = ignored.path, .why = ignored.why});
  for (const Diagnostic& diagnostic : log.diagnostics().all()) {
    if (diagnostic.severity != Severity::kWarning || is_listed_as_ignored(log, diagnostic)) continue;
    facts.warnings.push_back({.code = diagnostic.code,
                              .where = file_and_line(diagnostic.place),
                              .text = diagnostic.message});
  }
  for (const ValueRead& value : log.values()) {
    facts.config.push_back({.path = value.path, .text = value.text, .origin = value.origin});
  }
  facts.config_sha256 = sha256(canonical_text(log));
}

void add_groups(const Cluster& cluster, std::size_t ranks, StepFacts& facts) {
  if (!cluster.mixed()) return;
  for (const HostGroup& group : cluster.groups) {
    facts.groups.push_back(
        {.name = group.name, .gpu = group.gpu.name, .hosts = group.hosts, .memory = group.gpu.memory});
  }
  facts.group_of_rank = cluster.kind_of_ranks(ranks);
}

}  // namespace

std::string name_of(const Job& job) {
  if (job.trace) {
    const Duration recorded = job.trace->recorded;
    return "traces " + job.trace->name + (recorded > Duration() ? ", recorded step " + to_string(recorded) : "");
  }
  if (job.layered) return job.layered->model.name;
  return job.recommendation ? job.recommendation->model.name : job.model.name;
}

DataType precision_of(const Job& job) {
  if (job.trace) return job.trace->precision;
  if (job.layered) return job.layered->model.precision;
  const workload::TrainingOptions& training = job.training;
  // As runs with GEMMs in fp8 and fp4 are reported, whatever the type of the rest.
  if (training.narrow != workload::NarrowRecipe::kNone && training.precision == DataType::kFp32) return DataType::kBf16;
  return job.recommendation ? job.recommendation->model.precision : job.training.precision;
}

FlopRate mean_peak(const Cluster& cluster, DataType precision) {
  if (!cluster.mixed()) return cluster.gpu.peak_of(precision);
  double sum = 0.0;
  for (const HostGroup& group : cluster.groups) {
    sum += group.gpu.peak_of(precision).count() * static_cast<double>(group.hosts);
  }
  return FlopRate(sum / static_cast<double>(cluster.hosts));
}

std::string_view processed_by(const Job& job) {
  return job.recommendation || job.layered ? "samples" : "tokens";
}

StepFacts job_facts(const Scenario& scenario, const Simulation& simulation) {
  const workload::StepPlan& plan = simulation.plan();
  StepFacts facts;
  facts.scenario = scenario.name;
  facts.seed = scenario.simulate.seed;
  facts.model = name_of(scenario.job);
  facts.parameters = plan.parameters;
  const std::optional<RecommendationJob>& recommendation = scenario.job.recommendation;
  if (recommendation) facts.layout = layout_text(*recommendation);
  if (scenario.job.layered) facts.layout = layout_text(*scenario.job.layered);
  facts.processed = processed_by(scenario.job);
  if (scenario.job.trains_transformer()) facts.layout = layout_text(scenario.job.parallel);
  facts.microbatches = plan.microbatches;
  facts.tokens_per_step = plan.tokens;
  facts.model_flops = scenario.attention_flops == AttentionFlops::kCausal ? plan.model_flops
                                                                          : plan.model_flops_full_attention;
  facts.hardware_flops = plan.hardware_flops;
  facts.peak_flop_rate = mean_peak(scenario.cluster, precision_of(scenario.job));
  add_groups(scenario.cluster, plan.graph.rank_count(), facts);
  facts.warmup_iterations = scenario.simulate.warmup;
  facts.memory = memory_rows(scenario);
  if (scenario.job.trains_transformer() || recommendation) facts.hosts = host_rows(scenario);
  facts.held_at_peak = plan.held_at_peak;
  facts.weight_versions = plan.weight_versions;
  facts.published = scenario.published;
  facts.changed_since_published = configs::changed_since_published(scenario.document);
  facts.kernel_times = kernel_times(plan.graph, *scenario.job.compute);
  facts.cost_rates = scenario.cost;
  facts.evidence = gather_evidence(scenario);
  add_log(scenario.document.log(), facts);
  note_extrapolation(scenario, simulation.plan().graph, facts);
  return facts;
}

}  // namespace ringwright::configs
