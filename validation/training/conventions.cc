#include "validation/training/conventions.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/config/config_document.h"

namespace ringwright::validation {
namespace {

constexpr std::array kMeanings = {
    Option{.name = "allocated", .doc = "tensors only"},
    Option{.name = "reserved", .doc = "including the cache of the allocator"},
    Option{.name = "device", .doc = "everything on the device"},
};

MemoryMeaning parse_meaning(std::string_view text) {
  if (text == "allocated") return MemoryMeaning::kAllocated;
  return text == "device" ? MemoryMeaning::kDevice : MemoryMeaning::kReserved;
}

VersionRule read_version(ConfigMap& map) {
  VersionRule rule;
  rule.words = read_rule_words(map);
  rule.stack =
      map.text({.name = "stack", .doc = "file with settings that rows do not state", .fallback = std::string()});
  rule.tensor_overlap =
      map.boolean({.name = "tensor_overlap",
                   .doc = "tensor-parallel exchanges run concurrently with GEMMs, in rows that do not state it",
                   .fallback = false});
  return rule;
}

SourceRule read_source(ConfigMap& map) {
  SourceRule rule;
  rule.name = map.text({.name = "name", .doc = "prefix of the ids of its rows"});
  rule.models = map.texts({.name = "models", .doc = "words that the model of a row must contain"});
  rule.causes = map.texts({.name = "causes", .doc = "known causes of its errors"});
  rule.remarks = map.texts({.name = "remarks", .doc = "findings about its rows"});
  for (ConfigMap& version : map.maps("versions", "settings that differ where `where` names the version")) {
    rule.versions.push_back(read_version(version));
  }
  rule.title = map.text({.name = "title", .doc = "name in tables", .fallback = rule.name});
  rule.stack =
      map.text({.name = "stack", .doc = "file with settings that rows do not state", .fallback = std::string()});
  rule.memory = parse_meaning(
      map.choice({.name = "memory", .doc = "meaning of mem_gib", .fallback = std::string("reserved")}, kMeanings));
  const bool decimal = map.boolean({.name = "memory_in_gb", .doc = "mem_gib holds GB (1e9)", .fallback = false});
  rule.gib_per_unit = decimal ? 1e9 / (1024.0 * 1024.0 * 1024.0) : 1.0;
  rule.flops_with_recompute =
      map.boolean({.name = "flops_with_recompute", .doc = "tflops_gpu counts recomputation", .fallback = false});
  rule.most_gpus = static_cast<int>(map.integer({.name = "most_gpus",
                                                 .doc = "rows of more GPUs are simulated only when their file is given",
                                                 .fallback = 0,
                                                 .min = 0}));
  rule.recompute = map.text({.name = "recompute",
                             .doc = "recomputation of its rows, where their times contradict the column",
                             .fallback = std::string()});
  rule.target = map.percent({.name = "target", .doc = "mean |error| to reach", .fallback = 0.0, .min = 0.0});
  rule.uneven_layers = map.text(
      {.name = "uneven_layers", .doc = "stage_layers of rows whose layers do not divide", .fallback = std::string()});
  rule.heads = map.integer({.name = "heads",
                            .doc = "attention heads, in rows that do not state them; 0: of size 128",
                            .fallback = 0,
                            .min = 0});
  rule.target_tau = map.number({.name = "target_tau",
                                .doc = "rank correlation inside sweeps to reach",
                                .fallback = 0.0,
                                .min = 0.0,
                                .max = 1.0});
  rule.memory_target =
      map.percent({.name = "memory_target", .doc = "mean |error| of memory to reach", .fallback = 0.0, .min = 0.0});
  const double threshold =
      map.percent({.name = "threshold", .doc = "mean |error| that holds", .fallback = 0.0, .min = 0.0});
  if (map.has("threshold")) rule.threshold = threshold;
  return rule;
}

MachineRule read_machine(ConfigMap& map) {
  MachineRule rule;
  rule.words = read_rule_words(map);
  rule.node = map.text({.name = "node", .doc = "preset of the host"});
  rule.gpu = map.text({.name = "gpu", .doc = "preset of the GPU"});
  rule.host = static_cast<int>(map.integer(
      {.name = "host", .doc = "GPUs of a host that the rule is limited to (gpus_per_node)", .fallback = 0, .min = 0}));
  rule.domain = static_cast<int>(
      map.integer({.name = "domain", .doc = "GPUs that NVLink joins beyond a host", .fallback = 0, .min = 0}));
  rule.tray = static_cast<int>(
      map.integer({.name = "tray", .doc = "GPUs of the smallest unit of a domain", .fallback = 1, .min = 1}));
  rule.cards =
      static_cast<int>(map.integer({.name = "cards", .doc = "network cards of a tray", .fallback = 1, .min = 1}));
  rule.sockets =
      static_cast<int>(map.integer({.name = "sockets", .doc = "CPU sockets of a tray", .fallback = 1, .min = 1}));
  return rule;
}

NicRule read_nic_rule(ConfigMap& map) {
  NicRule rule;
  rule.words = read_rule_words(map);
  const Bandwidth speed =
      map.bandwidth({.name = "host_bandwidth", .doc = "rate of all network cards of a host, in one direction"});
  rule.host_gbps = speed.count() * 8.0 / 1e9;
  return rule;
}

TransportRule read_transport_rule(ConfigMap& map) {
  TransportRule rule;
  rule.words = read_rule_words(map);
  rule.transport = map.text({.name = "transport", .doc = "a value of cluster.node.nic.transport"});
  return rule;
}

ModelRule read_model_rule(ConfigMap& map) {
  ModelRule rule;
  rule.words = read_rule_words(map);
  rule.refused =
      map.text({.name = "refused", .doc = "why models of this name cannot be simulated", .fallback = std::string()});
  rule.preset =
      map.text({.name = "preset", .doc = "of the model, or of one with the same structure", .fallback = std::string()});
  if (!map.documenting() && rule.preset.empty() && rule.refused.empty()) {
    map.error("words", "E168", fmt::format("{} names neither `preset` nor `refused`", map.path()),
              "name the preset of the model's structure: preset: llama3-8b");
  }
  rule.learned_positions =
      map.boolean({.name = "learned_positions", .doc = "it has a table of positions", .fallback = false});
  rule.set = read_settings(map, "set", "differences from the preset, as key=value of the model");
  return rule;
}

StackRule read_stack_rule(ConfigMap& map) {
  StackRule rule;
  rule.words = read_rule_words(map);
  rule.stack = map.text({.name = "stack", .doc = "file with settings that rows do not state"});
  return rule;
}

FsdpRule read_fsdp_rule(ConfigMap& map) {
  FsdpRule rule;
  rule.words = read_rule_words(map);
  rule.set = read_settings(map, "set", "settings of rows with FSDP, as key=value of a scenario");
  rule.set_pipeline = read_settings(map, "set_pipeline", "the same in addition where there are several stages");
  return rule;
}

}  // namespace

std::string SourceRule::key() const {
  std::string key = name;
  for (const std::string& word : models) key += "/" + word;
  return key;
}

const VersionRule* SourceRule::version_of(std::string_view text) const {
  const auto found = std::ranges::find_if(versions, [&](const VersionRule& rule) { return rule.fits(text); });
  return found == versions.end() ? nullptr : &*found;
}

std::string why_unknown_framework(const std::string& framework) {
  if (framework.empty()) return "it names no `framework`, which decides what it leaves open";
  return fmt::format("no conventions are known for the framework '{}'", framework);
}

std::string TrainingConventions::known_frameworks() const {
  std::vector<std::string> known;
  for (const StackRule& rule : frameworks) known.push_back(join(rule.words, " "));
  return join(known, ", ");
}

const SourceRule* TrainingConventions::find_source(std::string_view key) const {
  const auto found = std::ranges::find(sources, key, &SourceRule::key);
  return found == sources.end() ? nullptr : &*found;
}

const SourceRule* TrainingConventions::find_source(std::string_view name, std::string_view model) const {
  const auto found = std::ranges::find_if(
      sources, [&](const SourceRule& rule) { return rule.name == name && WordRule{rule.models}.fits(model); });
  return found == sources.end() ? nullptr : &*found;
}

Result<TrainingConventions> read_conventions(const std::string& folder) {
  auto document = ConfigDocument::load(folder + "/conventions.yaml");
  if (!document) return tl::unexpected(document.error());
  ConfigMap root = document->root();
  TrainingConventions result{.folder = folder};
  for (ConfigMap& map : root.maps("sources", "tables of measured runs")) result.sources.push_back(read_source(map));
  for (ConfigMap& map : root.maps("frameworks", "software stacks by the name of the framework")) {
    result.frameworks.push_back(read_stack_rule(map));
  }
  for (ConfigMap& map : root.maps("fsdp", "how frameworks run FSDP")) result.fsdp.push_back(read_fsdp_rule(map));
  for (ConfigMap& map : root.maps("machines", "GPUs as tables name them")) result.machines.push_back(read_machine(map));
  for (ConfigMap& map : root.maps("nics", "rates of transports")) result.nics.push_back(read_nic_rule(map));
  for (ConfigMap& map : root.maps("transports", "words for transports")) {
    result.transports.push_back(read_transport_rule(map));
  }
  for (ConfigMap& map : root.maps("models", "models as tables name them"))
    result.models.push_back(read_model_rule(map));
  document->check_all_read();
  Diagnostics problems;
  for (const Diagnostic& problem : document->log().diagnostics().all()) problems.add(problem);
  auto vocabulary = read_vocabulary(folder + "/words.yaml");
  if (!vocabulary) {
    for (const Diagnostic& problem : vocabulary.error().all()) problems.add(problem);
  }
  if (problems.has_errors()) return tl::unexpected(std::move(problems));
  result.vocabulary = std::move(*vocabulary);
  return result;
}

}  // namespace ringwright::validation
