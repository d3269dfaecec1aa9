#include "planning/tune/tune.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "planning/study/each_item.h"

namespace ringwright::planning {
namespace {

using configs::CollectiveOperation;
using configs::CollectiveResult;

struct TunableAlgorithm {
  std::string_view variable;  // in NCCL_ALGO
  std::string_view reported;  // in results
};
constexpr std::array kTunedAlgorithms = {TunableAlgorithm{"ring", "ring"},
                                         TunableAlgorithm{"tree", "tree"},
                                         TunableAlgorithm{"nvls", "nvls"},
                                         TunableAlgorithm{"nvlstree", "nvls_tree"},
                                         TunableAlgorithm{"pat", "pat"},
                                         TunableAlgorithm{"collnetdirect", "collnet_direct"},
                                         TunableAlgorithm{"collnetchain", "collnet_chain"}};
constexpr std::array<std::string_view, 3> kTunedProtocols = {"ll", "ll128", "simple"};
constexpr std::size_t kCallsInBlock = 4;
constexpr int kElementBytes = 4;  // float, as nccl-tests
// Of NCCL 2 (src/include/device.h, src/init.cc): threads of a channel, and bytes of its buffer by protocol.
constexpr std::int64_t kUsualThreads = 512;
constexpr std::int64_t kLeastThreads = 64;
constexpr std::int64_t kLeastBuffer = std::int64_t{1} << 16;
constexpr std::int64_t kMostBuffer = std::int64_t{1} << 25;

// 8 slots of 512 threads with 16 bytes (LL), of 640 with 8 words of 15 / 16 (LL128), or 4 MiB (Simple).
std::int64_t usual_buffer(std::string_view protocol) {
  if (protocol == "ll") return std::int64_t{1} << 19;
  return protocol == "ll128" ? std::int64_t{640} * 8 * 8 * 8 * 16 : std::int64_t{1} << 22;
}

std::vector<std::string> variables_of(const CallSetting& setting) {
  std::vector<std::string> settings = {"comm.env.NCCL_ALGO=" + setting.algorithm,
                                       "comm.env.NCCL_PROTO=" + setting.protocol};
  if (setting.channels > 0) {
    settings.push_back(fmt::format("comm.env.NCCL_MIN_NCHANNELS={}", setting.channels));
    settings.push_back(fmt::format("comm.env.NCCL_MAX_NCHANNELS={}", setting.channels));
  }
  for (const std::string& variable : kernel_variables(setting)) settings.push_back("comm.env." + variable);
  return settings;
}

// As results name it; NCCL_ALGO has no underscores.
CallSetting setting_of(const CollectiveResult& result) {
  const auto known = std::ranges::find(kTunedAlgorithms, result.algorithm, &TunableAlgorithm::reported);
  return {.algorithm = known == kTunedAlgorithms.end() ? result.algorithm : std::string(known->variable),
          .protocol = result.protocol,
          .channels = result.channels};
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
    TunedMachine& own = *machine({});  // tune() has read it
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
        descend({.algorithm = std::string(algorithm.variable), .protocol = std::string(protocol)}, call);
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
  // From NCCL's number of channels to fewer and to more, as long as that is faster; then along the other coordinates,
  // until none of them is faster.
  void descend(CallSetting setting, TunedCall& call) {
    const auto start = time_of(setting, call);
    if (!start) return;
    TriedSetting here{.setting = setting, .time = *start};
    consider(here.setting, here.time, call);
    here = along(Coordinate::kChannels, here, call);
    if (!options_.kernels) return;
    constexpr int kMostRounds = 4;
    for (int round = 0; round < kMostRounds; ++round) {
      const Duration before = here.time;
      here = along(Coordinate::kThreads, here, call);
      here = along(Coordinate::kBuffer, here, call);
      if (here.time >= before) return;
      here = along(Coordinate::kChannels, here, call);
    }
  }

  enum class Coordinate { kChannels, kThreads, kBuffer };

  // The fastest of a setting's neighbours, in both directions.
  TriedSetting along(Coordinate coordinate, const TriedSetting& from, TunedCall& call) {
    TriedSetting fastest = from;
    for (const bool more : {false, true}) {
      Duration shortest = from.time;
      for (std::optional<CallSetting> next = neighbour(coordinate, from.setting, more); next;
           next = neighbour(coordinate, *next, more)) {
        const auto time = time_of(*next, call);
        if (!time || *time >= shortest) break;
        shortest = *time;
        consider(*next, *time, call);
        if (shortest < fastest.time) fastest = {.setting = *next, .time = shortest};
      }
    }
    return fastest;
  }

  // Twice or half as much; nothing outside of what NCCL takes.
  [[nodiscard]] std::optional<CallSetting> neighbour(Coordinate coordinate, CallSetting setting, bool more) const {
    const auto scaled = [more](std::int64_t value, std::int64_t least, std::int64_t most) {
      const std::int64_t next = more ? value * 2 : value / 2;
      return next < least || next > most ? std::optional<std::int64_t>() : next;
    };
    std::optional<std::int64_t> next;
    switch (coordinate) {
      case Coordinate::kChannels:
        next = scaled(setting.channels, 1, options_.most_channels);
        setting.channels = static_cast<int>(next.value_or(0));
        break;
      case Coordinate::kThreads:
        next = scaled(setting.threads > 0 ? setting.threads : kUsualThreads, kLeastThreads, kUsualThreads);
        setting.threads = static_cast<int>(next.value_or(0));
        break;
      case Coordinate::kBuffer:
        next = scaled(setting.buffer > Bytes(0) ? setting.buffer.count() : usual_buffer(setting.protocol), kLeastBuffer,
                      kMostBuffer);
        setting.buffer = Bytes(next.value_or(0));
        break;
    }
    return next ? std::optional(setting) : std::nullopt;
  }

  static void consider(const CallSetting& setting, Duration time, TunedCall& call) {
    if (time >= call.best_time) return;
    call.best = setting;
    call.best_time = time;
  }

  // Nothing where NCCL takes another algorithm, protocol or number of channels. Fills in the channels where they were
  // NCCL's.
  [[nodiscard]] std::optional<Duration> time_of(CallSetting& setting, TunedCall& call) {
    TunedMachine* const tried = machine(variables_of(setting));
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

  // Null where the machine does not take the settings: a library without this algorithm.
  [[nodiscard]] TunedMachine* machine(const std::vector<std::string>& settings) {
    const auto known = machines_.find(settings);
    if (known != machines_.end()) return known->second.get();
    auto scenario = load_(settings);
    auto machine = scenario ? std::make_unique<TunedMachine>(std::move(*scenario)) : nullptr;
    return machines_.emplace(settings, std::move(machine)).first->second.get();
  }

  const LoadMachine& load_;
  const TuneOptions& options_;
  std::map<std::vector<std::string>, std::unique_ptr<TunedMachine>> machines_;
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

std::vector<std::string> kernel_variables(const CallSetting& setting) {
  std::vector<std::string> variables;
  const std::string_view infix = setting.protocol == "ll128" ? "LL128_" : setting.protocol == "ll" ? "LL_" : "";
  if (setting.threads > 0) {
    variables.push_back(fmt::format("NCCL_{}NTHREADS={}", infix == "LL128_" ? infix : "", setting.threads));
  }
  if (setting.buffer > Bytes(0)) {
    variables.push_back(fmt::format("NCCL_{}BUFFSIZE={}", infix, setting.buffer.count()));
  }
  return variables;
}

bool is_tunable(CollectiveOperation operation) {
  return operation != CollectiveOperation::kAllToAll && operation != CollectiveOperation::kSendReceive;
}

Result<TuneResult> tune(const LoadMachine& load, const TuneOptions& options) {
  const auto machine = load({});
  if (!machine) return tl::unexpected(machine.error());
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
                                    {}, "set collectives.model to chunks"));
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
