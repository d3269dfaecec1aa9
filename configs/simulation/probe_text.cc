// The result of probing as text and as JSON.
#include <string>
#include <vector>

#include <fmt/format.h>

#include "configs/simulation/probe_study.h"
#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"

namespace ringwright::configs {
namespace {

std::string seconds_text(double seconds) { return to_string(from_seconds(seconds)); }

}  // namespace

std::string render_text(const ProbeStudy& study, const ProbingSettings& probing) {
  TextTable table({Align::kLeft, Align::kLeft});
  table.add_row({"Fabric", fmt::format("{}, {} cables, {} of them on no path", study.fabric, study.cables,
                                       study.uncovered)});
  table.add_row({"Round", fmt::format("{} paths, {} probes of each, {}", study.paths, probing.probes_per_path,
                                      seconds_text(study.round_seconds))});
  const std::size_t sets = study.tried / static_cast<std::size_t>(probing.repetitions);
  const std::string one_by_one = fmt::format("{} {} one by one, each {} times, loss {:.4g} %", sets,
                                             sets == 1 ? "cable" : "cables", probing.repetitions, 100.0 * probing.loss);
  const std::string listed = fmt::format("{}, {} times", join(study.faults, "; "), probing.repetitions);
  table.add_row({"Faults", study.faults.empty() ? one_by_one : listed});
  table.add_row({"Localised", fmt::format("{} of {}", study.localised, study.tried)});
  if (!study.seconds.empty()) {
    table.add_row({"Time to localise", fmt::format("mean {}, 95 % within {}, at most {}",
                                                   seconds_text(study.mean_seconds()),
                                                   seconds_text(study.quantile_seconds(0.95)),
                                                   seconds_text(study.seconds.back()))});
  }
  table.add_row({"False negatives", fmt::format("{} cables", study.missed_cables)});
  table.add_row({"False positives", fmt::format("{} cables", study.wrong_cables)});
  if (study.switches > 0) table.add_row({"Whole switches", fmt::format("{} reports", study.switches)});
  if (study.degraded > 0) {
    table.add_row({"Not probed", fmt::format("{} degraded links: they lose bandwidth, not packets", study.degraded)});
  }
  return join(table.lines(), "\n") + "\n";
}

std::string render_json(const ProbeStudy& study, const ProbingSettings& probing) {
  std::vector<std::string> faults;
  for (const std::string& fault : study.faults) faults.push_back(json_text(fault));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.probe/1\",\n  \"fabric\": {},\n  \"cables\": {},\n  \"cables_on_no_path\": {},\n"
      "  \"paths\": {},\n  \"round_s\": {},\n  \"faults\": [{}],\n  \"loss\": {},\n  \"seed\": {},\n  \"tried\": {},\n"
      "  \"localised\": {},\n  \"seconds\": {{\"mean\": {}, \"p50\": {}, \"p95\": {}, \"most\": {}}},\n"
      "  \"false_negatives\": {},\n  \"false_positives\": {},\n  \"switch_reports\": {},\n"
      "  \"degraded_links\": {}\n}}\n",
      json_text(study.fabric), study.cables, study.uncovered, study.paths, study.round_seconds, join(faults, ", "),
      probing.loss, probing.seed, study.tried, study.localised, study.mean_seconds(), study.quantile_seconds(0.5),
      study.quantile_seconds(0.95), study.quantile_seconds(1.0), study.missed_cables, study.wrong_cables,
      study.switches, study.degraded);
}

}  // namespace ringwright::configs
