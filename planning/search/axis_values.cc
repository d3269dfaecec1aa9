#include "planning/search/axis_values.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "core/config/scalar.h"

namespace ringwright::planning {
namespace {

constexpr std::int64_t kTokensOfContextRank = 4096;
constexpr std::int64_t kVirtualStages = 8;
constexpr std::int64_t kMicroBatches = 8;

std::vector<std::string> divisors(std::int64_t number, std::int64_t most) {
  std::vector<std::string> result;
  for (std::int64_t d = 1; d <= std::min(number, most); ++d) {
    if (number % d == 0) result.push_back(std::to_string(d));
  }
  return result;
}

// 1, 2, 4, ... while they divide.
std::vector<std::string> powers(std::int64_t number, std::int64_t most) {
  std::vector<std::string> result;
  for (std::int64_t p = 1; p <= most && number % p == 0; p *= 2) result.push_back(std::to_string(p));
  return result;
}

void add_own(std::string own, std::vector<std::string>& values) {
  if (std::ranges::find(values, own) == values.end()) values.push_back(std::move(own));
}

// Divisors of the layers, and powers of two, which balanced layers allow: 61 layers have no other divisor than 1.
std::vector<std::string> virtual_stages(std::int64_t layers) {
  std::vector<std::string> values;
  for (std::int64_t v = 1; v <= std::min(layers, kVirtualStages); ++v) {
    if (layers % v == 0 || std::has_single_bit(static_cast<std::uint64_t>(v))) values.push_back(std::to_string(v));
  }
  return values;
}

// Of the scenario, or those that are varied.
std::vector<std::int64_t> batches_of(const configs::Scenario& scenario, const configs::SearchSettings& settings) {
  const auto varied = std::ranges::find(settings.given, "training.global_batch", &configs::SearchAxis::name);
  std::vector<std::int64_t> batches;
  if (varied != settings.given.end()) {
    for (const std::string& value : varied->values) batches.push_back(read_integer(value).value_or(1));
  }
  return batches.empty() ? std::vector<std::int64_t>{scenario.job.training.global_batch} : batches;
}

std::vector<std::string> micro_batches(const std::vector<std::int64_t>& batches) {
  std::vector<std::string> longest;
  for (const std::int64_t batch : batches) {
    std::vector<std::string> values = powers(batch, kMicroBatches);
    if (values.size() > longest.size()) longest = std::move(values);
  }
  return longest;
}

std::vector<std::string> number_values(std::string_view axis, const configs::Scenario& scenario) {
  const workload::ModelShape& shape = scenario.job.model;
  const std::int64_t gpus = scenario.cluster.gpus();
  if (axis == "tp") return divisors(std::gcd(std::gcd(shape.heads, shape.ffn), gpus), scenario.cluster.host.gpus);
  if (axis == "pp") return divisors(gpus, shape.layers);
  if (axis == "virtual_stages") return virtual_stages(shape.layers);
  if (axis == "cp") return powers(gpus, std::max<std::int64_t>(1, shape.sequence / kTokensOfContextRank));
  return divisors(shape.experts ? shape.experts->count : 1, gpus);
}

}  // namespace

std::string sharding_word(const workload::ParallelOptions& parallel, const ConfigDocument& document) {
  if (parallel.zero_stage == 0) return "none";
  return document.names("parallel.fsdp") ? "fsdp" : fmt::format("zero-{}", parallel.zero_stage);
}

std::string recompute_word(workload::Recompute recompute) {
  switch (recompute) {
    case workload::Recompute::kNone: return "none";
    case workload::Recompute::kSelective: return "selective";
    case workload::Recompute::kOperators: return "selective-ops";
    case workload::Recompute::kExceptSaved: return "except-saved";
    case workload::Recompute::kFull: return "full";
  }
  return {};
}

std::vector<std::string> axis_values(std::string_view axis, const configs::Scenario& scenario,
                                     const configs::SearchSettings& settings) {
  if (axis == "micro_batch") return micro_batches(batches_of(scenario, settings));
  const workload::ParallelOptions& own = scenario.job.parallel;
  if (axis == "etp") {
    return scenario.job.model.experts ? std::vector<std::string>{"1", "tp"} : std::vector<std::string>{"1"};
  }
  if (axis == "recompute") {
    std::vector<std::string> values{"none", "selective", "full"};
    add_own(recompute_word(scenario.job.training.recompute), values);
    return values;
  }
  if (axis == "sharding") {
    std::vector<std::string> values{"none", "zero-1", "fsdp"};
    add_own(sharding_word(own, scenario.document), values);
    return values;
  }
  if (axis == "schedule") {
    std::vector<std::string> values{"1f1b"};
    if (!own.listed && own.schedule != "interleaved-1f1b" && own.schedule != "dapple") add_own(own.schedule, values);
    return values;
  }
  if (axis == "stage_layers") return {"even", "balanced"};
  if (axis == "sequence_parallel") return {"true"};
  return number_values(axis, scenario);
}

}  // namespace ringwright::planning
