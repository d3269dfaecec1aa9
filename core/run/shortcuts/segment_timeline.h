// The timeline of one call of a segment: how long it takes, its activities at each moment, and what it sends.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/record/run_record.h"
#include "core/run/job/activity_profile.h"
#include "core/run/shortcuts/rehearsed_calls.h"

namespace ringwright {

struct SegmentTimeline {
  ActivityProfile profile;
  std::vector<Bytes> sent;      // by dimension
  std::vector<CallTime> calls;  // of its collectives, each once
  Duration host_lead;           // a host that begins to issue the segment this long before it begins is never late
  bool late = false;            // a task had to wait for its host
  // Where collectives were rehearsed: their transfers, their links, and how often each is called.
  struct Use {
    const std::vector<UsedLink>* links;
    std::uint32_t count = 0;
  };
  std::uint64_t messages = 0;
  std::vector<LinkId> links;
  std::vector<Use> uses;
  bool keeps_apart = true;  // no two of them use one link at the same time
  bool as_kernels = false;  // what they send depends on when the members begin
  // The links are used from then until then at most; nothing where they are used in the pass alone, throughout.
  Duration uses_from;
  Duration uses_until;
};

}  // namespace ringwright
