#include "planning/report/error_codes.h"

#include <array>

namespace ringwright::planning {
namespace {

constexpr std::array kReportCodes = {
    ErrorCode{.code = "E340",
              .title = "a result is no JSON",
              .explanation = "`ringwright report` shows results that other commands wrote. The place is where the text "
                             "stops to be JSON: often\nits end, where a command was interrupted or a disk was full.",
              .example = "ringwright report report.txt -o report.html      # the text for people\n"
                         "ringwright report result.json -o report.html"},
    ErrorCode{.code = "E341",
              .title = "a result is too large for a page",
              .explanation = "A browser reads the whole page into memory. Results hold at most a million values, and "
                             "lists in lists at most\n64 deep.",
              .example = "ringwright search llama.yaml --top 1000 --json > search.json"},
    ErrorCode{.code = "E342",
              .title = "a result of an unknown kind",
              .explanation = "The key `schema` of a result names its kind and version. A report shows the kinds that "
                             "the message lists; a newer\nversion of ringwright may know more.",
              .example = "ringwright inspect rank0.json --json > a.json    # not a kind of result that has a page\n"
                         "ringwright run llama.yaml --json > a.json"},
    ErrorCode{.code = "E343",
              .title = "a result without a value that the page needs",
              .explanation = "Results are written whole, so this one was changed afterwards, or another program wrote "
                             "it. docs/result-format.md\nlists all keys.",
              .example = "\"metrics\": {}\n\"metrics\": {\"step_time_s\": {\"mean\": 1.5}}"},
};

}  // namespace

std::span<const ErrorCode> report_error_codes() {
  return kReportCodes;
}

}  // namespace ringwright::planning
