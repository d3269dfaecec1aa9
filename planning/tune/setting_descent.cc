#include "planning/tune/setting_descent.h"

#include <cstdint>
#include <string_view>

namespace ringwright::planning {
namespace {

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

enum class Coordinate { kChannels, kThreads, kBuffer };

// Twice or half as much; nothing outside of what NCCL takes.
std::optional<CallSetting> neighbour(Coordinate coordinate, CallSetting setting, bool more, int most_channels) {
  const auto scaled = [more](std::int64_t value, std::int64_t least, std::int64_t most) {
    const std::int64_t next = more ? value * 2 : value / 2;
    return next < least || next > most ? std::optional<std::int64_t>() : next;
  };
  std::optional<std::int64_t> next;
  switch (coordinate) {
    case Coordinate::kChannels:
      next = scaled(setting.channels, 1, most_channels);
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

// The fastest of a setting's neighbours, in both directions.
TriedSetting along(Coordinate coordinate, const TriedSetting& from, const DescentRules& rules,
                   const TimeOfSetting& time_of) {
  TriedSetting fastest = from;
  for (const bool more : {false, true}) {
    Duration shortest = from.time;
    for (std::optional<CallSetting> next = neighbour(coordinate, from.setting, more, rules.most_channels); next;
         next = neighbour(coordinate, *next, more, rules.most_channels)) {
      const auto time = time_of(*next);
      if (!time || *time >= shortest) break;
      shortest = *time;
      if (shortest < fastest.time) fastest = {.setting = *next, .time = shortest};
    }
  }
  return fastest;
}

}  // namespace

std::optional<TriedSetting> descend(CallSetting setting, const DescentRules& rules, const TimeOfSetting& time_of) {
  const auto start = time_of(setting);
  if (!start) return std::nullopt;
  TriedSetting here{.setting = setting, .time = *start};
  here = along(Coordinate::kChannels, here, rules, time_of);
  if (!rules.kernels) return here;
  constexpr int kMostRounds = 4;
  for (int round = 0; round < kMostRounds; ++round) {
    const Duration before = here.time;
    here = along(Coordinate::kThreads, here, rules, time_of);
    here = along(Coordinate::kBuffer, here, rules, time_of);
    if (here.time >= before) break;
    here = along(Coordinate::kChannels, here, rules, time_of);
  }
  return here;
}

}  // namespace ringwright::planning
