// The report for people: key figures, time breakdown, busiest links, memory, and the evidence of the result.
#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/report/checkpoint_line.h"
#include "core/report/cost_lines.h"
#include "core/report/data_line.h"
#include "core/report/host_lines.h"
#include "core/report/outer_line.h"
#include "core/report/published_line.h"
#include "core/report/report.h"
#include "core/report/text_table.h"

namespace ringwright {
namespace {

using Lines = std::vector<std::string>;

constexpr std::size_t kLinksShown = 8;
constexpr std::size_t kRemarksShown = 5;
constexpr double kShareShown = 0.0005;  // of a step: the smallest share of a cause that gets a row

// Text with ANSI colours, or without.
class Pen {
 public:
  explicit Pen(Colour colour) : colour_(colour) {}
  [[nodiscard]] std::string bold(const std::string& text) const { return paint("1", text); }
  [[nodiscard]] std::string dim(const std::string& text) const { return paint("2", text); }
  [[nodiscard]] std::string bad(const std::string& text) const { return paint("1;31", text); }
  [[nodiscard]] std::string warning(const std::string& text) const { return paint("33", text); }

 private:
  [[nodiscard]] std::string paint(std::string_view code, const std::string& text) const {
    return colour_ == Colour::kAnsi ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  Colour colour_;
};

// "405.9 B", "16.8 M"
std::string print_count(double number) {
  constexpr std::string_view kScales[] = {"", " k", " M", " B", " T"};
  std::size_t scale = 0;
  while (scale + 1 < std::size(kScales) && std::abs(number) >= 999.95) {
    number /= 1000.0;
    ++scale;
  }
  return fmt::format("{:.4g}{}", number, kScales[scale]);
}

std::string print_percent(double share) { return fmt::format("{:.1f} %", share * 100.0); }

// "tp" reads as TP; a longer name is a word and stays unchanged.
std::string dimension_label(std::string name) {
  if (name.size() > 3) return name;
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

// One unit for a whole column: that in which the step time has at least two digits before the point.
struct ColumnUnit {
  std::string_view name;
  double per_second;
};

ColumnUnit unit_for(Duration total) {
  const double seconds = to_seconds(total);
  if (seconds >= 100.0) return {"s", 1.0};
  return seconds >= 0.01 ? ColumnUnit{"ms", 1e3} : ColumnUnit{"us", 1e6};
}

std::string print_in(Duration duration, ColumnUnit unit) {
  const double value = to_seconds(duration) * unit.per_second;
  return value < 99.995 ? fmt::format("{:.2f}", value) : fmt::format("{:.1f}", value);
}

void append(std::string& text, const Lines& lines) {
  for (const std::string& line : lines) text += (line.empty() ? "" : "  " + line) + "\n";
}

std::string heading(const Report& report, std::size_t width, const Pen& pen) {
  const StepFacts& facts = report.facts;
  std::string text = fmt::format("{} {}  {}", pen.bold("ringwright"), RINGWRIGHT_VERSION, pen.bold(facts.scenario));
  if (!facts.config_sha256.empty()) text += "  config " + facts.config_sha256.substr(0, 8);
  text += fmt::format("  seed {}  network {}\n", facts.seed, facts.engine.network);
  Lines parts;
  if (!facts.model.empty()) parts.push_back(facts.model);
  const std::string count = print_count(static_cast<double>(facts.parameters));
  if (!facts.model.empty() && facts.parameters > 0) parts.back() += ", " + count + " parameters";
  std::string gpus = with_commas(static_cast<long long>(report.gpus)) + (report.gpus == 1 ? " GPU" : " GPUs");
  if (!facts.layout.empty()) gpus += " = " + facts.layout;
  parts.push_back(std::move(gpus));
  if (facts.microbatches > 0) {
    parts.push_back(fmt::format("{} microbatch{}", facts.microbatches, facts.microbatches == 1 ? "" : "es"));
  }
  if (facts.tokens_per_step > 0) {
    parts.push_back(print_count(static_cast<double>(facts.tokens_per_step)) + " " + facts.processed + "/step");
  }
  return text + wrap(join(parts, " | "), width, 2) + "\n";
}

std::string print_memory(const Report& report, const Pen& pen) {
  const MemoryRow& row = report.facts.memory[*report.fullest_memory];
  std::string text = fmt::format("{} of {} ({}, {:.0f} %)", to_string(row.total), to_string(row.capacity),
                                 row.role(), fill(row) * 100.0);
  return row.fits() ? text : pen.bad(text + " does not fit");
}

Lines key_figures(const Report& report, std::size_t width, const Pen& pen) {
  const StepTimes& step = report.step_time;
  std::string spread;
  if (step.count > 1 && step.minimum != step.maximum)
    spread = fmt::format("  ({} .. {}, {} steps)", to_string(step.minimum), to_string(step.maximum), step.count);
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  const char* rate = report.facts.processed == "samples" ? "  Samples/s/GPU" : "  Tokens/s/GPU";
  table.add_row({"Step time  ", pen.bold(to_string(step.mean)) + spread, rate,
                 report.facts.tokens_per_step > 0 ? four_digits(report.tokens_per_second_per_gpu) : "-"});
  std::string use = report.model_flop_utilisation ? print_percent(*report.model_flop_utilisation) : "unknown";
  if (report.model_flop_utilisation)
    use = pen.bold(use) + ", " + to_string(report.model_flop_rate_per_gpu) + " per GPU";
  const std::optional<double>& hardware = report.hardware_flop_utilisation;
  table.add_row({"MFU        ", use, "  HFU", hardware ? print_percent(*hardware) : "-"});
  Lines lines = table.lines();
  if (report.fullest_memory) lines.push_back("Peak memory  " + print_memory(report, pen));
  for (std::string& line : cost_lines(report)) lines.push_back(std::move(line));
  if (report.facts.data) lines.push_back("Data         " + wrap(data_line(report), width - 15, 15));
  if (report.facts.outer) lines.push_back("Local SGD    " + wrap(outer_line(*report.facts.outer), width - 15, 15));
  if (report.facts.checkpoint) lines.push_back("Checkpoint   " + wrap(checkpoint_line(report), width - 15, 15));
  for (const Comparison& comparison : report.comparisons) {
    lines.push_back("Published    " + wrap(published_line(report, comparison), width - 15, 15));
  }
  return lines;
}

bool has_pipeline(const TimeBreakdown& breakdown) {
  return std::ranges::any_of(breakdown.dimensions, [](const DimensionTime& d) { return d.joins_stages; });
}

// Zero times where it is not in the breakdown.
DimensionTime find(const TimeBreakdown& breakdown, const std::string& name) {
  const auto at = std::ranges::find(breakdown.dimensions, name, &DimensionTime::name);
  return at == breakdown.dimensions.end() ? DimensionTime() : *at;
}

// One row: of all ranks, then of the slowest stage.
struct BreakdownRow {
  std::string name;
  Duration all;
  Duration slowest;
  std::string hidden = "-";
};

std::vector<BreakdownRow> breakdown_rows(const Report& report) {
  const TimeBreakdown& all = report.everywhere;
  const TimeBreakdown& slowest = report.slowest_stage ? *report.slowest_stage : all;
  std::vector<BreakdownRow> rows = {{"compute", all.computing, slowest.computing}};
  for (const DimensionTime& dimension : all.dimensions) {
    if (!all.contended) break;
    const DimensionTime there = find(slowest, dimension.name);
    const auto lost_to = [&](std::string_view what, Duration DimensionTime::*lost) {
      if (all.share(dimension.*lost) < kShareShown) return;
      const std::string name = fmt::format("  lost to {}: {}", dimension_label(dimension.name), what);
      rows.push_back({name, dimension.*lost, there.*lost});
    };
    lost_to("SMs", &DimensionTime::compute_lost_to_sms);
    lost_to("memory", &DimensionTime::compute_lost_to_memory);
  }
  for (const DimensionTime& dimension : all.dimensions) {
    const DimensionTime there = find(slowest, dimension.name);
    const bool moved = dimension.in_flight > Duration();
    rows.push_back({dimension_label(dimension.name) + " communication", dimension.exposed, there.exposed,
                    moved ? fmt::format("{:.0f} %", 100.0 * ratio(dimension.hidden, dimension.in_flight)) : "-"});
    if (all.share(dimension.lost_to_compute) < kShareShown) continue;
    rows.push_back({"  in flight longer: memory", dimension.lost_to_compute, there.lost_to_compute});
  }
  rows.push_back({has_pipeline(all) ? "pipeline bubble, waiting" : "waiting", all.idle, slowest.idle});
  if (all.data > Duration()) rows.push_back({"waiting for data", all.data, slowest.data});
  if (all.outer > Duration()) rows.push_back({"outer step, as a mean", all.outer, slowest.outer});
  return rows;
}

Lines breakdown_table(const Report& report, const Pen& pen) {
  const TimeBreakdown& all = report.everywhere;
  const ColumnUnit unit = unit_for(all.total);
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  Lines header = {pen.bold("Where one step goes"), std::string(unit.name), "%", "hidden"};
  if (report.slowest_stage) header.insert(header.end(), {"  " + report.slowest_stage->of, "%"});
  table.add_row(header);
  for (const BreakdownRow& row : breakdown_rows(report)) {
    Lines cells = {row.name, print_in(row.all, unit), fmt::format("{:.1f}", 100.0 * all.share(row.all)), row.hidden};
    if (report.slowest_stage) {
      const double share = report.slowest_stage->share(row.slowest);
      cells.insert(cells.end(), {print_in(row.slowest, unit), fmt::format("{:.1f}", 100.0 * share)});
    }
    table.add_row(cells);
  }
  return table.lines();
}

Lines links_table(const Report& report, const Pen& pen, std::size_t name_width) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight});
  table.add_row({pen.bold("Busiest links"), "busy", "count", "bytes"});
  const std::vector<LinkLoad>& links = report.facts.links;
  for (std::size_t i = 0; i < std::min(kLinksShown, links.size()); ++i) {
    const LinkLoad& link = links[i];
    table.add_row({shorten(link.name, name_width), print_percent(link.utilisation),
                   with_commas(static_cast<long long>(link.multiplicity)), to_string(link.bytes)});
  }
  return table.lines();
}

void append_time_and_links(std::string& text, const Report& report, const TextOptions& options, const Pen& pen) {
  constexpr std::size_t kGap = 5;
  const Lines times = breakdown_table(report, pen);
  const Lines links = report.facts.links.empty() ? Lines() : links_table(report, pen, 32);
  const bool fits = widest(times) + kGap + widest(links) + 2 <= options.width;
  if (fits) {
    append(text, side_by_side(times, links, kGap));
    return;
  }
  append(text, times);
  if (!links.empty()) append(text += "\n", links);
}

// Which stages to print: all where they fit, else the first, the fullest and the last.
std::vector<std::size_t> stages_shown(const Report& report, const TextOptions& options) {
  constexpr std::size_t kNameWidth = 30;
  constexpr std::size_t kColumnWidth = 10;
  const std::size_t count = report.facts.memory.size();
  const std::size_t fitting = (options.width - std::min(options.width, kNameWidth)) / kColumnWidth;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < count; ++i) {
    const bool marked = i == 0 || i + 1 == count || i == report.fullest_memory;
    if (marked || count <= fitting || options.detail == Detail::kVerbose) shown.push_back(i);
  }
  return shown;
}

// Every item of any stage, each after the one that it follows in its stage.
Lines item_names(const std::vector<MemoryRow>& memory) {
  Lines names;
  for (const MemoryRow& row : memory) {
    auto next = names.begin();
    for (const MemoryItem& item : row.items) {
      auto at = std::ranges::find(names, item.name);
      if (at == names.end()) at = names.emplace(next, item.name);
      next = at + 1;
    }
  }
  return names;
}

std::string print_item(const MemoryRow& row, const std::string& name) {
  const auto item = std::ranges::find(row.items, name, &MemoryItem::name);
  return item == row.items.end() ? "-" : print_gib(item->size);
}

// Items downwards, stages to the right.
Lines memory_table(const Report& report, const TextOptions& options, const Pen& pen) {
  const std::vector<MemoryRow>& memory = report.facts.memory;
  const std::vector<std::size_t> stages = stages_shown(report, options);
  std::vector<Align> columns(stages.size() + 1, Align::kRight);
  columns.front() = Align::kLeft;
  TextTable table(std::move(columns));
  const auto add_row = [&](const std::string& name, auto print_cell) {
    Lines cells = {name};
    for (const std::size_t stage : stages) cells.push_back(print_cell(memory[stage]));
    table.add_row(std::move(cells));
  };
  add_row(pen.bold("Memory per GPU, GiB"), [](const MemoryRow& row) { return row.role(); });
  for (const std::string& name : item_names(memory)) {
    add_row(name, [&](const MemoryRow& row) { return print_item(row, name); });
  }
  add_row("total", [&](const MemoryRow& row) {
    return row.total > row.capacity ? pen.bad(print_gib(row.total)) : pen.bold(print_gib(row.total));
  });
  add_row("of", [](const MemoryRow& row) { return print_gib(row.capacity); });
  if (memory.front().largest_block == Bytes(0)) return table.lines();
  add_row("largest weight", [&](const MemoryRow& row) {
    return row.fits_in_blocks() ? print_gib(row.largest_weight) : pen.bad(print_gib(row.largest_weight));
  });
  add_row("in a block of", [](const MemoryRow& row) { return print_gib(row.largest_block); });
  return table.lines();
}

// A title and its entries, of which a normal report shows only the first few.
struct Remarks {
  std::string title;
  Lines entries;
  std::size_t shown = kRemarksShown;
};

void append_remarks(std::string& text, const Remarks& remarks, const TextOptions& options, const Pen& pen) {
  if (remarks.entries.empty()) return;
  const std::size_t count = options.detail == Detail::kVerbose ? remarks.entries.size()
                                                               : std::min(remarks.shown, remarks.entries.size());
  text += "\n  " + pen.bold(remarks.title) + "\n";
  for (std::size_t i = 0; i < count; ++i) text += "    " + wrap(remarks.entries[i], options.width - 4, 6) + "\n";
  if (count < remarks.entries.size()) text += fmt::format("    ... and {} more (-v)\n", remarks.entries.size() - count);
}

// "tp  all_reduce of 32 MiB x 96 among 8 ranks on 1 host: ring, simple, 24 channels; 210 us"
std::string print_use(const CollectiveUse& use) {
  std::string text = fmt::format("{}: {} of {} x {} among {} ranks on {} host{}: {}", use.dimension, use.operation,
                                 to_string(use.bytes), use.calls, use.ranks, use.hosts, use.hosts == 1 ? "" : "s",
                                 use.algorithm);
  if (!use.protocol.empty()) text += fmt::format(", {}", use.protocol);
  if (use.channels > 0) text += fmt::format(", {} channel{}", use.channels, use.channels == 1 ? "" : "s");
  if (use.shortest) text += "; " + to_string(*use.shortest);
  return text;
}

void append_collectives(std::string& text, const Report& report, const TextOptions& options, const Pen& pen) {
  Remarks calls{.title = "Collectives: calls in a step, what was chosen, the time of one", .entries = {}, .shown = 3};
  for (const CollectiveUse& use : report.facts.collectives) calls.entries.push_back(print_use(use));
  append_remarks(text, calls, options, pen);
}

std::string evidence_line(const Report& report) {
  Lines parts;
  for (const InputEvidence& input : report.facts.evidence) {
    parts.push_back(fmt::format("{} {}", input.input, to_string(input.level)));
  }
  const bool calibrated = report.evidence() <= Evidence::kCalibrated;
  return join(parts, ", ") + (calibrated ? "" : "; not calibrated end to end");
}

void append_grounds(std::string& text, const Report& report, const TextOptions& options, const Pen& pen) {
  const StepFacts& facts = report.facts;
  Lines warnings, assumed, ignored;
  for (const ReportWarning& w : facts.warnings) {
    warnings.push_back(pen.warning(w.code) + " " + (w.where.empty() ? "" : w.where + ": ") + w.text);
  }
  for (const AssumedValue& a : facts.assumptions) {
    assumed.push_back(fmt::format("{} = {}{}", a.path, a.value, a.why.empty() ? "" : "  (" + a.why + ")"));
  }
  for (const IgnoredKnob& i : facts.ignored) ignored.push_back(i.path + (i.why.empty() ? "" : ": " + i.why));
  append_remarks(text, {.title = "Warnings", .entries = warnings, .shown = warnings.size()}, options, pen);
  append_remarks(text, {"Faults simulated", facts.faults}, options, pen);
  if (!facts.evidence.empty()) append_remarks(text, {"Evidence", {evidence_line(report)}}, options, pen);
  append_remarks(text, {"Assumed, since not given", assumed}, options, pen);
  append_remarks(text, {"Given, but without effect here", ignored}, options, pen);
}

std::string footer(const Report& report) {
  const EngineFacts& engine = report.facts.engine;
  std::string text = fmt::format("{} events, {} messages", with_commas(static_cast<long long>(engine.events)),
                                 with_commas(static_cast<long long>(report.messages)));
  if (engine.classes > 0 && engine.classes < report.gpus) {
    text += fmt::format("; {} of {} ranks simulated, each for all equal ranks",
                        with_commas(static_cast<long long>(engine.classes)),
                        with_commas(static_cast<long long>(report.gpus)));
  }
  if (!engine.little_folded.empty()) text += "; little folded: " + engine.little_folded;
  if (engine.nearly_equal_cycles > 0) {
    text += fmt::format("; {} nearly equal cycles of the pipeline skipped, which may change the step by {}",
                        with_commas(static_cast<long long>(engine.nearly_equal_cycles)), to_string(engine.most_change));
  }
  return text + fmt::format("; {:.2f} s, {:.0f} MiB", engine.wall_seconds,
                            static_cast<double>(engine.peak_memory.count()) / 0x1p20);
}

}  // namespace

std::string render_text(const Report& report, const TextOptions& options) {
  const Pen pen(options.colour);
  std::string text;
  if (options.detail != Detail::kQuiet) text = heading(report, options.width, pen) + "\n";
  append(text, key_figures(report, options.width, pen));
  if (options.detail == Detail::kQuiet) return text;
  text += "\n";
  append_time_and_links(text, report, options, pen);
  if (!report.facts.memory.empty()) append(text += "\n", memory_table(report, options, pen));
  const Lines groups = group_lines(report);
  append_remarks(text, {.title = "Groups of nodes", .entries = groups, .shown = groups.size()}, options, pen);
  append_remarks(text, {"Fullest host, GiB", host_lines(report.facts.hosts)}, options, pen);
  // Traces and recommendation models have no pipeline.
  if (options.detail == Detail::kVerbose && !report.facts.held_at_peak.empty())
    append_remarks(text, {"Pipeline bubble", bubble_lines(report.bubbles)}, options, pen);
  append_collectives(text, report, options, pen);
  if (report.critical_path) text += render_critical_path(*report.critical_path);
  append_grounds(text, report, options, pen);
  return text + "\n  " + pen.dim(wrap(footer(report), options.width - 2, 2)) + "\n";
}

}  // namespace ringwright
