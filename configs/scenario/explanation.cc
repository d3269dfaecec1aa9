#include "configs/scenario/explanation.h"

#include <array>
#include <span>

#include <fmt/format.h>

#include "collectives/error_codes.h"
#include "configs/scenario/checkpoint_settings.h"
#include "configs/scenario/data_pipeline_settings.h"
#include "configs/scenario/imports/run_keys_page.h"
#include "configs/scenario/job_error_codes.h"
#include "configs/scenario/key_effects.h"
#include "configs/scenario/mixed_error_codes.h"
#include "configs/scenario/nccl_tables_page.h"
#include "configs/scenario/probing.h"
#include "configs/scenario/scenario.h"
#include "core/base/error_code.h"
#include "core/config/error_codes.h"
#include "core/config/key_doc.h"
#include "core/config/schema.h"
#include "network_models/error_codes.h"
#include "traces/astra/error_codes.h"
#include "traces/chakra/error_codes.h"
#include "traces/cluster_logs/error_codes.h"
#include "traces/error_codes.h"
#include "traces/goal/error_codes.h"
#include "traces/inspector/error_codes.h"
#include "traces/kineto/error_codes.h"
#include "traces/text_workload/error_codes.h"
#include "traces/timeline/error_codes.h"
#include "workload/builtin.h"
#include "workload/layered/layered_config.h"
#include "workload/recommendation/recommendation_config.h"

namespace ringwright::configs {
namespace {

// Mistakes in the combination of blocks that are each valid.
constexpr std::array kAssemblyCodes = {
    ErrorCode{.code = "E148",
              .title = "a run that ends after the end of the simulated clock",
              .explanation = "Simulated time is a signed 64-bit count of picoseconds, 106.8 days from the start of the "
                             "run to its end. Steps\nneed to be simulated only until they repeat: fewer of them "
                             "give the same time per step. Where one step is\ntoo long, a rate is too low, a latency "
                             "too high, or the batch too large.",
              .example = "simulate: { steps: 5000 }   # steps of 10 hours: 256 of them fit\n"
                         "simulate: { steps: 10 }"},
    ErrorCode{.code = "E149",
              .title = "a run that would take too long",
              .explanation = "Before the simulation, tasks and messages are counted. By rule of thumb each takes "
                             "half a microsecond of a\n4 GHz-class core, rounds of rings that repeat themselves much "
                             "less. Above 2 minutes or 16 GiB the run is\nrefused, unless simulate.allow_slow is "
                             "true (`ringwright run --allow-slow`).",
              .example = "comm: { plan: { chunk: 1B } }   # 10^9 messages for 1 GiB; NCCL's chunks are 512 KiB\n"
                         "ringwright run big.yaml --allow-slow"},
    ErrorCode{.code = "E440",
              .title = "'collectives.model: coupled' needs a network model that shares links",
              .explanation = "With collectives.model: coupled a phase of a call is one flow over all of its links. "
                             "Where the network model\nshares no links, formulas give the same result immediately.",
              .example = "collectives: { model: coupled }\nsimulate: { network: flow }   # not alpha_beta"},
    ErrorCode{.code = "E151",
              .title = "an algorithm cannot carry out a collective of the job",
              .explanation = "The algorithm chosen for a dimension does not support the kind of collective that is "
                             "called there, or the placement of its group on the hosts. The message names those that "
                             "do; without a choice the tuner takes one that fits.",
              .example = "collectives: { tp: { algorithm: pairwise } }   # only all-to-all\n"
                         "collectives: { tp: { algorithm: ring } }"},
    ErrorCode{.code = "E152",
              .title = "a collective never ends",
              .explanation =
                  "There is no path between two of its ranks, or the links of the only one are down. The message "
                  "lists which ranks wait for which.",
              .example = "ringwright topo cluster.yaml --check    # lists GPUs that cannot reach each other"},
    ErrorCode{.code = "E153",
              .title = "a key that a search cannot vary",
              .explanation =
                  "A search tries values of its axes (`ringwright search --help`) and of keys of parallel, "
                  "training, compute and\nmemory, on one machine with one model. Other keys are fixed for the "
                  "whole search, and another machine is\nanother search. The number of combinations has a limit.",
              .example = "ringwright search llama.yaml --vary tp=4,8 --vary parallel.overlap_p2p_comm=true,false\n"
                         "ringwright search llama.yaml --fix cluster.nodes=64   # not: --vary cluster.nodes=32,64"},
};

std::string explain_code(std::string_view code) {
  const std::array tables = {config_error_codes(),
                             job_error_codes(),
                             mixed_error_codes(),
                             checkpoint_error_codes(),
                             probing_error_codes(),
                             data_pipeline_error_codes(),
                             network_models::network_error_codes(),
                             workload::workload_error_codes(),
                             workload::recommendation_error_codes(),
                             workload::layered_error_codes(),
                             traces::trace_error_codes(),
                             traces::chakra_error_codes(),
                             traces::job_log_error_codes(),
                             traces::kineto_error_codes(),
                             traces::inspector_error_codes(),
                             traces::goal_error_codes(),
                             traces::text_workload_error_codes(),
                             traces::timeline_error_codes(),
                             collectives::collective_error_codes(),
                             traces::astra_error_codes(),
                             std::span<const ErrorCode>(kAssemblyCodes)};
  return explain_error(tables, code);
}

// "cluster.node.preset", "extends": no reader has a key for the other files that a scenario may name anywhere.
std::string explain_base(std::string_view word) {
  if (word == "extends") return fmt::format("extends: text\n  {}\n", kExtendsHelp);
  for (const PresetRule& rule : load_options({}).presets) {
    if (word != (rule.path.empty() ? "preset" : rule.path + ".preset")) continue;
    return fmt::format("{}: text\n  {}\n", word, preset_help(rule));
  }
  return {};
}

}  // namespace

Explanation explain(std::string_view word) {
  if (std::string page = explain_code(word); !page.empty()) return {.page = std::move(page), .near = {}};
  if (std::string page = explain_base(word); !page.empty()) return {.page = std::move(page), .near = {}};
  if (std::string page = nccl_tables_page(word); !page.empty()) return {.page = std::move(page), .near = {}};
  const std::vector<KeyDoc> keys = scenario_keys();
  if (std::string page = explain_key(keys, word); !page.empty()) {
    const std::string path = page.substr(0, page.find(':'));
    for (const PresetRule& rule : load_options({}).presets) {
      if (rule.path != path) continue;
      page += fmt::format("  a name alone is short for {{preset: NAME}}; names: 'ringwright list {}'\n", rule.folder);
    }
    if (path == "megatron") page += run_keys_page();
    for (const std::string& reason : reasons_without_effect(path)) page += fmt::format("  no effect: {}\n", reason);
    return {.page = std::move(page), .near = {}};
  }
  if (word.starts_with("nccl-")) return {.page = "", .near = nccl_table_names()};
  return {.page = "", .near = near_keys(keys, word)};
}

std::string scenario_schema() {
  return json_schema(scenario_keys(), load_options({}).presets, "ringwright scenario");
}

}  // namespace ringwright::configs
