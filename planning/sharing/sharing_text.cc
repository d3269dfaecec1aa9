// Results of several jobs on one fabric, as text and as JSON.
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/json_text.h"
#include "core/base/text.h"
#include "core/report/text_table.h"
#include "planning/sharing/sharing.h"
#include "planning/study/point_json.h"

namespace ringwright::planning {
namespace {

Duration exposed_of(const TimeBreakdown& time) {
  Duration sum;
  for (const DimensionTime& dimension : time.dimensions) sum += dimension.exposed;
  return sum;
}

std::string load_text(double share) {
  return fmt::format("{:.1f} %", share * 100.0);
}

std::vector<std::string> indented(const TextTable& table) {
  std::vector<std::string> lines;
  for (const std::string& line : table.lines()) lines.push_back("  " + line + "\n");
  return lines;
}

std::string job_table(const Arrangement& arrangement) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({"job", "GPUs", "hosts", "units", "placement", "alone", "together", "slowdown", "exposed alone",
                 "together", "steps"});
  for (const SharedJob& job : arrangement.jobs) {
    table.add_row({job.name, with_commas(job.gpus), std::to_string(job.hosts), std::to_string(job.units), job.placement,
                   to_string(job.alone.step.mean), to_string(job.together.step.mean),
                   fmt::format("{:.3f}", job.slowdown()), to_string(exposed_of(job.alone.time)),
                   to_string(exposed_of(job.together.time)), std::to_string(job.together.step.count)});
  }
  std::string text = join(indented(table), "");
  for (const SharedJob& job : arrangement.jobs) {
    if (job.in_host_memory <= Bytes(0)) continue;
    text += fmt::format("  {}: {} of each GPU's process lie in host memory, and cross PCIe out and in every step\n",
                        job.name, to_string(job.in_host_memory));
  }
  return text;
}

std::string link_table(const Arrangement& arrangement) {
  if (arrangement.links.empty()) return "  no link carries the traffic of two jobs\n";
  std::vector<Align> columns(arrangement.jobs.size() + 3, Align::kRight);
  columns.front() = Align::kLeft;
  TextTable table(columns);
  std::vector<std::string> head{"contended links", "equal"};
  for (const SharedJob& job : arrangement.jobs) head.push_back(job.name + " alone");
  head.emplace_back("together");
  table.add_row(head);
  for (const ContendedLink& link : arrangement.links) {
    std::vector<std::string> cells{link.name, std::to_string(link.links)};
    for (const double load : link.alone) cells.push_back(load_text(load));
    cells.push_back(load_text(link.together));
    table.add_row(cells);
  }
  return join(indented(table), "") + fmt::format(
                                         "  {} links carry the traffic of several jobs; shares are means over "
                                         "the run\n",
                                         arrangement.contended_links);
}

std::string arrangement_text(const Arrangement& arrangement) {
  std::string text = fmt::format("\nplacement: {}\n\n", arrangement.placement);
  if (!arrangement.was_simulated()) {
    return text + fmt::format("  {}: {}\n", arrangement.code, arrangement.reason);
  }
  return text + job_table(arrangement) + "\n" + link_table(arrangement);
}

std::string comparison_text(const SharingResult& result) {
  std::vector<Align> columns(result.arrangements.front().jobs.size() + 2, Align::kRight);
  columns.front() = Align::kLeft;
  TextTable table(columns);
  std::vector<std::string> head{"slowdown by placement"};
  for (const Arrangement& arrangement : result.arrangements) {
    if (!arrangement.was_simulated() || head.size() > 1) continue;
    for (const SharedJob& job : arrangement.jobs) head.push_back(job.name);
  }
  head.emplace_back("contended links");
  table.add_row(head);
  for (const Arrangement& arrangement : result.arrangements) {
    std::vector<std::string> cells{arrangement.placement};
    for (const SharedJob& job : arrangement.jobs) {
      cells.push_back(fmt::format("{:.3f} ({})", job.slowdown(), to_string(job.together.step.mean)));
    }
    cells.push_back(arrangement.was_simulated() ? std::to_string(arrangement.contended_links) : arrangement.code);
    table.add_row(cells);
  }
  return "\n" + join(indented(table), "");
}

std::string json_figures(const configs::SharedJobFigures& figures) {
  std::vector<std::string> dimensions;
  for (const DimensionTime& dimension : figures.time.dimensions) {
    dimensions.push_back(fmt::format("{{\"name\": {}, \"exposed_ps\": {}, \"hidden_ps\": {}}}",
                                     json_text(dimension.name), dimension.exposed.count(), dimension.hidden.count()));
  }
  return fmt::format(
      "{{\"step_ps\": {}, \"shortest_step_ps\": {}, \"longest_step_ps\": {}, \"first_step\": {}, \"steps\": {}, "
      "\"computing_ps\": {}, \"exposed_ps\": {}, \"idle_ps\": {}, \"dimensions\": [{}]}}",
      figures.step.mean.count(), figures.step.minimum.count(), figures.step.maximum.count(), figures.window.first,
      figures.step.count, figures.time.computing.count(), exposed_of(figures.time).count(), figures.time.idle.count(),
      join(dimensions, ", "));
}

std::string json_job(const SharedJob& job) {
  const double seconds = static_cast<double>(job.together.step.mean.count()) / 1e12;
  return fmt::format(
      "{{\"name\": {}, \"gpus\": {}, \"hosts\": {}, \"units\": {}, \"placement\": {}, \"gpus_of\": {}, "
      "\"in_host_memory\": {}, \"slowdown\": {}, \"tokens_per_s\": {}{},\n       \"alone\": {},\n       "
      "\"together\": {}}}",
      json_text(job.name), job.gpus, job.hosts, job.units, json_text(job.placement), json_text(job.gpus_of),
      job.in_host_memory.count(), job.slowdown(), static_cast<double>(job.tokens_per_step) / seconds,
      json_processed(job.processed), json_figures(job.alone), json_figures(job.together));
}

std::string json_link(const ContendedLink& link) {
  std::vector<std::string> alone;
  for (const double load : link.alone) alone.push_back(fmt::format("{}", load));
  return fmt::format("{{\"name\": {}, \"links\": {}, \"alone\": [{}], \"together\": {}}}", json_text(link.name),
                     link.links, join(alone, ", "), link.together);
}

std::string json_arrangement(const Arrangement& arrangement) {
  std::string text = fmt::format("{{\"placement\": {}", json_text(arrangement.placement));
  if (!arrangement.was_simulated()) {
    return text +
           fmt::format(", \"code\": {}, \"reason\": {}}}", json_text(arrangement.code), json_text(arrangement.reason));
  }
  std::vector<std::string> jobs, links;
  for (const SharedJob& job : arrangement.jobs) jobs.push_back(json_job(job));
  for (const ContendedLink& link : arrangement.links) links.push_back(json_link(link));
  return text + fmt::format(
                    ", \"events\": {},\n     \"jobs\": [\n      {}],\n     \"contended_links\": {}, "
                    "\"links\": [{}{}]}}",
                    arrangement.events, join(jobs, ",\n      "), arrangement.contended_links,
                    links.empty() ? "" : "\n      ", join(links, ",\n      "));
}

}  // namespace

std::string render_sharing_text(const SharingResult& result) {
  const std::size_t jobs = result.arrangements.front().jobs.size();
  // None where they cannot be placed.
  const std::string of = jobs == 0 ? "jobs" : fmt::format("{} {}", jobs, jobs == 1 ? "job" : "jobs");
  std::string text = fmt::format("{}: {} on {} {} with {} GPUs\n", result.scenario, of, with_commas(result.hosts),
                                 result.hosts == 1 ? "host" : "hosts", with_commas(result.gpus));
  if (!result.gpu_sharing.empty()) text += "  jobs share GPUs by " + result.gpu_sharing + "\n";
  for (const std::string& job : result.too_large) text += "  does not fit: " + job + "\n";
  for (const Arrangement& arrangement : result.arrangements) text += arrangement_text(arrangement);
  if (result.arrangements.size() > 1) text += comparison_text(result);
  if (!result.notes.empty()) text += "\n";
  for (const std::string& note : result.notes) text += "  " + note + "\n";
  return text;
}

std::string render_sharing_json(const SharingResult& result) {
  std::vector<std::string> arrangements, too_large;
  for (const Arrangement& arrangement : result.arrangements) arrangements.push_back(json_arrangement(arrangement));
  for (const std::string& job : result.too_large) too_large.push_back(json_text(job));
  std::vector<std::string> notes;
  for (const std::string& note : result.notes) notes.push_back(json_text(note));
  return fmt::format(
      "{{\n  \"schema\": \"ringwright.jobs/1\",\n  \"tool\": {{\"name\": \"ringwright\", \"version\": {}}},\n"
      "  \"scenario\": {}, \"hosts\": {}, \"gpus\": {}, \"gpu_sharing\": {}, \"too_large\": [{}], \"notes\": [{}],\n"
      "  \"arrangements\": [\n    {}\n  ]\n}}\n",
      json_text(RINGWRIGHT_VERSION), json_text(result.scenario), result.hosts, result.gpus,
      json_text(result.gpu_sharing), join(too_large, ", "), join(notes, ", "), join(arrangements, ",\n    "));
}

}  // namespace ringwright::planning
