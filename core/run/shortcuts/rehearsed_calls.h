// Times of collective calls among ranks of one class when nobody else uses their links, as measured by a rehearsal.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/ids.h"
#include "core/base/units.h"
#include "core/ports/network_model.h"

namespace ringwright {

struct RehearsedCall {
  struct Link {
    LinkId link;
    LinkUsage usage;
  };
  DimensionId dimension;
  std::uint32_t spec = 0;  // index into TaskGraph::collectives
  Duration time;
  Bytes sent;
  std::uint64_t messages = 0;
  std::vector<Link> links;  // that it uses; none where the network model shares none and link usage is not reported
};

struct RehearsedCalls {
  std::vector<std::vector<RehearsedCall>> of_class;

  // Null: it was not rehearsed.
  [[nodiscard]] const RehearsedCall* find(ClassId rank_class, DimensionId dimension, std::uint32_t spec) const {
    for (const RehearsedCall& call : of_class[rank_class.index()]) {
      if (call.dimension == dimension && call.spec == spec) return &call;
    }
    return nullptr;
  }
};

}  // namespace ringwright
