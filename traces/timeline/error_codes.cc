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
    ErrorCode{.code = "E268",
              .title = "a critical path is too large",
              .explanation = "What every task of every simulated rank waited for is recorded, in 40 bytes for each. "
                             "Ranks that behave the same are simulated once; the report says why few are, if so.",
              .example = "ringwright run llama.yaml --critical-path"},
    ErrorCode{.code = "W269",
              .title = "the critical path is not recorded",
              .explanation = "--timeline and --html record it where it takes at most 1 GiB. --critical-path insists on "
                             "it.",
              .example = "ringwright run llama.yaml --no-fold --timeline llama.pftrace"},
};

}  // namespace

std::span<const ErrorCode> timeline_error_codes() {
  return kTimelineCodes;
}

}  // namespace ringwright::traces
