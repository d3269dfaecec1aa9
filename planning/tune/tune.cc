#include "planning/tune/tune.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "configs/simulation/tuner_lines.h"
#include "planning/study/each_item.h"
#include "planning/tune/setting_descent.h"
#include "planning/tune/tuner_line.h"

namespace ringwright::planning {
namespace {

using configs::CollectiveOperation;
using configs::CollectiveResult;

constexpr std::size_t kCallsInBlock = 4;
constexpr int kElementBytes = 4;  // float, as nccl-tests

// What a tuner file cannot set.
std::vector<std::string> keys_of(const CallSetting& setting) {
  std::vector<std::string> keys = kernel_variables(setting);
  for (std::string& key : keys) key.insert(0, "comm.env.");
  return keys;
}

CallSetting setting_of(const CollectiveResult& result) {
  return {.algorithm = algorithm_variable(result.algorithm), .protocol = result.protocol, .channels = result.channels};
}

// The machine under one setting, with its network built once for all sizes.
class TunedMachine {
 public:
  explicit TunedMachine(configs::Scenario scenario) : scenario_(std::move(scenario)), bench_(scenario_) {}

  [[nodiscard]] configs::CollectiveBench& bench() { return bench_; }

 private:
  configs::Scenario scenario_;
  configs::CollectiveBench bench_;
};

// Everything that one thread simulates with: machines by setting, built when they are first needed.
class Tuner {
 public:
  Tuner(const LoadMachine& load, const TuneOptions& options) : load_(load), options_(options) {}

  [[nodiscard]] TunedCall tuned(CollectiveOperation operation, Bytes wanted) {
    tried_ = 0;
    TunedMachine& own = *machine({}, "");  // tune() has read it
    const Bytes size = configs::rounded_size(operation, wanted, own.bench().ranks(0), kElementBytes);
    TunedCall call{.operation = operation, .size = size};
    if (size == Bytes(0)) return call;  // less than an element for each rank
    const auto first = own.bench().run({.operation = operation, .bytes = size});
    if (!first) return call;
    call.own = setting_of(*first);
    call.own_time = first->time;
    call.best = call.own;
    call.best_time = call.own_time;
    for (const TunableAlgorithm& algorithm : kTunedAlgorithms) {
      for (const std::string_view protocol : kTunedProtocols) {
        const auto found = descend({.algorithm = std::string(algorithm.variable), .protocol = std::string(protocol)},
                                   {.most_channels = options_.most_channels, .kernels = options_.kernels},
                                   [&](CallSetting& setting) { return time_of(setting, call); });
        if (!found || found->time >= call.best_time) continue;
        call.best = found->setting;
        call.best_time = found->time;
      }
    }
    const double gain = 1.0 - ratio(call.best_time, call.own_time);
    if (gain < options_.least_gain) {
      call.best = call.own;
      call.best_time = call.own_time;
    }
    call.tried = tried_;
    return call;
  }

 private:
  // Nothing where NCCL takes another algorithm, protocol or number of channels. Fills in the channels where they were
  // NCCL's.
  [[nodiscard]] std::optional<Duration> time_of(CallSetting& setting, TunedCall& call) {
    TunedMachine* const tried = machine(keys_of(setting), tuner_line(call.operation, {}, setting));
    if (tried == nullptr) return std::nullopt;
    const auto result = tried->bench().run({.operation = call.operation, .bytes = call.size});
    ++tried_;
    if (!result) return std::nullopt;
    const CallSetting got = setting_of(*result);
    const bool is_it = got.algorithm == setting.algorithm && got.protocol == setting.protocol &&
                       (setting.channels == 0 || got.channels == setting.channels);
    if (!is_it) return std::nullopt;
    setting.channels = got.channels;
    call.candidates.push_back({.setting = setting, .time = result->time});
    return result->time;
  }

  // With the line of the file that is to be written: what NCCL does with it, variables of the machine that exclude an
  // algorithm or channels included, is what the file will do. Null where the machine does not take the settings.
  [[nodiscard]] TunedMachine* machine(const std::vector<std::string>& settings, const std::string& line) {
    std::pair key(settings, line);
    const auto known = machines_.find(key);
    if (known != machines_.end()) return known->second.get();
    auto scenario = load_(settings);
    auto machine =
        scenario ? std::make_unique<TunedMachine>(configs::with_tuner_lines(std::move(*scenario), line)) : nullptr;
    return machines_.emplace(std::move(key), std::move(machine)).first->second.get();
  }

  const LoadMachine& load_;
  const TuneOptions& options_;
  std::map<std::pair<std::vector<std::string>, std::string>, std::unique_ptr<TunedMachine>> machines_;
  int tried_ = 0;
};

std::vector<TunedCall> calls_of(const TuneOptions& options) {
  std::vector<TunedCall> calls;
  for (const CollectiveOperation operation : options.operations) {
    for (const Bytes size : options.sizes) calls.push_back({.operation = operation, .size = size});
  }
  return calls;
}

}  // namespace

bool is_tunable(CollectiveOperation operation) {
  return operation != CollectiveOperation::kAllToAll && operation != CollectiveOperation::kSendReceive;
}

Result<TuneResult> tune(const LoadMachine& load, const TuneOptions& options) {
  auto machine = load({});
  if (!machine) return tl::unexpected(machine.error());
  // Whatever a tuner file of its own chooses: NCCL's kernels carry out all that it may.
  configs::CollectiveBench bench(*machine);
  TuneResult result{.ranks = bench.ranks(0), .hosts = machine->cluster.hosts, .calls = calls_of(options)};
  if (result.ranks < 2) {
    return tl::unexpected(failure("E520", "a collective needs two ranks, and this machine has one GPU", {},
                                  "set cluster.nodes to 2 or more"));
  }
  const auto some = std::ranges::find_if(result.calls, [&](const TunedCall& call) {
    return configs::rounded_size(call.operation, call.size, result.ranks, kElementBytes) > Bytes(0);
  });
  if (some != result.calls.end()) {
    const Bytes size = configs::rounded_size(some->operation, some->size, result.ranks, kElementBytes);
    const auto first = bench.run({.operation = some->operation, .bytes = size});
    if (!first) return tl::unexpected(first.error());
    if (first->protocol.empty() || first->channels == 0) {
      return tl::unexpected(failure("E520",
                                    "calls of this machine are not carried out by NCCL's kernels, so there is nothing "
                                    "to tune",
                                    {}, "set collectives.model to chunks, and comm.library to nccl or rccl"));
    }
  }
  // Neighbouring sizes share machines, which are built once for a block of them.
  const std::size_t blocks = (result.calls.size() + kCallsInBlock - 1) / kCallsInBlock;
  each_item(blocks, options.workers, [&](std::size_t block) {
    Tuner tuner(load, options);
    const std::size_t end = std::min(result.calls.size(), (block + 1) * kCallsInBlock);
    for (std::size_t i = block * kCallsInBlock; i < end; ++i) {
      result.calls[i] = tuner.tuned(result.calls[i].operation, result.calls[i].size);
    }
  });
  // Sizes below one element for each rank.
  std::erase_if(result.calls, [](const TunedCall& call) { return call.own_time == Duration(0); });
  return result;
}

}  // namespace ringwright::planning
