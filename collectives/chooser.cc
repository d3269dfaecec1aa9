// The rules of the simple tuner. Thresholds are rounded numbers near the crossings of NCCL's own cost model.
#include "collectives/chooser.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "collectives/builtin.h"
#include "collectives/nccl/tuner.h"
#include "collectives/steps/parameter_server.h"
#include "core/base/check.h"
#include "core/base/text.h"

namespace ringwright::collectives {
namespace {

constexpr std::string_view kByRule = "auto";

// In-switch reduction gains bandwidth but has a high latency: NCCL charges 25 us for NVLS against 6.6 us + 0.6 us per
// hop of a ring, and uses it only where it wins, from five GPUs on (H200: 1.00 at 4 GPUs, 1.14 at 5, 1.29 at 8).
constexpr Bytes kNvlsFrom = Bytes(1 << 20);
constexpr int kNvlsFromMembers = 5;
// A ring of n pays 2 (n-1) latencies, a tree 2 log2 n but about a tenth of its bandwidth. They cross where a ring's
// message, S / n, takes about as long as its latency: 5 us at 50 GB/s.
constexpr Bytes kRingFromPerMember = Bytes(256 << 10);
// Up to this size a message between hosts costs little more than its latency: 32 KiB take 0.7 us at 50 GB/s.
constexpr Bytes kTinyUpTo = Bytes(32 << 10);
// Beyond this many peers, concurrent sends to all are simulated one peer at a time, which limits the flows in flight.
constexpr int kDirectUpTo = 256;

const CollectiveAlgorithm& builtin(std::string_view name) {
  const CollectiveAlgorithm* algorithm = find_algorithm(name);
  CHECK(algorithm != nullptr, name);
  return *algorithm;
}

std::string_view rule_for_all_reduce(const CollectiveCall& call, bool nvls) {
  const GroupLayout& layout = *call.layout;
  const bool nvls_gains = nvls && call.bytes >= kNvlsFrom && layout.even() && layout.largest_host >= kNvlsFromMembers;
  const bool one_host = layout.host_count() == 1;
  if (one_host) return nvls_gains ? "in_switch" : "ring";
  if (call.bytes <= kTinyUpTo) return "recursive_multiplying";
  if (call.bytes < kRingFromPerMember * call.size()) return nvls_gains ? "nvls_tree" : "double_tree";
  if (nvls_gains) return "nvls_tree";
  return layout.even() && layout.largest_host > 1 ? "rail_rings" : "ring";
}

// NCCL gathers and scatters with rings: one per rail when hosts hold several members.
std::string_view rule_for_one_way(const CollectiveCall& call) {
  const GroupLayout& layout = *call.layout;
  const bool rails = layout.host_count() > 1 && layout.even() && layout.largest_host > 1;
  return rails ? "rail_rings" : "ring";
}

std::string_view rule(const CollectiveCall& call, bool nvls) {
  switch (call.kind) {
    case CollectiveKind::kAllReduce: return rule_for_all_reduce(call, nvls);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kReduceScatter: return rule_for_one_way(call);
    case CollectiveKind::kAllToAll: return call.size() <= kDirectUpTo ? "direct" : "pairwise";
    case CollectiveKind::kBroadcast:
    case CollectiveKind::kReduce: return "ring";  // NCCL's only algorithm for these
  }
  return "ring";
}

std::vector<Option> algorithm_options() {
  std::vector<Option> options = {{.name = kByRule, .doc = "let the tuner choose by kind, size and layout"}};
  for (const CollectiveAlgorithm* algorithm : algorithms()) {
    options.push_back({.name = algorithm->name(), .doc = algorithm->help()});
  }
  return options;
}

// In-switch reduction inside hosts needs NVSwitch hardware; over hosts of one member the network reduces.
bool needs_nvls(const CollectiveAlgorithm& algorithm, const CollectiveCall& call) {
  return algorithm.name() == "nvls_tree" || (algorithm.name() == "in_switch" && call.layout->host_count() == 1);
}

std::string describe(const GroupLayout& layout) {
  if (layout.even()) {
    return fmt::format("{} ranks on {} hosts, {} on each", layout.size(), layout.host_count(), layout.largest_host);
  }
  return fmt::format("{} ranks on {} hosts, {} to {} on each", layout.size(), layout.host_count(), layout.smallest_host,
                     layout.largest_host);
}

constexpr std::array kRungs = {
    Option{.name = "closed_form",
           .doc = "a formula of latency and bandwidth; a call ends for all ranks at once and does not contend with "
                  "other traffic"},
    Option{.name = "coupled",
           .doc = "the members of a call progress together: a phase of its steps is one flow over all of their links; "
                  "approximate, and fast where nothing is symmetric"},
    Option{.name = "steps", .doc = "every step's messages are simulated on the network and share its links"},
    Option{.name = "chunks",
           .doc = "as NCCL's kernels execute: channels, protocols, slots and credits; constants in `comm.costs`"},
    Option{.name = "auto",
           .doc = "steps, or coupled where a run in steps would simulate more than 1,000,000 messages one by one; "
                  "the report states which"}};

// What the library's profile assumes, where the user gives nothing.
void assume_costs(ConfigMap& collectives, const LibraryProfile& profile) {
  const std::string why = fmt::format("planning value of {}", profile.name);
  const StepCosts& costs = profile.costs;
  if (costs.message > Duration()) collectives.assume("step_costs.message", to_string(costs.message), why);
  const auto rate = [&](std::string_view name, Bandwidth value) {
    if (value > Bandwidth(0.0)) collectives.assume(name, to_string(value), why);
  };
  rate("step_costs.reduce_rate", costs.reduce_rate);
  rate("step_costs.copy_rate", costs.copy_rate);
}

// A rate that is without limit where it is not given.
void read_rate(ConfigMap& map, const Key<Bandwidth>& key, Bandwidth& rate) {
  if (map.has(key.name) || map.documenting()) rate = map.bandwidth(key);
}

StepCosts read_step_costs(ConfigMap& collectives, Rung rung, const LibraryProfile& profile) {
  if (!collectives.has("step_costs") && !collectives.documenting()) {
    if (profile.costs.free()) return {};
    if (rung == Rung::kSteps) {
      assume_costs(collectives, profile);
      return profile.costs;
    }
    // Chunks are refused.
    if (rung == Rung::kChunks) return {};
    collectives.warn("model", "W562",
                     fmt::format("{}'s cost of a message does not count: only 'collectives.model: steps' simulates "
                                 "steps", profile.name));
    return {};
  }
  ConfigMap map =
      collectives.map("step_costs", "software cost of messages in addition to the network, for libraries such as MPI");
  if (rung != Rung::kSteps && !collectives.documenting()) {
    map.ignore_rest("only 'collectives.model: steps' simulates steps");
    return {};
  }
  StepCosts costs = profile.costs;
  costs.message = map.duration({.name = "message",
                                .doc = "per message sent, serialised on the sender",
                                .fallback = profile.costs.message,
                                .min = Duration()});
  costs.eager = map.bytes({.name = "eager",
                           .doc = "larger messages use rendezvous: they wait for the receiver",
                           .fallback = Bytes(0),
                           .min = Bytes(0)});
  costs.rendezvous = map.duration(
      {.name = "rendezvous", .doc = "time of the rendezvous handshake", .fallback = Duration(), .min = Duration()});
  read_rate(map,
            {.name = "reduce_rate",
             .doc = "reduction rate of one rank, in bytes added per second; without it reductions take no time",
             .fallback = Bandwidth(10e9),
             .min = Bandwidth(1e6)},
            costs.reduce_rate);
  read_rate(map,
            {.name = "copy_rate",
             .doc = "rate at which one rank copies each message to a socket before it is sent, as over TCP; without it "
                    "messages are not copied",
             .fallback = Bandwidth(10e9),
             .min = Bandwidth(1e6)},
            costs.copy_rate);
  return costs;
}

constexpr std::array kOverheads = {
    Option{.name = "none", .doc = "none: only the network counts"},
    Option{.name = "kernels",
           .doc = "extra time of NCCL's kernels (`model: chunks`) over the steps of the same call in isolation"}};

// Formulas of a training step are for users who want a result in a millisecond; for one collective in isolation all
// rungs report the same time.
bool read_overhead(ConfigMap& collectives, const ChooserSettings& settings, bool alone) {
  const bool in_steps = settings.in_steps() || (alone && settings.rung == Rung::kClosedForm);
  const bool counts = in_steps && settings.step_costs.free() && settings.library.profile->nccl_kernels;
  const std::string overhead =
      collectives.choice({.name = "overhead",
                          .doc = "what a call costs before its first step, or on top of its formula; default kernels "
                                 "with `model: steps` without `step_costs`, and wherever one collective is simulated "
                                 "alone",
                          .fallback = std::string(counts ? "kernels" : "none")},
                         kOverheads);
  if (overhead == "none" || settings.rung != Rung::kChunks) return overhead != "none";
  if (!collectives.documenting()) collectives.ignore("overhead", "'collectives.model: chunks' simulates the kernels");
  return false;
}

// Kernels, channels and the cost model are NCCL's.
void refuse_kernels(ConfigMap& collectives, const ChooserSettings& settings) {
  const LibraryProfile& profile = *settings.library.profile;
  if (profile.nccl_kernels || collectives.documenting()) return;
  const auto refuse = [&](std::string_view key, std::string_view value, std::string_view fix) {
    collectives.error(key, "E563",
                      fmt::format("'{}: {}' is about NCCL's kernels, and comm.library is {}", collectives.path_of(key),
                                  value, profile.name),
                      fmt::format("{}: {}", key, fix));
  };
  if (settings.rung == Rung::kChunks) refuse("model", "chunks", "steps");
  if (settings.kernel_overhead) refuse("overhead", "kernels", "none");
  if (settings.tuner == Tuner::kNccl && settings.rung != Rung::kChunks) refuse("tuner", "nccl", "simple");
}

// What a library adds to a call is added to steps and formulas, and so are its own algorithms.
void warn_of_chunks(ConfigMap& collectives, const ChooserSettings& settings) {
  if (settings.rung != Rung::kChunks || collectives.documenting()) return;
  constexpr std::string_view kOnly = "'collectives.model: chunks' simulates NCCL's kernels";
  if (settings.library.is("horovod")) {
    collectives.warn("model", "W562", fmt::format("Horovod's cycles and fusion buffer do not count: {} only", kOnly),
                     "model: steps");
  }
  if (settings.library.is("mscclpp")) {
    collectives.warn("model", "W562",
                     fmt::format("MSCCL++'s own algorithms do not count: {}, and plans of comm.algorithms", kOnly),
                     "model: steps");
  }
  if (settings.library.is("adapcc")) {
    collectives.warn("model", "W562", fmt::format("AdapCC's trees do not count: {}", kOnly), "model: steps");
  }
}

}  // namespace

std::string_view to_string(Rung rung) { return kRungs[static_cast<std::size_t>(rung)].name; }

ChooserSettings read_chooser_settings(ConfigMap collectives, std::span<const std::string> dimensions, Rung usual,
                                      const LibrarySettings& library) {
  constexpr std::array kTuners = {Option{.name = "simple", .doc = "a few rules by kind, size and layout"},
                                  Option{.name = "nccl", .doc = "NCCL's own cost model, as configured in 'comm'"}};
  ChooserSettings settings{.library = library};
  // Horovod's cycles come on top of steps; algorithms of MSCCL++ are steps, unless they are files.
  const bool in_kernels = library.profile->nccl_kernels && !library.is("horovod") &&
                          (library.profile->rules.empty() || library.runs_files);
  const Rung fallback = in_kernels || usual != Rung::kChunks ? usual : Rung::kSteps;
  const std::string rung = collectives.choice(
      {.name = "model",
       .doc = "how collectives are simulated: the fidelity level; default chunks where one collective is simulated "
              "alone",
       .fallback = std::string(to_string(collectives.has("step_costs") ? Rung::kSteps : fallback))},
      kRungs);
  for (const Rung known : {Rung::kClosedForm, Rung::kCoupled, Rung::kSteps, Rung::kChunks, Rung::kAuto}) {
    if (rung == to_string(known)) settings.rung = known;
  }
  settings.use_nvls =
      collectives.boolean({.name = "nvls",
                           .doc = "reduce and multicast in the hosts' NVSwitches where they support it (NVLS)",
                           .fallback = true});
  settings.step_costs = read_step_costs(collectives, settings.rung, *library.profile);
  settings.kernel_overhead = read_overhead(collectives, settings, usual == Rung::kChunks);
  const std::string tuner = collectives.choice(
      {.name = "tuner",
       .doc = "who chooses the algorithm of a collective; default nccl where NCCL's kernels are modelled (`model: "
              "chunks`, `overhead: kernels`)",
       .fallback = std::string(settings.heeds_kernels() ? "nccl" : "simple")},
      kTuners);
  settings.tuner = tuner == "nccl" ? Tuner::kNccl : Tuner::kSimple;
  refuse_kernels(collectives, settings);
  warn_of_chunks(collectives, settings);
  const std::vector<Option> options = algorithm_options();
  for (const std::string& dimension : dimensions) {
    ConfigMap map = collectives.map(dimension, "overrides for collectives of this dimension");
    const std::string name = map.choice(
        {.name = "algorithm", .doc = "the algorithm of these collectives", .fallback = std::string(kByRule)}, options);
    // An algorithm for gradients is a poor choice for a norm of 4 bytes: split over 8,192 ranks, most messages would be
    // empty.
    const Bytes from = map.bytes({.name = "from",
                                  .doc = "the override applies from this size on; the tuner chooses for smaller "
                                         "collectives",
                                  .fallback = Bytes(0)});
    settings.choices.push_back({.dimension = dimension, .algorithm = find_algorithm(name), .from = from});
  }
  return settings;
}

SimpleChooser::SimpleChooser(const ChooserSettings& settings, const ChooserFacts& facts)
    : nvls_(settings.use_nvls && facts.hosts_have_nvls),
      library_(settings.tuner == Tuner::kNccl ? facts.library : nullptr),
      rules_(settings.library),
      boxes_(facts.boxes),
      host_speeds_(facts.host_speeds) {
  for (const std::string& name : facts.dimensions) {
    by_dimension_.push_back({.dimension = name});
    for (const DimensionChoice& choice : settings.choices) {
      if (choice.dimension == name) by_dimension_.back() = choice;
    }
  }
}

const CollectiveAlgorithm* SimpleChooser::chosen(const CollectiveCall& call) const {
  if (call.dimension.index() >= by_dimension_.size()) return nullptr;
  const DimensionChoice& choice = by_dimension_[call.dimension.index()];
  return call.bytes >= choice.from ? choice.algorithm : nullptr;
}

const CollectiveAlgorithm* SimpleChooser::named(const CollectiveCall& call) const {
  if (!call.layout->lost_nics.empty()) {
    if (builtin("around_lost_nics").supports(call)) return &made_.around_lost_nics(call);
  }
  const CollectiveAlgorithm* algorithm = chosen(call);
  const bool horovod = rules_.is("horovod") && rules_.horovod.hierarchical;
  if (algorithm == nullptr && horovod && call.kind == CollectiveKind::kAllReduce) algorithm = &builtin("hierarchical");
  return algorithm != nullptr && algorithm->supports(call) ? &measured(*algorithm, call) : nullptr;
}

const CollectiveAlgorithm& SimpleChooser::measured(const CollectiveAlgorithm& algorithm,
                                                   const CollectiveCall& call) const {
  if (!algorithm.follows_host_speeds()) return algorithm;
  const auto speeds = host_speeds_.find(call.layout);
  return speeds == host_speeds_.end() ? algorithm : made_.adaptive(speeds->second);
}

std::string_view SimpleChooser::dimension(const CollectiveCall& call) const {
  const std::size_t index = call.dimension.index();
  return index < by_dimension_.size() ? std::string_view(by_dimension_[index].dimension) : std::string_view();
}

const CollectiveAlgorithm& SimpleChooser::as_library(const CollectiveCall& call) const {
  const Asked asked{call.layout, call.kind, call.bytes.count()};
  const std::scoped_lock lock(mutex_);
  const auto [entry, is_new] = answers_.try_emplace(asked);
  if (is_new) entry->second = &nearest_in_steps(library_->choose(call).plan, call, made_);
  return *entry->second;
}

const CollectiveAlgorithm* SimpleChooser::on_torus(const CollectiveCall& call) const {
  const auto box = boxes_.find(call.layout);
  if (box == boxes_.end()) return nullptr;
  const CollectiveAlgorithm& rings = made_.torus(box->second);
  return rings.supports(call) ? &rings : nullptr;
}

const AlgorithmRule* SimpleChooser::rule_of(const CollectiveCall& call) const {
  if (named(call) != nullptr) return nullptr;
  const auto applies = [&](const AlgorithmRule& rule) {
    if (!matches(rule, call)) return false;
    const CollectiveAlgorithm& algorithm = builtin(rule.algorithm);
    return algorithm.supports(call) && (nvls_ || !needs_nvls(algorithm, call));
  };
  for (const std::span<const AlgorithmRule> rules : {std::span(rules_.chosen), rules_.profile->rules}) {
    const auto found = std::ranges::find_if(rules, applies);
    if (found != rules.end()) return &*found;
  }
  return nullptr;
}

const CollectiveAlgorithm& SimpleChooser::choose(const CollectiveCall& call) const {
  if (call.layout->servers.count > 0) return parameter_server();
  if (const CollectiveAlgorithm* const algorithm = named(call)) {
    return library_ != nullptr ? made_.streamed(*algorithm, call) : *algorithm;
  }
  if (const AlgorithmRule* const rule = rule_of(call)) return measured(builtin(rule->algorithm), call);
  if (const CollectiveAlgorithm* const algorithm = on_torus(call)) return *algorithm;
  return library_ != nullptr ? as_library(call) : builtin(rule(call, nvls_));
}

std::string SimpleChooser::check(const CollectiveCall& call) const {
  const CollectiveAlgorithm* algorithm = chosen(call);
  if (algorithm == nullptr || call.size() == 1) return {};
  if (algorithm->supports(call)) {
    if (nvls_ || !needs_nvls(*algorithm, call)) return {};
    return fmt::format("'{}' needs hosts whose NVSwitches reduce (NVLS); these do not, or 'collectives.nvls' is false",
                       algorithm->name());
  }
  std::vector<std::string> able;
  for (const CollectiveAlgorithm* other : algorithms()) {
    if (other->supports(call)) able.emplace_back(other->name());
  }
  return fmt::format("'{}' does not support the {} of dimension '{}' ({}); supported: {}", algorithm->name(),
                     to_string(call.kind), by_dimension_[call.dimension.index()].dimension, describe(*call.layout),
                     join(able, ", "));
}

}  // namespace ringwright::collectives
