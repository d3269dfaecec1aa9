#include "validation/kineto/own_time.h"

#include <algorithm>

namespace ringwright::validation {
namespace {

// As exact as DLRM's traces are to be met: within 20 %.
constexpr double kSameTime = 1.2;
constexpr double kSameSize = 1.2;
constexpr double kMostShared = 0.2;

OwnTime parts_of(const traces::JoinedCall& call) {
  if (!call.other_buffer) return OwnTime::kOneBuffer;
  const bool even = *call.other_buffer > Bytes(0) && ratio(*call.bytes, *call.other_buffer) <= kSameSize;
  if (!even) return OwnTime::kUnevenParts;
  return OwnTime::kRecorded;
}

}  // namespace

std::string_view to_string(OwnTime own) {
  switch (own) {
    case OwnTime::kRecorded: return "own time";
    case OwnTime::kOnce: return "called once, by one of the ranks";
    case OwnTime::kWaits: return "waits for others";
    case OwnTime::kShared: return "always with another call";
    case OwnTime::kUnevenParts: return "uneven parts";
    case OwnTime::kOneBuffer: return "one buffer recorded, parts not known";
  }
  return "";
}

OwnTime own_time_of(const std::vector<const traces::JoinedCall*>& calls, int ranks) {
  const auto shortest = [&] {
    Duration least = calls.front()->shortest;
    for (const traces::JoinedCall* call : calls) least = std::min(least, call->shortest);
    return least;
  }();
  if (calls.front()->operation == "alltoall") {
    for (const traces::JoinedCall* call : calls) {
      if (const OwnTime parts = parts_of(*call); parts != OwnTime::kRecorded) return parts;
    }
  }
  if (std::ranges::all_of(calls, [&](const traces::JoinedCall* call) { return call->recorded >= ranks; })) {
    return OwnTime::kRecorded;
  }
  if (calls.size() == 1) return OwnTime::kOnce;
  std::size_t met = 0, alone = 0;
  for (const traces::JoinedCall* call : calls) {
    if (ratio(call->shortest, shortest) > kSameTime) continue;
    ++met;
    if (ratio(call->shared, call->shortest) <= kMostShared) ++alone;
  }
  if (alone == 0) return OwnTime::kShared;
  return met > 1 ? OwnTime::kRecorded : OwnTime::kWaits;
}

}  // namespace ringwright::validation
