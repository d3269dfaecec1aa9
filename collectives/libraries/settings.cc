// The variables' meaning: oneCCL's documentation, "Environment Variables" (2021.15); Horovod's documentation, "Tensor
// Fusion" and "Autotune".
#include "collectives/libraries/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "core/base/text.h"

namespace ringwright::collectives {
namespace {

// An algorithm of oneCCL by its own name. Without `ours` oneCCL has it, and this simulator does not.
struct OneCclName {
  std::string_view theirs;
  std::string_view ours;
};

// Any algorithm but `topo` runs in host memory.
constexpr std::string_view kTopo = "topo";
constexpr std::array kAllReduceNames = {OneCclName{kTopo, "hierarchical"},
                                        OneCclName{"rabenseifner", "halving_doubling"},
                                        OneCclName{"nreduce", "all_pairs"},
                                        OneCclName{"ring", "ring"},
                                        OneCclName{"double_tree", "double_tree"},
                                        OneCclName{"recursive_doubling", "recursive_doubling"},
                                        OneCclName{"2d", "hierarchical"},
                                        OneCclName{"direct", ""}};
constexpr std::array kAllGatherNames = {OneCclName{kTopo, "hierarchical"}, OneCclName{"naive", "direct"},
                                        OneCclName{"flat", "direct"},      OneCclName{"ring", "ring"},
                                        OneCclName{"multi_bcast", ""},     OneCclName{"direct", ""}};
constexpr std::array kReduceScatterNames = {OneCclName{kTopo, "hierarchical"}, OneCclName{"naive", "direct"},
                                            OneCclName{"ring", "ring"}, OneCclName{"direct", ""}};
constexpr std::array kAllToAllNames = {OneCclName{kTopo, "direct"}, OneCclName{"naive", "direct"},
                                       OneCclName{"scatter", "pairwise"}, OneCclName{"direct", ""}};
constexpr std::array kBroadcastNames = {OneCclName{kTopo, "scatter_ring"}, OneCclName{"ring", "scatter_ring"},
                                        OneCclName{"double_tree", "double_tree"}, OneCclName{"naive", ""},
                                        OneCclName{"direct", ""}};
constexpr std::array kReduceNames = {OneCclName{kTopo, "double_tree"}, OneCclName{"double_tree", "double_tree"},
                                     OneCclName{"rabenseifner", "scatter_allgather"}, OneCclName{"direct", ""}};

struct OneCclVariable {
  std::string_view name;
  std::string_view doc;
  CollectiveKind kind;
  std::span<const OneCclName> algorithms;
};
constexpr std::array kOneCclVariables = {
    OneCclVariable{"CCL_ALLREDUCE", "oneCCL: all-reduce, \"recursive_doubling:0-8192;ring:8193-max\"",
                   CollectiveKind::kAllReduce, kAllReduceNames},
    OneCclVariable{"CCL_ALLGATHERV", "oneCCL: all-gather, by bytes of a rank", CollectiveKind::kAllGather,
                   kAllGatherNames},
    OneCclVariable{"CCL_REDUCE_SCATTER", "oneCCL: reduce-scatter, by bytes of a rank", CollectiveKind::kReduceScatter,
                   kReduceScatterNames},
    OneCclVariable{"CCL_ALLTOALL", "oneCCL: all-to-all", CollectiveKind::kAllToAll, kAllToAllNames},
    OneCclVariable{"CCL_BCAST", "oneCCL: broadcast", CollectiveKind::kBroadcast, kBroadcastNames},
    OneCclVariable{"CCL_REDUCE", "oneCCL: reduce", CollectiveKind::kReduce, kReduceNames}};

constexpr std::array<std::string_view, 4> kHorovodVariables = {
    "HOROVOD_FUSION_THRESHOLD", "HOROVOD_CYCLE_TIME", "HOROVOD_HIERARCHICAL_ALLREDUCE", "HOROVOD_CACHE_CAPACITY"};

std::optional<std::int64_t> whole_bytes(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

std::string_view next_part(std::string_view& rest, char at) {
  const std::size_t end = std::min(rest.find(at), rest.size());
  const std::string_view first = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return first;
}

// "ring", or "ring:8193-max". What is wrong with it, or nothing.
std::string add_rule(const OneCclVariable& variable, std::string_view text, std::vector<AlgorithmRule>& rules) {
  const std::string_view name = next_part(text, ':');
  const auto found = std::ranges::find(variable.algorithms, name, &OneCclName::theirs);
  if (found == variable.algorithms.end()) {
    std::vector<std::string> names;
    for (const OneCclName& one : variable.algorithms) names.emplace_back(one.theirs);
    return fmt::format("'{}' is not one of {}", name, join(names, ", "));
  }
  if (found->ours.empty()) return fmt::format("'{}' is an algorithm of oneCCL that is not modelled", name);
  AlgorithmRule rule{.kind = variable.kind, .algorithm = found->ours, .staged = name != kTopo};
  if (!text.empty()) {
    const auto from = whole_bytes(next_part(text, '-'));
    const auto to = text == "max" ? std::optional<std::int64_t>(0) : whole_bytes(text);
    if (!from || !to || (text != "max" && *to < *from)) return "a range of sizes is FROM-TO in bytes, or FROM-max";
    rule.from = Bytes(*from);
    // A rule up to 0 bytes applies to no call.
    if (text != "max" && *to == 0) return {};
    rule.up_to = Bytes(*to);
  }
  rules.push_back(rule);
  return {};
}

void read_oneccl(ConfigMap& env, LibrarySettings& settings) {
  for (const OneCclVariable& variable : kOneCclVariables) {
    if (!env.documenting() && !env.has(variable.name)) continue;
    const std::string value = env.text({.name = variable.name, .doc = variable.doc, .fallback = std::string()});
    if (env.documenting()) continue;
    std::string_view rest = value;
    if (rest.empty()) env.error(variable.name, "E562", fmt::format("{} is empty", variable.name), "ring");
    while (!rest.empty()) {
      const std::string wrong = add_rule(variable, next_part(rest, ';'), settings.chosen);
      if (wrong.empty()) continue;
      env.error(variable.name, "E562", fmt::format("{} is '{}': {}", variable.name, value, wrong),
                "recursive_doubling:0-8192;ring:8193-max");
      break;
    }
  }
}

// As an environment variable: a number without a unit.
template <class Set>
void horovod_number(ConfigMap& env, const Key<std::string>& key, std::string_view example, Set&& set) {
  if (!env.documenting() && !env.has(key.name)) return;
  const std::string value = env.text(key);
  if (env.documenting()) return;
  double number = 0.0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  const bool read = !value.empty() && error == std::errc() && end == value.data() + value.size();
  if (read && std::isfinite(number) && number >= 0.0 && number <= 1e15 && set(number)) return;
  env.error(key.name, "E562", fmt::format("{} is '{}', which Horovod cannot use", key.name, value),
            fmt::format("{}: {}", key.name, example));
}

void read_horovod(ConfigMap& env, HorovodSettings& horovod) {
  horovod_number(env, {.name = "HOROVOD_FUSION_THRESHOLD",
                       .doc = "Horovod: bytes of gradients that are reduced together; 0: each by itself",
                       .fallback = std::string()},
                 "67108864", [&](double bytes) {
                   horovod.fusion_threshold = Bytes(static_cast<std::int64_t>(bytes));
                   return true;
                 });
  horovod_number(env, {.name = "HOROVOD_CYCLE_TIME",
                       .doc = "Horovod: milliseconds between two negotiations",
                       .fallback = std::string()},
                 "3.5", [&](double ms) {
                   horovod.cycle = Duration(static_cast<std::int64_t>(std::llround(ms * 1e9)));
                   return ms <= 1e6;
                 });
  horovod_number(env, {.name = "HOROVOD_HIERARCHICAL_ALLREDUCE",
                       .doc = "Horovod: 1: all-reduce inside hosts, then between them",
                       .fallback = std::string()},
                 "1", [&](double value) {
                   horovod.hierarchical = value > 0.5;
                   return true;
                 });
  horovod_number(env, {.name = "HOROVOD_CACHE_CAPACITY",
                       .doc = "Horovod: responses that ranks remember; 0: rank 0 gathers lists in every cycle",
                       .fallback = std::string()},
                 "1024", [&](double value) {
                   horovod.cached = value > 0.5;
                   return true;
                 });
}

// Variables of another library than the one that runs.
void refuse_unknown(ConfigMap& env, const LibraryProfile& profile) {
  const std::vector<std::string> known = library_variables(profile.name);
  for (const std::string& name : env.keys()) {
    if (std::ranges::find(known, name) != known.end()) continue;
    const std::string near = nearest_name(name, known);
    const std::string hint = known.empty() ? fmt::format("{} has no variables here", profile.name)
                             : near.empty() ? fmt::format("its variables are {}", join(known, ", "))
                                            : fmt::format("did you mean '{}'?", near);
    env.error(name, "E562", fmt::format("'{}' is not a variable of {} that is modelled", name, profile.name), hint);
  }
}

}  // namespace

std::vector<std::string> library_variables(std::string_view library) {
  std::vector<std::string> names;
  if (library == "oneccl") {
    for (const OneCclVariable& variable : kOneCclVariables) names.emplace_back(variable.name);
  }
  if (library == "horovod") names.assign(kHorovodVariables.begin(), kHorovodVariables.end());
  return names;
}

LibrarySettings read_library(ConfigMap comm, bool nvidia) {
  std::vector<Option> options;
  for (const LibraryProfile& one : library_profiles()) options.push_back({.name = one.name, .doc = one.doc});
  LibrarySettings settings{.runs_files = comm.has("algorithms"), .nvidia = nvidia};
  const std::string name = comm.choice({.name = "library",
                                        .doc = "the collective library; rccl on AMD's GPUs",
                                        .fallback = std::string(nvidia ? "nccl" : "rccl")},
                                       options);
  if (std::ranges::find(library_profiles(), name, &LibraryProfile::name) != library_profiles().end()) {
    settings.profile = &library_profile(name);
  }
  ConfigMap env = comm.map("env", "NCCL's environment variables, as a job would set them");
  if (env.documenting() || settings.is("oneccl")) read_oneccl(env, settings);
  if (env.documenting() || settings.is("horovod")) read_horovod(env, settings.horovod);
  if (!settings.profile->nccl_kernels && !env.documenting()) refuse_unknown(env, *settings.profile);
  if (settings.profile->call > Duration()) {
    comm.assume("library", to_string(settings.profile->call),
                fmt::format("planning value of {}: each call before its messages", name));
  }
  if (settings.is("horovod")) {
    comm.assume("library", to_string(kControlMessage), "planning value of Horovod: each message of its negotiation");
  }
  return settings;
}

}  // namespace ringwright::collectives
