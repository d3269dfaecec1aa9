// Reading of `training.local_sgd`.
#include "workload/options/local_sgd_options.h"

#include <array>

#include <fmt/format.h>

#include "workload/options/training_options.h"

namespace ringwright::workload {
namespace {

constexpr std::string_view kLocalSgd = "local_sgd";
constexpr std::string_view kLocalSgdDoc = "workers that train independently and exchange parameters periodically";
constexpr std::array kOuter{Option{"nesterov", "momentum over the mean change of the workers' parameters (DiLoCo)"},
                            Option{"average", "the workers' parameters are averaged (local SGD)"}};
constexpr std::array kExchanged{Option{"fp32", "four bytes"}, Option{"bf16", "two bytes"}};
constexpr std::int64_t kMostFragments = 10'000;

}  // namespace

LocalSgd read_local_sgd(ConfigMap& training) {
  LocalSgd options;
  if (!training.has(kLocalSgd) && !training.documenting()) return options;
  ConfigMap map = training.map(kLocalSgd, kLocalSgdDoc);
  options.every = map.integer({.name = "sync_every",
                               .doc = "steps of a worker between two exchanges of its parameters (H)",
                               .min = 1,
                               .max = 1'000'000});
  options.workers = static_cast<int>(map.integer({.name = "workers",
                                                  .doc = "groups of data-parallel replicas; each sums its gradients in "
                                                         "every step, and all exchange parameters every sync_every",
                                                  .min = 2,
                                                  .max = 1'000'000}));
  const std::string outer = map.choice(
      {.name = "outer_optimizer", .doc = "how workers combine their parameters", .fallback = "nesterov"}, kOuter);
  options.outer = outer == "average" ? OuterOptimizer::kAverage : OuterOptimizer::kNesterov;
  const std::string type =
      map.choice({.name = "exchange_dtype", .doc = "type of what workers exchange", .fallback = "fp32"}, kExchanged);
  options.exchanged = type == "bf16" ? DataType::kBf16 : DataType::kFp32;
  options.fragments = static_cast<int>(
      map.integer({.name = "fragments",
                   .doc = "parts of the parameters that are exchanged at different steps, each every sync_every "
                          "(Streaming DiLoCo); they divide sync_every",
                   .fallback = 1,
                   .min = 1,
                   .max = kMostFragments}));
  options.overlapped = map.boolean({.name = "overlap",
                                    .doc = "an exchange runs during the step after it, at whose end its result is "
                                           "taken over (Streaming DiLoCo)",
                                    .fallback = false});
  if (training.documenting()) return {};
  if (options.every > 0 && options.every % options.fragments != 0) {
    map.error("fragments", "E572",
              fmt::format("{} = {} must divide {} = {}", map.path_of("fragments"), options.fragments,
                          map.path_of("sync_every"), options.every),
              "exchange as many fragments as there are equal pauses");
  }
  map.assume("sync_every", std::to_string(options.every),
             "convergence is not modelled: a step is as useful as one with summed gradients");
  return options;
}

void read_workers(const ParallelContext& context, ParallelOptions& options) {
  const LocalSgd& local = context.training.local_sgd;
  if (!local.on()) return;
  if (options.dp % local.workers == 0) {
    options.workers = local.workers;
    return;
  }
  ConfigMap map = context.training_map.map(kLocalSgd, kLocalSgdDoc);
  map.error("workers", "E572",
            fmt::format("{} = {} must divide the {} data-parallel replicas", map.path_of("workers"), local.workers,
                        options.dp),
            "every worker has the same number of replicas");
}

void check_local_sgd(const ParallelContext& context, const ParallelOptions& options) {
  if (!context.training.local_sgd.on()) return;
  ConfigMap map = context.training_map.map(kLocalSgd, kLocalSgdDoc);
  const auto refuse = [&map](std::string_view what, std::string_view remedy) {
    map.error("workers", "E573", fmt::format("{}: {}", map.path_of("workers"), what), std::string(remedy));
  };
  if (context.shape.experts) {
    refuse("experts are shared over data-parallel ranks of all workers, which is not modelled", "use a dense model");
  }
  if (options.placement == Placement::kBidirectional) {
    refuse(fmt::format("the schedule {} has two copies of each stage", options.schedule),
           "choose a schedule with one copy of each stage, as 1f1b");
  }
  if (!options.flushes()) refuse("the schedule has several versions of the weights", "choose a schedule that flushes");
  if (options.offload.optimizer != Tier::kGpu || options.offload.parameters != Tier::kGpu) {
    refuse("the outer optimizer is on the GPU, and the weights in host memory", "leave the weights on the GPU");
  }
  if (options.microbatch_split != MicrobatchSplit::kEven) {
    refuse("workers take the same number of microbatches", "set parallel.microbatch_split: even");
  }
}

}  // namespace ringwright::workload
