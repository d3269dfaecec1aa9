// The table of mistakes in the request of a timeline.
#include "traces/timeline/error_codes.h"

#include <array>

namespace ringwright::traces {
namespace {

constexpr std::array kTimelineCodes = {
    ErrorCode{.code = "E266",
              .title = "a timeline is too large",
              .explanation = "Viewers read a whole timeline into memory. Every task of every traced rank in every step "
                             "is a slice.",
              .example = "ringwright run llama.yaml --timeline llama.pftrace --trace-ranks 0-7"},
    ErrorCode{.code = "E267",
              .title = "the ranks or steps of a timeline are not understood",
              .explanation = "Numbers and ranges of numbers, separated by commas; ranks and steps count from 0.",
              .example = "ringwright run llama.yaml --timeline llama.pftrace --trace-ranks 0,8-15"},
};

}  // namespace

std::span<const ErrorCode> timeline_error_codes() {
  return kTimelineCodes;
}

}  // namespace ringwright::traces
